use super::{plain, rule};
use crate::check::Check;
use crate::contract::Clause;

/// Observable clauses that no check cites yet. The list may only shrink, and a test keeps it exact. The document marks the
/// clauses that can't be observed, with a reason.
pub static UNCOVERED: &[Clause] = &[];

/// Every check, sorted by id.
#[must_use]
pub fn registry() -> Vec<&'static Check> {
    let mut checks: Vec<&'static Check> = plain::CHECKS.iter().chain(&*rule::CHECKS).collect();
    checks.sort_by_key(|check| check.id);
    checks
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::check::{Case, Scope};
    use crate::contract::{Contract, OperationId};
    use crate::target::Facts;

    #[test]
    fn ids_clauses_costs_titles_and_labels_are_stated() {
        let contract = Contract::embedded().expect("contract");
        let scope = Scope { contract, facts: &Facts::default() };
        let ids: BTreeSet<_> = registry().iter().map(|check| check.id).collect();
        assert_eq!(ids.len(), registry().len(), "two checks have one id");
        for check in registry() {
            // An id says operation, rule and aspect.
            let parts: Vec<_> = check.id.split('.').collect();
            let prefix = check.operation.map_or("all", OperationId::id);
            assert!(parts.len() == 3 && parts[0] == prefix, "{}: expected operation.rule.aspect", check.id);
            let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
            assert!(parts.iter().all(|part| !part.is_empty() && part.chars().all(allowed)), "{}", check.id);
            assert!(!check.clauses.is_empty(), "{} cites no clause", check.id);
            let clauses: BTreeSet<_> = check.clauses.iter().collect();
            assert_eq!(clauses.len(), check.clauses.len(), "{} cites a clause twice", check.id);
            assert!(!check.title.is_empty() && !check.title.ends_with('.'), "{}", check.id);
            let cases = check.cases(&scope);
            assert_eq!(cases.is_empty(), check.is_passive(), "{}", check.id);
            let labels: BTreeSet<_> = cases.iter().map(Case::label).collect();
            assert_eq!(labels.len(), cases.len(), "{} has two cases of one label", check.id);
            assert!(cases.len() == 1 || !labels.contains(""), "{} has a case without a label", check.id);
            for case in &cases {
                assert!(case.cost.requests > 0, "{}/{} sends nothing", check.id, case.label());
            }
        }
    }

    #[test]
    fn observable_clauses_without_a_check_are_exactly_those_listed() {
        let contract = Contract::embedded().expect("contract");
        let cited: BTreeSet<_> = registry().iter().flat_map(|check| check.clauses.iter().copied()).collect();
        let observable = contract.catalogue.observable();
        let uncovered: Vec<_> =
            observable.map(|clause| clause.id).filter(|clause| !cited.contains(clause)).collect();
        assert_eq!(uncovered, UNCOVERED);
    }
}

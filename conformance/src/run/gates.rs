use super::{CheckResult, Coverage, Expectation, ExpectationState, Glob, Totals, Unresolved};
use crate::contract::Clause;
use crate::detection::Detection;

/// How the lines of this gate begin.
pub(crate) const FAIL_ON_SKIP: &str = "--fail-on-skip";

/// Requirements that a run must meet to conform. Without gates a run without findings conforms.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Gates {
    /// Every clause that matches one of these patterns must be judged.
    pub require: Vec<Glob>,
    /// Minimum number of clauses that must be judged.
    pub min_clauses: Option<usize>,
    /// Minimum percentage of the known faults that the run must be able to notice.
    pub min_detection: Option<u8>,
    /// Whether a skipped check or case keeps the run from conforming.
    pub fail_on_skip: bool,
    /// Whether a warning fails the run.
    pub fail_on_warning: bool,
}

impl Gates {
    /// The requirements that the run does not meet, one sentence each; skipped checks and cases by reason. Warnings are not among
    /// them, because they fail the run.
    pub(super) fn unmet(
        &self,
        results: &[CheckResult],
        coverage: &Coverage,
        detection: &Detection,
        expectations: &[Expectation],
    ) -> Vec<String> {
        let mut unmet = Vec::new();
        let not_judged: Vec<Clause> = coverage.open().collect();
        for glob in &self.require {
            let open: Vec<&str> =
                not_judged.iter().map(|clause| clause.id()).filter(|clause| glob.matches(clause)).collect();
            if !open.is_empty() {
                unmet.push(format!("--require {}: {} not judged", glob.as_str(), open.join(", ")));
            }
        }
        if let Some(min) = self.min_clauses.filter(|min| coverage.judged < *min) {
            unmet.push(format!("--min-clauses {min}: {} judged", coverage.judged));
        }
        let percent = detection.percent();
        if let Some(min) = self.min_detection.filter(|min| percent < usize::from(*min)) {
            unmet.push(format!(
                "--min-detection {min}: the run would have noticed {percent} % of the known faults"
            ));
        }
        if self.fail_on_skip {
            let skips = Unresolved::skipped(results);
            unmet.extend(skips.iter().map(|skips| format!("{FAIL_ON_SKIP}: {}", skips.line())));
        }
        let stale = expectations.iter().filter(|entry| entry.state == ExpectationState::NoLongerFails);
        for entry in stale.filter(|entry| is_fully_judged(results, entry.clause)) {
            unmet.push(format!(
                "{} no longer fails; remove its [[expected-failure]] from the configuration",
                entry.clause
            ));
        }
        unmet
    }

    pub(super) const fn fails(&self, totals: Totals) -> bool {
        self.fail_on_warning && totals.warned > 0
    }
}

/// Whether every case of every check that cites a clause has a result. Only then is the clause known to hold.
fn is_fully_judged(results: &[CheckResult], clause: Clause) -> bool {
    let mut citing = results.iter().filter(|result| result.clauses.contains(&clause));
    citing
        .all(|result| result.outcome.concluded() && result.cases.iter().all(|case| case.outcome.concluded()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::Outcome;
    use crate::checks::registry;
    use crate::contract::Contract;
    use crate::detection::Matrix;

    #[test]
    fn each_gate_names_what_the_run_does_not_meet() {
        let groups = |id: &str| id.starts_with("groups.");
        let results: Vec<CheckResult> = registry()
            .into_iter()
            .map(|check| match groups(check.id) {
                true => CheckResult::not_run(check, Outcome::Passed),
                false => CheckResult::not_run(check, Outcome::Skipped("supply addresses".to_owned())),
            })
            .collect();
        let detection = Detection { known: 10, noticed: 4, ..Detection::default() };
        let catalogue = &Contract::embedded().expect("contract").catalogue;
        let coverage = Coverage::new(&results, catalogue, &detection, &Matrix::default());
        let unmet = |gates: &Gates| gates.unmet(&results, &coverage, &detection, &[]);
        let none = Gates::default();
        assert_eq!(unmet(&none), Vec::<String>::new());
        let judged = coverage.judged;
        for met in [
            Gates { require: vec![Glob::new("groups.*")], ..none.clone() },
            Gates { min_clauses: Some(judged), ..none.clone() },
            Gates { min_detection: Some(40), ..none.clone() },
        ] {
            assert_eq!(unmet(&met), Vec::<String>::new(), "{met:?}");
        }
        for (not_met, words) in [
            (Gates { require: vec![Glob::new("search.page*")], ..none.clone() }, "search.page"),
            (Gates { min_clauses: Some(judged + 1), ..none.clone() }, "--min-clauses"),
            (Gates { min_detection: Some(41), ..none.clone() }, "notice"),
            (Gates { fail_on_skip: true, ..none.clone() }, " more): supply addresses"),
        ] {
            let said = unmet(&not_met);
            assert!(said.len() == 1 && said[0].contains(words), "{said:?}");
        }
        let warned = Totals { warned: 1, ..Totals::default() };
        assert!(Gates { fail_on_warning: true, ..none.clone() }.fails(warned) && !none.fails(warned));
    }
}

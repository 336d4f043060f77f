use std::collections::BTreeSet;

use serde::Serialize;

use super::{Profile, Selection};
use crate::check::{Case, Check, Cost, Scope, SharedControl};
use crate::contract::Clause;
use crate::target::{Fact, Facts};
use crate::wire::Budget;

/// What a run would do: which cases it would run, what they cost, and which it would leave out and why.
#[derive(Debug, Clone)]
pub struct Plan {
    planned: Vec<Planned>,
}

/// One check of a plan.
#[derive(Debug, Clone)]
pub struct Planned {
    /// The check.
    pub check: &'static Check,
    /// Its cases that were chosen; none for a passive check.
    pub cases: Vec<PlannedCase>,
    /// Why the check as a whole is skipped, when it is.
    unfit: Option<String>,
}

/// One case of a plan.
#[derive(Debug, Clone)]
pub struct PlannedCase {
    /// The case.
    pub case: Case,
    /// Why it would be skipped, when it would.
    pub skipped: Option<String>,
}

/// The most that a plan can cost when nothing has to be repeated.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct PlannedCost {
    /// Requests.
    pub requests: u64,
    /// Gateways.
    pub gateways: u64,
}

impl Plan {
    /// A plan for the chosen cases. A case whose facts are missing is skipped, and so is one that would take more gateways
    /// than are left. Gateways are dealt out to the cheapest cases first, but before that to one case for each clause, so
    /// that as many clauses as possible are judged.
    #[must_use]
    pub fn new(
        checks: &[&'static Check],
        selection: &Selection,
        profile: Profile,
        scope: &Scope<'_>,
        budget: &Budget,
    ) -> Self {
        let included = checks.iter().copied().filter(|check| profile.includes(check));
        let mut planned: Vec<Planned> =
            included.filter_map(|check| Planned::new(check, selection, profile, scope)).collect();
        deal_out(&mut planned, budget.gateways);
        spread(&mut planned, budget.requests);
        Self { planned }
    }

    /// Every check of it, in the order of the registry.
    #[must_use]
    pub fn planned(&self) -> &[Planned] {
        &self.planned
    }

    /// What it can cost at most, but for repetitions.
    #[must_use]
    pub fn cost(&self) -> PlannedCost {
        let mut sum = PlannedCost::default();
        let mut sent = SentControls::default();
        for planned in &self.planned {
            for case in planned.running() {
                let cost = sent.price(planned.check, case);
                sent.add(planned.check, case);
                sum.requests += u64::from(cost.requests);
                sum.gateways += u64::from(cost.gateways);
            }
        }
        sum
    }
}

/// Shared control requests that the cases chosen so far send: those of the run, and those of each check.
#[derive(Debug, Default)]
struct SentControls(BTreeSet<(Option<&'static str>, String)>);

impl SentControls {
    /// What a case costs beside the cases chosen so far.
    fn price(&self, check: &'static Check, case: &Case) -> Cost {
        let new = case.controls().iter().filter(|control| !self.0.contains(&Self::key(check, control)));
        new.map(SharedControl::cost).chain([case.cost()]).sum()
    }

    fn add(&mut self, check: &'static Check, case: &Case) {
        self.0.extend(case.controls().iter().map(|control| Self::key(check, control)));
    }

    fn key(check: &'static Check, control: &SharedControl) -> (Option<&'static str>, String) {
        ((!control.is_in_run()).then_some(check.id), control.label().to_owned())
    }
}

impl Planned {
    /// None when none of its cases is chosen.
    fn new(
        check: &'static Check,
        selection: &Selection,
        profile: Profile,
        scope: &Scope<'_>,
    ) -> Option<Self> {
        let unfit = missing(check.needs, scope.facts);
        if check.is_passive() {
            return selection.includes(check, "").then_some(Self { check, cases: Vec::new(), unfit });
        }
        let chosen =
            |case: &Case| selection.includes(check, case.label()) && profile.allows(case.cost_alone());
        let planned = |case: Case| PlannedCase {
            skipped: unfit.clone().or_else(|| missing(case.needed(), scope.facts)),
            case,
        };
        let cases: Vec<_> = check.cases(scope).into_iter().filter(chosen).map(planned).collect();
        (!cases.is_empty()).then_some(Self { check, cases, unfit })
    }

    /// The cases that would run.
    pub fn running(&self) -> impl Iterator<Item = &Case> {
        self.cases.iter().filter(|planned| planned.skipped.is_none()).map(|planned| &planned.case)
    }

    /// What the cases that would run cost together.
    #[must_use]
    pub fn cost(&self) -> Cost {
        Cost::of_cases(self.running())
    }

    /// Why nothing of the check would run, when that is so.
    #[must_use]
    pub fn skipped(&self) -> Option<String> {
        if self.check.is_passive() || self.unfit.is_some() {
            return self.unfit.clone();
        }
        let reasons: Option<BTreeSet<&str>> =
            self.cases.iter().map(|planned| planned.skipped.as_deref()).collect();
        reasons.map(|reasons| reasons.into_iter().collect::<Vec<_>>().join("; "))
    }
}

fn deal_out(planned: &mut [Planned], gateways: u64) {
    let mut judged: BTreeSet<Clause> = BTreeSet::new();
    let mut takers: Vec<(&'static Check, &mut PlannedCase)> = Vec::new();
    for Planned { check, cases, .. } in planned {
        for case in cases.iter_mut().filter(|planned| planned.skipped.is_none()) {
            if case.case.cost_alone().gateways == 0 {
                judged.extend(check.clauses);
            } else {
                takers.push((check, case));
            }
        }
    }
    takers.sort_by_key(|(_, planned)| planned.case.cost_alone().gateways);
    let (mut left, mut sent) = (gateways, SentControls::default());
    let mut rest = Vec::new();
    for (check, planned) in takers {
        let price = u64::from(sent.price(check, &planned.case).gateways);
        let is_first = check.clauses.iter().any(|clause| !judged.contains(clause));
        if is_first && price <= left {
            left -= price;
            sent.add(check, &planned.case);
            judged.extend(check.clauses);
        } else {
            rest.push((check, planned));
        }
    }
    for (check, planned) in rest {
        let price = u64::from(sent.price(check, &planned.case).gateways);
        match left.checked_sub(price) {
            Some(less) => {
                left = less;
                sent.add(check, &planned.case);
            }
            None => planned.skipped = Some(too_expensive(price, gateways)),
        }
    }
}

/// Leaves out cases that would take more requests than the budget has, a quarter of which is kept for repetitions. Each check
/// gets its first case before one gets its second, so that many checks are run in part and few not at all.
fn spread(planned: &mut [Planned], requests: u64) {
    let (mut left, mut sent) = (requests - requests / 4, SentControls::default());
    let rounds = planned.iter().map(|planned| planned.cases.len()).max().unwrap_or(0);
    for round in 0..rounds {
        for Planned { check, cases, .. } in planned.iter_mut() {
            let Some(planned) = cases.get_mut(round).filter(|planned| planned.skipped.is_none()) else {
                continue;
            };
            let price = u64::from(sent.price(check, &planned.case).requests);
            match left.checked_sub(price) {
                Some(less) => {
                    left = less;
                    sent.add(check, &planned.case);
                }
                None => planned.skipped = Some(too_many(requests)),
            }
        }
    }
}

fn missing(needs: &[Fact], facts: &Facts) -> Option<String> {
    let missing: Vec<String> =
        needs.iter().filter(|fact| !facts.has(**fact)).map(ToString::to_string).collect();
    (!missing.is_empty()).then(|| format!("supply {} to run this", missing.join(" and ")))
}

fn too_many(most: u64) -> String {
    format!("the run may send at most {most} requests, retries included; raise --max-requests to run this")
}

fn too_expensive(gateways: u64, most: u64) -> String {
    format!(
        "it may extract {gateways} gateways, and the whole run at most {most}; raise --max-gateways to run this"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::Run;
    use crate::checks::registry;

    use crate::contract::Contract;

    fn plan(checks: &[&'static Check], gateways: u64) -> Plan {
        let budget = Budget { gateways, ..Budget::default() };
        let contract = Contract::embedded().expect("contract");
        let scope = Scope { contract, facts: &Facts::default() };
        Plan::new(checks, &Selection::default(), Profile::Full, &scope, &budget)
    }

    #[test]
    fn requests_never_go_beyond_their_budget_and_reach_as_many_checks_as_they_can() {
        let contract = Contract::embedded().expect("contract");
        let scope = Scope { contract, facts: &Facts::default() };
        for most in [0, 40, 400, 4_000] {
            let budget = Budget { requests: most, ..Budget::default() };
            let plan = Plan::new(&registry(), &Selection::default(), Profile::Full, &scope, &budget);
            assert!(plan.cost().requests <= most, "{most}: {:?}", plan.cost());
            let reached = plan.planned().iter().filter(|planned| planned.running().count() > 0).count();
            assert!(most < 400 || reached > 30, "{most}: {reached} checks");
        }
    }

    #[test]
    fn gateways_never_go_beyond_their_budget() {
        for most in [0, 1, 7, 25, 1_000] {
            assert!(plan(&registry(), most).cost().gateways <= most, "{most}");
        }
        let without = plan(&registry(), 0);
        for planned in without.planned().iter().flat_map(|planned| &planned.cases) {
            let takes = planned.case.cost_alone().gateways > 0;
            let reason = planned.skipped.as_deref().unwrap_or_default();
            assert!(!takes || !reason.is_empty(), "{planned:?}");
            assert!(takes || !reason.contains("--max-gateways"), "{planned:?}");
        }
    }

    #[test]
    fn a_missing_fact_is_named_with_the_way_to_supply_it() {
        let plan = plan(&registry(), 1_000);
        for planned in plan.planned() {
            for fact in planned.check.needs {
                let reason = planned.skipped().unwrap_or_default();
                assert!(reason.contains(fact.variable()), "{}: {reason}", planned.check.id);
            }
        }
    }

    fn nothing(cost: Cost, labels: &[&'static str]) -> Vec<Case> {
        labels.iter().map(|label| Case::new(*label, cost, |_| Box::pin(async { Ok(()) }))).collect()
    }

    const TEMPLATE: Check = Check {
        id: "",
        title: "",
        why: "",
        operation: None,
        clauses: &[],
        needs: &[],
        run: Run::Cases(|_| Vec::new()),
    };

    static CHEAP: Check = Check {
        id: "extract.a.a",
        clauses: &[Clause::ExtractCount],
        run: Run::Cases(|_| nothing(Cost::extraction(1, 2), &["one", "two", "three"])),
        ..TEMPLATE
    };

    static EXPENSIVE: Check = Check {
        id: "extract.b.b",
        clauses: &[Clause::ExtractPartial],
        run: Run::Cases(|_| nothing(Cost::extraction(1, 5), &["one", "two"])),
        ..TEMPLATE
    };

    static SHARING: Check = Check {
        id: "extract.c.c",
        clauses: &[Clause::ExtractPartial],
        run: Run::Cases(|_| {
            let cases = nothing(Cost::extraction(1, 0), &["one", "two"]);
            let shared = cases.into_iter().map(|case| case.sharing("plain", Cost::extraction(1, 1)));
            shared.map(|case| case.sharing_in_run("run", Cost::extraction(1, 1))).collect()
        }),
        ..TEMPLATE
    };

    static SHARING_TOO: Check = Check { id: "extract.d.d", ..SHARING };

    #[test]
    fn a_shared_control_counts_once() {
        let once = plan(&[&SHARING], 2);
        assert_eq!(once.cost(), PlannedCost { requests: 4, gateways: 2 });
        assert_eq!(once.planned()[0].cost(), Cost::extraction(4, 2));
        let both = plan(&[&SHARING, &SHARING_TOO], 100);
        assert_eq!(both.cost(), PlannedCost { requests: 7, gateways: 3 });
        assert_eq!(plan(&[&SHARING], 1).cost(), PlannedCost::default());
    }

    #[test]
    fn each_clause_gets_a_case_before_one_gets_all_of_its() {
        let plan = plan(&[&CHEAP, &EXPENSIVE], 9);
        let running = |index: usize| -> Vec<_> {
            plan.planned()[index].running().map(|case| case.label().to_owned()).collect()
        };
        assert_eq!(
            (running(0), running(1)),
            (vec!["one".to_owned(), "two".to_owned()], vec!["one".to_owned()])
        );
    }
}

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::{Profile, Selection};
use crate::check::{Case, Check, Cost, Scope};
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
        self.planned.iter().map(Planned::cost).fold(PlannedCost::default(), |sum, cost| PlannedCost {
            requests: sum.requests + u64::from(cost.requests),
            gateways: sum.gateways + u64::from(cost.gateways),
        })
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
        let chosen = |case: &Case| selection.includes(check, case.label()) && profile.allows(case.cost());
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

    /// What the cases that would run cost together, with control requests that they share counted once.
    #[must_use]
    pub fn cost(&self) -> Cost {
        let own: Cost = self.running().map(Case::own_cost).sum();
        let shared: BTreeMap<_, _> =
            self.running().filter_map(Case::shared).map(|control| (&control.key, control.cost)).collect();
        [own].into_iter().chain(shared.into_values()).sum()
    }

    /// Why nothing of the check would run, when that is so.
    #[must_use]
    pub fn skipped(&self) -> Option<String> {
        if self.check.is_passive() || self.unfit.is_some() {
            return self.unfit.clone();
        }
        if self.running().next().is_some() {
            return None;
        }
        // The case that costs least is the one that is unlocked first.
        let cheapest = self.cases.iter().min_by_key(|planned| planned.case.cost().gateways);
        cheapest.and_then(|planned| planned.skipped.clone())
    }
}

fn deal_out(planned: &mut [Planned], gateways: u64) {
    let mut judged: BTreeSet<Clause> = BTreeSet::new();
    let mut takers: Vec<Taker<'_>> = Vec::new();
    for Planned { check, cases, .. } in planned {
        for planned in cases.iter_mut().filter(|planned| planned.skipped.is_none()) {
            if planned.case.cost().gateways == 0 {
                judged.extend(check.clauses);
            } else {
                takers.push(Taker { check, planned });
            }
        }
    }
    takers.sort_by_key(|taker| taker.planned.case.cost().gateways);
    let mut purse = Purse { left: gateways, paid: BTreeSet::new() };
    let mut rest = Vec::new();
    for taker in takers {
        let is_first = taker.check.clauses.iter().any(|clause| !judged.contains(clause));
        if is_first && purse.pay(&taker) {
            judged.extend(taker.check.clauses);
        } else {
            rest.push(taker);
        }
    }
    // A control request that is paid for makes other cases cheaper, so the cheapest is looked for each time.
    while let Some(index) = (0..rest.len()).min_by_key(|index| purse.price(&rest[*index])) {
        let taker = rest.remove(index);
        if !purse.pay(&taker) {
            taker.planned.skipped = Some(too_expensive(purse.price(&taker), gateways));
        }
    }
}

/// A case that takes gateways.
struct Taker<'p> {
    check: &'static Check,
    planned: &'p mut PlannedCase,
}

/// Gateways that are left, and the control requests that were paid for, by check and key.
struct Purse {
    left: u64,
    paid: BTreeSet<(&'static str, Cow<'static, str>)>,
}

impl Purse {
    fn price(&self, taker: &Taker<'_>) -> u64 {
        let case = &taker.planned.case;
        let unpaid =
            case.shared().filter(|control| !self.paid.contains(&(taker.check.id, control.key.clone())));
        u64::from(case.own_cost().gateways) + unpaid.map_or(0, |control| u64::from(control.cost.gateways))
    }

    /// Whether there were enough.
    fn pay(&mut self, taker: &Taker<'_>) -> bool {
        let Some(left) = self.left.checked_sub(self.price(taker)) else { return false };
        self.left = left;
        self.paid.extend(taker.planned.case.shared().map(|control| (taker.check.id, control.key.clone())));
        true
    }
}

fn missing(needs: &[Fact], facts: &Facts) -> Option<String> {
    let missing: Vec<String> =
        needs.iter().filter(|fact| !facts.has(**fact)).map(ToString::to_string).collect();
    (!missing.is_empty()).then(|| format!("supply {} to run this", missing.join(" and ")))
}

fn too_expensive(gateways: u64, most: u64) -> String {
    format!(
        "it may take {gateways} gateways, and the whole run may take {most}: raise --max-gateways to run this"
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
    fn gateways_never_go_beyond_their_budget() {
        for most in [0, 1, 7, 25, 1_000] {
            assert!(plan(&registry(), most).cost().gateways <= most, "{most}");
        }
        let without = plan(&registry(), 0);
        for planned in without.planned().iter().flat_map(|planned| &planned.cases) {
            let needs_some = planned.case.cost().gateways > 0;
            let reason = planned.skipped.as_deref().unwrap_or_default();
            assert!(!needs_some || planned.skipped.is_some(), "{planned:?}");
            assert!(needs_some || !reason.contains("--max-gateways"), "{planned:?}");
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

    static SHARING: Check = Check {
        id: "extract.c.c",
        clauses: &[Clause::ExtractNumRange],
        run: Run::Cases(|_| {
            let cases = nothing(Cost::requests(1), &["one", "two", "three"]).into_iter();
            cases.map(|case| case.control("plain", Cost::extraction(1, 1))).collect()
        }),
        ..TEMPLATE
    };

    #[test]
    fn a_control_request_that_cases_share_is_counted_once() {
        let plan = plan(&[&SHARING], 1);
        assert_eq!(plan.planned()[0].running().count(), 3);
        assert_eq!(plan.cost(), PlannedCost { requests: 4, gateways: 1 });
    }
}

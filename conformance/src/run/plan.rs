use serde::Serialize;

use super::{Profile, Selection};
use crate::check::{Check, Cost};
use crate::target::Facts;
use crate::wire::Budget;

/// What a run would do: which checks it would run, what they cost, and which it would leave out and why.
#[derive(Debug, Clone)]
pub struct Plan {
    planned: Vec<Planned>,
}

/// One check of a plan.
#[derive(Debug, Clone)]
pub struct Planned {
    /// The check.
    pub check: &'static Check,
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
    /// A plan for the chosen checks. A check whose facts are missing is skipped, and so is one that would take more
    /// gateways than are left; those that take few come first when gateways are dealt out.
    #[must_use]
    pub fn new(
        checks: &[&'static Check],
        selection: &Selection,
        profile: Profile,
        facts: &Facts,
        budget: &Budget,
    ) -> Self {
        let chosen = selection.choose(checks).into_iter().filter(|check| profile.includes(check));
        let mut planned: Vec<Planned> =
            chosen.map(|check| Planned { check, skipped: missing(check, facts) }).collect();
        let mut takers: Vec<&mut Planned> =
            planned.iter_mut().filter(|planned| planned.skipped.is_none()).collect();
        takers.sort_by_key(|planned| planned.check.cost.gateways);
        let mut left = budget.gateways;
        for planned in takers {
            let gateways = u64::from(planned.check.cost.gateways);
            match left.checked_sub(gateways) {
                Some(rest) => left = rest,
                None => planned.skipped = Some(too_dear(gateways, budget.gateways)),
            }
        }
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
        let running = self.planned.iter().filter(|planned| planned.skipped.is_none());
        running.fold(PlannedCost::default(), |sum, planned| {
            let Cost { requests, gateways } = planned.check.cost;
            PlannedCost {
                requests: sum.requests + u64::from(requests),
                gateways: sum.gateways + u64::from(gateways),
            }
        })
    }
}

fn missing(check: &Check, facts: &Facts) -> Option<String> {
    let missing: Vec<String> =
        check.needs.iter().filter(|fact| !facts.has(**fact)).map(ToString::to_string).collect();
    (!missing.is_empty()).then(|| format!("supply {} to run this", missing.join(" and ")))
}

fn too_dear(gateways: u64, most: u64) -> String {
    format!(
        "it may take {gateways} gateways, and the whole run may take {most}: raise --max-gateways to run this"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::registry;

    fn plan(gateways: u64) -> Plan {
        let budget = Budget { gateways, ..Budget::default() };
        Plan::new(&registry(), &Selection::default(), Profile::Full, &Facts::default(), &budget)
    }

    #[test]
    fn gateways_never_go_beyond_their_budget() {
        for most in [0, 1, 7, 25, 1_000] {
            assert!(plan(most).cost().gateways <= most, "{most}");
        }
        let without = plan(0);
        let dear = without.planned().iter().filter(|planned| planned.check.cost.gateways > 0);
        for planned in dear {
            assert!(planned.skipped.is_some(), "{} runs without gateways", planned.check.id);
        }
    }

    #[test]
    fn a_missing_fact_is_named_with_the_way_to_supply_it() {
        let plan = plan(1_000);
        for planned in plan.planned() {
            for fact in planned.check.needs {
                let reason = planned.skipped.as_deref().unwrap_or_default();
                assert!(reason.contains(fact.variable()), "{}: {reason}", planned.check.id);
            }
        }
    }
}

use std::num::NonZeroU32;
use std::time::Duration;

use super::Glob;
use crate::check::{Check, Cost};
use crate::wire::Budget;

/// How much of a target a run may take. Each profile is a choice of checks and a set of ceilings; both can be moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Profile {
    /// Is it there, does it know the token, are the envelopes right? A handful of requests, and no gateway.
    Smoke,
    /// Every check that a production environment can bear: slowly, and with few gateways.
    Production,
    /// Everything, as fast as the target answers.
    #[default]
    Full,
}

impl Profile {
    /// All of them, from the smallest on.
    pub const ALL: [Self; 3] = [Self::Smoke, Self::Production, Self::Full];

    /// What `smoke` looks at: clauses, by pattern.
    const SMOKE: [&'static str; 7] = [
        "all.https",
        "all.prefix",
        "all.token-required",
        "groups.envelope",
        "groups.headers",
        "search.envelope",
        "search.headers",
    ];

    /// The name that arguments and configuration use.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Smoke => "smoke",
            Self::Production => "production",
            Self::Full => "full",
        }
    }

    /// The profile of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|profile| profile.name() == name)
    }

    /// Whether a check belongs to it. Passive checks cost nothing and always belong.
    #[must_use]
    pub fn includes(self, check: &Check) -> bool {
        let smoke = || Self::SMOKE.iter().any(|clause| Glob::new(*clause).selects(check));
        match self {
            Self::Smoke => check.is_passive() || smoke(),
            Self::Production | Self::Full => true,
        }
    }

    /// Whether a case of such a cost belongs to it.
    #[must_use]
    pub const fn allows(self, cost: Cost) -> bool {
        match self {
            Self::Smoke => cost.gateways == 0,
            Self::Production | Self::Full => true,
        }
    }

    /// Its ceilings.
    #[must_use]
    pub fn budget(self) -> Budget {
        const MEBIBYTE: u64 = 1 << 20;
        match self {
            Self::Smoke => Budget {
                requests: 60,
                gateways: 0,
                bytes: 16 * MEBIBYTE,
                wall: Duration::from_secs(60),
                rate: NonZeroU32::new(10),
                concurrency: 2,
            },
            Self::Production => Budget {
                requests: 2_500,
                gateways: 25,
                bytes: 256 * MEBIBYTE,
                wall: Duration::from_secs(1_800),
                rate: NonZeroU32::new(5),
                concurrency: 2,
            },
            Self::Full => Budget::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::Scope;
    use crate::checks::registry;
    use crate::contract::Contract;
    use crate::run::{Plan, Selection};
    use crate::target::Facts;

    #[test]
    fn each_profile_takes_in_the_smaller_one() {
        let checks = registry();
        for pair in Profile::ALL.windows(2) {
            for check in &checks {
                assert!(!pair[0].includes(check) || pair[1].includes(check), "{}", check.id);
            }
            assert!(pair[0].budget().requests <= pair[1].budget().requests);
            assert!(pair[0].budget().gateways <= pair[1].budget().gateways);
        }
    }

    #[test]
    fn smoke_stays_within_its_ceilings_and_each_of_its_patterns_selects_something() {
        let checks = registry();
        for pattern in Profile::SMOKE {
            assert!(checks.iter().any(|check| Glob::new(pattern).selects(check)), "{pattern}");
        }
        let contract = Contract::embedded().expect("contract");
        let scope = Scope { contract, facts: &Facts::default() };
        let budget = Profile::Smoke.budget();
        let plan = Plan::new(&checks, &Selection::default(), Profile::Smoke, &scope, &budget);
        assert!(plan.cost().requests <= budget.requests, "{:?}", plan.cost());
    }

    #[test]
    fn names_lead_back() {
        assert!(Profile::ALL.iter().all(|profile| Profile::named(profile.name()) == Some(*profile)));
    }
}

use std::num::NonZeroU32;
use std::time::Duration;

use crate::wire::Budget;

/// How much of a target a run may take: a set of ceilings, each of which can be moved. The plan chooses the cases that show
/// most within them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Profile {
    /// As much as a handful of requests shows, and no gateway.
    Smoke,
    /// What a production environment can bear: slowly, and with few gateways.
    Production,
    /// Everything, as fast as the target answers.
    #[default]
    Full,
}

impl Profile {
    /// All of them, from the smallest on.
    pub const ALL: [Self; 3] = [Self::Smoke, Self::Production, Self::Full];

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
                requests: 900,
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

    #[test]
    fn each_profile_has_room_for_the_smaller_one() {
        for pair in Profile::ALL.windows(2) {
            assert!(pair[0].budget().requests <= pair[1].budget().requests);
            assert!(pair[0].budget().gateways <= pair[1].budget().gateways);
        }
    }

    #[test]
    fn names_lead_back() {
        assert!(Profile::ALL.iter().all(|profile| Profile::named(profile.name()) == Some(*profile)));
    }
}

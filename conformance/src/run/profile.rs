use std::num::NonZeroU32;
use std::time::Duration;

use crate::names::names;
use crate::wire::Budget;

/// How much load a run may put on a target: a set of limits, each of which can be overridden. The plan contains the most
/// valuable cases within these limits. In order, from the smallest to the largest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Profile {
    /// At most 60 requests, and no gateways.
    Smoke,
    /// For production environments: at most 930 requests at 5 per second, and 25 gateways.
    Production,
    /// Everything, as fast as the target responds.
    #[default]
    Full,
}

names! { Profile { Smoke => "smoke", Production => "production", Full => "full", } }

impl Profile {
    /// Its limits.
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
                requests: 930,
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
    fn profiles_are_sorted_by_size_and_found_by_name() {
        for pair in Profile::ALL.windows(2) {
            assert!(pair[0].budget().requests <= pair[1].budget().requests);
            assert!(pair[0].budget().gateways <= pair[1].budget().gateways);
        }
        assert!(Profile::ALL.iter().all(|profile| Profile::named(profile.name()) == Some(*profile)));
    }
}

use std::num::NonZeroU32;
use std::time::Duration;

use clap::Args;

use super::{ExpectedFailure, Gates};
use crate::check::{Check, InferredClauses};
use crate::explore::Exploration;
use crate::names;
use crate::wire::{Budget, Request, ShortSecret, WireError, WireOptions};

/// The options of a run.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Which checks and cases run.
    pub selection: Selection,
    /// Name of the profile, for the report.
    pub profile: Profile,
    /// Limits; default: those of [`Profile::Full`].
    pub budget: Budget,
    /// Timeouts, waits, proxy and trust.
    pub wire: WireOptions,
    /// Maximum number of retries of a failing case; none for 1. A case that then passes is flaky.
    pub retries: Option<u32>,
    /// Whether the first failure ends the run.
    pub fail_fast: bool,
    /// Clauses that are expected to fail.
    pub expected: Vec<ExpectedFailure>,
    /// Gates: what the run must show before it conforms.
    pub gates: Gates,
    /// Severity of findings on clauses that the contract presupposes but does not state.
    pub inferred: InferredClauses,
    /// Name and version of the tested implementation, for the report.
    pub implementation: Option<String>,
    /// Options of curl for the way to the target, without secrets, for the commands of reports.
    pub curl_options: Vec<String>,
    /// Percentage of the known faults to notice; cases that are not needed for it are skipped.
    pub detect: Option<u8>,
    /// Whether to explore beyond the fixed cases.
    pub explore: Option<Exploration>,
    /// Requests that are sent after all others, for passive checks to judge.
    pub requests: Vec<Request>,
    /// Whether the report keeps every exchange, for [`Format::Har`](crate::report::Format::Har). Redacting each takes memory and time.
    pub keep_exchanges: bool,
}

impl Options {
    pub(super) fn max_retries(&self) -> u32 {
        self.retries.unwrap_or(1)
    }
}

names! {
    /// How much load a run may put on a target: a set of limits, each of which can be overridden. The plan contains the most
    /// valuable cases within these limits. In order, from the smallest to the largest.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub enum Profile {
        /// At most 60 requests, and no gateways.
        Smoke => "smoke",
        /// For production environments: at most 930 requests at 5 per second, and 25 gateways.
        Production => "production",
        /// Everything, as fast as the target responds.
        #[default]
        Full => "full",
    }
}

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

/// Which checks and cases run: arguments, and keys of the configuration.
#[derive(Debug, Clone, Default, Args)]
pub struct Selection {
    /// Run only checks whose id, clause or operation matches, for example `groups.*`, or one case, as `check-id/case-label`;
    /// may be repeated.
    #[arg(long, value_name = "GLOB")]
    pub only: Vec<Glob>,
    /// Skip checks whose id, clause or operation matches, or one case; may be repeated.
    #[arg(long, value_name = "GLOB")]
    pub skip: Vec<Glob>,
}

/// A pattern on check ids, clause ids and operations, or on `check-id/case-label`; `*` stands for any text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Glob(String);

impl Glob {
    /// A pattern.
    pub fn new(pattern: impl Into<String>) -> Self {
        Self(pattern.into())
    }

    /// Whether the whole pattern matches a text.
    pub fn matches(&self, text: &str) -> bool {
        let mut parts = self.0.split('*');
        let first = parts.next().unwrap_or_default();
        let Some(mut rest) = text.strip_prefix(first) else { return false };
        let parts: Vec<&str> = parts.collect();
        let Some((last, middle)) = parts.split_last() else { return rest.is_empty() };
        for part in middle {
            let Some(found) = rest.find(part) else { return false };
            rest = &rest[found + part.len()..];
        }
        rest.ends_with(last)
    }

    /// The pattern as it was written.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether it matches the check's id, one of its clauses or its operation.
    pub fn selects(&self, check: &Check) -> bool {
        let operation = check.operation.map(|operation| operation.id());
        self.matches(check.id)
            || check.clauses.iter().any(|clause| self.matches(clause.id()))
            || operation.is_some_and(|operation| self.matches(operation))
    }

    /// Whether it matches the whole check, or this case of it. Only a pattern with a `/` can match a case.
    pub fn selects_case(&self, check: &Check, label: &str) -> bool {
        self.may_select(check) && (self.selects(check) || self.matches(&format!("{}/{label}", check.id)))
    }

    /// Whether it matches the check, or may match a case of it.
    fn may_select(&self, check: &Check) -> bool {
        let check_of_case = self.0.split_once('/').map(|(id, _)| Self::new(id));
        self.selects(check) || check_of_case.is_some_and(|id| id.matches(check.id))
    }
}

impl From<&str> for Glob {
    fn from(text: &str) -> Self {
        Self::new(text)
    }
}

impl Selection {
    /// What this one selects, or else `under`, without what either skips.
    #[must_use]
    pub fn over(&self, under: Self) -> Self {
        let only = if self.only.is_empty() { under.only } else { self.only.clone() };
        Self { only, skip: [under.skip, self.skip.clone()].concat() }
    }

    /// Whether a case of a check may run: cheaper to know than its cases, some of which hold tens of thousands of addresses.
    pub(super) fn may_include(&self, check: &Check) -> bool {
        self.only.is_empty() || self.only.iter().any(|glob| glob.may_select(check))
    }

    /// Whether a case of a check runs.
    pub fn includes(&self, check: &Check, label: &str) -> bool {
        let wanted = self.only.is_empty() || self.only.iter().any(|glob| glob.selects_case(check, label));
        wanted && !self.skip.iter().any(|glob| glob.selects_case(check, label))
    }

    /// A pattern that matches no check, most likely a typing error.
    pub fn idle<'a>(&'a self, checks: &[&'static Check]) -> Option<&'a Glob> {
        self.only.iter().chain(&self.skip).find(|glob| !checks.iter().any(|check| glob.may_select(check)))
    }
}

/// Why a run cannot start.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    /// The HTTP client can't be set up.
    #[error(transparent)]
    Wire(#[from] WireError),
    /// A secret is too short to be kept out of reports.
    #[error(transparent)]
    Secret(#[from] ShortSecret),
    /// The texts that must never appear can't be searched for.
    #[error("cannot search for the canaries: {0}")]
    Canaries(#[from] aho_corasick::BuildError),
    /// The known faults cannot be parsed, which is a bug of the suite.
    #[error("cannot read the known faults: {0}")]
    Matrix(&'static str),
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

    #[test]
    fn stars_stand_for_any_text() {
        let [id, pages] = ["search.page.range", "search.page"];
        for (pattern, text) in
            [("search.*", id), ("*", ""), ("*.page.*", id), ("a*b*b", "abb"), ("search", "search")]
        {
            assert!(Glob::new(pattern).matches(text), "{pattern} {text}");
        }
        for (pattern, text) in [("search", pages), ("a*a", "a"), ("", "a"), ("*.page", id)] {
            assert!(!Glob::new(pattern).matches(text), "{pattern} {text}");
        }
    }
}

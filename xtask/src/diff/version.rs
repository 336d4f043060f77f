//! The version step that a change requires.

use std::fmt;

use super::{Diff, rules::Verdict};

/// A version of three numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Version {
    pub(crate) major: u64,
    pub(crate) minor: u64,
    pub(crate) patch: u64,
}

/// Which number of a version is raised.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, strum::Display)]
#[strum(serialize_all = "lowercase")]
pub(crate) enum Step {
    None,
    Patch,
    Minor,
    Major,
}

impl Version {
    /// Reads `1.2.3`; `None` for anything else.
    pub(crate) fn parse(text: &str) -> Option<Version> {
        let mut numbers = text.split('.').map(|number| number.parse().ok());
        let version = Version { major: numbers.next()??, minor: numbers.next()??, patch: numbers.next()?? };
        numbers.next().is_none().then_some(version)
    }

    /// The next version after a step. Below 1.0.0 a minor step may break, so a major one is no more than that.
    pub(crate) fn after(self, step: Step) -> Version {
        let Version { major, minor, patch } = self;
        match (step, major) {
            (Step::None, _) => self,
            (Step::Major, 1..) => Version { major: major + 1, minor: 0, patch: 0 },
            (Step::Major, 0) | (Step::Minor, 1..) => Version { major, minor: minor + 1, patch: 0 },
            (Step::Minor, 0) | (Step::Patch, _) => Version { major, minor, patch: patch + 1 },
        }
    }
}

impl fmt::Display for Version {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

impl Step {
    /// The step that a change with this verdict requires.
    pub(crate) fn from_verdict(verdict: Option<Verdict>) -> Step {
        match verdict {
            None => Step::None,
            Some(Verdict::Documentation) => Step::Patch,
            Some(Verdict::Compatible | Verdict::Decision) => Step::Minor,
            Some(Verdict::Breaking) => Step::Major,
        }
    }
}

/// The versions that the changes of a comparison require.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct VersionAdvice {
    pub(crate) step: Step,
    /// Minimum `info.version`; `None` when the older one is not a version.
    pub(crate) document: Option<Version>,
    /// Version of the crates, if the present one is published.
    pub(crate) crates: Option<Version>,
    /// Whether the newer document has that version, or a higher one.
    pub(crate) is_met: bool,
}

/// The versions that the changes require. `crates` is the present version of the crates.
pub(crate) fn advise(diff: &Diff, crates: &str) -> VersionAdvice {
    let step = Step::from_verdict(diff.worst());
    let old = Version::parse(&diff.versions.0);
    let document = old.map(|version| version.after(step));
    let new = Version::parse(&diff.versions.1);
    VersionAdvice {
        step,
        document,
        crates: Version::parse(crates).map(|version| version.after(step)),
        is_met: step == Step::None || document.is_some() && new >= document,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_have_three_numbers_and_steps_follow_semantic_versioning() {
        let version = Version::parse("1.2.3").unwrap();
        for (step, expected) in
            [(Step::None, "1.2.3"), (Step::Patch, "1.2.4"), (Step::Minor, "1.3.0"), (Step::Major, "2.0.0")]
        {
            assert_eq!(version.after(step).to_string(), expected);
        }
        let early = Version::parse("0.1.4").unwrap();
        assert_eq!(early.after(Step::Major).to_string(), "0.2.0");
        assert_eq!(early.after(Step::Minor).to_string(), "0.1.5");
        for text in ["1", "1.2", "1.2.3.4", "1.2.x", "", "v1.2.3"] {
            assert_eq!(Version::parse(text), None, "{text}");
        }
    }
}

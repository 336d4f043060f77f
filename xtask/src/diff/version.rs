//! The version step that a change requires.

pub(crate) use semver::Version;

use super::{Diff, rules::Verdict};

/// Which number of a version is raised.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::Display)]
#[strum(serialize_all = "lowercase")]
pub(crate) enum Step {
    None,
    Patch,
    Minor,
    Major,
}

/// The version that the changes of a comparison require.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct VersionAdvice {
    pub(crate) step: Step,
    /// Minimum `info.version`; `None` when the older one is not a version.
    pub(crate) document: Option<Version>,
    /// Whether the newer document has that version, or a higher one.
    pub(crate) is_met: bool,
}

/// Reads `1.2.3`; `None` for anything else.
pub(crate) fn parse(text: &str) -> Option<Version> {
    Version::parse(text).ok().filter(|version| version.pre.is_empty() && version.build.is_empty())
}

/// The version that the changes require.
pub(crate) fn advise(diff: &Diff) -> VersionAdvice {
    let step = match diff.worst() {
        None => Step::None,
        Some(Verdict::Documentation) => Step::Patch,
        Some(Verdict::Compatible | Verdict::Decision) => Step::Minor,
        Some(Verdict::Breaking) => Step::Major,
    };
    let document = parse(&diff.versions.0).map(|version| after(&version, step));
    let is_met = step == Step::None || document.is_some() && parse(&diff.versions.1) >= document;
    VersionAdvice { step, document, is_met }
}

/// The next version after a step. Below 1.0.0 a minor step may break, so a major one is no more than that.
fn after(version: &Version, step: Step) -> Version {
    let Version { major, minor, patch, .. } = *version;
    match (step, major) {
        (Step::None, _) => version.clone(),
        (Step::Major, 1..) => Version::new(major + 1, 0, 0),
        (Step::Major, 0) | (Step::Minor, 1..) => Version::new(major, minor + 1, 0),
        (Step::Minor, 0) | (Step::Patch, _) => Version::new(major, minor, patch + 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_have_three_numbers_and_steps_follow_semantic_versioning() {
        for (version, step, expected) in [
            ("1.2.3", Step::None, "1.2.3"),
            ("1.2.3", Step::Patch, "1.2.4"),
            ("1.2.3", Step::Minor, "1.3.0"),
            ("1.2.3", Step::Major, "2.0.0"),
            ("0.1.4", Step::Major, "0.2.0"),
            ("0.1.4", Step::Minor, "0.1.5"),
        ] {
            assert_eq!(after(&parse(version).unwrap(), step).to_string(), expected);
        }
        for text in ["1", "1.2", "1.2.3.4", "1.2.x", "", "v1.2.3", "1.2.3-rc1"] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}

use super::CheckResult;
use crate::check::Outcome;
use crate::quantity::quantity;

/// What has the same outcome, which is no result, for the same reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unresolved<'a> {
    /// Of the first of them.
    pub outcome: &'a Outcome,
    /// Why, and what the tester can do about it.
    pub reason: &'a str,
    /// Checks that have no other outcome.
    pub checks: Vec<&'a str>,
    /// Cases of other checks, as `check-id/case-label`, which `--only` accepts.
    pub cases: Vec<String>,
}

impl<'a> Unresolved<'a> {
    /// Maximum number of ids on a line; the others are counted.
    const FEW: usize = 5;

    /// What was skipped, by reason; the most frequent reason first.
    pub fn skipped(results: &'a [CheckResult]) -> Vec<Self> {
        Self::of_kind(results, |outcome| matches!(outcome, Outcome::Skipped(_)))
    }

    /// What ran and has no result, by outcome and reason; the most frequent one first.
    pub fn inconclusive(results: &'a [CheckResult]) -> Vec<Self> {
        Self::of_kind(results, |outcome| matches!(outcome, Outcome::Inconclusive(_) | Outcome::Error(_)))
    }

    fn of_kind(results: &'a [CheckResult], is_of_kind: fn(&Outcome) -> bool) -> Vec<Self> {
        let mut groups: Vec<Self> = Vec::new();
        let group = |groups: &mut Vec<Self>, outcome: &'a Outcome| {
            groups.iter().position(|group| group.outcome == outcome).unwrap_or_else(|| {
                let reason = outcome.reason().unwrap_or_default();
                groups.push(Self { outcome, reason, checks: Vec::new(), cases: Vec::new() });
                groups.len() - 1
            })
        };
        for result in results {
            let mut cases = result.cases.iter().filter(|case| is_of_kind(&case.outcome)).peekable();
            // The reason of a check joins those of its cases.
            let first = cases.peek().map(|case| &case.outcome);
            let is_whole =
                is_of_kind(&result.outcome) && result.cases.iter().all(|case| Some(&case.outcome) == first);
            if is_whole || first.is_none() && is_of_kind(&result.outcome) {
                let at = group(&mut groups, first.unwrap_or(&result.outcome));
                groups[at].checks.push(result.id);
                continue;
            }
            for case in cases {
                let at = group(&mut groups, &case.outcome);
                groups[at].cases.push(format!("{}/{}", result.id, case.label));
            }
        }
        groups.sort_by_key(|group| std::cmp::Reverse((group.checks.len(), group.cases.len())));
        groups
    }

    /// What it is, and the reason.
    pub fn line(&self) -> String {
        format!("{}: {}", self.folded(), self.reason)
    }

    /// Whether it follows from a finding of that check, which the reason names.
    pub fn follows_from(&self, check: &str) -> bool {
        self.reason.ends_with(&format!("see {check}"))
    }

    /// Every id: the checks, then the cases.
    pub fn ids(&self) -> impl Iterator<Item = &str> {
        self.checks.iter().copied().chain(self.cases.iter().map(String::as_str))
    }

    /// "2 checks and 7 cases (a; b; c/d; e; f and 4 more)"
    pub fn folded(&self) -> String {
        let counts = match (self.checks.len(), self.cases.len()) {
            (checks, 0) => quantity(checks, "check"),
            (0, cases) => quantity(cases, "case"),
            (checks, cases) => format!("{} and {}", quantity(checks, "check"), quantity(cases, "case")),
        };
        let named = self.ids().take(Self::FEW).collect::<Vec<_>>().join("; ");
        let more = self.ids().count().saturating_sub(Self::FEW);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        format!("{counts} ({named}{more})")
    }
}

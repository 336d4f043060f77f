use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::Serialize;

use crate::check::{CheckResult, Finding, Outcome, Severity};
use crate::contract::{Catalogue, Clause, ClauseEntry};
use crate::quantity::quantity;

/// Inconclusive checks that were run again at the end of a run, while nothing else ran.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Rerun {
    /// Checks that were inconclusive.
    pub checks: usize,
    /// Those that then had a result.
    pub concluded: usize,
}

/// The results of one clause's checks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ClauseSummary {
    /// The clause.
    pub id: Clause,
    /// Its text.
    pub text: String,
    /// Section of the prose contract.
    pub section: String,
    /// The sentences that presuppose it, if the contract does not state it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inferred_from: Option<String>,
    /// Line in `openapi/openapi.yaml`, from 1.
    pub line: u64,
    /// Number of checks that cite it and have a result; 0 if the clause was not judged.
    pub checked: usize,
    /// Number of failures that cite it.
    pub failures: usize,
}

/// Number of checks by outcome.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Totals {
    /// The contract is kept.
    pub passed: usize,
    /// A clause is violated.
    pub failed: usize,
    /// Doubtful.
    pub warned: usize,
    /// A clause was violated, but not when the check was run again.
    pub flaky: usize,
    /// A clause is violated, as the tester expects.
    pub expected: usize,
    /// Not run.
    pub skipped: usize,
    /// No result.
    pub inconclusive: usize,
    /// An error of the suite or the network.
    pub errors: usize,
}

impl Totals {
    /// Counts outcomes.
    pub fn from_outcomes<'a>(outcomes: impl Iterator<Item = &'a Outcome>) -> Self {
        let mut totals = Self::default();
        for outcome in outcomes {
            match outcome {
                Outcome::Passed => totals.passed += 1,
                Outcome::Failed => totals.failed += 1,
                Outcome::Warning => totals.warned += 1,
                Outcome::Flaky(_) => totals.flaky += 1,
                Outcome::ExpectedFailure(_) => totals.expected += 1,
                Outcome::Skipped(_) => totals.skipped += 1,
                Outcome::Inconclusive(_) => totals.inconclusive += 1,
                Outcome::Error(_) => totals.errors += 1,
            }
        }
        totals
    }

    /// The counts by the names of the outcomes, in the order of reports.
    pub(crate) const fn named(self) -> [(&'static str, usize); 8] {
        let Self { passed, failed, warned, flaky, expected, skipped, inconclusive, errors } = self;
        [
            ("passed", passed),
            ("failed", failed),
            ("warning", warned),
            ("flaky", flaky),
            ("expected failure", expected),
            ("skipped", skipped),
            ("inconclusive", inconclusive),
            ("error", errors),
        ]
    }
}

impl CheckResult {
    pub(crate) fn case(&self, label: &str) -> Option<&Outcome> {
        self.cases.iter().find(|case| case.label == label).map(|case| &case.outcome)
    }

    /// The failing cases: the check with the finding, then check and label of the case that shows it, of another check for passive ones.
    pub(super) fn failing_cases(&self) -> impl Iterator<Item = (&str, &str, &str)> {
        let failed = self.cases.iter().filter(|case| case.outcome == Outcome::Failed);
        let of_own = failed.map(|case| (self.id, self.id, case.label.as_str()));
        let failures = self.findings.iter().filter(|finding| finding.severity == Severity::Fail);
        let seen = failures.flat_map(|finding| &finding.seen_in);
        of_own.chain(seen.map(|(check, label)| (self.id, check.as_str(), label.as_str())))
    }

    /// The findings that fail the check: those of failed cases, without those of flaky ones.
    pub fn failures(&self) -> impl Iterator<Item = &Finding> {
        let stands = |finding: &&Finding| {
            let case = self.cases.iter().find(|case| finding.is_of(&case.label));
            finding.severity == Severity::Fail && case.is_none_or(|case| case.outcome == Outcome::Failed)
        };
        self.findings.iter().filter(stands)
    }

    /// Why it has no result, each reason once. The reason of its outcome joins those of its cases.
    pub fn reasons(&self) -> BTreeSet<&str> {
        if self.outcome.concluded() {
            return BTreeSet::new();
        }
        let alike = self.cases.iter().filter(|case| case.outcome.name() == self.outcome.name());
        let reasons: BTreeSet<&str> = alike.filter_map(|case| case.outcome.reason()).collect();
        if reasons.is_empty() { self.outcome.reason().into_iter().collect() } else { reasons }
    }

    /// "7 of 12 cases", if some of them were skipped and some were not.
    pub fn coverage(&self) -> Option<String> {
        let ran = self.cases.iter().filter(|case| !matches!(case.outcome, Outcome::Skipped(_))).count();
        (0 < ran && ran < self.cases.len()).then(|| format!("{ran} of {} cases", self.cases.len()))
    }
}

impl ClauseSummary {
    /// One summary for each clause that a result cites, sorted by id. No result counts for the `open` ones, which were not judged.
    pub fn from_results(
        results: &[CheckResult],
        catalogue: &Catalogue,
        open: &BTreeSet<Clause>,
    ) -> Vec<Self> {
        let mut clauses: BTreeMap<Clause, (usize, usize)> = BTreeMap::new();
        for result in results {
            for clause in result.clauses {
                clauses.entry(*clause).or_default().0 +=
                    usize::from(result.outcome.concluded() && !open.contains(clause));
            }
            for finding in result.failures().filter(|_| result.outcome == Outcome::Failed) {
                clauses.entry(finding.clause).or_default().1 += 1;
            }
        }
        let summary = |(clause, (checked, failures))| {
            let ClauseEntry { id, text, section, inferred, line, .. } = catalogue.clause(clause).clone();
            Self { id, text, section, inferred_from: inferred, line, checked, failures }
        };
        clauses.into_iter().map(summary).collect()
    }
}

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

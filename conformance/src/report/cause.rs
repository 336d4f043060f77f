//! Groups findings by their likely causes, and what has no result by its reasons.

use std::collections::BTreeMap;

use super::quantity;
use crate::check::{Finding, Outcome};
use crate::detection::KnownFault;
use crate::run::{CheckResult, Diagnosis, FindingReference, Report, Unresolved};
use crate::wire::RecordedExchange;

pub(super) type CheckFinding<'a> = (&'a CheckResult, &'a Finding);

/// Findings of which one is an example: those with one likely cause, or that say the same.
pub(super) struct Group<'a> {
    pub(super) diagnosis: Option<&'a Diagnosis>,
    /// The one with the shortest requests.
    pub(super) example: CheckFinding<'a>,
    pub(super) others: Vec<CheckFinding<'a>>,
}

/// All findings: those with a likely cause first, then the others by the check of the example. Those that say the same may `fold`.
pub(super) fn groups(report: &Report, fold: bool) -> Vec<Group<'_>> {
    let causes = report.diagnosis.iter().map(|diagnosis| (Some(diagnosis), Vec::new()));
    let mut groups: Vec<(Option<&Diagnosis>, Vec<CheckFinding<'_>>)> = causes.collect();
    for result in &report.checks {
        for (number, finding) in result.findings.iter().enumerate() {
            let reference = FindingReference { check: result.id, finding: number };
            let is_alike = |(_, other): &CheckFinding<'_>| {
                fold && (other.clause, other.severity) == (finding.clause, finding.severity)
                    && (&other.expected, &other.actual) == (&finding.expected, &finding.actual)
            };
            let group = groups.iter_mut().find(|(diagnosis, findings)| match diagnosis {
                Some(diagnosis) => diagnosis.findings.contains(&reference),
                None => findings.first().is_some_and(is_alike),
            });
            match group {
                Some((_, findings)) => findings.push((result, finding)),
                None => groups.push((None, vec![(result, finding)])),
            }
        }
    }
    let groups = groups.into_iter().filter_map(|(diagnosis, mut others)| {
        let (at, _) = others.iter().enumerate().min_by_key(|(_, finding)| size(finding))?;
        Some(Group { diagnosis, example: others.remove(at), others })
    });
    let mut groups: Vec<Group<'_>> = groups.collect();
    groups.sort_by_key(|group| group.diagnosis.is_none().then_some(group.example.0.id));
    groups
}

/// One without requests shows nothing.
fn size((result, finding): &CheckFinding<'_>) -> usize {
    let cited = result.exchanges.iter().filter(|exchange| finding.exchanges.contains(&exchange.index));
    Some(sent_bytes(cited)).filter(|size| *size > 0).unwrap_or(usize::MAX)
}

/// Length of the requests, in bytes.
pub(super) fn sent_bytes<'a>(exchanges: impl Iterator<Item = &'a RecordedExchange>) -> usize {
    exchanges.map(|one| one.target.len() + one.request_body.as_ref().map_or(0, String::len)).sum()
}

/// What has no result, grouped by outcome and reason, so that one cause takes one line. Skipped cases of checks that ran have
/// their own list.
pub(super) fn unresolved(report: &Report) -> Vec<Unresolved<'_>> {
    let skipped = Unresolved::skipped(&report.checks).into_iter().filter(|group| !group.checks.is_empty());
    let skipped = skipped.map(|group| Unresolved { cases: Vec::new(), ..group });
    Unresolved::inconclusive(&report.checks).into_iter().chain(skipped).collect()
}

/// What has no result because of the findings of a check, in words.
pub(super) fn consequences(report: &Report, check: &str) -> Option<String> {
    let groups = Unresolved::inconclusive(&report.checks).into_iter();
    let texts: Vec<String> =
        groups.filter(|group| group.follows_from(check)).map(|group| group.folded()).collect();
    (!texts.is_empty()).then(|| format!("no result for {}", texts.join(", ")))
}

/// Where it stands why a check has no result, if another check shows it: the check whose findings are the reason, or the first one
/// with that reason.
pub(super) fn same_reason(report: &Report, result: &CheckResult) -> Option<String> {
    let groups = Unresolved::inconclusive(&report.checks);
    let reasons = result.reasons();
    let reason = reasons.first().filter(|_| reasons.len() == 1)?;
    let group = groups.iter().find(|group| group.reason == *reason)?;
    let mut checks = report.checks.iter().filter(|check| check.outcome == Outcome::Failed);
    if let Some(cause) = checks.find(|check| group.follows_from(check.id)) {
        return Some(format!("as a consequence of {}", cause.id));
    }
    // A case follows its check, after a slash.
    let first = group.ids().next()?.split('/').next().filter(|first| *first != result.id)?;
    Some(format!("for the reason of {first}"))
}

/// Describes a cause, one line for each known fault.
pub(super) fn headlines(diagnosis: &Diagnosis) -> Vec<String> {
    let cases = match diagnosis.cases {
        1 => "the failing case agrees".to_owned(),
        cases => format!("the {cases} failing cases agree"),
    };
    let line = |(number, KnownFault { clause, breaks, .. }): (usize, &KnownFault)| {
        let begin = if number == 0 { format!("{cases} with the known fault") } else { "or with".to_owned() };
        format!("{begin} \u{201c}{breaks}\u{201d} ({clause})")
    };
    let lines = diagnosis.faults.iter().enumerate().map(line);
    let alike = Some(diagnosis.alike).filter(|alike| *alike > 0);
    lines.chain(alike.map(|alike| format!("or with {}", quantity(alike, "other known fault")))).collect()
}

/// The checks of the findings that fold beneath another one, each with its number of findings.
pub(super) fn folded(findings: &[CheckFinding<'_>]) -> Option<String> {
    let mut checks: BTreeMap<&str, usize> = BTreeMap::new();
    for (result, _) in findings {
        *checks.entry(result.id).or_default() += 1;
    }
    let checks: Vec<String> = checks.into_iter().map(|(check, count)| format!("{check} ({count})")).collect();
    let words = if findings.len() == 1 { "finding agrees" } else { "findings agree" };
    (!checks.is_empty()).then(|| format!("{} further {words}: {}", findings.len(), checks.join(", ")))
}

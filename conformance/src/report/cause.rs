//! Groups findings by their likely causes, and what has no result by its reasons.

use std::collections::{BTreeMap, BTreeSet};

use super::quantity;
use crate::check::{Finding, Outcome};
use crate::run::{CheckResult, Diagnosis, FindingReference, LikelyFault, Report, Unresolved};
use crate::wire::RecordedExchange;

/// A finding and its check.
pub(super) type CheckFinding<'a> = (&'a CheckResult, &'a Finding);

/// Findings with one likely cause: the smallest example is shown, and the others fold beneath it.
pub(super) struct Cause<'a> {
    pub(super) diagnosis: &'a Diagnosis,
    pub(super) example: CheckFinding<'a>,
    pub(super) folded: Vec<CheckFinding<'a>>,
}

/// The likely causes of a report.
pub(super) fn causes(report: &Report) -> Vec<Cause<'_>> {
    report.diagnosis.iter().filter_map(|diagnosis| cause(report, diagnosis)).collect()
}

fn cause<'a>(report: &'a Report, diagnosis: &'a Diagnosis) -> Option<Cause<'a>> {
    let findings = diagnosis.findings.iter().filter_map(|reference| {
        let result = report.checks.iter().find(|result| result.id == reference.check)?;
        Some((result, result.findings.get(reference.finding)?))
    });
    let (example, folded) = smallest(findings.collect())?;
    Some(Cause { diagnosis, example, folded })
}

/// The finding with the shortest requests, and the others.
fn smallest(mut findings: Vec<CheckFinding<'_>>) -> Option<(CheckFinding<'_>, Vec<CheckFinding<'_>>)> {
    let size = |(result, finding): &CheckFinding<'_>| {
        let cited = result.exchanges.iter().filter(|exchange| finding.exchanges.contains(&exchange.index));
        // One without requests shows nothing.
        Some(sent_bytes(cited)).filter(|size| *size > 0).unwrap_or(usize::MAX)
    };
    let (at, _) = findings.iter().enumerate().min_by_key(|(_, finding)| size(finding))?;
    Some((findings.remove(at), findings))
}

/// Length of the requests, in bytes.
pub(super) fn sent_bytes<'a>(exchanges: impl Iterator<Item = &'a RecordedExchange>) -> usize {
    exchanges.map(|one| one.target.len() + one.request_body.as_ref().map_or(0, String::len)).sum()
}

/// The findings that belong to no likely cause, in order. If they `fold`, those that say the same stand beneath one of them.
pub(super) fn folded_alike(report: &Report, fold: bool) -> Vec<(CheckFinding<'_>, Vec<CheckFinding<'_>>)> {
    let mut groups: Vec<Vec<CheckFinding<'_>>> = Vec::new();
    for (result, findings) in without_cause(report) {
        for finding in findings {
            let is_alike = |(_, other): &CheckFinding<'_>| {
                fold && (other.clause, other.severity) == (finding.clause, finding.severity)
                    && (&other.expected, &other.actual) == (&finding.expected, &finding.actual)
            };
            match groups.iter_mut().find(|group| group.iter().take(1).any(is_alike)) {
                Some(group) => group.push((result, finding)),
                None => groups.push(vec![(result, finding)]),
            }
        }
    }
    groups.into_iter().filter_map(smallest).collect()
}

/// The findings that belong to no likely cause, by check.
pub(super) fn without_cause(report: &Report) -> Vec<(&CheckResult, Vec<&Finding>)> {
    let explained: BTreeSet<FindingReference> =
        report.diagnosis.iter().flat_map(|diagnosis| diagnosis.findings.iter().copied()).collect();
    let mut rest = Vec::new();
    for result in &report.checks {
        let reference = |number| FindingReference { check: result.id, finding: number };
        let findings = result.findings.iter().enumerate();
        let open = findings.filter(|(number, _)| !explained.contains(&reference(*number)));
        let open: Vec<&Finding> = open.map(|(_, finding)| finding).collect();
        if !open.is_empty() {
            rest.push((result, open));
        }
    }
    rest
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
    let line = |(number, fault): (usize, &LikelyFault)| {
        let LikelyFault { clause, breaks, agreeing, failing, missed, .. } = fault;
        let or = if number == 0 { "" } else { "or " };
        let missed = match missed {
            0 => String::new(),
            missed => format!(", {} should have failed too", quantity(*missed, "other case")),
        };
        let cases = if *failing == 1 { "case agrees" } else { "cases agree" };
        format!(
            "{or}{agreeing} of {failing} failing {cases} with the known fault \u{201c}{breaks}\u{201d} ({clause}){missed}"
        )
    };
    let mut lines: Vec<String> = diagnosis.faults.iter().enumerate().map(line).collect();
    match diagnosis.alike {
        0 => {}
        alike => lines.push(format!("or {} with the same symptoms", quantity(alike, "other known fault"))),
    }
    lines
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

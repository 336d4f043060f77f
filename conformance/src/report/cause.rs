//! Groups findings by their likely causes, and checks without a result by their reasons.

use std::collections::{BTreeMap, BTreeSet};

use super::quantity;
use crate::check::{Finding, Outcome};
use crate::run::{CheckResult, Diagnosis, FindingReference, LikelyFault, Report};

/// A finding and its check.
pub(super) type CheckFinding<'a> = (&'a CheckResult, &'a Finding);

/// Findings with one likely cause: the first is shown, and the others fold beneath it.
pub(super) struct Cause<'a> {
    pub(super) diagnosis: &'a Diagnosis,
    pub(super) first: CheckFinding<'a>,
    pub(super) folded: Vec<CheckFinding<'a>>,
}

/// The likely causes of a report.
pub(super) fn causes(report: &Report) -> Vec<Cause<'_>> {
    report.diagnosis.iter().filter_map(|diagnosis| cause(report, diagnosis)).collect()
}

fn cause<'a>(report: &'a Report, diagnosis: &'a Diagnosis) -> Option<Cause<'a>> {
    let mut findings = diagnosis.findings.iter().filter_map(|reference| {
        let result = report.checks.iter().find(|result| result.id == reference.check)?;
        Some((result, result.findings.get(reference.finding)?))
    });
    Some(Cause { diagnosis, first: findings.next()?, folded: findings.collect() })
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

/// Checks without a result that have the same outcome and reason.
pub(super) struct UnresolvedChecks<'a> {
    pub(super) outcome: &'a Outcome,
    pub(super) reason: &'a str,
    pub(super) checks: Vec<&'a str>,
}

/// The checks without a result, grouped by outcome and reason, so that a missing fact takes one line.
pub(super) fn unresolved(report: &Report) -> Vec<UnresolvedChecks<'_>> {
    let mut groups: Vec<UnresolvedChecks<'_>> = Vec::new();
    for result in &report.checks {
        let outcome = &result.outcome;
        let (Outcome::Skipped(reason) | Outcome::Inconclusive(reason) | Outcome::Error(reason)) = outcome
        else {
            continue;
        };
        match groups.iter_mut().find(|group| group.outcome == outcome) {
            Some(group) => group.checks.push(result.id),
            None => groups.push(UnresolvedChecks { outcome, reason, checks: vec![result.id] }),
        }
    }
    groups
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

/// The checks of the folded findings, each with its number of findings.
pub(super) fn folded(cause: &Cause<'_>) -> Option<String> {
    let mut checks: BTreeMap<&str, usize> = BTreeMap::new();
    for (result, _) in &cause.folded {
        *checks.entry(result.id).or_default() += 1;
    }
    let checks: Vec<String> = checks.into_iter().map(|(check, count)| format!("{check} ({count})")).collect();
    let findings = if cause.folded.len() == 1 { "finding agrees" } else { "findings agree" };
    (!checks.is_empty()).then(|| format!("{} further {findings}: {}", cause.folded.len(), checks.join(", ")))
}

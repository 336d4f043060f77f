//! An earlier report, and what changed since: for `run --since`, and for `replay`, which runs nothing else.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{CheckResult, Report};
use crate::check::{CaseResult, Finding, Outcome, Severity};
use crate::explore::ExplorationResult;
use crate::names;
use crate::wire::RecordedExchange;

/// A report that was written as JSON, as far as it is read again. It is of others: none of it decides where anything is sent.
#[derive(Debug, Clone, Deserialize)]
#[expect(missing_docs, reason = "those of `Report` say it")]
pub struct SavedReport {
    pub suite: String,
    pub target: String,
    pub implementation: Option<String>,
    /// Options of curl for the way to the target. Others could make a command write files or read its options from one.
    #[serde(default, deserialize_with = "way")]
    pub curl_options: Vec<String>,
    pub contract: String,
    pub contract_sha256: String,
    #[serde(default)]
    pub run: String,
    pub begun: String,
    pub explored: Option<ExplorationResult>,
    pub checks: Vec<SavedCheck>,
    pub clauses: Vec<SavedClause>,
}

/// The result of one check.
#[derive(Debug, Clone, Deserialize)]
#[expect(missing_docs, reason = "those of `Report` say it")]
pub struct SavedCheck {
    pub id: String,
    pub title: String,
    pub why: String,
    pub clauses: Vec<String>,
    pub outcome: Outcome,
    #[serde(default)]
    pub cases: Vec<CaseResult>,
    pub findings: Vec<Finding>,
    pub exchanges: Vec<RecordedExchange>,
}

/// A clause with its place in the contract.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[expect(missing_docs, reason = "those of `Report` say it")]
pub struct SavedClause {
    pub id: String,
    pub section: String,
    pub line: u64,
    pub checked: usize,
}

/// The name of a finding: its check and, if that has several, its number.
#[must_use]
pub fn finding_id(check: &str, number: usize, findings: usize) -> String {
    if findings == 1 { check.to_owned() } else { format!("{check}#{}", number + 1) }
}

impl SavedCheck {
    /// The exchanges that show a finding, in their order.
    pub fn exchanges_of<'a>(&'a self, finding: &'a Finding) -> impl Iterator<Item = &'a RecordedExchange> {
        self.exchanges.iter().filter(|exchange| finding.exchanges.contains(&exchange.index))
    }
}

impl SavedReport {
    /// Reads a report in JSON.
    ///
    /// # Errors
    /// When it is none, or has another version; the text says what was expected.
    pub fn parse(text: &str) -> Result<Self, String> {
        let own = Report::VERSION;
        let wrong = |error: serde_json::Error| match error.classify() {
            serde_json::error::Category::Data => {
                format!("expected a report with `schema_version` {own}: {error}")
            }
            _ => format!("expected a report in JSON with `schema_version` {own}, found other text"),
        };
        let json: serde_json::Value = serde_json::from_str(text).map_err(wrong)?;
        let version = json.get("schema_version").and_then(serde_json::Value::as_u64);
        match version.filter(|_| json["checks"].is_array()) {
            Some(version) if version == u64::from(own) => serde_json::from_value(json).map_err(wrong),
            Some(version) => Err(format!(
                "expected a report with `schema_version` {own}, found {version}; write it with this version of the suite"
            )),
            None => Err("expected a report in JSON, found no `checks` with `schema_version`".to_owned()),
        }
    }

    /// The findings, each with its check and its [id](finding_id).
    pub fn findings(&self) -> impl Iterator<Item = (String, &SavedCheck, &Finding)> {
        self.checks.iter().flat_map(|check| {
            let all = check.findings.len();
            let findings = check.findings.iter().enumerate();
            findings.map(move |(number, finding)| (finding_id(&check.id, number, all), check, finding))
        })
    }
}

/// Keeps certificates and the proxy.
fn way<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    let words = Vec::<String>::deserialize(deserializer)?;
    let is_of_way = |pair: &&[String]| match pair[0].as_str() {
        "--cacert" | "--cert" | "--key" | "--proxy" => !pair[1].starts_with('-'),
        option => option == "--proxy-user" && pair[1] == "$PROXY_USER",
    };
    Ok(words.chunks_exact(2).filter(is_of_way).flatten().cloned().collect())
}

/// What became of the findings of an earlier report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Since {
    /// Start of the earlier run.
    pub begun: String,
    /// The suite or the contract of the earlier run, if it was another one, so that results may differ for that reason.
    pub other_suite: Option<String>,
    /// The base URL of the earlier run, if it was another one, so that results may differ for that reason.
    pub other_target: Option<String>,
    /// Each violation of either run: those of a check that cite one clause in one case count as one.
    pub findings: Vec<ChangedFinding>,
}

/// A violation of two runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ChangedFinding {
    /// The check.
    pub check: String,
    /// The label of the case; empty for the only one of a check.
    pub case: String,
    /// The id of the clause.
    pub clause: String,
    /// What became of it.
    pub change: FindingChange,
    /// Why it is not reproduced.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

names! {
    /// What became of a violation.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
    #[serde(rename_all = "kebab-case")]
    pub enum FindingChange {
        /// It was not found before.
        New => "new",
        /// Its check ran again, and did not find it.
        Fixed => "fixed",
        /// It was found again.
        Unchanged => "unchanged",
        /// Its check has no result now, or another one each time.
        NotReproduced => "not reproduced",
    }
}

impl Since {
    /// Compares the results of a run with an earlier report.
    #[must_use]
    pub fn new(before: &SavedReport, now: &Report) -> Self {
        let is_same = before.suite == now.suite && before.contract_sha256 == now.contract_sha256;
        let other_suite = (!is_same).then(|| format!("{}, contract {}", before.suite, before.contract));
        let target = |base: &str| base.trim_end_matches('/').to_owned();
        let other_target = Some(target(&before.target)).filter(|before| *before != target(&now.target));
        let mut since = Self { begun: before.begun.clone(), other_suite, other_target, findings: Vec::new() };
        let is_violation = |finding: &&Finding| finding.severity == Severity::Fail;
        for check in &before.checks {
            let result = now.checks.iter().find(|result| result.id == check.id);
            for finding in check.findings.iter().filter(is_violation) {
                since.add(&check.id, finding, became(finding, result));
            }
        }
        for result in &now.checks {
            let violations = result.findings.iter().filter(is_violation);
            violations.for_each(|finding| since.add(result.id, finding, (FindingChange::New, None)));
        }
        since
    }

    fn add(&mut self, check: &str, finding: &Finding, (change, reason): (FindingChange, Option<String>)) {
        if self.finding(check, finding).is_none() {
            let (case, clause) = (finding.case.clone().unwrap_or_default(), finding.clause.to_string());
            self.findings.push(ChangedFinding { check: check.to_owned(), case, clause, change, reason });
        }
    }

    /// What became of a finding of a check.
    #[must_use]
    pub fn finding(&self, check: &str, finding: &Finding) -> Option<&ChangedFinding> {
        let case = finding.case.as_deref().unwrap_or_default();
        let is_same = |known: &&ChangedFinding| {
            known.check == check && known.case == case && known.clause == finding.clause.id()
        };
        self.findings.iter().find(is_same)
    }

    /// Those with a change.
    pub fn of(&self, change: FindingChange) -> impl Iterator<Item = &ChangedFinding> {
        self.findings.iter().filter(move |finding| finding.change == change)
    }

    /// What the earlier run had otherwise, so that results may differ for that reason.
    pub fn differences(&self) -> impl Iterator<Item = String> {
        let target =
            self.other_target.iter().map(|other| format!("the earlier run was of another target, {other}"));
        target.chain(self.other_suite.iter().map(|other| format!("the earlier run had {other}")))
    }

    /// "findings since 2026-01-31T12:00:00Z: 2 new, 1 fixed, 3 unchanged"
    #[must_use]
    pub fn words(&self) -> String {
        let counts = FindingChange::ALL.map(|change| (self.of(change).count(), change));
        let shown = counts.iter().filter(|(count, change)| *count > 0 || *change == FindingChange::New);
        let counts: Vec<String> = shown.map(|(count, change)| format!("{count} {}", change.name())).collect();
        format!("findings since {}: {}", self.begun, counts.join(", "))
    }
}

impl ChangedFinding {
    /// The check with the case.
    #[must_use]
    pub fn id(&self) -> String {
        if self.case.is_empty() { self.check.clone() } else { format!("{}/{}", self.check, self.case) }
    }
}

fn became(finding: &Finding, result: Option<&CheckResult>) -> (FindingChange, Option<String>) {
    let not_reproduced = |reason: &str| (FindingChange::NotReproduced, Some(reason.to_owned()));
    let Some(result) = result else { return not_reproduced("its check was not chosen") };
    let label = finding.case.as_deref().unwrap_or_default();
    let case = result.case(label);
    // What was a violation may be a warning now, where inferred clauses are not to fail.
    let is_same = |now: &&Finding| now.clause == finding.clause && now.is_of(label);
    let is_judged =
        |judged: &BTreeSet<String>| finding.response_kind.as_ref().is_some_and(|kind| judged.contains(kind));
    match case.unwrap_or(&result.outcome) {
        outcome @ Outcome::Flaky(_) => not_reproduced(outcome.reason().unwrap_or_default()),
        _ if result.findings.iter().any(|now| is_same(&now)) => (FindingChange::Unchanged, None),
        _ if case.is_none() && !label.is_empty() => not_reproduced("its case did not run"),
        outcome if outcome.concluded() && !result.judged.as_ref().is_none_or(is_judged) => {
            let kind =
                finding.response_kind.as_deref().unwrap_or("the kind that the earlier report leaves out");
            not_reproduced(&format!("no response was judged like the one that shows it ({kind})"))
        }
        outcome if outcome.concluded() => (FindingChange::Fixed, None),
        outcome => not_reproduced(outcome.reason().unwrap_or_default()),
    }
}

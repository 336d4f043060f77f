use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::contract::Clause;
use crate::run::{ClauseSummary, Report, Verdict};

/// What is kept of a run: a line of the history. It holds no secret, because a report holds none.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunRecord {
    /// When it began.
    pub begun: Timestamp,
    /// How long it took, in milliseconds.
    pub elapsed_ms: u64,
    /// The base URL.
    pub target: String,
    /// Name and version of the suite.
    pub suite: String,
    /// SHA-256 of the contract's document.
    pub contract_sha256: String,
    /// Name of the verdict; see [`Verdict::name`].
    pub verdict: String,
    /// The verdict in words, with the accepted violations and their dates; none in records of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conclusion: Option<String>,
    /// Why the target could not be tested, or why the run ended early.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped: Option<String>,
    /// Requests sent.
    pub requests: u64,
    /// Gateways that the target handed out.
    pub gateways: u64,
    /// Ids of the clauses with a result.
    pub judged: Vec<String>,
    /// Ids of the violated clauses, with the number of findings.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub broken: BTreeMap<String, u64>,
    /// Ids of the violated clauses that the tester accepts, with the last day on which they are accepted.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub accepted: BTreeMap<String, String>,
    /// Name of its report in the folder of the history, while it is kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub report: Option<String>,
}

impl RunRecord {
    /// What is kept of a report. None when it has no time that can be read, which would be a bug of the suite.
    #[must_use]
    pub fn new(report: &Report) -> Option<Self> {
        let id = |clause: &ClauseSummary| clause.id.id().to_owned();
        let judged = report.clauses.iter().filter(|clause| clause.checked > 0);
        let broken = report.clauses.iter().filter(|clause| clause.failures > 0);
        Some(Self {
            begun: report.begun.parse().ok()?,
            elapsed_ms: report.elapsed_ms,
            target: report.target.clone(),
            suite: report.suite.clone(),
            contract_sha256: report.contract_sha256.clone(),
            verdict: report.verdict.name().to_owned(),
            conclusion: Some(report.conclusion.clone()),
            stopped: report.stopped.clone(),
            requests: report.usage.requests,
            gateways: report.usage.gateways,
            judged: judged.map(id).collect(),
            broken: broken.map(|clause| (id(clause), clause.failures as u64)).collect(),
            accepted: report
                .accepted()
                .map(|entry| (entry.clause.id().to_owned(), entry.until.clone()))
                .collect(),
            report: None,
        })
    }

    /// The verdict; none for a name that this version does not know.
    #[must_use]
    pub fn verdict(&self) -> Option<Verdict> {
        Verdict::named(&self.verdict)
    }

    /// The verdict in words, or its name.
    #[must_use]
    pub fn words(&self) -> &str {
        self.conclusion.as_deref().unwrap_or(&self.verdict)
    }

    /// Whether it has a result about a clause, and whether that is broken, even if the tester accepts it. None when it was not
    /// judged.
    #[must_use]
    pub fn is_broken(&self, clause: Clause) -> Option<bool> {
        if self.broken.contains_key(clause.id()) || self.accepted.contains_key(clause.id()) {
            return Some(true);
        }
        self.judged.iter().any(|judged| judged == clause.id()).then_some(false)
    }
}

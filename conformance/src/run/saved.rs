use serde::{Deserialize, Serialize};

use super::Report;
use crate::check::{CaseResult, Finding, Outcome};
use crate::explore::ExplorationResult;
use crate::wire::RecordedExchange;

/// A report that was written as JSON, as far as it is read again. It is of others: none of it decides where anything is sent.
#[derive(Debug, Clone, Deserialize)]
pub struct SavedReport {
    /// Version of its shape.
    pub schema_version: u32,
    /// Name and version of the suite.
    pub suite: String,
    /// The base URL.
    pub target: String,
    /// Name and version of the tested implementation.
    pub implementation: Option<String>,
    /// Options of curl for the way to the target. Others could make a command write files or read its options from one.
    #[serde(default, deserialize_with = "way")]
    pub curl_options: Vec<String>,
    /// Version of the contract.
    pub contract: String,
    /// SHA-256 of the contract's document.
    pub contract_sha256: String,
    /// Id of the run, which its requests carry in `User-Agent`.
    #[serde(default)]
    pub run: String,
    /// Start of the run, RFC 3339.
    pub begun: String,
    /// The profile of the run.
    pub profile: String,
    /// The exploration, if there was one.
    pub explored: Option<ExplorationResult>,
    /// Each check.
    pub checks: Vec<SavedCheck>,
    /// Each clause that a check cites.
    pub clauses: Vec<SavedClause>,
}

/// The result of one check.
#[derive(Debug, Clone, Deserialize)]
pub struct SavedCheck {
    /// The check.
    pub id: String,
    /// What a conforming service does.
    pub title: String,
    /// What goes wrong for users when it does not.
    pub why: String,
    /// The ids of the clauses that it cites.
    pub clauses: Vec<String>,
    /// Its outcome.
    pub outcome: Outcome,
    /// The result of each case.
    #[serde(default)]
    pub cases: Vec<CaseResult>,
    /// Its findings.
    pub findings: Vec<Finding>,
    /// The exchanges to which findings refer.
    pub exchanges: Vec<RecordedExchange>,
}

/// A clause with its place in the contract.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct SavedClause {
    /// The clause.
    pub id: String,
    /// Section of the prose contract.
    pub section: String,
    /// Line in `openapi/openapi.yaml`, from 1.
    pub line: u64,
    /// Number of checks that judged it.
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

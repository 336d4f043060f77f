use serde::{Deserialize, Serialize};

use super::Report;
use crate::check::{CaseResult, Finding, Outcome};
use crate::explore::ExplorationResult;
use crate::wire::RecordedExchange;

/// A report that was written as JSON, as far as it is read again. It is of others: none of it decides where anything is sent.
#[derive(Debug, Clone, Serialize, Deserialize)]
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
#[derive(Debug, Clone, Serialize, Deserialize)]
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

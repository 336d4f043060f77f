//! The report of a client test: JSON, JUnit, and lines for a terminal. It holds no token.

mod text;

use std::io;
use std::time::Instant;

use serde::Serialize;

use super::duty::Duty;
use super::result::ClientCaseResult;
use crate::contract::Contract;
use crate::report::{Format, JunitSuite, counted, junit_document};
use crate::run::{Totals, Verdict};

/// The result of all cases.
#[derive(Debug, Clone, Serialize)]
pub struct ClientReport {
    /// Version of this shape.
    pub schema_version: u32,
    /// Name and version of the suite.
    pub suite: String,
    /// The program that was tested, without its folder and its arguments.
    pub client: String,
    /// Version of the contract.
    pub contract: String,
    /// SHA-256 of the contract's document, in hexadecimal digits.
    pub contract_sha256: String,
    /// When it began, RFC 3339.
    pub begun: String,
    /// In milliseconds.
    pub elapsed_ms: u64,
    /// What it comes to.
    pub verdict: Verdict,
    /// Number of cases by outcome.
    pub totals: Totals,
    /// Each case, by duty.
    pub cases: Vec<ClientCaseResult>,
}

impl ClientReport {
    /// Version of the JSON report; it is increased when readers have to change.
    pub const VERSION: u32 = 2;

    pub(super) fn new(
        contract: &Contract,
        client: String,
        (begun, at): (Instant, jiff::Timestamp),
        cases: Vec<ClientCaseResult>,
    ) -> Self {
        let totals = Totals::from_outcomes(cases.iter().map(|case| &case.outcome));
        Self {
            schema_version: Self::VERSION,
            suite: concat!(env!("CARGO_PKG_NAME"), " ", env!("CARGO_PKG_VERSION")).to_owned(),
            client,
            contract: contract.version.clone(),
            contract_sha256: contract.sha256.clone(),
            begun: at.to_string(),
            elapsed_ms: u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX),
            verdict: Verdict::from_totals(totals, false),
            totals,
            cases,
        }
    }

    /// The report in one of [`Format::OF_CLIENTS`].
    ///
    /// # Errors
    /// It has no such format, or can't be written, which would be a bug of the suite.
    pub fn render(&self, format: Format) -> io::Result<String> {
        match format {
            Format::Junit => self.junit().map_err(io::Error::other),
            Format::Json => Ok(crate::report::pretty_json(self)?),
            other => {
                Err(io::Error::other(format!("the report of a client can't be written as {}", other.name())))
            }
        }
    }

    /// One suite for each duty, one test for each case.
    fn junit(&self) -> Result<String, minijinja::Error> {
        let properties = [("client", self.client.as_str()), ("contract", self.contract.as_str())];
        let suite = |duty: Duty| JunitSuite {
            name: duty.to_string(),
            tests: self.cases.iter().filter(|case| case.duty == duty).map(ClientCaseResult::test).collect(),
        };
        let suites = Duty::ALL.into_iter().map(suite).filter(|suite| !suite.tests.is_empty());
        let suites: Vec<JunitSuite> = suites.collect();
        junit_document("sallyport-client-conformance", self.elapsed_ms, &properties, &suites)
    }

    /// Number of cases by outcome, in words.
    fn counts(&self) -> String {
        let gave_up = self.cases.iter().filter(|case| case.gave_up).count();
        let counts = counted(self.totals);
        match gave_up {
            0 => counts,
            _ => counts.replacen(" passed", &format!(" passed ({gave_up} by giving up)"), 1),
        }
    }
}

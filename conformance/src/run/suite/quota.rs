//! Accounts that run out of gateways in the middle of a run: the rejection is then that of the quota, which the contract leaves
//! open, and not of what a check asked for.

use std::collections::BTreeSet;

use serde_json::Value;

use super::Suite;
use crate::check::{Case, Check, Decision, Probe, ProbeContext, Severity};
use crate::checks::Requests as _;
use crate::run::CheckResult;
use crate::wire::RecordedExchange;

/// What tells one rejection from another: the HTTP status, and the code if there is one.
type Rejection = (u16, Option<String>);

impl Suite<'_> {
    /// Why the failing cases of a check show nothing: a plain extraction is rejected just as theirs were, though the account
    /// has extracted before. None when it is served, and for failures that rest on no rejected extraction. It may take one
    /// gateway.
    pub(super) async fn has_run_out(
        &self,
        check: &'static Check,
        failing: &Case,
        result: &CheckResult,
        context: &ProbeContext<'_>,
    ) -> Option<String> {
        let rejections = self.rejected_extractions(result);
        if rejections.is_empty() || self.meter.gateways_taken() == 0 {
            return None;
        }
        let probe = Probe::new(check, context);
        probe.begin(failing);
        let (exchange, class) = probe.send(&probe.extract()).await.ok()?;
        if class.decision() != Decision::Rejected {
            return None;
        }
        let response = exchange.result.as_ref().ok()?;
        let now = (response.status, response.at("/code").map(Value::to_string));
        let reason = format!(
            "a plain extraction is rejected in the same way, though the account has extracted before: {}; its quota may be \
             used up",
            class.description()
        );
        rejections.contains(&now).then(|| self.redactor.redact(&reason))
    }

    /// How the extractions that failures cite were rejected.
    fn rejected_extractions(&self, result: &CheckResult) -> BTreeSet<Rejection> {
        let failures = result.findings.iter().filter(|finding| finding.severity == Severity::Fail);
        let cited: BTreeSet<usize> = failures.flat_map(|finding| finding.exchanges.iter().copied()).collect();
        let path = self.contract.extract.operation.path.as_str();
        let exchanges = result.exchanges.iter().filter(|exchange| {
            cited.contains(&exchange.index) && exchange.target.split('?').next() == Some(path)
        });
        exchanges.filter_map(rejection).collect()
    }
}

fn rejection(exchange: &RecordedExchange) -> Option<Rejection> {
    let status = exchange.status.filter(|status| *status >= 400)?;
    let body = exchange.response_body.as_deref().and_then(|body| serde_json::from_str::<Value>(body).ok());
    Some((status, body.and_then(|body| Some(body.get("code")?.to_string()))))
}

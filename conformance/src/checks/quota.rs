//! Accounts whose quota is used up during a run: later rejections are due to that, which the contract leaves open.

use std::collections::BTreeSet;

use serde_json::Value;

use super::extraction::{Extraction, Transport};
use super::token::outline;
use crate::check::{Decision, Finding, Probe, Severity};
use crate::contract::Input;
use crate::contract::part::{NUM, REQUEST_ID};
use crate::wire::{RecordedExchange, Request};

/// The HTTP status of a rejection, and its code if it has one.
type Rejection = (u16, Option<String>);

/// The reason why failures of an account that has extracted before show nothing: a plain extraction is now rejected with the
/// same status and code. `None` when it is served, and when no failure is about a rejected extraction. May take a few gateways.
pub(crate) async fn has_run_out(
    probe: &Probe<'_>,
    findings: &[Finding],
    exchanges: &[RecordedExchange],
) -> Option<String> {
    let rejections = rejections(&probe.contract().extract.operation.path, findings, exchanges);
    if rejections.is_empty() {
        return None;
    }
    let (exchange, class) = probe.send(&probe.extract()).await.ok()?;
    if class.decision() != Decision::Rejected {
        return None;
    }
    let (status, code) = outline(&exchange)?;
    let now = (status, code.map(|code| code.to_string()));
    if !rejections.contains(&now) || is_served_otherwise(probe).await {
        return None;
    }
    Some(format!(
        "a plain extraction is rejected in the same way, though the account has extracted before: {}; its quota may be used up",
        class.description()
    ))
}

/// Whether an extraction of one gateway more is served that names the defaults of the optional parameters, or that has the token in
/// a header: then the plain one is not rejected for a quota. Takes at most two gateways.
pub(super) async fn is_served_otherwise(probe: &Probe<'_>) -> bool {
    let extract = &probe.contract().extract;
    let more = extract.num_range.start() + 1;
    if !extract.num_range.contains(&more) {
        return false;
    }
    let with_defaults = |request: Request, parameters: &[&Input]| {
        parameters.iter().fold(request, |request, parameter| {
            match (request.query_value(&parameter.name), parameter.default_text()) {
                (None, default) if !default.is_empty() => request.query(&parameter.name, default),
                _ => request,
            }
        })
    };
    let named = with_defaults(probe.extract(), &[&extract.regions, &extract.protocol]);
    // Apart, since a service may look at a separator that does not apply.
    let whole = with_defaults(named.clone(), &[&extract.return_type, &extract.lb])
        .query(REQUEST_ID, probe.fresh_request_id());
    let in_header = |transport| Extraction::by(transport).request(probe);
    for request in [named, whole, in_header(Transport::Header), in_header(Transport::Bearer)] {
        let sent = probe.send(&request.query(NUM, more)).await;
        if sent.is_ok_and(|(_, class)| class.decision() == Decision::Accepted) {
            return true;
        }
    }
    false
}

/// The rejections of the extractions that failures are about.
fn rejections(path: &str, findings: &[Finding], exchanges: &[RecordedExchange]) -> BTreeSet<Rejection> {
    let failures = findings.iter().filter(|finding| finding.severity == Severity::Fail);
    let compared = failures.flat_map(|finding| finding.judged.iter().chain(&finding.references));
    let judged: BTreeSet<usize> = compared.copied().collect();
    let is_judged_extraction = |exchange: &&RecordedExchange| {
        judged.contains(&exchange.index) && exchange.target.split('?').next() == Some(path)
    };
    exchanges.iter().filter(is_judged_extraction).filter_map(rejection).collect()
}

fn rejection(exchange: &RecordedExchange) -> Option<Rejection> {
    let status = exchange.status.filter(|status| *status >= 400)?;
    let body = exchange.response_body.as_deref().and_then(|body| serde_json::from_str::<Value>(body).ok());
    Some((status, body.and_then(|body| Some(body.get("code")?.to_string()))))
}

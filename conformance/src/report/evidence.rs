//! One finding as one file: what a provider needs to see that a clause is violated, without the suite and without another file.

use minijinja::value::Serde;
use minijinja::{Value, context};

use super::format::RenderError;
use super::template::render;
use super::words::{inferred_from, rests_on};
use super::{Format, curl};
use crate::check::Finding;
use crate::contract::Contract;
use crate::run::{SavedCheck, SavedReport};
use crate::wire::RecordedExchange;

/// The finding with this [id](crate::run::finding_id) as a page or as Markdown. `sha256` is that of the report's file.
///
/// # Errors
/// When it can't be rendered, which would be a bug of the suite, or has another format.
pub fn evidence(
    contract: &Contract,
    report: &SavedReport,
    (id, check, finding): (&str, &SavedCheck, &Finding),
    format: Format,
    sha256: &str,
) -> Result<String, RenderError> {
    let (name, template) = match format {
        Format::Html => ("evidence.html", include_str!("html/evidence.html")),
        Format::Markdown => ("evidence.md", include_str!("html/evidence.md")),
        other => return Err(RenderError::Unsupported { what: "evidence", format: other.name() }),
    };
    let place = report.clauses.iter().find(|clause| clause.id == finding.clause.id());
    let exchanges = exchanges(check, finding);
    let judged = exchanges.last().map_or("", |(_, exchange)| exchange.target.as_str());
    let exchanges = exchanges.iter().map(|(role, exchange)| exchange_view(report, role, exchange));
    Ok(render(
        name,
        template,
        context! {
            id => id,
            title => &check.title,
            why => &check.why,
            clause => finding.clause.id(),
            requirement => &finding.requirement,
            expected => &finding.expected,
            actual => &finding.actual,
            inferred_from => inferred_from(finding),
            rests_on => (!finding.facts.is_empty()).then(|| rests_on(finding)),
            place => Value::from(Serde(place)),
            success => success(contract, judged),
            exchanges => exchanges.collect::<Vec<_>>(),
            target => &report.target,
            implementation => &report.implementation,
            begun => &report.begun,
            run => &report.run,
            case => &finding.case,
            suite => &report.suite,
            contract => &report.contract,
            contract_sha256 => &report.contract_sha256,
            sha256 => sha256,
        },
    )?)
}

/// What a success of the operation is. The clauses say rejected of everything else.
fn success(contract: &Contract, target: &str) -> Option<String> {
    let path = target.split('?').next().unwrap_or_default();
    let operation = contract.operations().find(|operation| operation.serves(path))?;
    let (status, code) = (operation.success.status, operation.success.code);
    Some(format!(
        "By the contract, a request is accepted when the response has HTTP {status} and code {code}, and rejected otherwise."
    ))
}

/// What an exchange that was judged shows: alone, or beside others that it contradicts and that may be correct by themselves.
const JUDGED: &str = "This response violates the clause";
const JUDGED_TOGETHER: &str = "Judged together: the responses marked so contradict each other, or the clause";

/// The exchanges in the order in which they are sent again, each with what it shows.
fn exchanges<'a>(check: &'a SavedCheck, finding: &'a Finding) -> Vec<(&'static str, &'a RecordedExchange)> {
    let control = finding.control.as_deref().map(|control| ("Control request: valid, and accepted", control));
    let shown: Vec<&RecordedExchange> = check.exchanges_of(finding).collect();
    let last = shown.last().map(|exchange| exchange.index);
    let is_judged = |exchange: &RecordedExchange| match finding.judged.is_empty() {
        true => Some(exchange.index) == last,
        false => finding.judged.contains(&exchange.index),
    };
    let judged = if finding.judged.len() > 1 { JUDGED_TOGETHER } else { JUDGED };
    let role = |exchange| if is_judged(exchange) { judged } else { "Sent before" };
    control.into_iter().chain(shown.into_iter().map(|exchange| (role(exchange), exchange))).collect()
}

fn exchange_view(report: &SavedReport, role: &str, exchange: &RecordedExchange) -> Value {
    let headers = |headers: &[(String, String)]| -> String {
        headers.iter().map(|(name, value)| format!("{name}: {value}\n")).collect()
    };
    let RecordedExchange { method, target, request_headers, request_body, response_body, .. } = exchange;
    let body = |body: &Option<String>| body.as_ref().map(|body| format!("\n{body}")).unwrap_or_default();
    let response = match (exchange.status, &exchange.failure) {
        (Some(status), _) => {
            format!("HTTP {status}\n{}{}", headers(&exchange.response_headers), body(response_body))
        }
        (None, failure) => failure.as_ref().map_or("no response", |failure| &failure.detail).to_owned(),
    };
    context! {
        role => role,
        tone => if [JUDGED, JUDGED_TOGETHER].contains(&role) { "failed" } else { "passed" },
        request => format!("{method} {target}\n{}{}", headers(request_headers), body(request_body)),
        response => response,
        curl => curl::command(&report.target, exchange),
        exchange => Value::from(Serde(exchange)),
    }
}

//! One finding as one file: what a provider needs to see that a clause is violated, without the suite and without another file.

use std::io;

use minijinja::value::Serde;
use minijinja::{Value, context};
use sallyport_contract::table::Part;
use serde_json::{Map, Value as Json};

use super::cause::sent_bytes;
use super::har::query;
use super::template::{render, template};
use super::words::{inferred_from, rests_on};
use super::{Format, curl, quantity};
use crate::check::{Finding, Outcome};
use crate::contract::{Clause, Contract};
use crate::run::{SavedCheck, SavedReport};
use crate::target::Fact;
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
) -> io::Result<String> {
    let template = match format {
        Format::Html => template!("templates/evidence.html"),
        Format::Markdown => template!("templates/evidence.md"),
        other => return Err(io::Error::other(format!("evidence can't be written as {}", other.name()))),
    };
    let place = report.clauses.iter().find(|clause| clause.id == finding.clause.id());
    let exchanges = exchanges(check, finding);
    let sent: Vec<&RecordedExchange> = exchanges.iter().map(|(_, exchange)| *exchange).collect();
    let exchanges = exchanges
        .iter()
        .map(|(role, exchange)| exchange_view(report, *role, &differs(contract, exchange, &sent), exchange));
    let facts: Vec<&str> = facts(finding).collect();
    let page = render(
        template,
        context! {
            id => id,
            title => &check.title,
            why => &check.why,
            inferred_from => inferred_from(finding),
            rests_on => (!facts.is_empty()).then(|| rests_on(&facts)),
            place => Value::from(Serde(place)),
            success => sent.last().and_then(|judged| success(contract, &judged.target)),
            meanings => meanings(contract, &sent),
            smaller => smaller(report, check, finding),
            cases => cases(report, finding),
            exchanges => exchanges.collect::<Vec<_>>(),
            target => &report.target,
            implementation => &report.implementation,
            begun => &report.begun,
            run => &report.run,
            suite => &report.suite,
            contract => &report.contract,
            contract_sha256 => &report.contract_sha256,
            sha256 => sha256,
            ..Value::from(Serde(finding))
        },
    );
    page.map_err(io::Error::other)
}

/// What a success of the operation is. The clauses say rejected of everything else.
fn success(contract: &Contract, target: &str) -> Option<String> {
    let path = target.split('?').next().unwrap_or_default();
    let operation = contract.operations().find(|operation| operation.path == path)?;
    let (status, code) = (operation.success.status, operation.success.code);
    Some(format!(
        "By the contract, a request is accepted when the response has HTTP {status} and code {code}, and rejected otherwise."
    ))
}

/// The facts that the proof needs. Known addresses only say what to ask for: where responses contradict each other, they do so whatever
/// the tester knows.
fn facts(finding: &Finding) -> impl Iterator<Item = &str> {
    let is_alone = finding.judged.len() + finding.references.len() < 2;
    let facts = finding.facts.iter().map(String::as_str);
    facts.filter(move |fact| is_alone || *fact != Fact::OwnAddresses.variable())
}

/// What the document says of each value that the requests send, the token aside: the sentences of the clauses behind its constraints.
fn meanings(contract: &Contract, exchanges: &[&RecordedExchange]) -> Vec<Value> {
    let mut meanings: Vec<(&Part, Vec<String>)> = Vec::new();
    for exchange in exchanges {
        let path = exchange.target.split('?').next().unwrap_or_default();
        let mut operations = sallyport_contract::operations().iter();
        let operation = operations.find(|one| one.path == path && one.method == exchange.method);
        for (name, value) in values(exchange) {
            let Some(part) = operation.and_then(|operation| operation.part(&name)) else { continue };
            match meanings.iter_mut().find(|(known, _)| known.name == part.name) {
                Some((_, values)) if values.contains(&value) => {}
                Some((_, values)) => values.push(value),
                None => meanings.push((part, vec![value])),
            }
        }
    }
    let view = |(part, values): (&Part, Vec<String>)| {
        let mut ids: Vec<&str> = part.required.iter().flat_map(|ids| ids.split(", ")).collect();
        ids.extend(part.schema.cited());
        let cited = Clause::ALL.iter().filter(|clause| ids.contains(&clause.id()));
        let cited = cited.map(|clause| {
            let text = &contract.catalogue.clause(*clause).text;
            context! { id => clause.id(), text => text }
        });
        context! { name => &part.name, values => values, clauses => cited.collect::<Vec<_>>() }
    };
    meanings.into_iter().map(view).collect()
}

/// The values that a request sends: query parameters, headers that its check chose, and members of the body.
fn values(exchange: &RecordedExchange) -> Vec<(String, String)> {
    let body = exchange.request_body.as_deref().unwrap_or_default();
    let members: Map<String, Json> = serde_json::from_str(body).unwrap_or_default();
    let members = members.iter().map(|(name, value)| (format!("body.{name}"), value.to_string()));
    let headers = exchange.request_headers.iter().cloned();
    let values = query(&exchange.target).into_iter().chain(headers).chain(members);
    values.map(|(name, value)| (name, beginning(&value))).collect()
}

/// What tells an exchange from the `others` of a finding: the values that only some of them send, and how much the response has.
fn differs(contract: &Contract, exchange: &RecordedExchange, others: &[&RecordedExchange]) -> String {
    if others.len() < 2 {
        return String::new();
    }
    let others: Vec<_> = others.iter().map(|other| values(other)).collect();
    let is_common = |value: &(String, String)| others.iter().all(|other| other.contains(value));
    let own = values(exchange).into_iter().filter(|value| !is_common(value));
    let mut words: Vec<String> = own.map(|(name, value)| format!("{name} {value}")).collect();
    let body = exchange.response_body.as_deref().unwrap_or_default();
    let body: Json = serde_json::from_str(body).unwrap_or_default();
    let paging = &contract.search.paging;
    let items = [paging.items.as_str(), "/data"].into_iter().find_map(|path| body.pointer(path)?.as_array());
    words.extend(items.map(|items| quantity(items.len(), "item")));
    words.extend(body.pointer(&paging.total).map(|total| format!("total {total}")));
    words.join(", ")
}

/// A value on one line, which may be a long list.
fn beginning(value: &str) -> String {
    const SHOWN: usize = 60;
    match value.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &value[..end]),
        None => value.to_owned(),
    }
}

/// Another finding on the clause whose requests have at most half of the size, if there is one.
fn smaller(report: &SavedReport, check: &SavedCheck, finding: &Finding) -> Option<String> {
    let size = |check: &SavedCheck, finding: &Finding| sent_bytes(check.exchanges_of(finding));
    let others = report.findings().filter(|(.., other)| other.clause == finding.clause);
    let (least, id) = others.map(|(id, check, other)| (size(check, other), id)).min()?;
    (2 * least <= size(check, finding)).then_some(id)
}

/// The cases of each check that cites the clause, by what they came to: which combinations of values the service handles right.
fn cases(report: &SavedReport, finding: &Finding) -> Vec<Value> {
    let citing =
        report.checks.iter().filter(|check| check.clauses.iter().any(|id| id == finding.clause.id()));
    let view = |check: &SavedCheck| {
        let labels = |is_wanted: fn(&Outcome) -> bool| -> Vec<String> {
            let cases = check.cases.iter().filter(|case| is_wanted(&case.outcome) && !case.label.is_empty());
            cases.map(|case| case.label.clone()).collect()
        };
        let failed = |outcome: &Outcome| matches!(outcome, Outcome::Failed | Outcome::ExpectedFailure(_));
        let passed = labels(|outcome| *outcome == Outcome::Passed);
        context! { check => &check.id, passed => passed, failed => labels(failed) }
    };
    citing.filter(|check| check.cases.len() > 1).map(view).collect()
}

type Role = (&'static str, &'static str);

/// The exchanges in the order in which they are sent again, each with what it shows.
fn exchanges<'a>(check: &'a SavedCheck, finding: &'a Finding) -> Vec<(Role, &'a RecordedExchange)> {
    let control = finding.control.as_deref();
    let control = control.map(|control| (("passed", "Control request: valid, and accepted"), control));
    let shown: Vec<&RecordedExchange> = check.exchanges_of(finding).collect();
    let last = shown.last().map(|exchange| exchange.index);
    let is_judged = |exchange: &RecordedExchange| match finding.judged.is_empty() {
        true => Some(exchange.index) == last,
        false => finding.judged.contains(&exchange.index),
    };
    let role = |exchange: &RecordedExchange| match () {
        // One that was judged beside others may be correct by itself.
        () if is_judged(exchange) && finding.judged.len() > 1 => {
            ("failed", "Judged together: the responses marked so contradict each other, or the clause")
        }
        () if is_judged(exchange) => ("failed", "This response violates the clause"),
        () if finding.references.contains(&exchange.index) => {
            ("passed", "What is expected was taken from this response")
        }
        () => ("passed", "Sent before"),
    };
    control.into_iter().chain(shown.into_iter().map(|exchange| (role(exchange), exchange))).collect()
}

fn exchange_view(
    report: &SavedReport,
    (tone, role): Role,
    differs: &str,
    exchange: &RecordedExchange,
) -> Value {
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
        tone => tone,
        differs => differs,
        request => format!("{method} {target}\n{}{}", headers(request_headers), body(request_body)),
        response => response,
        curl => curl::command(&report.target, &report.curl_options, exchange),
        exchange => Value::from(Serde(exchange)),
    }
}

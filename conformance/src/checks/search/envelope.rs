//! The parts of every successful search: envelope, headers and instances.

use std::collections::BTreeSet;
use std::net::IpAddr;

use serde_json::Value;

use super::SEARCH;
use super::addresses;
use super::surveyed::{Account, BATCHES, surveyed};
use crate::check::{Case, Check, Cost, ObservedExchange, PassiveFinding, Probe, ResponseClass, Run, Stop};
use crate::checks::relation::values::instant;
use crate::checks::relation::{FilterKind, Query, Writing, kinds};
use crate::checks::{Requests, UNKNOWN_ADDRESS, schema};
use crate::contract::Clause;
use crate::target::Fact;
use crate::wire::{Exchange, Request, Response};

pub(super) static CHECKS: &[Check] = &[
    Check {
        id: "search.headers.request-id",
        title: "`X-Request-Id` of a search is not empty",
        why: "Support can't find a call without its id.",
        clauses: &[Clause::SearchHeaders],
        run: Run::Passive(|observed| schema::judge_request_id(observed, Clause::SearchHeaders)),
        ..SEARCH
    },
    Check {
        id: "search.envelope.schema",
        title: "every successful search matches its schema in the OpenAPI document",
        why: "Generated clients fail to parse a response that differs from the schema, and lose the whole page.",
        clauses: &[
            Clause::SearchCapabilities,
            Clause::SearchEnvelope,
            Clause::SearchHeaders,
            Clause::SearchInstance,
            Clause::SearchMaxBatchNoEffect,
            Clause::SearchStatus,
            Clause::SearchTotal,
        ],
        run: Run::Passive(schema::judge),
        ..SEARCH
    },
    Check {
        id: "search.envelope.success",
        title: "a valid search returns HTTP 200 with code 200",
        why: "Clients check both; when they disagree, a success is discarded or an error is taken for a success.",
        clauses: &[Clause::SearchEnvelope],
        run: Run::Cases(|_| {
            schema::success(Clause::SearchEnvelope, Cost::requests(1), |probe| probe.any_search())
        }),
        ..SEARCH
    },
    Check {
        id: "search.envelope.variety",
        title: "every kind of successful search has the envelope, the headers and complete instances",
        why: "Fields that are missing only in empty results, on later pages or beside a filter break clients that were tested without them.",
        clauses: CLAUSES,
        run: Run::Cases(|_| variety_cases()),
        ..SEARCH
    },
    Check {
        id: "search.instance.watched",
        title: "an instance has an IP address, a country code of three letters, an id of its own, and null for an unknown time",
        why: "Callers connect to the address and store instances by id; a host name or a repeated id breaks them.",
        clauses: &[Clause::SearchInstance, Clause::SearchPaging],
        run: Run::Passive(judge_instances),
        ..SEARCH
    },
];

/// The clauses that apply to every successful search.
const CLAUSES: &[Clause] =
    &[Clause::SearchEnvelope, Clause::SearchHeaders, Clause::SearchInstance, Clause::SearchCapabilities];

/// Successful searches of every kind, which the schema check judges too.
fn variety_cases() -> Vec<Case> {
    const PLAIN: [(&str, Plain); 5] = [
        ("one address", |probe| probe.any_search()),
        ("with a request id of the caller", |probe| {
            let header = &probe.contract().extract.request_id_header.name;
            probe.any_search().header(header, probe.fresh_request_id())
        }),
        ("an address that nobody has", |probe| probe.search([UNKNOWN_ADDRESS])),
        ("several addresses that nobody has", |probe| probe.search(addresses::several_unknown(3))),
        ("as many addresses as there may be", |probe| {
            probe.search(addresses::distinct(probe.contract().search.distinct_items))
        }),
    ];
    let plain = |(label, make)| Case::for_data(label, Cost::requests(1), make, judge_plain);
    let batches = BATCHES.map(|name| (name.to_owned(), 1, SearchKind::Batch(name)));
    let filters = kinds().map(|kind| (format!("filtered by {}", kind.label()), 2, SearchKind::Filter(kind)));
    let kinds = [("small pages".to_owned(), 4, SearchKind::Pages)].into_iter().chain(batches).chain(filters);
    let surveyed = surveyed(kinds, judge_surveyed).into_iter().map(|case| case.needs([Fact::OwnAddresses]));
    PLAIN.into_iter().map(plain).chain(surveyed).collect()
}

type Plain = fn(&Probe<'_>) -> Request;

async fn judge_plain(probe: &Probe<'_>, make: Plain) -> Result<(), Stop> {
    judge_all(probe, [make(probe)]).await
}

#[derive(Debug, Clone, Copy)]
enum SearchKind {
    Pages,
    Batch(&'static str),
    Filter(FilterKind),
}

async fn judge_surveyed(probe: &Probe<'_>, kind: SearchKind) -> Result<(), Stop> {
    let account = Account::read(probe).await?;
    let query = account.survey.query();
    let queries = match kind {
        SearchKind::Pages => {
            let largest = Query { size: Some(*account.search.page_sizes.end()), ..query.clone() };
            let null = Query { writing: Writing::NullFilter, ..query.clone() };
            let pages = account.pages(query, account.survey.page_size(2));
            pages.into_iter().chain([largest, null]).collect()
        }
        SearchKind::Batch(name) => vec![account.batch(name)?],
        SearchKind::Filter(kind) => {
            let filters = account.survey.candidates(kind).into_iter().take(2);
            filters.map(|filter| query.clone().filtered([filter])).collect()
        }
    };
    let requests: Vec<Request> = queries.iter().map(|query| query.request(probe)).collect();
    judge_all(probe, requests).await
}

async fn judge_all(probe: &Probe<'_>, requests: impl IntoIterator<Item = Request>) -> Result<(), Stop> {
    let mut reported = BTreeSet::new();
    for request in requests {
        let (exchange, class) = probe.send(&request).await?;
        match (&exchange.result, class) {
            (Ok(response), ResponseClass::Accepted) => judge(probe, response, &exchange, &mut reported),
            (_, ResponseClass::Ambiguous(what)) => {
                let expected = "the HTTP status and the code of a success together";
                probe.finding(Clause::SearchEnvelope, expected, &what, &[&exchange]);
            }
            (_, class) => {
                return Err(probe.inconclusive(&format!("a search was rejected: {}", class.description())));
            }
        }
    }
    Ok(())
}

/// Reports each violated constraint once, however many responses violate it, and what a schema can't express.
fn judge(probe: &Probe<'_>, response: &Response, exchange: &Exchange, reported: &mut BTreeSet<String>) {
    let success = &probe.contract().search.operation.success;
    let body = response.json().unwrap_or(&Value::Null);
    for violation in success.violations(body, |name| response.header_values(name)) {
        let clause = violation.clause;
        if CLAUSES.contains(&clause) && reported.insert(violation.key()) {
            probe.violation(&violation, exchange);
        }
    }
    if response.header("x-request-id").is_some_and(|id| id.is_empty()) {
        probe.finding(Clause::SearchHeaders, "X-Request-Id with a value", "an empty one", &[exchange]);
    }
    if response.at("/requestId").and_then(Value::as_str).is_some_and(str::is_empty) {
        let expected = "a requestId to trace the request by";
        probe.finding(Clause::SearchEnvelope, expected, "an empty one", &[exchange]);
    }
}

/// Rules of section 2.3 that a schema can't express.
fn judge_instances(observed: &ObservedExchange<'_>) -> Option<Vec<PassiveFinding>> {
    let items = observed.success()?.at("/data/items")?.as_array()?;
    let mut seen = BTreeSet::new();
    let mut findings = Vec::new();
    let mut report = |clause: Clause, key: &str, expected: &str, actual: String| {
        findings.push(PassiveFinding::fail(clause, key, expected, actual));
    };
    for item in items {
        let text = |name: &str| item.get(name).and_then(Value::as_str);
        if let Some(ip) = text("ip").filter(|ip| ip.parse::<IpAddr>().is_err()) {
            report(Clause::SearchInstance, "ip", "ip is an IP address", ip.to_owned());
        }
        if let Some(code) = text("countryCode").filter(|code| !is_country(code)) {
            report(Clause::SearchInstance, "countryCode", "countryCode has three letters", code.to_owned());
        }
        for name in ["expiresAt", "activatedAt"] {
            if let Some(time) = text(name).filter(|time| is_in_place_of_null(time)) {
                report(
                    Clause::SearchInstance,
                    name,
                    "null for a time that is unknown",
                    format!("{name} {time}"),
                );
            }
        }
        let id = item.get(&observed.contract.search.paging.identity).and_then(Value::as_i64);
        if let Some(id) = id.filter(|id| !seen.insert(*id)) {
            report(
                Clause::SearchPaging,
                "twice",
                "each instance once on a page",
                format!("{id} occurs twice"),
            );
        }
    }
    Some(findings)
}

/// The times that programs put where there is none: the first instant of Unix time and of the first year.
fn is_in_place_of_null(time: &str) -> bool {
    instant(time)
        .is_some_and(|time| ["1970-01-01T00:00:00Z", "0001-01-01T00:00:00Z"].contains(&&*time.to_string()))
}

fn is_country(code: &str) -> bool {
    code.len() == 3 && code.bytes().all(|byte| byte.is_ascii_alphabetic())
}

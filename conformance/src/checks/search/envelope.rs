//! What every successful search looks like: envelope, headers and instances.

use std::collections::BTreeSet;
use std::net::IpAddr;

use serde_json::Value;

use super::addresses;
use super::cases::{BATCHES, batch, surveyed};
use crate::check::{
    Case, Check, Cost, ObservedExchange, PassiveFinding, Probe, ResponseClass, Run, Severity, Stop,
};
use crate::checks::relation::{FilterKind, survey};
use crate::checks::{Requests, UNKNOWN_ADDRESS, schema, success};
use crate::contract::{Clause, OperationId};
use crate::target::Fact;
use crate::wire::{Exchange, Request, Response};

pub(super) static HEADERS: Check = Check {
    id: "search.headers.request-id",
    title: "`X-Request-Id` of a search is not empty",
    why: "Support can't find a call without its id.",
    operation: Some(OperationId::Search),
    clauses: &[Clause::SearchHeaders],
    needs: &[],
    run: Run::Passive(|observed| schema::judge_request_id(observed, Clause::SearchHeaders)),
};

pub(super) static SCHEMA: Check = Check {
    id: "search.envelope.schema",
    title: "every successful search matches the document's response schema",
    why: "Generated clients fail to parse a response that differs from the schema, and lose the whole page.",
    operation: Some(OperationId::Search),
    clauses: &[
        Clause::SearchCapabilities,
        Clause::SearchEnvelope,
        Clause::SearchHeaders,
        Clause::SearchInstance,
        Clause::SearchMaxBatchNoEffect,
        Clause::SearchStatus,
        Clause::SearchTotal,
    ],
    needs: &[],
    run: Run::Passive(schema::judge),
};

pub(super) static SUCCESS: Check = Check {
    id: "search.envelope.success",
    title: "a valid search returns the HTTP status and the code of a success",
    why: "Clients check both; when they disagree, a success is discarded or an error is taken for a success.",
    operation: Some(OperationId::Search),
    clauses: &[Clause::SearchEnvelope],
    needs: &[],
    run: Run::Cases(|_| {
        Case::single(Cost::requests(1), |probe| {
            Box::pin(async move { success::judge(probe, Clause::SearchEnvelope, &probe.any_search()).await })
        })
    }),
};

pub(super) static VARIETY: Check = Check {
    id: "search.envelope.variety",
    title: "every kind of successful search has the envelope, the headers and complete instances",
    why: "Fields that are missing only in empty results, on later pages or beside a filter break clients that were tested without these.",
    operation: Some(OperationId::Search),
    clauses: CLAUSES,
    needs: &[],
    run: Run::Cases(|_| variety_cases()),
};

pub(super) static INSTANCE_WATCHED: Check = Check {
    id: "search.instance.watched",
    title: "an instance has an IP address, a country code of three letters and an id of its own",
    why: "Callers connect to the address and store instances by id; a host name or a repeated id breaks them.",
    operation: Some(OperationId::Search),
    clauses: &[Clause::SearchInstance, Clause::SearchPaging],
    needs: &[],
    run: Run::Passive(judge_instances),
};

/// What successes of every kind may break.
const CLAUSES: &[Clause] =
    &[Clause::SearchEnvelope, Clause::SearchHeaders, Clause::SearchInstance, Clause::SearchCapabilities];

/// Brings about successes of every kind, which the schema check looks at too.
fn variety_cases() -> Vec<Case> {
    type Plain = fn(&Probe<'_>) -> Request;
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
    let plain = |(label, make): (&'static str, Plain)| {
        Case::with(label, Cost::requests(1), make, |probe, make| {
            Box::pin(async move { judge_all(probe, [make(probe)]).await })
        })
    };
    let paged = [("small pages".to_owned(), 4, SearchKind::Pages)];
    let batches = BATCHES.into_iter().map(|name| (name.to_owned(), 1, SearchKind::Batch(name)));
    let filters = FilterKind::ALL.into_iter().map(|kind| {
        (format!("filtered by {}", format!("{kind:?}").to_lowercase()), 2, SearchKind::Filter(kind))
    });
    let surveyed = surveyed(paged.into_iter().chain(batches).chain(filters), |probe, kind| {
        Box::pin(judge_surveyed(probe, kind))
    });
    let surveyed = surveyed.into_iter().map(|case| case.needs([Fact::OwnAddresses]));
    PLAIN.into_iter().map(plain).chain(surveyed).collect()
}

#[derive(Debug, Clone, Copy)]
enum SearchKind {
    Pages,
    Batch(&'static str),
    Filter(FilterKind),
}

async fn judge_surveyed(probe: &Probe<'_>, kind: SearchKind) -> Result<(), Stop> {
    let search = &probe.contract().search;
    let survey = survey(probe).await?;
    let requests: Vec<_> = match kind {
        SearchKind::Pages => {
            let size = survey.page_size(2);
            let sized = survey.request.clone().field(&search.page_size.name, size);
            let pages = survey.pages(search, size).map(|page| sized.clone().field(&search.page.name, page));
            let largest = survey.request.clone().field(&search.page_size.name, *search.page_sizes.end());
            let null = survey.request.clone().field(&search.group_id.name, Value::Null);
            pages.chain([largest, null]).collect()
        }
        SearchKind::Batch(name) => vec![probe.search(batch(probe, survey, name)?.items.clone())],
        SearchKind::Filter(kind) => {
            let filters = survey.candidates(kind).into_iter().take(2);
            filters.map(|filter| filter.on(search, survey.request.clone())).collect()
        }
    };
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

/// A constraint that is broken in many responses is one finding. What a schema can't say is judged here.
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

/// What 2.3 says and a schema can't.
fn judge_instances(observed: &ObservedExchange<'_>) -> Option<Vec<PassiveFinding>> {
    if *observed.class != ResponseClass::Accepted {
        return None;
    }
    let items = observed.response.at("/data/items")?.as_array()?;
    let mut seen = BTreeSet::new();
    let mut findings = Vec::new();
    let mut report = |clause: Clause, key: &str, expected: &str, actual: String| {
        let (key, expected) = (key.to_owned(), expected.to_owned());
        findings.push(PassiveFinding { clause, key, severity: Severity::Fail, expected, actual });
    };
    for item in items {
        let text = |name: &str| item.get(name).and_then(Value::as_str);
        if let Some(ip) = text("ip").filter(|ip| ip.parse::<IpAddr>().is_err()) {
            report(Clause::SearchInstance, "ip", "ip is an IP address", ip.to_owned());
        }
        if let Some(code) = text("countryCode").filter(|code| !is_country(code)) {
            report(Clause::SearchInstance, "countryCode", "countryCode has three letters", code.to_owned());
        }
        let id = item.get("instanceId").and_then(Value::as_i64);
        if let Some(id) = id.filter(|id| !seen.insert(*id)) {
            report(
                Clause::SearchPaging,
                "twice",
                "each instance once on a page",
                format!("{id} comes twice"),
            );
        }
    }
    Some(findings)
}

fn is_country(code: &str) -> bool {
    code.len() == 3 && code.bytes().all(|byte| byte.is_ascii_alphabetic())
}

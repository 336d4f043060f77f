//! Valid and invalid items of `ips`.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::SEARCH;
use super::addresses;
use super::cases::{Change, FILTERS};
use super::row::{self, Row};
use crate::check::{Case, Check, Run, Scope};
use crate::checks::{Requests, UNKNOWN_ADDRESS};
use crate::contract::part::{ACTIVATED_FROM, IPS, PAGE, PAGE_SIZE, STATUS};
use crate::contract::{Clause, Unspecified};
use crate::grammar::{Reason, by_reason, ip_endpoints, ip_ports};

pub(super) static CHECKS: &[Check] = &[
    Check {
        id: "search.ips-required.absent",
        title: "a search without `ips` is rejected",
        why: "A client that loses its list of addresses gets the result of another search and does not notice.",
        clauses: &[Clause::SearchIpsRequired],
        run: Run::Cases(|_| {
            let absent = ABSENT_BESIDE.map(|(label, change)| {
                Row::rejects(Clause::SearchIpsRequired, label).sending(label, move |probe, good| {
                    Ok(change(&probe.contract().search, good.without_field(IPS)))
                })
            });
            let null_or_elsewhere: [(&str, Change); 3] = [
                ("null beside a status", |search, good| {
                    let status = search.statuses[0].as_str();
                    good.field(IPS, Value::Null).field(STATUS, status)
                }),
                ("null", |_, good| good.field(IPS, Value::Null)),
                ("in the query, without a body", |_, good| {
                    good.body("application/json", "").query(IPS, UNKNOWN_ADDRESS)
                }),
            ];
            let others = null_or_elsewhere
                .map(|(label, change)| Row::rejects(Clause::SearchIpsRequired, label).changed(change));
            row::cases(absent.into_iter().chain(others))
        }),
        ..SEARCH
    },
    Check {
        id: "search.ips-item.forms",
        title: "each form of an item is accepted",
        why: "Callers use every form of an address that the contract lists. One rejected form fails their whole batch.",
        clauses: &[Clause::SearchIpsItem],
        run: Run::Cases(|scope| {
            let spellings = ip_endpoints(SEED, &scope.contract.search.ports);
            let reasons = by_reason(spellings).into_iter().filter(|reason| reason.is_valid);
            row::cases(reasons.map(accepted))
        }),
        ..SEARCH
    },
    Check {
        id: "search.ips-item.malformed",
        title: "an item that is not a complete address is rejected",
        why: "A network, a fragment or a typing error that is accepted finds nothing or another address, \
              and the caller trusts the result.",
        clauses: &[Clause::SearchIpsItem],
        run: Run::Cases(malformed_items),
        ..SEARCH
    },
    Check {
        id: "search.ips-item.open",
        title: "unspecified spellings of an address cause no server error",
        why: "Such spellings occur in real lists. A server error makes callers retry a request that can't succeed.",
        clauses: &[Clause::SearchIpsItem],
        run: Run::Cases(|_| row::cases(OPEN.map(open))),
        ..SEARCH
    },
    Check {
        id: "search.ips-port.boundaries",
        title: "a port inside its range is accepted, and anything else after the address is rejected",
        why: "If a port is truncated to 16 bits or ignored, the search finds instances on ports that the caller did not request.",
        clauses: &[Clause::SearchIpsPort],
        run: Run::Cases(port_cases),
        ..SEARCH
    },
];

/// Members beside which `ips` is absent.
const ABSENT_BESIDE: [(&str, Change); 10] = [
    ("absent", |_, search| search),
    ("absent beside a status", FILTERS[0].1),
    ("absent beside an order number", FILTERS[5].1),
    ("absent beside a page", |search, good| good.field(PAGE, *search.pages.start())),
    ("absent beside a group", FILTERS[2].1),
    ("absent beside the group of ungrouped instances", FILTERS[1].1),
    ("absent beside a country", FILTERS[3].1),
    ("absent beside a city", FILTERS[4].1),
    ("absent beside a page size", |search, good| good.field(PAGE_SIZE, *search.page_sizes.start())),
    ("absent beside an activation time", |_, good| good.field(ACTIVATED_FROM, "2020-01-01T00:00:00Z")),
];

/// Selects the same spellings in every run.
const SEED: u64 = 0;

const OPEN: [(&str, Unspecified, &str); 7] = [
    ("brackets without a port", Unspecified::AddressesBracketsWithoutPort, "[2001:db8::250]"),
    ("a mapped address", Unspecified::AddressesIpv4Mapped, "::ffff:203.0.113.250"),
    ("a mapped address with a port", Unspecified::AddressesIpv4Mapped, "[::ffff:203.0.113.250]:8080"),
    ("leading zeros", Unspecified::AddressesLeadingZeros, "203.000.113.250"),
    ("leading zeros of a port", Unspecified::AddressesLeadingZeros, "203.0.113.250:08080"),
    ("a space before", Unspecified::AddressesSpaces, " 203.0.113.250"),
    ("a tab after", Unspecified::AddressesSpaces, "203.0.113.250\t"),
];

fn open((label, unspecified, item): (&'static str, Unspecified, &'static str)) -> Row {
    let row = Row::either(Clause::SearchIpsItem, unspecified, label);
    row.sending(format!("the item {item:?}"), move |probe, _| Ok(probe.search([item])))
}

/// Valid spellings of one kind share a request, which is far below the limit on items.
fn accepted(Reason { text, spellings, .. }: Reason) -> Row {
    let why = format!("{text}: {spellings:?}");
    Row::accepts(Clause::SearchIpsItem, text)
        .sending(why, move |probe, _| Ok(probe.search(spellings.clone())))
}

fn malformed_items(scope: &Scope<'_>) -> Vec<Case> {
    let spellings = ip_endpoints(SEED, &scope.contract.search.ports);
    let malformed = by_reason(spellings).into_iter().filter(|reason| !reason.is_valid);
    let texts = malformed.map(|reason| {
        (reason.text, reason.first, reason.spellings.into_iter().map(Value::from).collect::<Vec<_>>())
    });
    let others = [
        ("a number", vec![json!(3_405_803_994_u32), json!(0)]),
        ("null", vec![Value::Null]),
        ("a boolean", vec![json!(true), json!(false)]),
        ("an object", vec![json!({"ip": UNKNOWN_ADDRESS}), json!({})]),
        ("an array", vec![json!([UNKNOWN_ADDRESS]), json!([])]),
    ];
    let others = others.into_iter().enumerate().map(|(first, (reason, items))| (reason, first, items));
    let cases = texts.chain(others);
    cases
        .flat_map(|(reason, first, items)| malformed_cases(Clause::SearchIpsItem, reason, first, items))
        .collect()
}

fn port_cases(scope: &Scope<'_>) -> Vec<Case> {
    let ports = &scope.contract.search.ports;
    let (min, max) = (*ports.start(), *ports.end());
    let range = ports;
    let ports = BTreeSet::from([min, max, min - 1, max + 1, -1, i64::MAX]);
    let items = [UNKNOWN_ADDRESS, "[2001:db8::250]"].into_iter().flat_map(|address| {
        ports.iter().map(move |port| (format!("{address}:{port}"), range.contains(port)))
    });
    let bound = |(item, is_allowed): (String, bool)| {
        let row = Row::accepts_or_rejects(Clause::SearchIpsPort, &*item, is_allowed);
        let row = row.sending(format!("the item {item}"), move |probe, _| Ok(probe.search([&*item])));
        row.changing_nothing_found("one item").case()
    };
    let malformed = by_reason(ip_ports(SEED, range)).into_iter().flat_map(|reason| {
        let items = reason.spellings.into_iter().map(Value::from).collect();
        malformed_cases(Clause::SearchIpsPort, reason.text, reason.first, items)
    });
    items.map(bound).collect::<Vec<_>>().into_iter().chain(malformed).collect()
}

/// Malformed items of one kind: each of them alone, and each of them among valid ones, where a lenient server ignores it. The
/// place among the others rotates. Of a long list, half are sent among valid items.
fn malformed_cases(clause: Clause, reason: &'static str, first: usize, items: Vec<Value>) -> [Case; 2] {
    // Lists alternate between IPv4 and IPv6, so this selects places 0, 3, 4, 7 and so on to get both.
    let is_sent = |place: usize| items.len() <= FEW_ITEMS || (place + place / 2).is_multiple_of(2);
    let some = items.iter().enumerate().filter(|(place, _)| is_sent(*place)).map(|(_, item)| item.clone());
    let some: Vec<Value> = some.collect();
    let alone = items.into_iter().fold(Row::rejects(clause, reason), |row, item| {
        row.sending(format!("the item {item}, {reason}"), move |probe, _| Ok(probe.search([item.clone()])))
    });
    let among = Row::rejects(clause, format!("{reason}, among valid items"));
    let among = some.into_iter().enumerate().fold(among, |row, (index, item)| {
        let place = [0, VALID_ITEMS / 2, VALID_ITEMS][(first + index) % 3];
        let why = format!("the item {item}, {reason}, at place {place} among valid ones");
        row.sending(why, move |probe, _| {
            let mut batch: Vec<Value> = valid_items();
            batch.insert(place, item.clone());
            Ok(probe.search(batch))
        })
    });
    let among = among.changing("valid items", |probe, _| probe.search(valid_items()));
    [alone.changing_nothing_found("one item").case(), among.case()]
}

fn valid_items() -> Vec<Value> {
    addresses::distinct(VALID_ITEMS).into_iter().map(Value::from).collect()
}

/// Up to this number, all malformed items of one kind are sent among valid ones.
const FEW_ITEMS: usize = 4;

/// Valid items that are sent beside a malformed one.
const VALID_ITEMS: usize = 4;

//! What recorded exchanges must have in common. Data may change between two of them, and nobody can ask again: what such a
//! change explains is a warning.

use std::collections::{BTreeMap, BTreeSet};

use jiff::{SignedDuration, Timestamp};
use serde_json::{Map, Value};

use super::traffic::TrafficExchange;
use crate::check::{Check, Form, ObservedExchange, PassiveFinding, ResponseClass, Run, Severity};
use crate::contract::{Clause, Contract, OperationId};
use crate::quantity::quantity;

/// Exchanges further apart than this are not compared.
const WINDOW: SignedDuration = SignedDuration::from_secs(120);

/// Maximum number of earlier exchanges that each one is compared with. An archive may have thousands within the window.
const MAX_COMPARED: usize = 200;

pub(super) static PAGES: Check = Check {
    id: "search.paging.recorded",
    title: "recorded pages of one search share no instance",
    why: "Callers that read all pages see some instances twice and miss others.",
    operation: Some(OperationId::Search),
    clauses: &[Clause::SearchPaging],
    needs: &[],
    run: Run::Passive(|_| None),
};

pub(super) static ORDER: Check = Check {
    id: "groups.order.recorded",
    title: "groups of a recorded listing ascend by id",
    why: "Clients that continue after the last id they have seen miss groups, and the order of a list changes between calls.",
    operation: Some(OperationId::Groups),
    clauses: &[Clause::GroupsOrder],
    needs: &[],
    run: Run::Passive(judge_order),
};

/// A listing of one group is in any order.
fn judge_order(observed: &ObservedExchange<'_>) -> Option<Vec<PassiveFinding>> {
    if *observed.class != ResponseClass::Accepted {
        return None;
    }
    let items = observed.response.at("/data/items")?.as_array().filter(|items| items.len() > 1)?;
    let ids: Vec<i64> = items.iter().filter_map(|item| item.get("groupId")?.as_i64()).collect();
    let wrong = ids.iter().zip(ids.iter().skip(1)).find(|(before, after)| before >= after);
    let finding = |(before, after): (&i64, &i64)| PassiveFinding {
        clause: Clause::GroupsOrder,
        key: String::new(),
        severity: Severity::Fail,
        expected: "each groupId above the one before".to_owned(),
        actual: format!("{before} stands before {after}"),
    };
    Some(wrong.map(finding).into_iter().collect())
}

pub(super) static FILTERS: Check = Check {
    id: "search.intersection.recorded",
    title: "of two recorded searches the one with more filters finds no more",
    why: "Callers act on what a search returns: an instance that does not match is renewed, moved or cancelled by mistake.",
    operation: Some(OperationId::Search),
    clauses: &[Clause::SearchIntersection],
    needs: &[],
    run: Run::Passive(|_| None),
};

pub(super) static REPEATED: Check = Check {
    id: "extract.idempotent.recorded",
    title: "a recorded extraction that was repeated under its request id returned the same gateways",
    why: "A caller that repeats an interrupted extraction pays for gateways twice.",
    operation: Some(OperationId::Extract),
    clauses: &[Clause::ExtractIdempotent],
    needs: &[],
    run: Run::Passive(|_| None),
};

/// A broken relation between two exchanges, by their places in the traffic.
pub(super) struct BrokenRelation {
    pub(super) check: &'static Check,
    pub(super) clause: Clause,
    pub(super) severity: Severity,
    pub(super) expected: String,
    pub(super) actual: String,
    pub(super) exchanges: [usize; 2],
}

/// The checks that compared a pair of exchanges, and what is broken.
#[derive(Default)]
pub(super) struct RelationResults {
    pub(super) checks: BTreeSet<&'static str>,
    pub(super) broken: Vec<BrokenRelation>,
}

/// Compares the accepted exchanges; `accepted` are their places in the traffic.
pub(super) fn compare(
    contract: &Contract,
    traffic: &[TrafficExchange],
    accepted: &[usize],
) -> RelationResults {
    let mut compared = RelationResults::default();
    let of = |operation: OperationId| {
        accepted.iter().filter_map(move |at| {
            traffic.get(*at).filter(|one| one.operation == operation).map(|one| (*at, one))
        })
    };
    let searches: Vec<Search> =
        of(OperationId::Search).filter_map(|(at, one)| Search::read(contract, at, one)).collect();
    each_pair(&searches, |search| search.begun, |before, after| before.compare(after, &mut compared));
    let extractions: Vec<Extraction<'_>> =
        of(OperationId::Extract).filter_map(|(at, one)| Extraction::read(contract, at, one)).collect();
    each_pair(&extractions, |one| one.begun, |before, after| before.compare(after, &mut compared));
    compared
}

/// Calls `compare` with each two that are close enough in time, in the order of time.
fn each_pair<T>(all: &[T], begun: impl Fn(&T) -> Timestamp, mut compare: impl FnMut(&T, &T)) {
    let mut sorted: Vec<&T> = all.iter().collect();
    sorted.sort_by_key(|one| begun(one));
    for (number, after) in sorted.iter().enumerate() {
        let earlier = sorted[..number].iter().rev().take(MAX_COMPARED);
        for before in earlier.take_while(|before| begun(after).duration_since(begun(before)) <= WINDOW) {
            compare(before, after);
        }
    }
}

struct Search {
    at: usize,
    begun: Timestamp,
    caller: usize,
    /// The items, and the filters in a form that can be compared.
    items: String,
    filters: BTreeMap<String, String>,
    page: u64,
    size: u64,
    total: u64,
    instances: BTreeSet<i64>,
}

impl Search {
    fn read(contract: &Contract, at: usize, recorded: &TrafficExchange) -> Option<Self> {
        let search = &contract.search;
        let sent = recorded.exchange.request.body_members()?;
        let whole = |name: &str, default: i64| match sent.get(name) {
            None => u64::try_from(default).ok(),
            Some(value) => value.as_u64(),
        };
        let found = recorded.response.at("/data/items")?.as_array()?;
        let paging = [&search.page.name, &search.page_size.name, &search.ips.name];
        let filters = sent.iter().filter(|(name, _)| !paging.contains(name));
        Some(Self {
            at,
            begun: recorded.begun?,
            caller: recorded.caller,
            items: sent.get(&search.ips.name)?.to_string(),
            filters: filters.map(|(name, value)| (name.clone(), value.to_string())).collect(),
            page: whole(&search.page.name, search.default_page)?,
            size: whole(&search.page_size.name, search.default_page_size)?,
            total: recorded.response.at("/data/total")?.as_u64()?,
            instances: found.iter().filter_map(|item| item.get("instanceId")?.as_i64()).collect(),
        })
    }

    fn compare(&self, after: &Self, compared: &mut RelationResults) {
        if self.caller != after.caller || self.items != after.items {
            return;
        }
        if self.filters == after.filters {
            // Another total says that the data changed in between.
            if self.size == after.size && self.page != after.page && self.total == after.total {
                self.compare_pages(after, compared);
            }
            return;
        }
        for (wide, narrow) in [(self, after), (after, self)] {
            let is_narrower =
                wide.filters.iter().all(|(name, value)| narrow.filters.get(name) == Some(value));
            if !is_narrower {
                continue;
            }
            compared.checks.insert(FILTERS.id);
            if narrow.total > wide.total {
                compared.broken.push(BrokenRelation {
                    check: &FILTERS,
                    clause: Clause::SearchIntersection,
                    severity: Severity::Warn,
                    expected: format!(
                        "at most {} with additional filters, unless the data changed within {}",
                        quantity(wide.total, "instance"),
                        between(self.begun, after.begun)
                    ),
                    actual: narrow.total.to_string(),
                    exchanges: [wide.at, narrow.at],
                });
            }
        }
    }

    fn compare_pages(&self, after: &Self, compared: &mut RelationResults) {
        compared.checks.insert(PAGES.id);
        let Some(shared) = self.instances.intersection(&after.instances).next() else { return };
        compared.broken.push(BrokenRelation {
            check: &PAGES,
            clause: Clause::SearchPaging,
            severity: Severity::Warn,
            expected: format!(
                "no instance on page {} and on page {} of one search, unless the data changed within {}",
                self.page,
                after.page,
                between(self.begun, after.begun)
            ),
            actual: format!("instance {shared} is on both"),
            exchanges: [self.at, after.at],
        });
    }
}

fn between(one: Timestamp, other: Timestamp) -> String {
    format!("{} s", one.duration_since(other).abs().as_secs() + 1)
}

struct Extraction<'a> {
    at: usize,
    begun: Timestamp,
    caller: usize,
    id: String,
    /// Everything else that was asked for.
    rest: BTreeMap<&'a str, &'a str>,
    gateways: Gateways<'a>,
}

#[derive(PartialEq)]
enum Gateways<'a> {
    List(&'a Value),
    Text(&'a [u8]),
}

impl<'a> Extraction<'a> {
    fn read(contract: &Contract, at: usize, recorded: &'a TrafficExchange) -> Option<Self> {
        let extract = &contract.extract;
        let request = &recorded.exchange.request;
        let header = || {
            let name = &extract.request_id_header.name;
            let values = request.headers().iter().filter(|(known, _)| known.eq_ignore_ascii_case(name));
            values.map(|(_, value)| String::from_utf8_lossy(value).into_owned()).next()
        };
        let id = request.query_value(&extract.request_id.name).map(str::to_owned).or_else(header)?;
        let ours = [&extract.request_id.name, &extract.api_key.name];
        let named = |(name, value): (Option<&'a str>, &'a str)| Some((name?, value));
        let rest =
            request.query_pairs().filter_map(named).filter(|(name, _)| !ours.iter().any(|our| our == name));
        let gateways = match Form::from_request(contract, OperationId::Extract, request) {
            Form::Json => Gateways::List(recorded.response.at("/data")?),
            Form::Text => Gateways::Text(recorded.response.body()),
        };
        let id = Some(id).filter(|id| !id.is_empty())?;
        Some(Self { at, begun: recorded.begun?, caller: recorded.caller, id, rest: rest.collect(), gateways })
    }

    fn compare(&self, after: &Self, compared: &mut RelationResults) {
        if self.caller != after.caller || self.id != after.id || self.rest != after.rest {
            return;
        }
        compared.checks.insert(REPEATED.id);
        if self.gateways != after.gateways {
            compared.broken.push(BrokenRelation {
                check: &REPEATED,
                clause: Clause::ExtractIdempotent,
                severity: Severity::Fail,
                expected: "the gateways of the first extraction with this request id".to_owned(),
                actual: "other gateways".to_owned(),
                exchanges: [self.at, after.at],
            });
        }
    }
}

/// The filters of a search that are set, for the clauses that it shows.
pub(super) fn is_set(sent: &Map<String, Value>, name: &str) -> bool {
    sent.get(name).is_some_and(|value| !value.is_null() && value.as_str() != Some(""))
}

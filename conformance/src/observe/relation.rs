//! What recorded exchanges must have in common. Data may change between two of them, and nobody can ask again: what such a
//! change explains is a warning.

use std::collections::{BTreeMap, BTreeSet};

use jiff::{SignedDuration, Timestamp};
use serde_json::{Map, Value};

use super::traffic::{TrafficExchange, TrafficPlace};
use crate::check::{Check, ObservedExchange, PassiveFinding, ResponseClass, Run, Severity};
use crate::contract::{Clause, Contract, OperationId};
use crate::quantity::quantity;
use crate::response::gateways::listed;

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
    broken: BTreeMap<&'static str, (Vec<BrokenRelation>, usize)>,
}

impl RelationResults {
    /// Maximum number of broken relations that are kept of a check: each exchange may break it with hundreds of others.
    const MAX_KEPT: usize = 20;

    fn add(&mut self, check: &'static Check, broken: impl FnOnce() -> BrokenRelation) {
        let (kept, more) = self.broken.entry(check.id).or_default();
        if kept.len() < Self::MAX_KEPT {
            kept.push(broken());
        } else {
            *more += 1;
        }
    }

    /// What a check found, and the number of further pairs that break its relation.
    pub(super) fn of(&self, check: &Check) -> (&[BrokenRelation], usize) {
        self.broken.get(check.id).map_or((&[], 0), |(kept, more)| (kept, *more))
    }
}

/// What accepted exchanges have to be compared by. It takes less memory than their text.
#[derive(Default)]
pub(super) struct Compared {
    searches: Vec<Search>,
    extractions: Vec<Extraction>,
}

impl Compared {
    /// Adds an accepted exchange; `at` is its place in the traffic.
    pub(super) fn add(
        &mut self,
        contract: &Contract,
        at: usize,
        place: &TrafficPlace,
        one: &TrafficExchange,
    ) {
        let Some(begun) = place.begun else { return };
        let source = Source { at, begun, caller: place.caller };
        match one.operation {
            OperationId::Search => self.searches.extend(Search::read(contract, source, one)),
            OperationId::Extract => self.extractions.extend(Extraction::read(contract, source, one)),
            _ => {}
        }
    }

    /// Compares all of them.
    pub(super) fn results(&self) -> RelationResults {
        let mut results = RelationResults::default();
        each_pair(&self.searches, |one| one.source, |before, after| before.compare(after, &mut results));
        // What an id stands for after it was used with other parameters is unspecified.
        let mut first = BTreeMap::new();
        let mut mixed = BTreeSet::new();
        for Extraction { source, id, rest, .. } in &self.extractions {
            let key = (source.caller, id);
            if first.entry(key).or_insert(rest) != &rest {
                mixed.insert(key);
            }
        }
        let clear: Vec<&Extraction> =
            self.extractions.iter().filter(|one| !mixed.contains(&(one.source.caller, &one.id))).collect();
        each_pair(&clear, |one| one.source, |before, after| before.compare(after, &mut results));
        results
    }
}

/// Where an exchange comes from.
#[derive(Debug, Clone, Copy)]
struct Source {
    /// Its place in the traffic.
    at: usize,
    begun: Timestamp,
    caller: usize,
}

/// Calls `compare` with each two that are close enough in time, in the order of time.
fn each_pair<T>(all: &[T], source: impl Fn(&T) -> Source, mut compare: impl FnMut(&T, &T)) {
    let begun = |one: &T| source(one).begun;
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
    source: Source,
    /// The items, and the filters, sorted, in a form that can be compared.
    items: String,
    filters: Vec<(String, String)>,
    page: u64,
    size: u64,
    total: u64,
    instances: BTreeSet<i64>,
}

impl Search {
    fn read(contract: &Contract, source: Source, recorded: &TrafficExchange) -> Option<Self> {
        let search = &contract.search;
        let sent = recorded.exchange.request.body_members()?;
        let whole = |name: &str, default: i64| match sent.get(name) {
            None => u64::try_from(default).ok(),
            Some(value) => value.as_u64(),
        };
        let found = recorded.response.at("/data/items")?.as_array()?;
        let paging = [&search.page.name, &search.page_size.name, &search.ips.name];
        let filters = sent.iter().filter(|(name, _)| !paging.contains(name));
        let mut filters: Vec<_> = filters.map(|(name, value)| (name.clone(), value.to_string())).collect();
        filters.sort_unstable();
        Some(Self {
            source,
            items: sent.get(&search.ips.name)?.to_string(),
            filters,
            page: whole(&search.page.name, search.default_page)?,
            size: whole(&search.page_size.name, search.default_page_size)?,
            total: recorded.response.at("/data/total")?.as_u64()?,
            instances: found.iter().filter_map(|item| item.get("instanceId")?.as_i64()).collect(),
        })
    }

    fn compare(&self, after: &Self, compared: &mut RelationResults) {
        if self.source.caller != after.source.caller || self.items != after.items {
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
            let is_narrower = wide.filters.iter().all(|filter| narrow.filters.binary_search(filter).is_ok());
            if !is_narrower {
                continue;
            }
            compared.checks.insert(FILTERS.id);
            if narrow.total > wide.total {
                compared.add(&FILTERS, || BrokenRelation {
                    clause: Clause::SearchIntersection,
                    severity: Severity::Warn,
                    expected: format!(
                        "at most {} with additional filters, unless the data changed within {}",
                        quantity(wide.total, "instance"),
                        between(self.source, after.source)
                    ),
                    actual: narrow.total.to_string(),
                    exchanges: [wide.source.at, narrow.source.at],
                });
            }
        }
    }

    fn compare_pages(&self, after: &Self, compared: &mut RelationResults) {
        compared.checks.insert(PAGES.id);
        let Some(shared) = self.instances.intersection(&after.instances).next() else { return };
        compared.add(&PAGES, || BrokenRelation {
            clause: Clause::SearchPaging,
            severity: Severity::Warn,
            expected: format!(
                "no instance on page {} and on page {} of one search, unless the data changed within {}",
                self.page,
                after.page,
                between(self.source, after.source)
            ),
            actual: format!("instance {shared} is on both"),
            exchanges: [self.source.at, after.source.at],
        });
    }
}

fn between(one: Source, other: Source) -> String {
    format!("{} s", one.begun.duration_since(other.begun).abs().as_secs() + 1)
}

struct Extraction {
    source: Source,
    id: String,
    /// Everything else that was asked for.
    rest: Vec<(String, String)>,
    /// Whatever their order and their other fields, as in a run.
    gateways: String,
}

impl Extraction {
    fn read(contract: &Contract, source: Source, recorded: &TrafficExchange) -> Option<Self> {
        let extract = &contract.extract;
        let request = &recorded.exchange.request;
        let is_id = |(name, _): &(Option<&str>, &str)| *name == Some(extract.request_id.name.as_str());
        let id = match request.query_pairs().filter(is_id).count() {
            0 => {
                let name = &extract.request_id_header.name;
                let mut values =
                    request.headers().iter().filter(|(known, _)| known.eq_ignore_ascii_case(name));
                String::from_utf8_lossy(&values.next()?.1).into_owned()
            }
            1 => request.query_value(&extract.request_id.name)?.to_owned(),
            // Which of several counts is unspecified.
            _ => return None,
        };
        let ours = [&extract.request_id.name, &extract.api_key.name];
        let rest = request.query_pairs().map(|(name, value)| (name.unwrap_or_default(), value));
        let rest = rest.filter(|(name, _)| !ours.iter().any(|our| our == name));
        // The order of the values of one parameter counts.
        let mut rest: Vec<_> = rest.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        rest.sort_by(|(one, _), (other, _)| one.cmp(other));
        let gateways = listed(extract, request, &recorded.response).join("\n");
        let id = Some(id).filter(|id| !id.is_empty())?;
        Some(Self { source, id, rest, gateways })
    }

    fn compare(&self, after: &Self, compared: &mut RelationResults) {
        if self.source.caller != after.source.caller || self.id != after.id || self.rest != after.rest {
            return;
        }
        compared.checks.insert(REPEATED.id);
        if self.gateways != after.gateways {
            compared.add(&REPEATED, || BrokenRelation {
                clause: Clause::ExtractIdempotent,
                severity: Severity::Fail,
                expected: "the gateways of the first extraction with this request id".to_owned(),
                actual: "other gateways".to_owned(),
                exchanges: [self.source.at, after.source.at],
            });
        }
    }
}

/// The filters of a search that are set, for the clauses that it shows.
pub(super) fn is_set(sent: &Map<String, Value>, name: &str) -> bool {
    sent.get(name).is_some_and(|value| !value.is_null() && value.as_str() != Some(""))
}

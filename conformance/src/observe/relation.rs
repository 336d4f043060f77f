//! What recorded exchanges must have in common, where no change of the data can explain a difference.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use jiff::{SignedDuration, Timestamp};

use super::traffic::{TrafficExchange, TrafficPlace};
use crate::check::{Check, ObservedExchange, PassiveFinding, ResponseClass, Run};
use crate::checks::{apart, groups};
use crate::contract::{Clause, Contract, OperationId};
use crate::response::gateways::listed;

/// Exchanges further apart than this are not compared.
const WINDOW: SignedDuration = SignedDuration::from_secs(120);

/// Maximum number of earlier exchanges that each one is compared with. An archive may have thousands within the window.
const MAX_COMPARED: usize = 200;

pub(super) static ORDER: LazyLock<Check> =
    LazyLock::new(|| apart(OperationId::Groups, "groups.order.recorded", Run::Passive(judge_order)));

/// A listing of one group is in any order.
fn judge_order(observed: &ObservedExchange<'_>) -> Option<Vec<PassiveFinding>> {
    if *observed.class != ResponseClass::Accepted {
        return None;
    }
    let items = observed.response.at("/data/items")?;
    items.as_array().filter(|items| items.len() > 1)?;
    let finding = |(expected, actual): (&str, String)| {
        PassiveFinding::fail(Clause::GroupsOrder, "", expected.to_owned(), actual)
    };
    Some(groups::disorder(&groups::ids_of(items)).map(finding).into_iter().collect())
}

pub(super) static REPEATED: LazyLock<Check> =
    LazyLock::new(|| apart(OperationId::Extract, "extract.idempotent.recorded", Run::Passive(|_| None)));

/// The extractions that were accepted, with what they are compared by. It takes less memory than their text.
#[derive(Default)]
pub(super) struct Extractions(Vec<Extraction>);

/// The pairs of extractions that [`REPEATED`] compared.
#[derive(Default)]
pub(super) struct Compared {
    pub(super) pairs: usize,
    /// The pairs that differ, by their places in the traffic, up to a limit: each exchange may differ from hundreds of others.
    pub(super) differing: Vec<[usize; 2]>,
    /// Number of further pairs that differ.
    pub(super) more: usize,
}

impl Extractions {
    /// Maximum number of pairs that are kept.
    const MAX_KEPT: usize = 20;

    /// Adds an accepted exchange; `at` is its place in the traffic.
    pub(super) fn add(
        &mut self,
        contract: &Contract,
        at: usize,
        place: &TrafficPlace,
        recorded: &TrafficExchange,
    ) {
        if recorded.operation == OperationId::Extract {
            self.0.extend(Extraction::read(contract, at, place, recorded));
        }
    }

    /// Compares each two under one id that are close enough in time.
    pub(super) fn compare(&self) -> Compared {
        // What an id stands for after it was used with other parameters is unspecified.
        let mut rests: BTreeMap<_, BTreeSet<_>> = BTreeMap::new();
        for one in &self.0 {
            rests.entry((one.caller, &one.id)).or_default().insert(&one.rest);
        }
        let is_clear =
            |one: &&Extraction| rests.get(&(one.caller, &one.id)).is_some_and(|rests| rests.len() == 1);
        let mut sorted: Vec<&Extraction> = self.0.iter().filter(is_clear).collect();
        sorted.sort_by_key(|one| one.begun);
        let mut compared = Compared::default();
        for (number, after) in sorted.iter().enumerate() {
            let earlier = sorted[..number].iter().rev().take(MAX_COMPARED);
            let close = earlier.take_while(|before| after.begun.duration_since(before.begun) <= WINDOW);
            for before in close.filter(|before| (before.caller, &before.id) == (after.caller, &after.id)) {
                compared.pairs += 1;
                match before.gateways == after.gateways {
                    true => {}
                    false if compared.differing.len() < Self::MAX_KEPT => {
                        compared.differing.push([before.at, after.at]);
                    }
                    false => compared.more += 1,
                }
            }
        }
        compared
    }
}

struct Extraction {
    /// Its place in the traffic.
    at: usize,
    begun: Timestamp,
    caller: usize,
    id: String,
    /// Everything else that was asked for.
    rest: Vec<(String, String)>,
    /// Whatever their order and their other fields, as in a run.
    gateways: String,
}

impl Extraction {
    fn read(
        contract: &Contract,
        at: usize,
        place: &TrafficPlace,
        recorded: &TrafficExchange,
    ) -> Option<Self> {
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
        let ours = [&extract.request_id.name, &extract.operation.api_key.name];
        let rest = request.query_pairs().map(|(name, value)| (name.unwrap_or_default(), value));
        let rest = rest.filter(|(name, _)| !ours.iter().any(|our| our == name));
        // The order of the values of one parameter counts.
        let mut rest: Vec<_> = rest.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        rest.sort_by(|(one, _), (other, _)| one.cmp(other));
        let gateways = listed(extract, request, &recorded.response).join("\n");
        let id = Some(id).filter(|id| !id.is_empty())?;
        Some(Self { at, begun: place.begun?, caller: place.caller, id, rest, gateways })
    }
}

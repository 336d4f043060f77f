//! What recorded exchanges must have in common, where no change of the data can explain a difference.

use std::sync::LazyLock;

use jiff::{SignedDuration, Timestamp};

use super::traffic::TrafficExchange;
use crate::check::{Check, ObservedExchange, PassiveFinding, ResponseClass, Run};
use crate::checks::{apart, groups};
use crate::contract::{Clause, Contract, OperationId};
use crate::response::gateways::listed;
use crate::response::request_ids;
use crate::wire::{Request, Response};

/// Exchanges further apart than this are not compared.
const WINDOW: SignedDuration = SignedDuration::from_secs(120);

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

/// An accepted extraction with a request id. It takes less memory than its text.
pub(super) struct Extraction {
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

/// The places of the extractions that [`REPEATED`] compares, each with the one before it under its id, and whether they differ.
pub(super) fn compare(mut extractions: Vec<Extraction>) -> Vec<([usize; 2], bool)> {
    let of_id = |one: &Extraction, other: &Extraction| (one.caller, &one.id) == (other.caller, &other.id);
    extractions
        .sort_by(|one, other| (one.caller, &one.id, one.begun).cmp(&(other.caller, &other.id, other.begun)));
    // What an id stands for after it was used with other parameters is unspecified.
    let is_clear =
        |extractions: &&[Extraction]| extractions.iter().all(|one| one.rest == extractions[0].rest);
    let pairs = extractions.chunk_by(of_id).filter(is_clear).flat_map(|extractions| extractions.windows(2));
    let close = pairs.filter(|pair| pair[1].begun.duration_since(pair[0].begun) <= WINDOW);
    close.map(|pair| ([pair[0].at, pair[1].at], pair[0].gateways != pair[1].gateways)).collect()
}

impl Extraction {
    /// None for a request that is no extraction, or has no request id or several.
    pub(super) fn read(
        contract: &Contract,
        at: usize,
        recorded: &TrafficExchange,
        request: &Request,
        response: &Response,
    ) -> Option<Self> {
        let extract = &contract.extract;
        if recorded.operation != OperationId::Extract {
            return None;
        }
        let id_name = extract.request_id.name.as_str();
        // Which of several counts is unspecified.
        if request.query_pairs().filter(|(name, _)| *name == Some(id_name)).count() > 1 {
            return None;
        }
        let id = request_ids(contract, request).into_iter().next().filter(|id| !id.is_empty())?;
        let ours = [id_name, &extract.operation.api_key.name];
        let rest = request.query_pairs().map(|(name, value)| (name.unwrap_or_default(), value));
        let rest = rest.filter(|(name, _)| !ours.contains(name));
        // The order of the values of one parameter counts.
        let mut rest: Vec<_> = rest.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        rest.sort_by(|(one, _), (other, _)| one.cmp(other));
        let gateways = listed(extract, request, response).join("\n");
        Some(Self { at, begun: recorded.begun?, caller: recorded.caller, id, rest, gateways })
    }
}

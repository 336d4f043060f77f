//! When a fault shows, and what a request asks for.

use super::part::{LB, NUM, Part, RETURN_TYPE, put, text};
use super::row::{Need, OnCall, When, that};
use crate::lab::Call;
use crate::target::{Fact, Facts};

/// A parameter is the default of `regions`.
pub(crate) fn is_default(part: Part) -> impl OnCall {
    move |call| {
        let default = call.contract.extract.regions.schema.default.as_ref();
        text(call, part).as_deref() == default.and_then(|default| default.as_str())
    }
}

/// A separator of the caller's own is asked for.
pub(crate) fn is_custom(call: &Call<'_>) -> bool {
    text(call, LB).as_ref() == Some(&call.contract.extract.custom_separator)
}

/// `num` as it was sent, when it is a number.
pub(crate) fn num(call: &Call<'_>) -> Option<i64> {
    text(call, NUM)?.parse().ok()
}

/// Plain text is asked for.
pub(crate) fn in_text(call: &Call<'_>) -> bool {
    call.wants_text()
}

/// JSON is asked for by name.
pub(crate) fn json_by_name(call: &Call<'_>) -> bool {
    text(call, RETURN_TYPE).as_ref() == Some(&call.contract.extract.json)
}

/// More than one gateway is asked for.
pub(crate) fn for_several(call: &Call<'_>) -> bool {
    num(call) > Some(1)
}

/// A protocol other than the default is asked for.
pub(crate) fn with_other_protocol(call: &Call<'_>) -> bool {
    let protocol = &call.contract.extract.protocol;
    let protocols = &call.contract.extract.protocols;
    call.param(&protocol.name)
        .is_some_and(|sent| sent != protocol.default_text() && protocols.contains(&sent))
}

/// As many entries are asked for as one call may.
pub(crate) fn at_maximum(call: &Call<'_>) -> bool {
    num(call) == Some(*call.contract.extract.num_range.end())
}

/// More entries are asked for than one call may.
pub(crate) fn above_maximum(call: &Call<'_>) -> bool {
    num(call).is_some_and(|num| num > *call.contract.extract.num_range.end())
}

/// Asks for as few entries as one call may.
pub(crate) fn fewest(call: &mut Call<'_>) {
    put(call, NUM, *call.contract.extract.num_range.start());
}

/// Asks for as many entries as one call may.
pub(crate) fn most(call: &mut Call<'_>) {
    put(call, NUM, *call.contract.extract.num_range.end());
}

/// The token is in the header of its own.
pub(crate) fn by_header(call: &Call<'_>) -> bool {
    call.headers.contains_key(call.contract.extract.api_key_header.as_str())
}

/// The token is in Authorization.
pub(crate) fn by_bearer(call: &Call<'_>) -> bool {
    call.headers.contains_key(hyper::header::AUTHORIZATION)
}

/// The token is in the query.
pub(crate) fn by_query(call: &Call<'_>) -> bool {
    call.param(&call.contract.extract.operation.api_key.name).is_some()
}

/// A request id is sent, in the query or in the header.
pub(crate) fn with_request_id(call: &Call<'_>) -> bool {
    request_id(call).is_some()
}

/// The request id that counts.
pub(crate) fn request_id(call: &Call<'_>) -> Option<String> {
    call.request_id(&call.contract.extract)
}

/// The region that counts, under either name; the default when none is sent.
pub(crate) fn region(call: &Call<'_>) -> String {
    let extract = &call.contract.extract;
    let sent = call.param(&extract.regions.name).or_else(|| call.param(&extract.country.name));
    sent.unwrap_or_else(|| extract.regions.default_text())
}

/// The region of a fact is asked for.
fn of_region(fact: Fact, known: fn(&Facts) -> Option<&String>) -> When {
    that(move |call| known(call.facts) == Some(&region(call))).needs(Need::Fact(fact))
}

/// The last region with known gateways that is named by no other fact.
pub(crate) fn last_known_region() -> When {
    of_region(Fact::KnownGateways, |facts| {
        let taken = [&facts.plentiful_region, &facts.scarce_region, &facts.empty_region];
        let regions = facts.known_gateways.iter().map(|pool| &pool.region);
        regions.filter(|region| !taken.contains(&&Some((*region).clone()))).max()
    })
}

/// The region with a few gateways only is asked for.
pub(crate) fn scarce_region() -> When {
    of_region(Fact::ScarceRegion, |facts| facts.scarce_region.as_ref())
}

/// The region without gateways is asked for.
pub(crate) fn empty_region() -> When {
    of_region(Fact::EmptyRegion, |facts| facts.empty_region.as_ref())
}

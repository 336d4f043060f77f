//! When a fault shows, and what a request asks for.

use crate::contract::{Extract, Parameter};
use crate::lab::Call;

/// A parameter of the extraction.
pub(crate) type ParameterGetter = fn(&Extract) -> &Parameter;

pub(crate) const COUNTRY: ParameterGetter = |extract| &extract.country;
pub(crate) const LB: ParameterGetter = |extract| &extract.lb;
pub(crate) const PROTOCOL: ParameterGetter = |extract| &extract.protocol;
pub(crate) const REGIONS: ParameterGetter = |extract| &extract.regions;
pub(crate) const RETURN_TYPE: ParameterGetter = |extract| &extract.return_type;
pub(crate) const SB: ParameterGetter = |extract| &extract.sb;

/// The value of a parameter, when it is sent.
pub(crate) fn sent(call: &Call<'_>, which: ParameterGetter) -> Option<String> {
    call.param(&which(&call.contract.extract).name)
}

/// A parameter is sent.
pub(crate) fn with(which: ParameterGetter) -> impl Fn(&Call<'_>) -> bool + Copy + Send + Sync {
    move |call| sent(call, which).is_some()
}

/// Removes a parameter.
pub(crate) fn without(which: ParameterGetter) -> impl Fn(&mut Call<'_>) + Copy + Send + Sync {
    move |call| call.drop_param(&which(&call.contract.extract).name)
}

/// `num` as it was sent, when it is a number.
pub(crate) fn num(call: &Call<'_>) -> Option<i64> {
    call.param(&call.contract.extract.num.name)?.parse().ok()
}

/// Plain text is asked for.
pub(crate) fn in_text(call: &Call<'_>) -> bool {
    call.wants_text()
}

/// A protocol other than the default is asked for.
pub(crate) fn with_other_protocol(call: &Call<'_>) -> bool {
    let protocol = &call.contract.extract.protocol;
    let default = protocol.schema.default.as_ref().and_then(|default| default.as_str());
    call.param(&protocol.name)
        .is_some_and(|sent| Some(sent.as_str()) != default && call.contract.extract.protocols.contains(&sent))
}

/// As many entries are asked for as one call may.
pub(crate) fn at_maximum(call: &Call<'_>) -> bool {
    num(call) == Some(*call.contract.extract.num_range.end())
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
    call.param(&call.contract.extract.api_key.name).is_some()
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
    let default = extract.regions.schema.default.as_ref().and_then(|default| default.as_str());
    let sent = call.param(&extract.regions.name).or_else(|| call.param(&extract.country.name));
    sent.unwrap_or_else(|| default.unwrap_or_default().to_owned())
}

/// The region with a few gateways only is asked for.
pub(crate) fn of_scarce_region(call: &Call<'_>) -> bool {
    call.facts.scarce_region.as_ref() == Some(&region(call))
}

/// The region without gateways is asked for.
pub(crate) fn of_empty_region(call: &Call<'_>) -> bool {
    call.facts.empty_region.as_ref() == Some(&region(call))
}

/// The same fault under each of several conditions: its id ends in the name of the condition, and its sentence says it.
macro_rules! under {
    ($fault:expr, $id:literal, $sentence:literal, [$($condition:ident),+ $(,)?]) => {
        [$(under!(@$condition $fault, $id, $sentence)),+]
    };
    (@in_text $fault:expr, $id:literal, $sentence:literal) => {
        under!(@as "in-text", " in plain text.", in_text, $fault, $id, $sentence)
    };
    (@by_query $fault:expr, $id:literal, $sentence:literal) => {
        under!(@as "by-query", " when the token is in the query.", by_query, $fault, $id, $sentence)
    };
    (@by_header $fault:expr, $id:literal, $sentence:literal) => {
        under!(@as "by-header", " when the token is in X-API-Key.", by_header, $fault, $id, $sentence)
    };
    (@by_bearer $fault:expr, $id:literal, $sentence:literal) => {
        under!(@as "by-bearer", " when the token is in Authorization.", by_bearer, $fault, $id, $sentence)
    };
    (@with_other_protocol $fault:expr, $id:literal, $sentence:literal) => {
        under!(@as "other-protocol", " for the other protocol.", with_other_protocol, $fault, $id, $sentence)
    };
    (@with_request_id $fault:expr, $id:literal, $sentence:literal) => {
        under!(@as "with-request-id", " when a request id is sent.", with_request_id, $fault, $id, $sentence)
    };
    (@as $suffix:literal, $end:literal, $condition:ident, $fault:expr, $id:literal, $sentence:literal) => {
        $fault(concat!($id, $suffix), concat!($sentence, $end))
            .when($crate::lab::faults::condition::$condition)
    };
}

pub(crate) use under;

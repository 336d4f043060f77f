//! When a fault shows, and what a request asks for.

use crate::contract::{Extract, Parameter};
use crate::lab::Context;
use crate::lab::exchange::ProxiedRequest;

/// A parameter of the extraction.
pub(crate) type ParameterGetter = fn(&Extract) -> &Parameter;

pub(crate) const COUNTRY: ParameterGetter = |extract| &extract.country;
pub(crate) const LB: ParameterGetter = |extract| &extract.lb;
pub(crate) const PROTOCOL: ParameterGetter = |extract| &extract.protocol;
pub(crate) const REGIONS: ParameterGetter = |extract| &extract.regions;
pub(crate) const RETURN_TYPE: ParameterGetter = |extract| &extract.return_type;
pub(crate) const SB: ParameterGetter = |extract| &extract.sb;

/// The value of a parameter, when it is sent.
pub(crate) fn sent(context: &Context, seen: &ProxiedRequest, which: ParameterGetter) -> Option<String> {
    seen.param(&which(&context.contract.extract).name)
}

/// A parameter is sent.
pub(crate) fn with(
    which: ParameterGetter,
) -> impl Fn(&Context, &ProxiedRequest) -> bool + Copy + Send + Sync {
    move |context, seen| sent(context, seen, which).is_some()
}

/// Removes a parameter.
pub(crate) fn without(which: ParameterGetter) -> impl Fn(&Context, &mut ProxiedRequest) + Copy + Send + Sync {
    move |context, seen| seen.drop_param(&which(&context.contract.extract).name)
}

/// `num` as it was sent, when it is a number.
pub(crate) fn num(context: &Context, seen: &ProxiedRequest) -> Option<i64> {
    seen.param(&context.contract.extract.num.name)?.parse().ok()
}

/// Plain text is asked for.
pub(crate) fn in_text(context: &Context, seen: &ProxiedRequest) -> bool {
    context.wants_text(seen)
}

/// A protocol other than the default is asked for.
pub(crate) fn with_other_protocol(context: &Context, seen: &ProxiedRequest) -> bool {
    let protocol = &context.contract.extract.protocol;
    let default = protocol.schema.default.as_ref().and_then(|default| default.as_str());
    seen.param(&protocol.name).is_some_and(|sent| {
        Some(sent.as_str()) != default && context.contract.extract.protocols.contains(&sent)
    })
}

/// As many entries are asked for as one call may.
pub(crate) fn at_maximum(context: &Context, seen: &ProxiedRequest) -> bool {
    num(context, seen) == Some(*context.contract.extract.num_range.end())
}

/// The token is in the header of its own.
pub(crate) fn by_header(context: &Context, seen: &ProxiedRequest) -> bool {
    seen.headers.contains_key(context.contract.extract.api_key_header.as_str())
}

/// The token is in Authorization.
pub(crate) fn by_bearer(_: &Context, seen: &ProxiedRequest) -> bool {
    seen.headers.contains_key(hyper::header::AUTHORIZATION)
}

/// The token is in the query.
pub(crate) fn by_query(context: &Context, seen: &ProxiedRequest) -> bool {
    seen.param(&context.contract.extract.api_key.name).is_some()
}

/// A request id is sent, in the query or in the header.
pub(crate) fn with_request_id(context: &Context, seen: &ProxiedRequest) -> bool {
    request_id(context, seen).is_some()
}

/// The request id that counts.
pub(crate) fn request_id(context: &Context, seen: &ProxiedRequest) -> Option<String> {
    seen.request_id(&context.contract.extract)
}

/// The region that counts, under either name; the default when none is sent.
pub(crate) fn region(context: &Context, seen: &ProxiedRequest) -> String {
    let extract = &context.contract.extract;
    let default = extract.regions.schema.default.as_ref().and_then(|default| default.as_str());
    let sent = seen.param(&extract.regions.name).or_else(|| seen.param(&extract.country.name));
    sent.unwrap_or_else(|| default.unwrap_or_default().to_owned())
}

/// The region with a few gateways only is asked for.
pub(crate) fn of_scarce_region(context: &Context, seen: &ProxiedRequest) -> bool {
    context.facts.scarce_region.as_ref() == Some(&region(context, seen))
}

/// The region without gateways is asked for.
pub(crate) fn of_empty_region(context: &Context, seen: &ProxiedRequest) -> bool {
    context.facts.empty_region.as_ref() == Some(&region(context, seen))
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

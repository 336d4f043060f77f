//! Faults of the extraction that show in one combination only: a form, a size, an order, a spelling of the query.

use serde_json::json;

use super::condition::{
    COUNTRY, LB, at_maximum, by_bearer, by_header, in_text, num, request_id, sent, without,
};
use super::edit::put;
use super::separator;
use crate::contract::OperationId;
use crate::lab::exchange::ProxiedRequest;
use crate::lab::{Context, Fault};

/// All of them.
pub(crate) fn faults() -> Vec<Fault> {
    [region(), number(), text(), response(), identity(), spelling()].into_iter().flatten().collect()
}

fn region() -> Vec<Fault> {
    let names = |context: &Context, seen: &ProxiedRequest| {
        let extract = &context.contract.extract;
        let place = |name: &str| seen.params().iter().position(|(key, _)| key == name);
        (place(&extract.regions.name), place(&extract.country.name))
    };
    let is_default = |context: &Context, seen: &ProxiedRequest| {
        let regions = &context.contract.extract.regions;
        let default = regions.schema.default.as_ref().and_then(|default| default.as_str());
        seen.param(&regions.name).as_deref() == default
    };
    faults_of![
        "extract.country-equal/",
        request(
            "country-first",
            "Differing regions are noticed only when regions stands before country.",
            without(COUNTRY)
        )
        .when(move |context, seen| {
            matches!(names(context, seen), (Some(regions), Some(country)) if country < regions)
        }),
        reject("default-twice", "regions and country that both are the default are rejected.").when(
            move |context, seen| {
                let extract = &context.contract.extract;
                let is_equal = seen.param(&extract.regions.name) == seen.param(&extract.country.name);
                is_equal && is_default(context, seen)
            }
        ),
    ]
}

fn number() -> Vec<Fault> {
    let fault = |id, breaks| Fault::reject(id, breaks).when(at_maximum);
    faults_of![
        "extract.num-range/",
        fault("most-rejected-by-bearer", "The largest num is rejected when the token is in Authorization.")
            .when(by_bearer),
        fault("most-rejected-by-header", "The largest num is rejected when the token is in X-API-Key.")
            .when(by_header),
    ]
}

fn text() -> Vec<Fault> {
    faults_of![
        "extract./",
        request(
            "return-type/accept-wins",
            "The header Accept decides the form, whatever return_type says.",
            |context, seen| seen.drop_param(&context.contract.extract.return_type.name)
        )
        .when(in_text)
        .when(|_, seen| {
            let accept = seen.headers.get(hyper::header::ACCEPT).and_then(|value| value.to_str().ok());
            accept.is_some_and(|accept| accept.contains("json"))
        }),
        request(
            "separator-range/first-digit",
            "Only the first digit of lb is read.",
            move |context, seen| {
                let name = context.contract.extract.lb.name.clone();
                let first = seen.param(&name).and_then(|lb| lb.chars().next());
                seen.set_param(&name, &first.map(String::from).unwrap_or_default());
            }
        )
        .when(move |context, seen| {
            let is_longer = |lb: String| lb.len() == 2 && lb.bytes().all(|byte| byte.is_ascii_digit());
            sent(context, seen, LB).is_some_and(is_longer)
        })
        .when(in_text),
        reply(
            "separator/blocks",
            "After each half of the largest num, LF stands between the entries of a text.",
            |context, seen, reply| {
                let separator = separator(context, seen);
                let text = String::from_utf8_lossy(&reply.body).into_owned();
                let entries: Vec<_> = text.split(&separator).collect();
                let half = usize::try_from(*context.contract.extract.num_range.end() / 2).unwrap_or(1).max(1);
                let blocks: Vec<_> = entries.chunks(half).map(|block| block.join(&separator)).collect();
                reply.body = blocks.join("\n").into();
            }
        )
        .when(in_text),
        reply(
            "separator/longest-cut",
            "The last byte of an sb of the greatest length is lost.",
            |context, seen, reply| {
                let separator = separator(context, seen);
                let shorter: String = separator.chars().take(separator.chars().count() - 1).collect();
                let text = String::from_utf8_lossy(&reply.body).replace(&separator, &shorter);
                reply.body = text.into();
            }
        )
        .when(in_text)
        .when(|context, seen| separator(context, seen).len() == context.contract.extract.separator_bytes),
    ]
}

fn response() -> Vec<Fault> {
    faults_of![
        "extract.endpoint/",
        success("port-0", "The second entry has port 0.", |_, _, body| {
            put(body, "/data/1/port", &json!(0));
        }),
    ]
}

fn identity() -> Vec<Fault> {
    faults_of![
        "extract./",
        reply(
            "idempotent/last-characters",
            "Only the last four characters of a request id are compared.",
            |context, seen, reply| {
                let Some(id) = request_id(context, seen).filter(|_| context.accepted(seen, reply)) else {
                    return;
                };
                let start = id.chars().count().saturating_sub(4);
                let key: String = id.chars().skip(start).collect();
                match context.memory.recall(&key) {
                    Some(first) => *reply = first,
                    None => context.memory.keep(&key, reply),
                }
            }
        ),
        reject("link-credential/one-gateway", "A legacy credential gets one gateway at a time only.").when(
            |context, seen| {
                let link = context.facts.link_credential.as_ref().map(|link| link.expose().to_owned());
                let sent = seen.param(&context.contract.extract.api_key.name);
                sent.is_some() && sent == link && num(context, seen).is_some_and(|num| num > 1)
            }
        ),
    ]
}

fn spelling() -> Vec<Fault> {
    // A letter that need not be percent-encoded, and is.
    let is_encoded = |text: &str| {
        let codes = text.split('%').skip(1).filter_map(|rest| u8::from_str_radix(rest.get(..2)?, 16).ok());
        codes.into_iter().any(|code| code.is_ascii_alphabetic())
    };
    let raw = |seen: &ProxiedRequest, name: &str| {
        let query = seen.query.clone().unwrap_or_default();
        query.split('&').find_map(|pair| Some(pair.strip_prefix(name)?.strip_prefix('=')?.to_owned()))
    };
    faults_of![
        "",
        reject("extract.envelope/encoded-region", "Percent-encoded letters in regions are not decoded.")
            .when(move |context, seen| {
                raw(seen, &context.contract.extract.regions.name).is_some_and(|value| is_encoded(&value))
            }),
        reject("groups.token/encoded", "A percent-encoded token is not decoded.")
            .only(OperationId::Groups)
            .when(move |_, seen| seen.query.as_deref().is_some_and(is_encoded)),
        reject("search.token/encoded", "A percent-encoded token is not decoded.")
            .only(OperationId::Search)
            .when(move |_, seen| seen.query.as_deref().is_some_and(is_encoded)),
    ]
}

//! Faults of the extraction that show in one combination only: a form, a size, an order, a spelling of the query.

use serde_json::json;

use super::condition::{
    COUNTRY, LB, at_maximum, by_bearer, by_header, in_text, num, request_id, sent, without,
};
use super::edit::put;
use super::separator;
use crate::contract::OperationId;
use crate::lab::{Call, Fault};

pub(crate) fn faults() -> Vec<Fault> {
    [region(), number(), text(), response(), identity(), spelling()].into_iter().flatten().collect()
}

fn region() -> Vec<Fault> {
    let names = |call: &Call<'_>| {
        let extract = &call.contract.extract;
        let place = |name: &str| call.params().iter().position(|(key, _)| key == name);
        (place(&extract.regions.name), place(&extract.country.name))
    };
    let is_default = |call: &Call<'_>| {
        let regions = &call.contract.extract.regions;
        let default = regions.schema.default.as_ref().and_then(|default| default.as_str());
        call.param(&regions.name).as_deref() == default
    };
    faults_of![
        "extract.country-equal/",
        fault("country-first", "Differing regions are noticed only when regions stands before country.")
            .when(move |call| { matches!(names(call), (Some(regions), Some(country)) if country < regions) })
            .request(without(COUNTRY)),
        reject("default-twice", "regions and country that both are the default are rejected.").when(
            move |call| {
                let extract = &call.contract.extract;
                let is_equal = call.param(&extract.regions.name) == call.param(&extract.country.name);
                is_equal && is_default(call)
            }
        ),
    ]
}

fn number() -> Vec<Fault> {
    let rejected = |id, breaks| Fault::reject(id, breaks).when(at_maximum);
    faults_of![
        "extract.num-range/",
        rejected(
            "most-rejected-by-bearer",
            "The largest num is rejected when the token is in Authorization."
        )
        .when(by_bearer),
        rejected("most-rejected-by-header", "The largest num is rejected when the token is in X-API-Key.")
            .when(by_header),
    ]
}

fn text() -> Vec<Fault> {
    faults_of![
        "extract.",
        fault("return-type/accept-wins", "The header Accept decides the form, whatever return_type says.")
            .when(in_text)
            .when(|call| {
                let accept = call.headers.get(hyper::header::ACCEPT).and_then(|value| value.to_str().ok());
                accept.is_some_and(|accept| accept.contains("json"))
            })
            .request(|call| call.drop_param(&call.contract.extract.return_type.name)),
        fault("separator-range/first-digit", "Only the first digit of lb is read.")
            .when(move |call| {
                let is_longer = |lb: String| lb.len() == 2 && lb.bytes().all(|byte| byte.is_ascii_digit());
                sent(call, LB).is_some_and(is_longer)
            })
            .when(in_text)
            .request(move |call| {
                let name = call.contract.extract.lb.name.clone();
                let first = call.param(&name).and_then(|lb| lb.chars().next());
                call.set_param(&name, &first.map(String::from).unwrap_or_default());
            }),
        fault(
            "separator/blocks",
            "After each half of the largest num, LF stands between the entries of a text."
        )
        .when(in_text)
        .reply(|call, reply| {
            let separator = separator(call);
            let text = String::from_utf8_lossy(&reply.body).into_owned();
            let entries: Vec<_> = text.split(&separator).collect();
            let half = usize::try_from(*call.contract.extract.num_range.end() / 2).unwrap_or(1).max(1);
            let blocks: Vec<_> = entries.chunks(half).map(|block| block.join(&separator)).collect();
            reply.body = blocks.join("\n").into();
        }),
        fault("separator/longest-cut", "The last byte of an sb of the greatest length is lost.")
            .when(in_text)
            .when(|call| separator(call).len() == call.contract.extract.separator_bytes)
            .reply(|call, reply| {
                let separator = separator(call);
                let shorter: String = separator.chars().take(separator.chars().count() - 1).collect();
                let text = String::from_utf8_lossy(&reply.body).replace(&separator, &shorter);
                reply.body = text.into();
            }),
    ]
}

fn response() -> Vec<Fault> {
    faults_of![
        "extract.endpoint/",
        fault("port-0", "The second entry has port 0.").success(|_, body| {
            put(body, "/data/1/port", &json!(0));
        }),
    ]
}

fn identity() -> Vec<Fault> {
    faults_of![
        "extract.",
        fault("idempotent/last-characters", "Only the last four characters of a request id are compared.")
            .reply(|call, reply| {
                let Some(id) = request_id(call).filter(|_| call.accepted(reply)) else {
                    return;
                };
                let start = id.chars().count().saturating_sub(4);
                let key: String = id.chars().skip(start).collect();
                call.memory.repeat_first(&key, reply);
            }),
        reject("link-credential/one-gateway", "A legacy credential gets one gateway at a time only.").when(
            |call| {
                let link = call.facts.link_credential.as_ref().map(|link| link.expose().to_owned());
                let sent = call.param(&call.contract.extract.api_key.name);
                sent.is_some() && sent == link && num(call).is_some_and(|num| num > 1)
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
    let raw = |call: &Call<'_>, name: &str| {
        let query = call.query.clone().unwrap_or_default();
        query.split('&').find_map(|pair| Some(pair.strip_prefix(name)?.strip_prefix('=')?.to_owned()))
    };
    faults_of![
        "",
        reject("extract.envelope/encoded-region", "Percent-encoded letters in regions are not decoded.")
            .when(move |call| {
                raw(call, &call.contract.extract.regions.name).is_some_and(|value| is_encoded(&value))
            }),
        reject("groups.token/encoded", "A percent-encoded token is not decoded.")
            .only(OperationId::Groups)
            .when(move |call| call.query.as_deref().is_some_and(is_encoded)),
        reject("search.token/encoded", "A percent-encoded token is not decoded.")
            .only(OperationId::Search)
            .when(move |call| call.query.as_deref().is_some_and(is_encoded)),
    ]
}

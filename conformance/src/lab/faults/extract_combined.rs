//! Faults of the extraction that show in one combination only: a form, a size, an order, a spelling of the query.

use super::condition::{
    API_KEY, COUNTRY, LB, ParameterGetter, REGIONS, RETURN_TYPE, at_maximum, by_bearer, by_header,
    for_several, in_text, request_id, respell, sent, without,
};
use super::edit::set;
use super::{retext, separator};
use crate::contract::OperationId;
use crate::lab::{Call, Fault};

pub(crate) fn faults() -> Vec<Fault> {
    combinations().into_iter().chain(spelling()).collect()
}

fn combinations() -> Vec<Fault> {
    let place = |call: &Call<'_>, which: ParameterGetter| {
        let name = &which(&call.contract.extract).name;
        call.params().iter().position(|(key, _)| key == name)
    };
    let is_default = |call: &Call<'_>| {
        let default = call.contract.extract.regions.schema.default.as_ref();
        sent(call, REGIONS).as_deref() == default.and_then(|default| default.as_str())
    };
    let most_rejected = |id, breaks| Fault::reject(id, breaks).when(at_maximum);
    faults_of![
        "extract.",
        fault(
            "country-equal/country-first",
            "Differing regions are noticed only when regions stands before country."
        )
        .when(move |call| place(call, COUNTRY).is_some() && place(call, COUNTRY) < place(call, REGIONS))
        .request(without(COUNTRY)),
        reject("country-equal/default-twice", "regions and country that both are the default are rejected.")
            .when(|call| sent(call, REGIONS) == sent(call, COUNTRY))
            .when(is_default),
        most_rejected(
            "num-range/most-rejected-by-bearer",
            "The largest num is rejected when the token is in Authorization."
        )
        .when(by_bearer),
        most_rejected(
            "num-range/most-rejected-by-header",
            "The largest num is rejected when the token is in X-API-Key."
        )
        .when(by_header),
        fault("return-type/accept-wins", "The header Accept decides the form, whatever return_type says.")
            .when(in_text)
            .when(|call| call.header("accept").is_some_and(|accept| accept.contains("json")))
            .request(without(RETURN_TYPE)),
        fault("separator-range/first-digit", "Only the first digit of lb is read.")
            .when(move |call| {
                let is_longer = |lb: String| lb.len() == 2 && lb.bytes().all(|byte| byte.is_ascii_digit());
                sent(call, LB).is_some_and(is_longer)
            })
            .when(in_text)
            .request(respell(LB, |lb| lb.chars().next().map(String::from))),
        fault(
            "separator/blocks",
            "After each half of the largest num, LF stands between the entries of a text."
        )
        .when(in_text)
        .reply(|call, reply| {
            let (text, separator) = (reply.text(), separator(call));
            let entries: Vec<_> = text.split(&separator).collect();
            let half = usize::try_from(*call.contract.extract.num_range.end() / 2).unwrap_or(1).max(1);
            let blocks: Vec<_> = entries.chunks(half).map(|block| block.join(&separator)).collect();
            reply.body = blocks.join("\n").into();
        }),
        fault("separator/longest-cut", "The last byte of an sb of the greatest length is lost.")
            .when(in_text)
            .when(|call| separator(call).len() == call.contract.extract.separator_bytes)
            .reply(retext(|text, separator| {
                let shorter: String = separator.chars().take(separator.chars().count() - 1).collect();
                text.replace(separator, &shorter)
            })),
        fault("endpoint/port-0", "The second entry has port 0.").success(set("/data/1/port", 0)),
        fault("idempotent/last-characters", "Only the last four characters of a request id are compared.")
            .reply(|call, reply| {
                let Some(id) = request_id(call).filter(|_| call.accepted(reply)) else { return };
                let start = id.chars().count().saturating_sub(4);
                let key: String = id.chars().skip(start).collect();
                call.memory.repeat_first(&key, reply);
            }),
        reject("link-credential/one-gateway", "A legacy credential gets one gateway at a time only.")
            .when(|call| {
                let (link, sent) = (call.facts.link_credential.as_ref(), sent(call, API_KEY));
                link.is_some_and(|link| sent.is_some_and(|sent| sent == link.expose()))
            })
            .when(for_several),
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
            .when(move |call| raw(call, &call.contract.extract.regions.name)
                .is_some_and(|raw| is_encoded(&raw))),
        reject("groups.token/encoded", "A percent-encoded token is not decoded.")
            .only(OperationId::Groups)
            .when(move |call| call.query.as_deref().is_some_and(is_encoded)),
        reject("search.token/encoded", "A percent-encoded token is not decoded.")
            .only(OperationId::Search)
            .when(move |call| call.query.as_deref().is_some_and(is_encoded)),
    ]
}

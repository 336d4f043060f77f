//! Faults in where gateways come from, what they speak and in which form they come.

use hyper::header::{CONTENT_TYPE, HeaderValue};
use serde_json::json;

use super::condition::{
    COUNTRY, PROTOCOL, ParameterGetter, REGIONS, in_text, of_empty_region, of_scarce_region, sent, under,
    with_other_protocol, with_request_id, without,
};
use super::edit::respond;
use crate::lab::exchange::ProxiedRequest;
use crate::lab::{Context, Fault};

/// All of them.
pub(crate) fn faults() -> Vec<Fault> {
    [default_region(), region(), alias(), equal(), protocol(), known_protocol(), form()]
        .into_iter()
        .flatten()
        .collect()
}

fn default_region() -> Vec<Fault> {
    let absent = |context: &Context, seen: &ProxiedRequest| {
        sent(context, seen, REGIONS).is_none() && sent(context, seen, COUNTRY).is_none()
    };
    let named = |context: &Context, seen: &ProxiedRequest| {
        let sent = sent(context, seen, REGIONS);
        sent.is_some_and(|sent| Some(sent.as_str()) == default(context))
    };
    let empty = |context: &Context, seen: &mut ProxiedRequest| {
        set_region(context, seen, context.facts.empty_region.as_deref())
    };
    let scarce = |context: &Context, seen: &mut ProxiedRequest| {
        set_region(context, seen, context.facts.scarce_region.as_deref())
    };
    faults_of![
        "extract.regions-default/",
        reject("required", "regions must be sent.").when(absent),
        reject("required-in-text", "regions must be sent in text.").when(absent).when(in_text),
        reject("required-other-protocol", "regions must be sent for the other protocol.")
            .when(absent)
            .when(with_other_protocol),
        reject("default-rejected", "The default must not be sent.").when(named),
        request("empty-region", "Without regions an empty region is taken.", empty).when(absent),
        request("scarce-region", "Without regions one small region is taken.", scarce).when(absent),
        request("scarce-in-text", "Without regions one small region is taken in text.", scarce)
            .when(absent)
            .when(in_text),
    ]
}

fn region() -> Vec<Fault> {
    let plentiful = |context: &Context, seen: &ProxiedRequest| {
        let region = &context.facts.plentiful_region;
        region.is_some() && sent(context, seen, REGIONS) == *region
    };
    let anywhere = |context: &Context, seen: &mut ProxiedRequest| {
        without(REGIONS)(context, seen);
        without(COUNTRY)(context, seen);
    };
    // A region that no fact but the gateways names.
    let other = |context: &Context, seen: &mut ProxiedRequest| {
        let facts = &context.facts;
        let taken = [&facts.plentiful_region, &facts.scarce_region, &facts.empty_region];
        let mut regions = facts.known_gateways.iter().map(|pool| pool.region.as_str());
        set_region(
            context,
            seen,
            regions.find(|region| taken.iter().all(|taken| taken.as_deref() != Some(region))),
        );
    };
    let fault = |id, breaks| Fault::request(id, breaks, anywhere).when(plentiful);
    let mut faults = faults_of![
        "extract.region/",
        fault("ignored", "A region is served from everywhere."),
        request("other", "Gateways of another region are returned.", other).when(plentiful),
        request("scarce-filled", "A scarce region is served from everywhere.", anywhere)
            .when(of_scarce_region),
        request("scarce-filled-in-text", "A scarce region is served from everywhere in text.", anywhere)
            .when(of_scarce_region)
            .when(in_text),
        request("empty-filled", "An empty region is served from everywhere.", anywhere).when(of_empty_region),
        request("empty-filled-in-text", "An empty region is served from everywhere in text.", anywhere)
            .when(of_empty_region)
            .when(in_text),
    ];
    faults.extend(under!(
        fault,
        "extract.region/ignored-",
        "A region is served from everywhere",
        [in_text, by_header, by_bearer, with_request_id, with_other_protocol]
    ));
    faults
}

fn alias() -> Vec<Fault> {
    let alone = |context: &Context, seen: &ProxiedRequest| {
        sent(context, seen, REGIONS).is_none() && sent(context, seen, COUNTRY).is_some()
    };
    let ignored = without(COUNTRY);
    faults_of![
        "extract.country-alias/",
        request("ignored", "country is ignored.", ignored).when(alone),
        request("ignored-in-text", "country is ignored in text.", ignored).when(alone).when(in_text),
        request("ignored-other-protocol", "country is ignored for the other protocol.", ignored)
            .when(alone)
            .when(with_other_protocol),
        request("ignored-when-empty", "A country without gateways is taken for none.", ignored)
            .when(alone)
            .when(of_empty_region),
        request("ignored-when-scarce", "A country with few gateways is filled up.", ignored)
            .when(alone)
            .when(of_scarce_region),
        reject("rejected", "country alone is rejected.").when(alone),
        reject("rejected-in-text", "country alone is rejected in text.").when(alone).when(in_text),
        reject("rejected-default", "country does not take the default of regions.")
            .when(|context, seen| sent(context, seen, COUNTRY).as_deref() == default(context))
            .when(alone),
    ]
}

fn equal() -> Vec<Fault> {
    let differ = |context: &Context, seen: &ProxiedRequest| {
        let (regions, country) = (sent(context, seen, REGIONS), sent(context, seen, COUNTRY));
        regions.is_some() && country.is_some() && regions != country
    };
    let same = |context: &Context, seen: &ProxiedRequest| {
        let regions = sent(context, seen, REGIONS);
        regions.is_some() && regions == sent(context, seen, COUNTRY)
    };
    let first = without(COUNTRY);
    let second = without(REGIONS);
    faults_of![
        "extract.country-equal/",
        request("regions-wins", "Of two regions, regions counts.", first).when(differ),
        request("country-wins", "Of two regions, country counts.", second).when(differ),
        request("regions-wins-in-text", "Of two regions, regions counts in text.", first)
            .when(differ)
            .when(in_text),
        request(
            "regions-wins-other-protocol",
            "Of two regions, regions counts for the other protocol.",
            first
        )
        .when(differ)
        .when(with_other_protocol),
        request("default-gives-way", "A country beats the default of regions.", second)
            .when(differ)
            .when(|context, seen| sent(context, seen, REGIONS).as_deref() == default(context)),
        request("default-country-gives-way", "regions beats a country that is the default.", first)
            .when(differ)
            .when(|context, seen| sent(context, seen, COUNTRY).as_deref() == default(context)),
        request("lengths-compared", "Two regions of one length count as equal.", first).when(differ).when(
            |context, seen| {
                sent(context, seen, REGIONS).map(|text| text.len())
                    == sent(context, seen, COUNTRY).map(|text| text.len())
            }
        ),
        reject("equal-rejected", "Two equal regions are rejected.").when(same),
        reject("equal-rejected-in-text", "Two equal regions are rejected in text.").when(same).when(in_text),
    ]
}

fn protocol() -> Vec<Fault> {
    let is = |wanted| is(PROTOCOL, wanted);
    let unlisted = move |context: &Context, seen: &ProxiedRequest| {
        sent(context, seen, PROTOCOL)
            .is_some_and(|sent| !context.contract.extract.protocols.contains(&sent) && sent != "https")
    };
    let ignored = without(PROTOCOL);
    let https_as_http = |id, breaks| Fault::request(id, breaks, ignored).when(is("https"));
    let mut faults = faults_of![
        "extract.protocol/",
        https_as_http("https-as-http", "https means http."),
        request("https-as-socks5", "https means socks5.", last_protocol).when(is("https")),
        request("socks5h", "socks5h means socks5.", last_protocol).when(is("socks5h")),
        request("socks4", "socks4 is a protocol.", last_protocol).when(is("socks4")),
        request("socks", "socks means socks5.", last_protocol).when(is("socks")),
        request("unlisted", "An unknown protocol means the default.", ignored).when(unlisted),
        request(
            "beginnings-compared",
            "A value that begins with a protocol's name is accepted, and means the default.",
            ignored
        )
        .when(unlisted)
        .when(move |context, seen| {
            let sent = sent(context, seen, PROTOCOL).unwrap_or_default();
            context.contract.extract.protocols.iter().any(|protocol| sent.starts_with(protocol.as_str()))
        }),
        reject("default-rejected", "The default may not be named.").when(is("http")),
        reply(
            "unlisted-breaks",
            "An unknown protocol breaks the service.",
            respond(500, json!({"message": "internal error"}))
        )
        .when(unlisted),
    ];
    faults.extend(under!(
        https_as_http,
        "extract.protocol/https-",
        "https means http",
        [in_text, by_header, by_bearer]
    ));
    faults
}

fn known_protocol() -> Vec<Fault> {
    let default = |context: &Context, seen: &ProxiedRequest| {
        let extract = &context.contract.extract;
        seen.param(&extract.protocol.name).is_none_or(|sent| Some(&sent) == extract.protocols.first())
    };
    faults_of![
        "extract.protocol/",
        request(
            "last-gives-first",
            "Gateways of the first protocol are returned for the last.",
            first_protocol
        )
        .when(with_other_protocol),
        request(
            "last-gives-first-in-text",
            "Plain text returns gateways of the first protocol for the last.",
            first_protocol
        )
        .when(with_other_protocol)
        .when(in_text),
        request(
            "first-gives-last",
            "Gateways of the last protocol are returned for the first.",
            last_protocol
        )
        .when(default),
        reject("last-rejected", "The last protocol is rejected.").when(with_other_protocol),
    ]
}

fn form() -> Vec<Fault> {
    let form: ParameterGetter = |extract| &extract.return_type;
    let is = |wanted| is(form, wanted);
    let absent = move |context: &Context, seen: &ProxiedRequest| sent(context, seen, form).is_none();
    let unlisted = move |context: &Context, seen: &ProxiedRequest| {
        let extract = &context.contract.extract;
        sent(context, seen, form).is_some_and(|sent| sent != extract.json && sent != extract.text)
    };
    let as_json = |context: &Context, seen: &mut ProxiedRequest| {
        let extract = &context.contract.extract;
        seen.set_param(&extract.return_type.name, &extract.json);
    };
    let as_text = |context: &Context, seen: &mut ProxiedRequest| {
        let extract = &context.contract.extract;
        seen.set_param(&extract.return_type.name, &extract.text);
    };
    let json_by_name = move |context: &Context, seen: &ProxiedRequest| {
        sent(context, seen, form).as_ref() == Some(&context.contract.extract.json)
    };
    faults_of![
        "extract.return-type/",
        request("text-is-json", "txt gives JSON.", as_json).when(in_text),
        request("text-is-json-other-protocol", "txt gives JSON for the other protocol.", as_json)
            .when(in_text)
            .when(with_other_protocol),
        request("text-is-json-with-request-id", "txt gives JSON with a request id.", as_json)
            .when(in_text)
            .when(with_request_id),
        request("text-is-json-when-scarce", "A partial result is JSON even in text.", as_json)
            .when(in_text)
            .when(of_scarce_region),
        reject("text-rejected", "txt is rejected.").when(in_text),
        request("json-is-text", "json gives text.", as_text).when(json_by_name),
        reject("json-rejected", "json may not be named.").when(json_by_name),
        request("default-is-text", "Without return_type text comes.", as_text).when(absent),
        reject("required", "return_type must be sent.").when(absent),
        request("unlisted-is-json", "An unknown return_type means json.", as_json).when(unlisted),
        request("unlisted-is-text", "An unknown return_type means txt.", as_text).when(unlisted),
        request("xml", "return_type xml is accepted.", as_json).when(is("xml")),
        request("text-by-another-name", "return_type text means txt.", as_text).when(is("text")),
        reply(
            "text-in-json",
            "txt gives the text as a JSON string in an envelope.",
            |context, seen, reply| {
                if context.accepted(seen, reply) {
                    let text = String::from_utf8_lossy(&reply.body).into_owned();
                    reply.set_json(&json!({"code": 0, "success": true, "msg": "ok", "data": text}));
                    reply.headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
                }
            }
        )
        .when(in_text),
    ]
}

/// A parameter has this value.
fn is(
    which: ParameterGetter,
    value: &'static str,
) -> impl Fn(&Context, &ProxiedRequest) -> bool + Copy + Send + Sync {
    move |context, seen| sent(context, seen, which).as_deref() == Some(value)
}

fn default(context: &Context) -> Option<&str> {
    context.contract.extract.regions.schema.default.as_ref()?.as_str()
}

fn first_protocol(context: &Context, seen: &mut ProxiedRequest) {
    let extract = &context.contract.extract;
    if let Some(first) = extract.protocols.first() {
        seen.set_param(&extract.protocol.name, first);
    }
}

fn last_protocol(context: &Context, seen: &mut ProxiedRequest) {
    let extract = &context.contract.extract;
    if let Some(last) = extract.protocols.last() {
        seen.set_param(&extract.protocol.name, last);
    }
}

fn set_region(context: &Context, seen: &mut ProxiedRequest, region: Option<&str>) {
    if let Some(region) = region {
        seen.set_param(&context.contract.extract.regions.name, region);
    }
}

//! Faults in where gateways come from, what they speak and in which form they come.

use hyper::header::{CONTENT_TYPE, HeaderValue};
use serde_json::json;

use super::condition::{
    COUNTRY, PROTOCOL, ParameterGetter, REGIONS, RETURN_TYPE, in_text, is, json_by_name, of_empty_region,
    of_scarce_region, put_param, sent, with, with_other_protocol, with_request_id, without,
};
use super::edit::respond;
use crate::lab::{Call, Fault};

pub(crate) fn faults() -> Vec<Fault> {
    [default_region(), region(), alias(), equal(), protocol(), form()].into_iter().flatten().collect()
}

fn default_region() -> Vec<Fault> {
    let absent = |call: &Call<'_>| sent(call, REGIONS).is_none() && sent(call, COUNTRY).is_none();
    let named = |call: &Call<'_>| with(REGIONS)(call) && is_default(call, REGIONS);
    let empty = |call: &mut Call<'_>| set_region(call, call.facts.empty_region.as_deref());
    let scarce = |call: &mut Call<'_>| set_region(call, call.facts.scarce_region.as_deref());
    faults_of![
        "extract.regions-default/",
        reject("required", "regions must be sent.").when(absent),
        reject("required-in-text", "regions must be sent in text.").when(absent).when(in_text),
        reject("required-other-protocol", "regions must be sent for the other protocol.")
            .when(absent)
            .when(with_other_protocol),
        reject("default-rejected", "The default must not be sent.").when(named),
        fault("empty-region", "Without regions an empty region is taken.").when(absent).request(empty),
        fault("scarce-region", "Without regions one small region is taken.").when(absent).request(scarce),
        fault("scarce-in-text", "Without regions one small region is taken in text.")
            .when(absent)
            .when(in_text)
            .request(scarce),
    ]
}

fn region() -> Vec<Fault> {
    let plentiful = |call: &Call<'_>| {
        let region = &call.facts.plentiful_region;
        region.is_some() && sent(call, REGIONS) == *region
    };
    let anywhere = |call: &mut Call<'_>| {
        without(REGIONS)(call);
        without(COUNTRY)(call);
    };
    // A region that no fact but the gateways names.
    let other = |call: &mut Call<'_>| {
        let facts = &call.facts;
        let taken = [&facts.plentiful_region, &facts.scarce_region, &facts.empty_region];
        let mut regions = facts.known_gateways.iter().map(|pool| pool.region.as_str());
        set_region(call, regions.find(|region| taken.iter().all(|taken| taken.as_deref() != Some(region))));
    };
    let ignored = |id, breaks| Fault::new(id, breaks).when(plentiful).request(anywhere);
    faults_of![
        "extract.region/",
        ignored("ignored", "A region is served from everywhere."),
        fault("other", "Gateways of another region are returned.").when(plentiful).request(other),
        fault("scarce-filled", "A scarce region is served from everywhere.")
            .when(of_scarce_region)
            .request(anywhere),
        fault("scarce-filled-in-text", "A scarce region is served from everywhere in text.")
            .when(of_scarce_region)
            .when(in_text)
            .request(anywhere),
        fault("empty-filled", "An empty region is served from everywhere.")
            .when(of_empty_region)
            .request(anywhere),
        fault("empty-filled-in-text", "An empty region is served from everywhere in text.")
            .when(of_empty_region)
            .when(in_text)
            .request(anywhere),
        several("ignored-", "A region is served from everywhere", ignored).under([
            in_text,
            by_header,
            by_bearer,
            with_request_id,
            with_other_protocol
        ]),
    ]
}

fn alias() -> Vec<Fault> {
    let alone = |call: &Call<'_>| sent(call, REGIONS).is_none() && sent(call, COUNTRY).is_some();
    let ignored = without(COUNTRY);
    faults_of![
        "extract.country-alias/",
        fault("ignored", "country is ignored.").when(alone).request(ignored),
        fault("ignored-in-text", "country is ignored in text.").when(alone).when(in_text).request(ignored),
        fault("ignored-other-protocol", "country is ignored for the other protocol.")
            .when(alone)
            .when(with_other_protocol)
            .request(ignored),
        fault("ignored-when-empty", "A country without gateways is ignored, as if none were sent.")
            .when(alone)
            .when(of_empty_region)
            .request(ignored),
        fault("ignored-when-scarce", "A country with few gateways is filled up.")
            .when(alone)
            .when(of_scarce_region)
            .request(ignored),
        reject("rejected", "country alone is rejected.").when(alone),
        reject("rejected-in-text", "country alone is rejected in text.").when(alone).when(in_text),
        reject("rejected-default", "country does not take the default of regions.")
            .when(|call| is_default(call, COUNTRY))
            .when(alone),
    ]
}

fn equal() -> Vec<Fault> {
    let differ = |call: &Call<'_>| {
        let (regions, country) = (sent(call, REGIONS), sent(call, COUNTRY));
        regions.is_some() && country.is_some() && regions != country
    };
    let same = |call: &Call<'_>| {
        let regions = sent(call, REGIONS);
        regions.is_some() && regions == sent(call, COUNTRY)
    };
    let first = without(COUNTRY);
    let second = without(REGIONS);
    faults_of![
        "extract.country-equal/",
        fault("regions-wins", "Of two regions, regions counts.").when(differ).request(first),
        fault("country-wins", "Of two regions, country counts.").when(differ).request(second),
        fault("regions-wins-in-text", "Of two regions, regions counts in text.")
            .when(differ)
            .when(in_text)
            .request(first),
        fault("regions-wins-other-protocol", "Of two regions, regions counts for the other protocol.")
            .when(differ)
            .when(with_other_protocol)
            .request(first),
        fault("default-gives-way", "A country takes precedence over the default of regions.")
            .when(differ)
            .when(|call| is_default(call, REGIONS))
            .request(second),
        fault("default-country-gives-way", "regions takes precedence over a country that is the default.")
            .when(differ)
            .when(|call| is_default(call, COUNTRY))
            .request(first),
        fault("lengths-compared", "Two regions of one length count as equal.")
            .when(differ)
            .when(|call| sent(call, REGIONS).map(|text| text.len())
                == sent(call, COUNTRY).map(|text| text.len()))
            .request(first),
        reject("equal-rejected", "Two equal regions are rejected.").when(same),
        reject("equal-rejected-in-text", "Two equal regions are rejected in text.").when(same).when(in_text),
    ]
}

fn protocol() -> Vec<Fault> {
    let default = |call: &Call<'_>| {
        let extract = &call.contract.extract;
        call.param(&extract.protocol.name).is_none_or(|sent| Some(&sent) == extract.protocols.first())
    };
    let unlisted = move |call: &Call<'_>| {
        sent(call, PROTOCOL)
            .is_some_and(|sent| !call.contract.extract.protocols.contains(&sent) && sent != "https")
    };
    let ignored = without(PROTOCOL);
    let https_as_http = |id, breaks| Fault::new(id, breaks).when(is(PROTOCOL, "https")).request(ignored);
    faults_of![
        "extract.protocol/",
        https_as_http("https-as-http", "https means http."),
        fault("https-as-socks5", "https means socks5.").when(is(PROTOCOL, "https")).request(last_protocol),
        fault("socks5h", "socks5h means socks5.").when(is(PROTOCOL, "socks5h")).request(last_protocol),
        fault("socks4", "socks4 is a protocol.").when(is(PROTOCOL, "socks4")).request(last_protocol),
        fault("socks", "socks means socks5.").when(is(PROTOCOL, "socks")).request(last_protocol),
        fault("unlisted", "An unknown protocol means the default.").when(unlisted).request(ignored),
        fault(
            "beginnings-compared",
            "A value that begins with a protocol's name is accepted, and means the default."
        )
        .when(unlisted)
        .when(move |call| {
            let sent = sent(call, PROTOCOL).unwrap_or_default();
            call.contract.extract.protocols.iter().any(|protocol| sent.starts_with(protocol.as_str()))
        })
        .request(ignored),
        reject("default-rejected", "The default may not be named.").when(is(PROTOCOL, "http")),
        fault("unlisted-breaks", "An unknown protocol breaks the service.")
            .when(unlisted)
            .reply(respond(500, json!({"message": "internal error"}))),
        several("https-", "https means http", https_as_http).under([in_text, by_header, by_bearer]),
        fault("last-gives-first", "Gateways of the first protocol are returned for the last.")
            .when(with_other_protocol)
            .request(first_protocol),
        fault("last-gives-first-in-text", "Plain text returns gateways of the first protocol for the last.")
            .when(with_other_protocol)
            .when(in_text)
            .request(first_protocol),
        fault("first-gives-last", "Gateways of the last protocol are returned for the first.")
            .when(default)
            .request(last_protocol),
        reject("last-rejected", "The last protocol is rejected.").when(with_other_protocol),
    ]
}

fn form() -> Vec<Fault> {
    let absent = move |call: &Call<'_>| sent(call, RETURN_TYPE).is_none();
    let unlisted = move |call: &Call<'_>| {
        let extract = &call.contract.extract;
        sent(call, RETURN_TYPE).is_some_and(|sent| sent != extract.json && sent != extract.text)
    };
    let as_json = |call: &mut Call<'_>| {
        put_param(call, RETURN_TYPE, &call.contract.extract.json);
    };
    let as_text = |call: &mut Call<'_>| {
        put_param(call, RETURN_TYPE, &call.contract.extract.text);
    };
    faults_of![
        "extract.return-type/",
        fault("text-is-json", "txt gives JSON.").when(in_text).request(as_json),
        fault("text-is-json-other-protocol", "txt gives JSON for the other protocol.")
            .when(in_text)
            .when(with_other_protocol)
            .request(as_json),
        fault("text-is-json-with-request-id", "txt gives JSON with a request id.")
            .when(in_text)
            .when(with_request_id)
            .request(as_json),
        fault("text-is-json-when-scarce", "A partial result is JSON even in text.")
            .when(in_text)
            .when(of_scarce_region)
            .request(as_json),
        reject("text-rejected", "txt is rejected.").when(in_text),
        fault("json-is-text", "json gives text.").when(json_by_name).request(as_text),
        reject("json-rejected", "json may not be named.").when(json_by_name),
        fault("default-is-text", "Without return_type text comes.").when(absent).request(as_text),
        reject("required", "return_type must be sent.").when(absent),
        fault("unlisted-is-json", "An unknown return_type means json.").when(unlisted).request(as_json),
        fault("unlisted-is-text", "An unknown return_type means txt.").when(unlisted).request(as_text),
        fault("xml", "return_type xml is accepted.").when(is(RETURN_TYPE, "xml")).request(as_json),
        fault("text-by-another-name", "return_type text means txt.")
            .when(is(RETURN_TYPE, "text"))
            .request(as_text),
        fault("text-in-json", "txt gives the text as a JSON string in an envelope.").when(in_text).reply(
            |call, reply| {
                if call.accepted(reply) {
                    let text = reply.text();
                    reply.set_json(&json!({"code": 0, "success": true, "msg": "ok", "data": text}));
                    reply.headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
                }
            }
        ),
    ]
}

fn is_default(call: &Call<'_>, which: ParameterGetter) -> bool {
    let default = call.contract.extract.regions.schema.default.as_ref();
    sent(call, which).as_deref() == default.and_then(|default| default.as_str())
}

fn first_protocol(call: &mut Call<'_>) {
    call.contract.extract.protocols.first().into_iter().for_each(|first| put_param(call, PROTOCOL, first));
}

fn last_protocol(call: &mut Call<'_>) {
    call.contract.extract.protocols.last().into_iter().for_each(|last| put_param(call, PROTOCOL, last));
}

fn set_region(call: &mut Call<'_>, region: Option<&str>) {
    region.into_iter().for_each(|region| put_param(call, REGIONS, region));
}

//! Faults in where gateways come from, what they speak and in which form they come.

use hyper::header::{CONTENT_TYPE, HeaderValue};
use serde_json::json;

use super::words::*;
use crate::lab::{Call, Fault};
use crate::target::{Fact, Facts};

pub(crate) fn faults() -> Vec<Fault> {
    faults! {
        "extract.regions-default/" {
            "required" + [text, other_protocol]: "regions must be sent" if anywhere => reject;
            "default-rejected": "The default must not be sent." if is_default(REGIONS) => reject;
            "empty-region": "Without regions an empty region is taken." if anywhere
                => take_region(Fact::EmptyRegion, |facts| facts.empty_region.as_deref());
            "scarce-region": "Without regions one small region is taken." if anywhere => take_scarce_region();
            "scarce-in-text": "Without regions one small region is taken in text." if anywhere, in_text => take_scarce_region();
            "large-country": "Without regions one large country is taken." if anywhere
                => take_region(Fact::PlentifulRegion, |facts| facts.plentiful_region.as_deref());
        }
        "extract.region/" {
            "ignored" + [in_text, by_header, by_bearer, request_id, other_protocol]: "A region is served from everywhere"
                if plentiful_region() => drop_region;
            "other": "Gateways of another region are returned." if plentiful_region() => take_region(Fact::KnownGateways, |facts| {
                // A region that no fact but the gateways names.
                let taken = [&facts.plentiful_region, &facts.scarce_region, &facts.empty_region];
                let mut regions = facts.known_gateways.iter().map(|pool| pool.region.as_str());
                regions.find(|region| taken.iter().all(|taken| taken.as_deref() != Some(region)))
            });
            "scarce-filled" + [text]: "A scarce region is served from everywhere" if scarce_region() => drop_region;
            "empty-filled" + [text]: "An empty region is served from everywhere" if empty_region() => drop_region;
        }
        "extract.country-alias/" {
            "ignored" + [text, other_protocol]: "country is ignored" if country_alone => ignore(COUNTRY);
            "ignored-when-empty": "A country without gateways is ignored, as if none were sent."
                if country_alone, empty_region() => ignore(COUNTRY);
            "ignored-when-scarce": "A country with few gateways is filled up." if country_alone, scarce_region() => ignore(COUNTRY);
            "rejected" + [text]: "country alone is rejected" if country_alone => reject;
            "rejected-default": "country does not take the default of regions." if is_default(COUNTRY), country_alone => reject;
        }
        "extract.country-equal/" {
            "regions-wins" + [text, other_protocol]: "Of two regions, regions counts" if differ => ignore(COUNTRY);
            "country-wins": "Of two regions, country counts." if differ => ignore(REGIONS);
            "default-gives-way": "A country takes precedence over the default of regions." if differ, is_default(REGIONS) => ignore(REGIONS);
            "default-country-gives-way": "regions takes precedence over a country that is the default."
                if differ, is_default(COUNTRY) => ignore(COUNTRY);
            "lengths-compared": "Two regions of one length count as equal."
                if differ, that(|call| text(call, REGIONS).map(|text| text.len()) == text(call, COUNTRY).map(|text| text.len()))
                => ignore(COUNTRY);
            "equal-rejected" + [text]: "Two equal regions are rejected" if with(REGIONS), with(COUNTRY), not(differ) => reject;
        }
        "extract.protocol/" {
            "ignored-in-one-region": "In one region the protocol is ignored." if last_known_region() => ignore(PROTOCOL);
            "https-as-http": "https means http." if is(PROTOCOL, "https") => ignore(PROTOCOL);
            "https-as-socks5": "https means socks5." if is(PROTOCOL, "https") => last_protocol;
            "socks5h": "socks5h means socks5." if is(PROTOCOL, "socks5h") => last_protocol;
            "socks4": "socks4 is a protocol." if is(PROTOCOL, "socks4") => last_protocol;
            "socks": "socks means socks5." if is(PROTOCOL, "socks") => last_protocol;
            "unlisted": "An unknown protocol means the default." if unlisted_protocol => ignore(PROTOCOL);
            "beginnings-compared": "A value that begins with a protocol's name is accepted, and means the default."
                if unlisted_protocol, that(|call| {
                    let sent = text(call, PROTOCOL).unwrap_or_default();
                    call.contract.extract.protocols.iter().any(|protocol| sent.starts_with(protocol.as_str()))
                }) => ignore(PROTOCOL);
            "default-rejected": "The default may not be named." if is(PROTOCOL, "http") => reject;
            "unlisted-breaks": "An unknown protocol breaks the service." if unlisted_protocol => respond(500, json!({"message": "internal error"}));
            "https-" in [in_text, by_header, by_bearer]: "https means http" if is(PROTOCOL, "https") => ignore(PROTOCOL);
            "last-gives-first": "Gateways of the first protocol are returned for the last." if with_other_protocol => first_protocol;
            "last-gives-first-in-text": "Plain text returns gateways of the first protocol for the last."
                if with_other_protocol, in_text => first_protocol;
            "first-gives-last": "Gateways of the last protocol are returned for the first."
                if that(|call| text(call, PROTOCOL).is_none_or(|sent| Some(&sent) == call.contract.extract.protocols.first())) => last_protocol;
            "last-rejected": "The last protocol is rejected." if with_other_protocol => reject;
        }
        "extract.return-type/" {
            "text-is-json" + [other_protocol]: "txt gives JSON" if in_text => as_json;
            "text-is-json-with-request-id": "txt gives JSON with a request id." if in_text, with_request_id => as_json;
            "text-is-json-when-scarce": "A partial result is JSON even in text." if in_text, scarce_region() => as_json;
            "text-rejected": "txt is rejected." if in_text => reject;
            "json-is-text": "json gives text." if json_by_name => as_text;
            "json-rejected": "json may not be named." if json_by_name => reject;
            "default-is-text": "Without return_type text comes." if not(with(RETURN_TYPE)) => as_text;
            "required": "return_type must be sent." if not(with(RETURN_TYPE)) => reject;
            "unlisted-is-json": "An unknown return_type means json." if unlisted_form => as_json;
            "unlisted-is-text": "An unknown return_type means txt." if unlisted_form => as_text;
            "xml": "return_type xml is accepted." if is(RETURN_TYPE, "xml") => as_json;
            "text-by-another-name": "return_type text means txt." if is(RETURN_TYPE, "text") => as_text;
            "text-in-json": "txt gives the text as a JSON string in an envelope." if in_text => accepted(|_, reply| {
                let text = reply.text();
                reply.set_json(&json!({"code": 0, "success": true, "msg": "ok", "data": text}));
                reply.headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
            });
        }
    }
}

/// No region is asked for.
fn anywhere(call: &Call<'_>) -> bool {
    text(call, REGIONS).is_none() && text(call, COUNTRY).is_none()
}

fn country_alone(call: &Call<'_>) -> bool {
    text(call, REGIONS).is_none() && text(call, COUNTRY).is_some()
}

/// Two different regions are asked for.
fn differ(call: &Call<'_>) -> bool {
    text(call, REGIONS).zip(text(call, COUNTRY)).is_some_and(|(regions, country)| regions != country)
}

fn plentiful_region() -> When {
    let is_asked =
        |region: &Option<String>, call: &Call<'_>| region.is_some() && text(call, REGIONS) == *region;
    that(move |call| is_asked(&call.facts.plentiful_region, call)).needs(Need::Fact(Fact::PlentifulRegion))
}

fn drop_region(call: &mut Call<'_>) {
    ignore(REGIONS)(call);
    ignore(COUNTRY)(call);
}

/// Takes the region that follows from a fact.
fn take_region(fact: Fact, region: fn(&Facts) -> Option<&str>) -> Act {
    let take = move |call: &mut Call<'_>| {
        region(call.facts).into_iter().for_each(|region| put(call, REGIONS, region))
    };
    request(take).needs(Need::Fact(fact))
}

fn take_scarce_region() -> Act {
    take_region(Fact::ScarceRegion, |facts| facts.scarce_region.as_deref())
}

fn unlisted_protocol(call: &Call<'_>) -> bool {
    text(call, PROTOCOL)
        .is_some_and(|sent| !call.contract.extract.protocols.contains(&sent) && sent != "https")
}

fn first_protocol(call: &mut Call<'_>) {
    call.contract.extract.protocols.first().into_iter().for_each(|first| put(call, PROTOCOL, first.as_str()));
}

fn last_protocol(call: &mut Call<'_>) {
    call.contract.extract.protocols.last().into_iter().for_each(|last| put(call, PROTOCOL, last.as_str()));
}

fn unlisted_form(call: &Call<'_>) -> bool {
    let extract = &call.contract.extract;
    text(call, RETURN_TYPE).is_some_and(|sent| sent != extract.json && sent != extract.text)
}

fn as_json(call: &mut Call<'_>) {
    put(call, RETURN_TYPE, call.contract.extract.json.as_str());
}

fn as_text(call: &mut Call<'_>) {
    put(call, RETURN_TYPE, call.contract.extract.text.as_str());
}

//! Faults of extractions that few requests show: those beside one other parameter, with a link credential, or with one unusual
//! input. Servers that somebody wrote from the contract alone had faults like these, and they passed unnoticed.

use hyper::StatusCode;
use serde_json::json;

use super::extract_identity::drop_request_id;
use super::words::*;
use super::{no_json, retext, separator};
use crate::contract::Parameter;
use crate::lab::{Call, Fault};

pub(crate) fn faults() -> Vec<Fault> {
    faults! {
        "extract." {
            "country-equal/country-first": "Differing regions are noticed only when regions stands before country."
                if with(COUNTRY), that(|call| place(call, COUNTRY) < place(call, REGIONS)) => ignore(COUNTRY);
            "country-equal/default-twice": "regions and country that both are the default are rejected."
                if is_default(REGIONS), is_default(COUNTRY) => reject;
            "num-range/most-rejected-by-bearer": "The largest num is rejected when the token is in Authorization." if at_maximum, by_bearer => reject;
            "num-range/most-rejected-by-header": "The largest num is rejected when the token is in X-API-Key." if at_maximum, by_header => reject;
            "return-type/accept-wins": "The header Accept decides the form, whatever return_type says."
                if in_text, that(|call| call.header("accept").is_some_and(|accept| accept.contains("json"))) => ignore(RETURN_TYPE);
            "return-type/accept-wins-as-text": "The header Accept decides that the form is text."
                if not(in_text), that(|call| call.header("accept").is_some_and(|accept| accept.contains("text/plain")))
                => request(|call| put(call, RETURN_TYPE, call.contract.extract.text.as_str()));
            "separator-range/first-digit": "Only the first digit of lb is read."
                if in_text, that(|call| text(call, LB).is_some_and(|lb| lb.len() == 2 && lb.bytes().all(|byte| byte.is_ascii_digit())))
                => respell(LB, |lb| lb.chars().next().map(String::from));
            "separator/blocks": "After each half of the largest num, LF stands between the entries of a text." if in_text => reply(|call, reply| {
                let (text, separator) = (reply.text(), separator(call));
                let entries: Vec<_> = text.split(&separator).collect();
                let half = usize::try_from(*call.contract.extract.num_range.end() / 2).unwrap_or(1).max(1);
                let blocks: Vec<_> = entries.chunks(half).map(|block| block.join(&separator)).collect();
                reply.body = blocks.join("\n").into();
            });
            "separator/longest-cut": "The last byte of an sb of the greatest length is lost."
                if in_text, that(|call| separator(call).len() == call.contract.extract.separator_bytes)
                => retext(|text, separator| {
                    let shorter: String = separator.chars().take(separator.chars().count() - 1).collect();
                    text.replace(separator, &shorter)
                });
            "endpoint/port-0": "The second entry has port 0." => set("/data/1/port", 0);
            "link-credential/one-gateway": "A legacy credential gets one gateway at a time only." if of_account(LINK), for_several => reject;

            "num-range/above-beside-a-custom-separator": "Beside a custom separator a num above the largest value is taken for it."
                if above_maximum, with(SB) => most;
            "num-range/letters-behind": "Letters behind num are ignored." => respell(NUM, |sent| {
                let digits = sent.trim_end_matches(|c: char| c.is_ascii_alphabetic());
                let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
                (is_number && digits != sent).then(|| digits.to_owned())
            });
            "num-range/beside-country": "Beside country a num above the largest value is taken for it." if with(COUNTRY), above_maximum => most;
            "num-required/beside-country": "Beside country num may be absent." if with(COUNTRY), not(with(NUM)) => most;
            "return-type/beside-country": "Beside country any form is taken for JSON."
                if with(COUNTRY), unlisted(RETURN_TYPE) => ignore(RETURN_TYPE);
            "protocol/beside-country": "Beside country any protocol is taken for the default."
                if with(COUNTRY), unlisted(PROTOCOL) => ignore(PROTOCOL);
            "separator-range/beside-country": "Beside country any lb is taken for the default." if with(COUNTRY), unlisted(LB) => ignore(LB);
            "sb-required/beside-country": "Beside country a hyphen stands for an absent or empty sb."
                if with(COUNTRY), is_custom, no_sb => hyphen;
            "sb-length/beside-country": "Beside country a long sb is cut." if with(COUNTRY), long_sb => hyphen;
            "protocol/capitals": "HTTPS in capitals is accepted." if is(PROTOCOL, "HTTPS") => ignore(PROTOCOL);
            "separator/up-to-semicolon": "sb ends before a semicolon." => respell(SB, |text| up_to(text, ';'));
            "separator/up-to-ampersand": "sb ends before an ampersand." => respell(SB, |text| up_to(text, '&'));
            "separator/composed": "A letter and its accent become one character in sb."
                => respell(SB, |text| text.contains("e\u{301}").then(|| text.replace("e\u{301}", "\u{e9}")));
            "sb-required/zero": "An sb of 0 counts as empty." if is(SB, "0") => reject;
            "sb-required/blank": "An sb of white space counts as empty."
                if that(|call| text(call, SB).is_some_and(|sb| !sb.is_empty() && sb.trim().is_empty())) => reject;
            "separator-range/itself": "An lb that is not listed is the separator itself." if in_text => request(|call| {
                let lb = text(call, LB).unwrap_or_default();
                if !lb.is_empty() && !lb.chars().any(char::is_alphanumeric) {
                    put(call, LB, call.contract.extract.custom_separator.as_str());
                    put(call, SB, lb);
                }
            });
            "separator/quotes-stripped": "Quotes around sb are taken off." => respell_sb(|text| text.trim_matches(['"', '\'']).to_owned());
            "separator/unbreaking-spaces": "Spaces that do not break are taken off around sb."
                => respell_sb(|text| text.trim_matches('\u{a0}').to_owned());
            "separator/without-width": "Characters of sb without width are left out."
                => respell_sb(|text| text.replace(['\u{200b}', '\u{feff}'], ""));
            "separator/tab-rejected": "A tab within sb is rejected."
                if that(|call| text(call, SB).is_some_and(|text| text.len() > 1 && text.contains('\t'))) => reject;

            "country-alias/link-credential": "With a link credential country is ignored." if carries(LINK) => ignore(COUNTRY);
            "shortage-retry-after/link-credential": "With a link credential a shortage has no Retry-After."
                if carries(LINK), empty_region() => rejection(without_header("retry-after"));
            "num-range/link-credential": "With a link credential a num above the largest value is taken for it."
                if carries(LINK), above_maximum => most;
            "num-range/most-by-link": "A link credential gets ten gateways at most." if many, carries(LINK) => reject;
            "num-required/link-credential": "With a link credential num may be empty." if carries(LINK), is(NUM, "") => most;
            "num-required/absent-by-link": "With a link credential num may be left out." if carries(LINK), not(with(NUM)) => most;
            "protocol/link-credential": "With a link credential any protocol is accepted." if carries(LINK), unlisted(PROTOCOL) => ignore(PROTOCOL);
            "return-type/link-credential": "With a link credential any form is taken for JSON."
                if carries(LINK), unlisted(RETURN_TYPE) => ignore(RETURN_TYPE);
            "separator-range/link-credential": "With a link credential any lb is accepted."
                if carries(LINK), not(is_custom), that(|call| {
                    let separators = &call.contract.extract.separators;
                    text(call, LB).is_some_and(|lb| separators.iter().all(|separator| separator.code != lb))
                }) => ignore(LB);
            "separator/link-credential": "With a link credential lb=6 is ignored." if carries(LINK), not(no_sb), is_custom => ignore(LB);
            "idempotent/link-credential": "With a link credential no request id is remembered." if carries(LINK) => drop_request_id;
            "country-equal/link-credential": "With a link credential country may differ." if carries(LINK) => ignore(COUNTRY);
            "sb-length/link-credential": "With a link credential a long sb is cut." if carries(LINK), long_sb => hyphen;
            "sb-required/link-credential": "With a link credential sb may be absent or empty." if carries(LINK), no_sb => hyphen;

            "whitelist/not-with-country": "The whitelist is ignored beside country." if carries(NOT_WHITELISTED), with(COUNTRY) => as_main();
            "whitelist/not-with-a-separator": "The whitelist is ignored when a separator is asked for."
                if carries(NOT_WHITELISTED), with(LB) => as_main();
            "whitelist/not-with-return-type": "The whitelist is ignored when JSON is asked for by name."
                if carries(NOT_WHITELISTED), json_by_name => as_main();
            "whitelist/not-for-rare-header": "Whoever claims to be this machine in Client-IP passes the whitelist."
                if carries(NOT_WHITELISTED), claims("client-ip", |address| address == HERE) => as_main();
            "whitelist/not-for-the-most": "The whitelist is ignored when as many gateways are asked for as there may be."
                if carries(NOT_WHITELISTED), at_maximum => as_main();
            "whitelist/not-for-second-address": "Whoever claims this machine as the second address of X-Forwarded-For passes the whitelist."
                if carries(NOT_WHITELISTED), forwarded(|text| text.ends_with(", 127.0.0.1")) => as_main();
            // The service behind the fault may reject parameters that it does not know.
            "whitelist/not-for-a-parameter": "Whoever claims to be this machine in the parameter ip passes the whitelist."
                if carries(NOT_WHITELISTED), that(|call| call.param("ip").as_deref() == Some(HERE)) => request(|call| {
                    call.as_main();
                    ["ip", "client_ip", "request_ip"].into_iter().for_each(|name| call.drop_param(name));
                }).needs(Need::Token);
            "whitelist/denied-for-public": "A public address in X-Forwarded-For is looked up in the whitelist."
                if forwarded(|header| header.starts_with("8.")) => reject;
            "whitelist/denied-for-private": "A private address in X-Forwarded-For is looked up in the whitelist."
                if forwarded(|header| header.starts_with("10.")) => reject;
            "whitelist/denied-for-rare": "Client-IP is looked up in the whitelist." if claims("client-ip", |address| address != HERE) => reject;
            "entitlement/not-with-return-type": "JSON by name needs no entitlement." if carries(NOT_ENTITLED), json_by_name => as_main();
            "entitlement/not-for-many": "More than ten gateways need no entitlement." if carries(NOT_ENTITLED), many => as_main();
            "entitlement/several": "The entitlement is checked for one gateway only." if carries(NOT_ENTITLED), for_several => as_main();
            "real-name/not-with-a-custom-separator": "A custom separator needs no real-name verification."
                if carries(NOT_VERIFIED), with(SB) => as_main();
            "real-name/not-for-many": "More than ten gateways need no real-name verification." if carries(NOT_VERIFIED), many => as_main();
            "real-name/several": "Verification is checked for one gateway only." if carries(NOT_VERIFIED), for_several => as_main();

            "request-ip/rare-header": "request_ip is what WL-Proxy-Client-IP says." => take_claimed("wl-proxy-client-ip");
            "request-ip/public": "request_ip is a public address that X-Forwarded-For says."
                if claims("x-forwarded-for", |address| address.starts_with("8.")) => take_claimed("x-forwarded-for");
            "request-ip/forwarded-in-partial": "In a partial result request_ip is what X-Forwarded-For says."
                if scarce_region() => take_claimed("x-forwarded-for");
            "request-ip/forwarded-by-bearer": "With a bearer token request_ip is what X-Forwarded-For says."
                if by_bearer => take_claimed("x-forwarded-for");

            "error-envelope/long-token": "A token of more than 64 characters is rejected with an HTML page."
                if that(|call| credentials(call).iter().any(|token| token.len() > 64)) => reply(|_, reply| {
                    reply.set_header("content-type", "text/html");
                    reply.status = StatusCode::UNAUTHORIZED;
                    reply.body = "<h1>Unauthorized</h1>".into();
                });
            "error-envelope/shortage-without-message": "The message of a shortage is called msg."
                if empty_region() => error(rename("/message", "msg"));
            "error-envelope/shortage-as-text": "A shortage in text is a sentence." if in_text, empty_region() => rejection(|_, reply| {
                reply.set_header("content-type", "text/plain");
                reply.body = "not enough gateways".into();
            });
            "error-envelope/list-of-two": "The error of two wrong parameters is a list." if that(|call| {
                let extract = &call.contract.extract;
                let is_wrong = text(call, PROTOCOL).is_some_and(|sent| !extract.protocols.contains(&sent));
                is_wrong && num(call).is_some_and(|num| !extract.num_range.contains(&num))
            }) => rejection(|_, reply| reply.set_json(&json!([reply.json(), reply.json()])));
            "error-envelope/query-without-code": "A query that is not UTF-8 is rejected without a code."
                if that(|call| call.query.as_ref().is_some_and(|query| query.contains("%FF"))) => respond(400, json!({"message": "not UTF-8"}));
            // The service behind the fault may reject a parameter that it does not know.
            "endpoint/internal-when-debugged": "With debug=1 a gateway has an internal field."
                if that(|call| call.param("debug").as_deref() == Some("1")) => respond(200, json!({
                    "code": 0, "success": true, "msg": "", "data": [{"ip": "203.0.113.1", "port": 1080, "internal_node": "node-7"}],
                    "request_ip": HERE,
                }));
            "envelope/no-json": "A comma is too much in the JSON of a success." if not(in_text) => accepted(no_json);
            "envelope/encoded-region": "Percent-encoded letters in regions are not decoded."
                if that(|call| raw(call, REGIONS).is_some_and(|raw| has_encoded_letter(&raw))) => reject;
        }
        "groups." {
            "envelope/no-json": "A comma is too much in the JSON of a listing." => accepted(no_json);
            "token/encoded": "A percent-encoded token is not decoded." if encoded_query => reject;
        }
        "search." {
            "envelope/no-json": "A comma is too much in the JSON of a result." => accepted(no_json);
            "token/encoded": "A percent-encoded token is not decoded." if encoded_query => reject;
        }
    }
}

/// An address of this machine.
const HERE: &str = "127.0.0.1";

fn place(call: &Call<'_>, which: Part) -> Option<usize> {
    let name = which.name(call);
    call.params().iter().position(|(key, _)| key == name)
}

/// A parameter has a value that is not listed.
fn unlisted(which: Part) -> When {
    that(move |call| {
        let Part::Query(part) = which else { return false };
        let Parameter { name, schema, .. } = part(&call.contract.extract);
        call.param(name).is_some_and(|value| !schema.values.contains(&json!(value)))
    })
}

fn no_sb(call: &Call<'_>) -> bool {
    text(call, SB).is_none_or(|sb| sb.is_empty())
}

fn long_sb(call: &Call<'_>) -> bool {
    text(call, SB).is_some_and(|sb| sb.len() > call.contract.extract.separator_bytes)
}

fn hyphen(call: &mut Call<'_>) {
    put(call, SB, "-");
}

fn up_to(text: &str, mark: char) -> Option<String> {
    let (before, _) = text.split_once(mark)?;
    (!before.is_empty()).then(|| before.to_owned())
}

/// Gives `sb` another spelling. An empty one would be rejected, which shows something else.
fn respell_sb(how: fn(&str) -> String) -> impl OnRequest {
    respell(SB, move |sb| Some(how(sb)).filter(|respelt| !respelt.is_empty()))
}

fn many(call: &Call<'_>) -> bool {
    num(call) > Some(10)
}

fn forwarded(fits: fn(&str) -> bool) -> When {
    that(move |call| call.header("x-forwarded-for").is_some_and(fits))
}

/// The first address that a header names, when it names one.
fn claimed(call: &Call<'_>, header: &str) -> Option<String> {
    let first = call.header(header)?.split(',').next()?.trim();
    (!first.is_empty()).then(|| first.to_owned())
}

fn claims(header: &'static str, fits: fn(&str) -> bool) -> When {
    that(move |call| claimed(call, header).is_some_and(|address| fits(&address)))
}

/// Gives `request_ip` the address that a header names.
fn take_claimed(header: &'static str) -> impl OnBody {
    move |call, body| {
        if let Some(address) = claimed(call, header) {
            put_at(body, "/request_ip", &json!(address));
        }
    }
}

/// A letter that need not be percent-encoded is.
fn has_encoded_letter(text: &str) -> bool {
    let codes = text.split('%').skip(1).filter_map(|rest| u8::from_str_radix(rest.get(..2)?, 16).ok());
    codes.into_iter().any(|code| code.is_ascii_alphabetic())
}

fn encoded_query(call: &Call<'_>) -> bool {
    call.query.as_deref().is_some_and(has_encoded_letter)
}

/// A parameter as it stands in the query.
fn raw(call: &Call<'_>, which: Part) -> Option<String> {
    let name = which.name(call);
    let query = call.query.clone().unwrap_or_default();
    query.split('&').find_map(|pair| Some(pair.strip_prefix(name)?.strip_prefix('=')?.to_owned()))
}

//! Faults in extractions that show with an unusual input, credential or request id alone.

use serde_json::json;

use super::condition::{
    COUNTRY, LB, NUM, PROTOCOL, ParameterGetter, RETURN_TYPE, SB, above_maximum, for_several, in_text, is,
    is_custom, most, num, of_empty_region, put_param, respell, sent, with, without,
};
use super::edit::{body, rename, respond, without_header};
use super::extract_identity::drop_request_id;
use super::token::{LINK_CREDENTIAL, NOT_ENTITLED, NOT_VERIFIED, carries, credentials, served};
use crate::contract::{Extract, Parameter};
use crate::lab::exchange::Reply;
use crate::lab::{Call, Fault};

pub(crate) fn faults() -> Vec<Fault> {
    [inputs(), link(), tokens(), errors()].into_iter().flatten().collect()
}

fn inputs() -> Vec<Fault> {
    let up_to = |mark: char| {
        respell(SB, move |text| {
            let (before, _) = text.split_once(mark)?;
            (!before.is_empty()).then(|| before.to_owned())
        })
    };
    faults_of![
        "extract.",
        fault(
            "num-range/above-beside-a-custom-separator",
            "Beside a custom separator a num above the largest value is taken for it."
        )
        .when(above_maximum)
        .when(with(SB))
        .request(most),
        fault("num-range/letters-behind", "Letters behind num are ignored.").request(respell(NUM, |sent| {
            let digits = sent.trim_end_matches(|c: char| c.is_ascii_alphabetic());
            let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
            (is_number && digits != sent).then(|| digits.to_owned())
        })),
        fault("num-range/beside-country", "Beside country a num above the largest value is taken for it.")
            .when(above_maximum)
            .when(with(COUNTRY))
            .request(most),
        fault("num-required/beside-country", "Beside country num may be absent.")
            .when(|call| sent(call, NUM).is_none())
            .when(with(COUNTRY))
            .request(most),
        fault("return-type/beside-country", "Beside country any form is taken for JSON.")
            .when(with(COUNTRY))
            .request(drop_unlisted(RETURN_TYPE)),
        fault("protocol/beside-country", "Beside country any protocol is taken for the default.")
            .when(with(COUNTRY))
            .request(drop_unlisted(PROTOCOL)),
        fault("separator-range/beside-country", "Beside country any lb is taken for the default.")
            .when(with(COUNTRY))
            .request(drop_unlisted(LB)),
        fault("sb-required/beside-country", "Beside country a hyphen stands for an absent or empty sb.")
            .when(with(COUNTRY))
            .when(|call| is_custom(call) && sent(call, SB).is_none_or(|sb| sb.is_empty()))
            .request(|call| put_param(call, SB, "-")),
        fault("sb-length/beside-country", "Beside country a long sb is cut.")
            .when(with(COUNTRY))
            .request(replace_sb(|extract, sb| sb.is_some_and(|sb| sb.len() > extract.separator_bytes))),
        fault("protocol/capitals", "HTTPS in capitals is accepted.")
            .when(is(PROTOCOL, "HTTPS"))
            .request(without(PROTOCOL)),
        fault("separator/up-to-semicolon", "sb ends before a semicolon.").request(up_to(';')),
        fault("separator/up-to-ampersand", "sb ends before an ampersand.").request(up_to('&')),
        fault("separator/composed", "A letter and its accent become one character in sb.")
            .when(|call| sent(call, SB).is_some_and(|text| text.contains("e\u{301}")))
            .request(respell(SB, |text| Some(text.replace("e\u{301}", "\u{e9}")))),
        reject("sb-required/zero", "An sb of 0 counts as empty.").when(is(SB, "0")),
        fault("separator-range/itself", "An lb that is not listed is the separator itself.")
            .when(in_text)
            .request(|call| {
                let lb = sent(call, LB).unwrap_or_default();
                if !lb.is_empty() && !lb.chars().any(char::is_alphanumeric) {
                    put_param(call, LB, &call.contract.extract.custom_separator);
                    put_param(call, SB, &lb);
                }
            }),
    ]
}

/// Removes a parameter whose value is not listed.
fn drop_unlisted(which: ParameterGetter) -> impl Fn(&mut Call<'_>) + Copy + Send + Sync {
    move |call| {
        let Parameter { name, schema, .. } = which(&call.contract.extract);
        if call.param(name).is_some_and(|value| !schema.values.contains(&json!(value))) {
            call.drop_param(name);
        }
    }
}

/// Replaces `sb` where it fits.
fn replace_sb(fits: fn(&Extract, Option<String>) -> bool) -> impl Fn(&mut Call<'_>) + Send + Sync {
    move |call| {
        if fits(&call.contract.extract, sent(call, SB)) {
            put_param(call, SB, "-");
        }
    }
}

fn link() -> Vec<Fault> {
    let by_link = |id, breaks| Fault::new(id, breaks).when(carries(LINK_CREDENTIAL));
    faults_of![
        "extract.",
        by_link("country-alias/link-credential", "With a link credential country is ignored.")
            .request(without(COUNTRY)),
        by_link(
            "shortage-retry-after/link-credential",
            "With a link credential a shortage has no Retry-After."
        )
        .when(of_empty_region)
        .rejection(without_header("retry-after")),
        by_link(
            "num-range/link-credential",
            "With a link credential a num above the largest value is taken for it."
        )
        .when(above_maximum)
        .request(most),
        by_link("num-required/link-credential", "With a link credential num may be empty.")
            .when(is(NUM, ""))
            .request(most),
        by_link("protocol/link-credential", "With a link credential any protocol is accepted.")
            .request(drop_unlisted(PROTOCOL)),
        by_link("return-type/link-credential", "With a link credential any form is taken for JSON.")
            .request(drop_unlisted(RETURN_TYPE)),
        by_link("separator-range/link-credential", "With a link credential any lb is accepted.")
            .when(|call| !is_custom(call))
            .request(|call| {
                let (lb, separators) = (sent(call, LB), &call.contract.extract.separators);
                if lb.is_some_and(|lb| separators.iter().all(|separator| separator.code != lb)) {
                    without(LB)(call);
                }
            }),
        by_link("idempotent/link-credential", "With a link credential no request id is remembered.")
            .request(drop_request_id),
        reject("num-range/most-by-link", "A link credential gets ten gateways at most.")
            .when(|call| num(call) > Some(10))
            .when(carries(LINK_CREDENTIAL)),
        by_link("num-required/absent-by-link", "With a link credential num may be left out.")
            .when(|call| sent(call, NUM).is_none())
            .request(most),
        by_link("country-equal/link-credential", "With a link credential country may differ.")
            .request(without(COUNTRY)),
        by_link("sb-length/link-credential", "With a link credential a long sb is cut.")
            .request(replace_sb(|extract, sb| sb.is_some_and(|sb| sb.len() > extract.separator_bytes))),
        by_link("sb-required/link-credential", "With a link credential sb may be absent or empty.")
            .request(replace_sb(|_, sb| sb.is_none_or(|sb| sb.is_empty()))),
        by_link("separator/link-credential", "With a link credential lb=6 is ignored.")
            .when(|call| sent(call, SB).is_some_and(|sb| !sb.is_empty()))
            .when(is_custom)
            .request(without(LB)),
        fault("idempotent/one-entry", "For one entry no request id is remembered.")
            .when(|call| num(call) == Some(1))
            .request(drop_request_id),
        served("real-name/several", "Verification is checked for one gateway only.", NOT_VERIFIED)
            .when(for_several),
        served("entitlement/several", "The entitlement is checked for one gateway only.", NOT_ENTITLED)
            .when(for_several),
    ]
}

fn tokens() -> Vec<Fault> {
    let served = |id, breaks, is_served: fn(&Call<'_>, &str) -> bool| {
        Fault::new(id, breaks)
            .when(move |call| {
                let sent = credentials(call);
                !sent.is_empty() && sent.iter().all(|token| is_served(call, token))
            })
            .request(|call| call.as_main())
    };
    faults_of![
        "",
        served("all.token-required/wildcard", "A percent sign matches every token.", |_, token| token == "%"),
        served("all.token-required/null", "The token null is served.", |_, token| token == "null"),
        served("all.token-required/undefined", "The token undefined is served.", |_, token| {
            token == "undefined"
        }),
        fault(
            "extract.error-envelope/long-token",
            "A token of more than 64 characters is rejected with an HTML page."
        )
        .when(|call| credentials(call).iter().any(|token| token.len() > 64))
        .reply(|_, reply| {
            reply.set_header("content-type", "text/html");
            reply.status = hyper::StatusCode::UNAUTHORIZED;
            reply.body = "<h1>Unauthorized</h1>".into();
        }),
        served("all.token-required/zero", "The token 0 is served.", |_, token| token == "0"),
        served("all.token-required/behind-nul", "A token is read up to a NUL.", |call, token| {
            token.split_once('\0').is_some_and(|(before, _)| before == call.token.expose())
        }),
    ]
}

fn errors() -> Vec<Fault> {
    faults_of![
        "",
        fault("extract.error-envelope/shortage-without-message", "The message of a shortage is called msg.")
            .when(of_empty_region)
            .rejection(body(rename("/message", "msg"))),
        fault("extract.error-envelope/shortage-as-text", "A shortage in text is a sentence.")
            .when(in_text)
            .when(of_empty_region)
            .rejection(|_, reply| {
                reply.set_header("content-type", "text/plain");
                reply.body = "not enough gateways".into();
            }),
        fault("extract.error-envelope/list-of-two", "The error of two wrong parameters is a list.")
            .when(|call| {
                let extract = &call.contract.extract;
                let is_wrong = sent(call, PROTOCOL).is_some_and(|sent| !extract.protocols.contains(&sent));
                is_wrong && num(call).is_some_and(|num| !extract.num_range.contains(&num))
            })
            .rejection(|_, reply| reply.set_json(&json!([reply.json(), reply.json()]))),
        fault(
            "extract.error-envelope/query-without-code",
            "A query that is not UTF-8 is rejected without a code."
        )
        .when(|call| call.query.as_ref().is_some_and(|query| query.contains("%FF")))
        .reply(respond(400, json!({"message": "not UTF-8"}))),
        // The service behind the fault may reject a parameter that it does not know.
        fault("extract.endpoint/internal-when-debugged", "With debug=1 a gateway has an internal field.")
            .when(|call| call.param("debug").as_deref() == Some("1"))
            .reply(|_, reply| {
                let gateway = json!({"ip": "203.0.113.1", "port": 1080, "internal_node": "node-7"});
                let body = json!({
                    "code": 0, "success": true, "msg": "", "data": [gateway], "request_ip": "127.0.0.1",
                });
                *reply = Reply::json_with(200, &body);
            }),
        fault("extract.envelope/no-json", "A comma is too much in the JSON of a success.")
            .when(|call| !in_text(call))
            .reply(no_json),
        fault("groups.envelope/no-json", "A comma is too much in the JSON of a listing.").reply(no_json),
        fault("search.envelope/no-json", "A comma is too much in the JSON of a result.").reply(no_json),
    ]
}

fn no_json(call: &Call<'_>, reply: &mut Reply) {
    let is_json = call.accepted(reply) && !reply.json().is_null();
    if let Some(open) = reply.text().strip_suffix('}').filter(|_| is_json) {
        reply.body = format!("{open},}}").into();
    }
}

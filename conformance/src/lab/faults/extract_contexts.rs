//! Faults in extractions that show with an unusual input, credential or request id alone.

use serde_json::{Value, json};

use super::all::credentials;
use super::condition::{
    COUNTRY, LB, PROTOCOL, ParameterGetter, RETURN_TYPE, SB, in_text, num, of_empty_region, sent, with,
    without,
};
use super::edit::respond;
use super::extract_access::{LINK_CREDENTIAL, NOT_ENTITLED, NOT_VERIFIED, carries, served};
use super::extract_identity::{drop_header, drop_query};
use crate::contract::Parameter;
use crate::lab::exchange::Reply;
use crate::lab::{Call, Fault};

pub(crate) fn faults() -> Vec<Fault> {
    [inputs(), separators(), link(), accounts(), tokens(), errors()].into_iter().flatten().collect()
}

fn max(call: &Call<'_>) -> i64 {
    *call.contract.extract.num_range.end()
}

fn as_max(call: &mut Call<'_>) {
    call.set_param(&call.contract.extract.num.name, &max(call).to_string());
}

fn above(call: &Call<'_>) -> bool {
    num(call).is_some_and(|num| num > max(call))
}

fn inputs() -> Vec<Fault> {
    faults_of![
        "extract.",
        fault(
            "num-range/above-beside-a-custom-separator",
            "Beside a custom separator a num above the largest value is taken for it."
        )
        .when(above)
        .when(with(SB))
        .request(as_max),
        fault("num-range/letters-behind", "Letters behind num are ignored.").request(|call| {
            let name = &call.contract.extract.num.name;
            let sent = call.param(name).unwrap_or_default();
            let digits = sent.trim_end_matches(|c: char| c.is_ascii_alphabetic());
            if digits != sent && !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) {
                call.set_param(name, digits);
            }
        }),
        fault("num-range/beside-country", "Beside country a num above the largest value is taken for it.")
            .when(above)
            .when(with(COUNTRY))
            .request(as_max),
        fault("protocol/capitals", "HTTPS in capitals is accepted.")
            .when(|call| sent(call, PROTOCOL).as_deref() == Some("HTTPS"))
            .request(without(PROTOCOL)),
    ]
}

/// Lets another text take the place of `sb`.
fn altered(
    id: &'static str,
    breaks: &'static str,
    how: impl Fn(&str) -> Option<String> + Send + Sync + 'static,
) -> Fault {
    Fault::new(id, breaks).request(move |call| {
        if let Some(text) = sent(call, SB).and_then(|text| how(&text)) {
            call.set_param(&call.contract.extract.sb.name, &text);
        }
    })
}

fn separators() -> Vec<Fault> {
    let up_to = |mark: char| {
        move |text: &str| {
            let (before, _) = text.split_once(mark)?;
            (!before.is_empty()).then(|| before.to_owned())
        }
    };
    faults_of![
        "extract.",
        altered("separator/up-to-semicolon", "sb ends before a semicolon.", up_to(';')),
        altered("separator/up-to-ampersand", "sb ends before an ampersand.", up_to('&')),
        altered("separator/composed", "A letter and its accent become one character in sb.", |text| text
            .contains("e\u{301}")
            .then(|| text.replace("e\u{301}", "\u{e9}"))),
        reject("sb-required/zero", "An sb of 0 counts as empty.")
            .when(|call| sent(call, SB).as_deref() == Some("0")),
        fault("separator-range/itself", "An lb that is not listed is the separator itself.")
            .when(in_text)
            .request(|call| {
                let extract = &call.contract.extract;
                let lb = call.param(&extract.lb.name).unwrap_or_default();
                if !lb.is_empty() && !lb.chars().any(char::is_alphanumeric) {
                    call.set_param(&extract.lb.name, &extract.custom_separator);
                    call.set_param(&extract.sb.name, &lb);
                }
            }),
    ]
}

/// Removes the request id.
fn forget(call: &mut Call<'_>) {
    drop_query(call);
    drop_header(call);
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

fn link() -> Vec<Fault> {
    faults_of![
        "extract.",
        fault("country-alias/link-credential", "With a link credential country is ignored.")
            .when(carries(LINK_CREDENTIAL))
            .request(without(COUNTRY)),
        fault(
            "shortage-retry-after/link-credential",
            "With a link credential a shortage has no Retry-After."
        )
        .when(carries(LINK_CREDENTIAL))
        .when(of_empty_region)
        .rejection(|_, reply| drop(reply.headers.remove("retry-after"))),
        fault(
            "num-range/link-credential",
            "With a link credential a num above the largest value is taken for it."
        )
        .when(above)
        .when(carries(LINK_CREDENTIAL))
        .request(as_max),
        fault("num-required/link-credential", "With a link credential num may be empty.")
            .when(|call| { call.param(&call.contract.extract.num.name).is_some_and(|num| num.is_empty()) })
            .when(carries(LINK_CREDENTIAL))
            .request(as_max),
        fault("protocol/link-credential", "With a link credential any protocol is accepted.")
            .when(carries(LINK_CREDENTIAL))
            .request(drop_unlisted(PROTOCOL)),
        fault("return-type/link-credential", "With a link credential any form is taken for JSON.")
            .when(carries(LINK_CREDENTIAL))
            .request(drop_unlisted(RETURN_TYPE)),
        fault("separator-range/link-credential", "With a link credential any lb is accepted.")
            .when(|call| {
                let extract = &call.contract.extract;
                call.param(&extract.lb.name).as_ref() != Some(&extract.custom_separator)
            })
            .when(carries(LINK_CREDENTIAL))
            .request(|call| {
                let extract = &call.contract.extract;
                let sent = call.param(&extract.lb.name);
                if sent.is_some_and(|lb| extract.separators.iter().all(|separator| separator.code != lb)) {
                    call.drop_param(&extract.lb.name);
                }
            }),
        fault("idempotent/link-credential", "With a link credential no request id is remembered.")
            .when(carries(LINK_CREDENTIAL))
            .request(forget),
        reject("num-range/most-by-link", "A link credential gets ten gateways at most.")
            .when(|call| num(call).is_some_and(|num| num > 10))
            .when(carries(LINK_CREDENTIAL)),
        fault("num-required/absent-by-link", "With a link credential num may be left out.")
            .when(|call| call.param(&call.contract.extract.num.name).is_none())
            .when(carries(LINK_CREDENTIAL))
            .request(as_max),
        fault("country-equal/link-credential", "With a link credential country may differ.")
            .when(carries(LINK_CREDENTIAL))
            .request(without(COUNTRY)),
        fault("sb-length/link-credential", "With a link credential a long sb is cut.")
            .when(carries(LINK_CREDENTIAL))
            .request(|call| {
                let extract = &call.contract.extract;
                if sent(call, SB).is_some_and(|sb| sb.len() > extract.separator_bytes) {
                    call.set_param(&extract.sb.name, "-");
                }
            }),
        fault("sb-required/link-credential", "With a link credential sb may be absent or empty.")
            .when(carries(LINK_CREDENTIAL))
            .request(|call| {
                if sent(call, SB).is_none_or(|sb| sb.is_empty()) {
                    call.set_param(&call.contract.extract.sb.name, "-");
                }
            }),
        fault("separator/link-credential", "With a link credential lb=6 is ignored.")
            .when(|call| sent(call, SB).is_some_and(|sb| !sb.is_empty()))
            .when(carries(LINK_CREDENTIAL))
            .request(|call| {
                let extract = &call.contract.extract;
                if sent(call, LB).is_some_and(|lb| lb == extract.custom_separator) {
                    call.drop_param(&extract.lb.name);
                }
            }),
        fault("idempotent/one-entry", "For one entry no request id is remembered.")
            .when(|call| num(call) == Some(1))
            .request(forget),
    ]
}

fn accounts() -> Vec<Fault> {
    let several =
        |id, breaks, token| served(id, breaks, token).when(|call| num(call).is_some_and(|num| num > 1));
    faults_of![
        "extract.",
        several("real-name/several", "Verification is checked for one gateway only.", NOT_VERIFIED),
        several("entitlement/several", "The entitlement is checked for one gateway only.", NOT_ENTITLED),
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
            "A token of more than 64 characters is rejected by a page."
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
            .rejection(|_, reply| {
                reply.edit(|body| {
                    if let Some(message) = body.as_object_mut().and_then(|body| body.shift_remove("message"))
                    {
                        body["msg"] = message;
                    }
                });
            }),
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
                let is_listed = |protocol: &String| extract.protocols.contains(protocol);
                let is_wrong = call.param(&extract.protocol.name).is_some_and(|sent| !is_listed(&sent));
                is_wrong && num(call).is_some_and(|num| !extract.num_range.contains(&num))
            })
            .rejection(|_, reply| {
                let error = reply.json();
                reply.set_json(&Value::Array(vec![error.clone(), error]));
            }),
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
                *reply = Reply::json_with(
                    200,
                    &json!({
                        "code": 0, "success": true, "msg": "", "data": [gateway], "request_ip": "127.0.0.1",
                    }),
                );
            }),
        fault("extract.envelope/no-json", "A comma is too much in the JSON of a success.")
            .when(|call| !in_text(call))
            .reply(no_json),
        fault("groups.envelope/no-json", "A comma is too much in the JSON of a listing.").reply(no_json),
        fault("search.envelope/no-json", "A comma is too much in the JSON of a result.").reply(no_json),
    ]
}

fn no_json(call: &Call<'_>, reply: &mut Reply) {
    if call.accepted(reply) && reply.json() != Value::Null {
        let text = String::from_utf8_lossy(&reply.body).into_owned();
        if let Some(open) = text.strip_suffix('}') {
            reply.body = format!("{open},}}").into();
        }
    }
}

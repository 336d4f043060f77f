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
use crate::lab::exchange::{ProxiedRequest, Reply};
use crate::lab::{Context, Fault};

pub(crate) fn faults() -> Vec<Fault> {
    [inputs(), separators(), link(), accounts(), tokens(), errors()].into_iter().flatten().collect()
}

fn max(context: &Context) -> i64 {
    *context.contract.extract.num_range.end()
}

fn as_max(context: &Context, seen: &mut ProxiedRequest) {
    seen.set_param(&context.contract.extract.num.name, &max(context).to_string());
}

fn above(context: &Context, seen: &ProxiedRequest) -> bool {
    num(context, seen).is_some_and(|num| num > max(context))
}

fn inputs() -> Vec<Fault> {
    faults_of![
        "extract.",
        request(
            "num-range/above-beside-a-custom-separator",
            "Beside a custom separator a num above the largest value is taken for it.",
            as_max
        )
        .when(above)
        .when(with(SB)),
        request("num-range/letters-behind", "Letters behind num are ignored.", |context, seen| {
            let name = &context.contract.extract.num.name;
            let sent = seen.param(name).unwrap_or_default();
            let digits = sent.trim_end_matches(|c: char| c.is_ascii_alphabetic());
            if digits != sent && !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) {
                seen.set_param(name, digits);
            }
        }),
        request(
            "num-range/beside-country",
            "Beside country a num above the largest value is taken for it.",
            as_max
        )
        .when(above)
        .when(with(COUNTRY)),
        request("protocol/capitals", "HTTPS in capitals is accepted.", without(PROTOCOL))
            .when(|context, seen| sent(context, seen, PROTOCOL).as_deref() == Some("HTTPS")),
    ]
}

/// Lets another text take the place of `sb`.
fn altered(
    id: &'static str,
    breaks: &'static str,
    how: impl Fn(&str) -> Option<String> + Send + Sync + 'static,
) -> Fault {
    Fault::request(id, breaks, move |context, seen| {
        if let Some(text) = sent(context, seen, SB).and_then(|text| how(&text)) {
            seen.set_param(&context.contract.extract.sb.name, &text);
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
        reject("sb-required/zero", "An sb of 0 counts as empty.").when(|context, seen| sent(
            context, seen, SB
        )
        .as_deref()
            == Some("0")),
        request(
            "separator-range/itself",
            "An lb that is not listed is the separator itself.",
            |context, seen| {
                let extract = &context.contract.extract;
                let lb = seen.param(&extract.lb.name).unwrap_or_default();
                if !lb.is_empty() && !lb.chars().any(char::is_alphanumeric) {
                    seen.set_param(&extract.lb.name, &extract.custom_separator);
                    seen.set_param(&extract.sb.name, &lb);
                }
            }
        )
        .when(in_text),
    ]
}

/// Removes the request id.
fn forget(context: &Context, seen: &mut ProxiedRequest) {
    drop_query(context, seen);
    drop_header(context, seen);
}

/// Removes a parameter whose value is not listed.
fn drop_unlisted(which: ParameterGetter) -> impl Fn(&Context, &mut ProxiedRequest) + Copy + Send + Sync {
    move |context, seen| {
        let Parameter { name, schema, .. } = which(&context.contract.extract);
        if seen.param(name).is_some_and(|value| !schema.values.contains(&json!(value))) {
            seen.drop_param(name);
        }
    }
}

fn link() -> Vec<Fault> {
    faults_of![
        "extract.",
        request(
            "country-alias/link-credential",
            "With a link credential country is ignored.",
            without(COUNTRY)
        )
        .when(carries(LINK_CREDENTIAL)),
        rejection(
            "shortage-retry-after/link-credential",
            "With a link credential a shortage has no Retry-After.",
            |_, _, reply| drop(reply.headers.remove("retry-after"))
        )
        .when(carries(LINK_CREDENTIAL))
        .when(of_empty_region),
        request(
            "num-range/link-credential",
            "With a link credential a num above the largest value is taken for it.",
            as_max
        )
        .when(above)
        .when(carries(LINK_CREDENTIAL)),
        request("num-required/link-credential", "With a link credential num may be empty.", as_max)
            .when(|context, seen| {
                seen.param(&context.contract.extract.num.name).is_some_and(|num| num.is_empty())
            })
            .when(carries(LINK_CREDENTIAL)),
        request(
            "protocol/link-credential",
            "With a link credential any protocol is accepted.",
            drop_unlisted(PROTOCOL)
        )
        .when(carries(LINK_CREDENTIAL)),
        request(
            "return-type/link-credential",
            "With a link credential any form is taken for JSON.",
            drop_unlisted(RETURN_TYPE)
        )
        .when(carries(LINK_CREDENTIAL)),
        request(
            "separator-range/link-credential",
            "With a link credential any lb is accepted.",
            |context, seen| {
                let extract = &context.contract.extract;
                let sent = seen.param(&extract.lb.name);
                if sent.is_some_and(|lb| extract.separators.iter().all(|separator| separator.code != lb)) {
                    seen.drop_param(&extract.lb.name);
                }
            }
        )
        .when(|context, seen| {
            let extract = &context.contract.extract;
            seen.param(&extract.lb.name).as_ref() != Some(&extract.custom_separator)
        })
        .when(carries(LINK_CREDENTIAL)),
        request("idempotent/link-credential", "With a link credential no request id is remembered.", forget)
            .when(carries(LINK_CREDENTIAL)),
        reject("num-range/most-by-link", "A link credential gets ten gateways at most.")
            .when(|context, seen| num(context, seen).is_some_and(|num| num > 10))
            .when(carries(LINK_CREDENTIAL)),
        request("num-required/absent-by-link", "With a link credential num may be left out.", as_max)
            .when(|context, seen| seen.param(&context.contract.extract.num.name).is_none())
            .when(carries(LINK_CREDENTIAL)),
        request(
            "country-equal/link-credential",
            "With a link credential country may differ.",
            without(COUNTRY)
        )
        .when(carries(LINK_CREDENTIAL)),
        request("sb-length/link-credential", "With a link credential a long sb is cut.", |context, seen| {
            let extract = &context.contract.extract;
            if sent(context, seen, SB).is_some_and(|sb| sb.len() > extract.separator_bytes) {
                seen.set_param(&extract.sb.name, "-");
            }
        })
        .when(carries(LINK_CREDENTIAL)),
        request(
            "sb-required/link-credential",
            "With a link credential sb may be absent or empty.",
            |context, seen| {
                if sent(context, seen, SB).is_none_or(|sb| sb.is_empty()) {
                    seen.set_param(&context.contract.extract.sb.name, "-");
                }
            }
        )
        .when(carries(LINK_CREDENTIAL)),
        request("separator/link-credential", "With a link credential lb=6 is ignored.", |context, seen| {
            let extract = &context.contract.extract;
            if sent(context, seen, LB).is_some_and(|lb| lb == extract.custom_separator) {
                seen.drop_param(&extract.lb.name);
            }
        })
        .when(|context, seen| sent(context, seen, SB).is_some_and(|sb| !sb.is_empty()))
        .when(carries(LINK_CREDENTIAL)),
        request("idempotent/one-entry", "For one entry no request id is remembered.", forget)
            .when(|context, seen| num(context, seen) == Some(1)),
    ]
}

fn accounts() -> Vec<Fault> {
    let several = |id, breaks, token| {
        served(id, breaks, token).when(|context, seen| num(context, seen).is_some_and(|num| num > 1))
    };
    faults_of![
        "extract.",
        several("real-name/several", "Verification is checked for one gateway only.", NOT_VERIFIED),
        several("entitlement/several", "The entitlement is checked for one gateway only.", NOT_ENTITLED),
    ]
}

fn tokens() -> Vec<Fault> {
    let served = |id, breaks, is_served: fn(&Context, &str) -> bool| {
        Fault::request(id, breaks, Context::as_main).when(move |context, seen| {
            let sent = credentials(context, seen);
            !sent.is_empty() && sent.iter().all(|token| is_served(context, token))
        })
    };
    faults_of![
        "",
        served("all.token-required/wildcard", "A percent sign matches every token.", |_, token| token == "%"),
        served("all.token-required/null", "The token null is served.", |_, token| token == "null"),
        served("all.token-required/undefined", "The token undefined is served.", |_, token| {
            token == "undefined"
        }),
        reply(
            "extract.error-envelope/long-token",
            "A token of more than 64 characters is rejected by a page.",
            |_, _, reply| {
                reply.set_header("content-type", "text/html");
                reply.status = hyper::StatusCode::UNAUTHORIZED;
                reply.body = "<h1>Unauthorized</h1>".into();
            }
        )
        .when(|context, seen| credentials(context, seen).iter().any(|token| token.len() > 64)),
        served("all.token-required/zero", "The token 0 is served.", |_, token| token == "0"),
        served("all.token-required/behind-nul", "A token is read up to a NUL.", |context, token| {
            token.split_once('\0').is_some_and(|(before, _)| before == context.token.expose())
        }),
    ]
}

fn errors() -> Vec<Fault> {
    faults_of![
        "",
        rejection(
            "extract.error-envelope/shortage-without-message",
            "The message of a shortage is called msg.",
            |_, _, reply| {
                reply.edit(|body| {
                    if let Some(message) = body.as_object_mut().and_then(|body| body.shift_remove("message"))
                    {
                        body["msg"] = message;
                    }
                });
            }
        )
        .when(of_empty_region),
        rejection(
            "extract.error-envelope/shortage-as-text",
            "A shortage in text is a sentence.",
            |_, _, reply| {
                reply.set_header("content-type", "text/plain");
                reply.body = "not enough gateways".into();
            }
        )
        .when(in_text)
        .when(of_empty_region),
        rejection(
            "extract.error-envelope/list-of-two",
            "The error of two wrong parameters is a list.",
            |_, _, reply| {
                let error = reply.json();
                reply.set_json(&Value::Array(vec![error.clone(), error]));
            }
        )
        .when(|context, seen| {
            let extract = &context.contract.extract;
            let is_listed = |protocol: &String| extract.protocols.contains(protocol);
            let is_wrong = seen.param(&extract.protocol.name).is_some_and(|sent| !is_listed(&sent));
            is_wrong && num(context, seen).is_some_and(|num| !extract.num_range.contains(&num))
        }),
        reply(
            "extract.error-envelope/query-without-code",
            "A query that is not UTF-8 is rejected without a code.",
            respond(400, json!({"message": "not UTF-8"}))
        )
        .when(|_, seen| seen.query.as_ref().is_some_and(|query| query.contains("%FF"))),
        // The service behind the fault may reject a parameter that it does not know.
        reply(
            "extract.endpoint/internal-when-debugged",
            "With debug=1 a gateway has an internal field.",
            |_, _, reply| {
                let gateway = json!({"ip": "203.0.113.1", "port": 1080, "internal_node": "node-7"});
                *reply = Reply::json_with(
                    200,
                    &json!({
                        "code": 0, "success": true, "msg": "", "data": [gateway], "request_ip": "127.0.0.1",
                    }),
                );
            }
        )
        .when(|_, seen| seen.param("debug").as_deref() == Some("1")),
        reply("extract.envelope/no-json", "A comma is too much in the JSON of a success.", no_json)
            .when(|context, seen| !in_text(context, seen)),
        reply("groups.envelope/no-json", "A comma is too much in the JSON of a listing.", no_json),
        reply("search.envelope/no-json", "A comma is too much in the JSON of a result.", no_json),
    ]
}

fn no_json(context: &Context, seen: &ProxiedRequest, reply: &mut Reply) {
    if context.accepted(seen, reply) && reply.json() != Value::Null {
        let text = String::from_utf8_lossy(&reply.body).into_owned();
        if let Some(open) = text.strip_suffix('}') {
            reply.body = format!("{open},}}").into();
        }
    }
}

//! Faults of extractions that few requests show, such as those beside one other parameter. A server that somebody wrote from the
//! contract alone had faults like these, and they passed unnoticed.

use serde_json::json;

use super::condition::{
    COUNTRY, LB, SB, at_maximum, by_bearer, json_by_name, num, of_scarce_region, request_id, sent, with,
};
use super::edit::put;
use super::extract_identity::{drop_header, drop_request_id};
use super::token::{NOT_ENTITLED, NOT_VERIFIED, NOT_WHITELISTED, carries, served};
use crate::lab::{Call, Fault};

pub(crate) fn faults() -> Vec<Fault> {
    [access(), request_ip(), identity(), text()].into_iter().flatten().collect()
}

/// The first address that a header names, when it names one.
fn claimed(call: &Call<'_>, header: &str) -> Option<String> {
    let first = call.header(header)?.split(',').next()?.trim();
    (!first.is_empty()).then(|| first.to_owned())
}

fn access() -> Vec<Fault> {
    let not_whitelisted = |id, breaks| served(id, breaks, NOT_WHITELISTED);
    let not_verified = |id, breaks| served(id, breaks, NOT_VERIFIED);
    let not_entitled = |id, breaks| served(id, breaks, NOT_ENTITLED);
    let many = |call: &Call<'_>| num(call).is_some_and(|num| num > 10);
    let forwarded =
        |fits: fn(&str) -> bool| move |call: &Call<'_>| call.header("x-forwarded-for").is_some_and(fits);
    faults_of![
        "extract.",
        not_whitelisted("whitelist/not-with-country", "The whitelist is ignored beside country.")
            .when(with(COUNTRY)),
        not_whitelisted(
            "whitelist/not-with-a-separator",
            "The whitelist is ignored when a separator is asked for."
        )
        .when(with(LB)),
        not_whitelisted(
            "whitelist/not-with-return-type",
            "The whitelist is ignored when JSON is asked for by name."
        )
        .when(json_by_name),
        not_whitelisted(
            "whitelist/not-for-rare-header",
            "Whoever claims to be this machine in Client-IP passes the whitelist."
        )
        .when(|call| claimed(call, "client-ip").as_deref() == Some("127.0.0.1")),
        not_whitelisted(
            "whitelist/not-for-the-most",
            "The whitelist is ignored when as many gateways are asked for as there may be."
        )
        .when(at_maximum),
        not_whitelisted(
            "whitelist/not-for-second-address",
            "Whoever claims this machine as the second address of X-Forwarded-For passes the whitelist."
        )
        .when(forwarded(|text| text.ends_with(", 127.0.0.1"))),
        // The service behind the fault may reject parameters that it does not know.
        fault(
            "whitelist/not-for-a-parameter",
            "Whoever claims to be this machine in the parameter ip passes the whitelist."
        )
        .when(carries(NOT_WHITELISTED))
        .when(|call| call.param("ip").as_deref() == Some("127.0.0.1"))
        .request(|call| {
            call.as_main();
            ["ip", "client_ip", "request_ip"].into_iter().for_each(|name| call.drop_param(name));
        }),
        not_entitled("entitlement/not-with-return-type", "JSON by name needs no entitlement.")
            .when(json_by_name),
        not_verified(
            "real-name/not-with-a-custom-separator",
            "A custom separator needs no real-name verification."
        )
        .when(with(SB)),
        not_entitled("entitlement/not-for-many", "More than ten gateways need no entitlement.").when(many),
        not_verified("real-name/not-for-many", "More than ten gateways need no real-name verification.")
            .when(many),
        reject(
            "whitelist/denied-for-public",
            "A public address in X-Forwarded-For is looked up in the whitelist."
        )
        .when(forwarded(|header| header.starts_with("8."))),
        reject(
            "whitelist/denied-for-private",
            "A private address in X-Forwarded-For is looked up in the whitelist."
        )
        .when(forwarded(|header| header.starts_with("10."))),
        reject("whitelist/denied-for-rare", "Client-IP is looked up in the whitelist.").when(|call| claimed(
            call,
            "client-ip"
        )
        .is_some_and(|address| address != "127.0.0.1")),
    ]
}

fn request_ip() -> Vec<Fault> {
    let from = |id, breaks, header: &'static str| {
        Fault::new(id, breaks).success(move |call, body| {
            if let Some(address) = claimed(call, header) {
                put(body, "/request_ip", &json!(address));
            }
        })
    };
    let forwarded = |id, breaks| from(id, breaks, "x-forwarded-for");
    faults_of![
        "extract.request-ip/",
        from("rare-header", "request_ip is what WL-Proxy-Client-IP says.", "wl-proxy-client-ip"),
        forwarded("public", "request_ip is a public address that X-Forwarded-For says.")
            .when(|call| claimed(call, "x-forwarded-for").is_some_and(|address| address.starts_with("8."))),
        forwarded("forwarded-in-partial", "In a partial result request_ip is what X-Forwarded-For says.")
            .when(of_scarce_region),
        forwarded("forwarded-by-bearer", "With a bearer token request_ip is what X-Forwarded-For says.")
            .when(by_bearer),
    ]
}

fn identity() -> Vec<Fault> {
    let respelt = |id, breaks, how: fn(&str) -> String| {
        Fault::new(id, breaks).request(move |call| {
            if let Some(sent) = request_id(call) {
                drop_header(call);
                call.set_param(&call.contract.extract.request_id.name, &how(&sent));
            }
        })
    };
    faults_of![
        "extract.idempotent/",
        respelt("without-hyphens", "Hyphens of a request id do not count.", |id| id.replace('-', "")),
        respelt("sixty-four-characters", "A request id counts up to its 64th character.", |id| {
            id.chars().take(64).collect()
        }),
        respelt("hundred-characters", "A request id counts up to its hundredth character.", |id| {
            id.chars().take(100).collect()
        }),
        fault("ascii-alone", "A request id that is not ASCII is ignored.")
            .when(|call| request_id(call).is_some_and(|id| !id.is_ascii()))
            .request(drop_request_id),
    ]
}

fn text() -> Vec<Fault> {
    let respelt = |id, breaks, how: fn(&str) -> String| {
        Fault::new(id, breaks).request(move |call| {
            // A separator that is empty would be rejected, which shows something else.
            if let Some(respelt) = sent(call, SB).map(|sb| how(&sb)).filter(|respelt| !respelt.is_empty()) {
                call.set_param(&call.contract.extract.sb.name, &respelt);
            }
        })
    };
    faults_of![
        "extract.separator/",
        respelt("quotes-stripped", "Quotes around sb are taken off.", |text| {
            text.trim_matches(['"', '\'']).to_owned()
        }),
        respelt("unbreaking-spaces", "Spaces that do not break are taken off around sb.", |text| {
            text.trim_matches('\u{a0}').to_owned()
        }),
        respelt("without-width", "Characters of sb without width are left out.", |text| {
            text.replace(['\u{200b}', '\u{feff}'], "")
        }),
        reject("tab-rejected", "A tab within sb is rejected.")
            .when(|call| sent(call, SB).is_some_and(|text| text.len() > 1 && text.contains('\t'))),
    ]
}

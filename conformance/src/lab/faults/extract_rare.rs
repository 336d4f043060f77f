//! Faults of extractions that few requests show, such as those beside one other parameter. A server that somebody wrote from the
//! contract alone had faults like these, and they passed unnoticed.

use serde_json::json;

use super::condition::{COUNTRY, LB, SB, at_maximum, by_bearer, num, of_scarce_region, request_id, with};
use super::edit::put;
use super::extract_access::{NOT_ENTITLED, NOT_VERIFIED, NOT_WHITELISTED, carries, served};
use crate::lab::{Call, Fault};

pub(crate) fn faults() -> Vec<Fault> {
    [access(), request_ip(), identity(), text()].into_iter().flatten().collect()
}

/// The first address that a header names, when it names one.
fn claimed(call: &Call<'_>, header: &str) -> Option<String> {
    let text = call.headers.get(header)?.to_str().ok()?;
    text.split(',').next().map(|first| first.trim().to_owned()).filter(|first| !first.is_empty())
}

fn access() -> Vec<Fault> {
    let by_name = |call: &Call<'_>| {
        let extract = &call.contract.extract;
        call.param(&extract.return_type.name).as_ref() == Some(&extract.json)
    };
    let many = |call: &Call<'_>| num(call).is_some_and(|num| num > 10);
    let denied = |id, breaks, fits: fn(&str) -> bool| {
        Fault::reject(id, breaks).when(move |call| {
            let header = call.headers.get("x-forwarded-for").and_then(|value| value.to_str().ok());
            header.is_some_and(fits)
        })
    };
    faults_of![
        "extract.",
        served("whitelist/not-with-country", "The whitelist is ignored beside country.", NOT_WHITELISTED)
            .when(with(COUNTRY)),
        served(
            "whitelist/not-with-a-separator",
            "The whitelist is ignored when a separator is asked for.",
            NOT_WHITELISTED
        )
        .when(with(LB)),
        served(
            "whitelist/not-with-return-type",
            "The whitelist is ignored when JSON is asked for by name.",
            NOT_WHITELISTED
        )
        .when(by_name),
        served(
            "whitelist/not-for-rare-header",
            "Whoever claims to be this machine in Client-IP passes the whitelist.",
            NOT_WHITELISTED
        )
        .when(|call| claimed(call, "client-ip").as_deref() == Some("127.0.0.1")),
        served(
            "whitelist/not-for-the-most",
            "The whitelist is ignored when as many gateways are asked for as there may be.",
            NOT_WHITELISTED
        )
        .when(at_maximum),
        served(
            "whitelist/not-for-second-address",
            "Whoever claims this machine as the second address of X-Forwarded-For passes the whitelist.",
            NOT_WHITELISTED
        )
        .when(|call| {
            let header = call.headers.get("x-forwarded-for").and_then(|value| value.to_str().ok());
            header.is_some_and(|text| text.ends_with(", 127.0.0.1"))
        }),
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
        served("entitlement/not-with-return-type", "JSON by name needs no entitlement.", NOT_ENTITLED)
            .when(by_name),
        served(
            "real-name/not-with-a-custom-separator",
            "A custom separator needs no real-name verification.",
            NOT_VERIFIED
        )
        .when(with(SB)),
        served("entitlement/not-for-many", "More than ten gateways need no entitlement.", NOT_ENTITLED)
            .when(many),
        served(
            "real-name/not-for-many",
            "More than ten gateways need no real-name verification.",
            NOT_VERIFIED
        )
        .when(many),
        denied(
            "whitelist/denied-for-public",
            "A public address in X-Forwarded-For is looked up in the whitelist.",
            |header| header.starts_with("8.")
        ),
        denied(
            "whitelist/denied-for-private",
            "A private address in X-Forwarded-For is looked up in the whitelist.",
            |header| header.starts_with("10.")
        ),
        reject("whitelist/denied-for-rare", "Client-IP is looked up in the whitelist.").when(|call| claimed(
            call,
            "client-ip"
        )
        .is_some_and(|address| address != "127.0.0.1")),
    ]
}

fn request_ip() -> Vec<Fault> {
    let from = |id, breaks, header: &'static str, fits: fn(&str) -> bool| {
        Fault::new(id, breaks).success(move |call, body| {
            if let Some(address) = claimed(call, header).filter(|address| fits(address)) {
                put(body, "/request_ip", &json!(address));
            }
        })
    };
    let forwarded = |id, breaks, fits| from(id, breaks, "x-forwarded-for", fits);
    faults_of![
        "extract.request-ip/",
        from("rare-header", "request_ip is what WL-Proxy-Client-IP says.", "wl-proxy-client-ip", |_| true),
        forwarded("public", "request_ip is a public address that X-Forwarded-For says.", |address| address
            .starts_with("8.")),
        forwarded(
            "forwarded-in-partial",
            "In a partial result request_ip is what X-Forwarded-For says.",
            |_| true
        )
        .when(of_scarce_region),
        forwarded(
            "forwarded-by-bearer",
            "With a bearer token request_ip is what X-Forwarded-For says.",
            |_| true
        )
        .when(by_bearer),
    ]
}

fn identity() -> Vec<Fault> {
    let respelt = |id, breaks, how: fn(&str) -> String| {
        Fault::new(id, breaks).request(move |call| {
            if let Some(sent) = request_id(call) {
                let extract = &call.contract.extract;
                call.headers.remove(extract.request_id_header.name.as_str());
                call.set_param(&extract.request_id.name, &how(&sent));
            }
        })
    };
    faults_of![
        "extract.idempotent/",
        respelt("without-hyphens", "Hyphens of a request id do not count.", |id| id.replace('-', "")),
        respelt("sixty-four-characters", "A request id counts up to its 64th character.", |id| id
            .chars()
            .take(64)
            .collect()),
        respelt("hundred-characters", "A request id counts up to its hundredth character.", |id| id
            .chars()
            .take(100)
            .collect()),
        fault("ascii-alone", "A request id that is not ASCII is ignored.").request(|call| {
            let extract = &call.contract.extract;
            if request_id(call).is_some_and(|id| !id.is_ascii()) {
                call.headers.remove(extract.request_id_header.name.as_str());
                call.drop_param(&extract.request_id.name);
            }
        }),
    ]
}

fn text() -> Vec<Fault> {
    let respelt = |id, breaks, how: fn(&str) -> String| {
        Fault::new(id, breaks).request(move |call| {
            let name = &call.contract.extract.sb.name;
            if let Some(separator) = call.param(name) {
                let how = how(&separator);
                // A separator that is empty would be rejected, which shows something else.
                if !how.is_empty() {
                    call.set_param(name, &how);
                }
            }
        })
    };
    faults_of![
        "extract.separator/",
        respelt("quotes-stripped", "Quotes around sb are taken off.", |text| {
            text.trim_matches(['"', '\'']).to_owned()
        }),
        respelt("unbreaking-spaces", "Spaces that do not break are taken off around sb.", |text| {
            let trimmed = text.trim_matches('\u{a0}');
            trimmed.to_owned()
        }),
        respelt("without-width", "Characters of sb without width are left out.", |text| {
            text.replace(['\u{200b}', '\u{feff}'], "")
        }),
        reject("tab-rejected", "A tab within sb is rejected.").when(|call| {
            let separator = call.param(&call.contract.extract.sb.name);
            separator.is_some_and(|text| text.len() > 1 && text.contains('\t'))
        }),
    ]
}

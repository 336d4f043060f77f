//! Further fields, further values, and each variation of the lab.

use super::Calls;
use crate::checks::UNKNOWN_ADDRESS;
use crate::client::case::{ClientCase, Expectation};
use crate::client::duty::Duty;
use crate::client::protocol::Call;

/// Variations that no case is about, with the reason.
const LEFT_OUT: [(&str, &str); 12] = [
    ("accounts.ids-counted-in-each", "it affects two accounts only, and a case has one"),
    ("http.no-content-type", "the document gives each success a media type, which a client may insist on"),
    ("extract.code-with-fraction", "a client may read an integer as its language does"),
    ("static.code-with-fraction", "a client may read an integer as its language does"),
    ("http.gzip", "a client may ask for uncompressed bodies, and HTTP then forbids gzip"),
    ("http.throttles-for-seconds", "it affects one request in forty, too few for one call"),
    ("http.throttles-until-a-date", "it affects one request in forty, too few for one call"),
    ("http.bad-gateway-at-times", "it affects one request in a hundred, too few for one call"),
    ("http.unavailable-at-times", "it affects one request in sixty, too few for one call"),
    ("http.unavailable-in-windows", "a call meets the outage only by chance"),
    ("extract.proxy-on-this-machine-trusted", "it depends on a header that no client sends"),
    ("search.page-past-end-rejected", "a case of client.paging"),
];

pub(super) fn cases(calls: &Calls<'_>) -> Vec<ClientCase> {
    further(calls).into_iter().chain(variations(calls)).collect()
}

fn further(calls: &Calls<'_>) -> Vec<ClientCase> {
    let case = |name: &str, call, steps| ClientCase::new(Duty::Tolerant, name, call).plays(steps);
    vec![
        case("unknown-fields-extract", calls.extract(), "[[extract]]\nforever = true\nunknown-fields = true")
            .titled("further fields in an extraction are ignored"),
        case("unknown-fields-groups", calls.groups(), "[[groups]]\nforever = true\nunknown-fields = true")
            .titled("further fields in a listing are ignored"),
        case("unknown-fields-search", calls.search(50), "[[search]]\nforever = true\nunknown-fields = true")
            .titled("further fields in a search are ignored"),
        case("unknown-values-search", calls.search(50), "[[search]]\nforever = true\nunknown-values = true")
            .titled("a status and a protocol of a later version lose no instance"),
        case(
            "long-ids",
            calls.groups(),
            r#"
            [[groups]]
            forever = true
            content-type = "application/json"
            body = '{"code": 200, "message": "ok", "requestId": "r", "data": {"items": [{"groupId": 4294967301, "name": "a", "createdAt": "2026-01-01T00:00:00Z", "updatedAt": "2026-01-01T00:00:00Z"}]}}'"#,
        )
        .titled("ids of more than 32 bits are kept as they are"),
        case(
            "long-ids-search",
            calls.search_for(vec![UNKNOWN_ADDRESS.to_owned()], 50),
            r#"
            [[search]]
            forever = true
            content-type = "application/json"
            body = '{"code": 200, "message": "ok", "requestId": "r", "data": {"page": 1, "pageSize": 50, "total": 1, "items": [{"instanceId": 4294967301, "offerId": 1, "status": "active", "ip": "203.0.113.250", "port": 8080, "protocols": ["http"], "countryCode": "USA", "cityCode": "NYC", "ispType": 1, "expiresAt": null, "activatedAt": null, "capabilities": {}, "groupId": null}]}}'"#,
        )
        .titled("ids of instances of more than 32 bits are kept as they are"),
        case("closed-connections", calls.search(3), "[[search]]\nforever = true\nclose = true")
            .titled("a service that closes each connection is served"),
    ]
}

/// A case for each variation that a call can meet.
fn variations(calls: &Calls<'_>) -> Vec<ClientCase> {
    let ids = crate::lab::variations().into_iter().map(|variation| variation.id);
    let shown = ids.filter(|id| LEFT_OUT.iter().all(|(left_out, _)| left_out != id));
    shown
        .filter_map(|id| {
            let (call, is_rejected) = suited(calls, id)?;
            let title = match is_rejected {
                true => format!("a rejection is an error, also where the service decides `{id}`"),
                false => format!("the result is the same where the service decides `{id}`"),
            };
            let case = ClientCase::new(Duty::Tolerant, id, call).titled(title).varied(id);
            let is_waiting = id.contains("throttle") || id.contains("unavailable");
            let expectation = match (is_rejected, is_waiting) {
                (true, _) => Expectation::Error,
                // A client may give up instead.
                (_, true) => Expectation::Either,
                _ => Expectation::Result,
            };
            Some(ClientCase { has_valid_token: !is_rejected, ..case }.expects(expectation))
        })
        .collect()
}

/// The call that meets a variation, and whether it is rejected. None where a valid call of a client never meets it.
fn suited(calls: &Calls<'_>, id: &str) -> Option<(Call, bool)> {
    let (family, name) = id.split_once('.')?;
    Some(match family {
        "rejections" if name.starts_with("static") => (calls.groups(), true),
        "rejections" => (calls.extract(), true),
        "extract" if name.contains("text") => (calls.text("4", None), false),
        "extract" => (calls.extract(), false),
        "times" | "addresses" | "search" | "static" => (calls.search(50), false),
        "http" if name.contains("first") => (calls.extract(), false),
        "http" if name.contains("json") || name.contains("ids") => (calls.groups(), false),
        "http" => (calls.search(3), false),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_out_is_a_variation() {
        let known = crate::lab::variations();
        for (id, _) in LEFT_OUT {
            assert!(known.iter().any(|variation| variation.id == id), "{id}");
        }
    }
}

//! Responses to good requests: envelopes, headers and media types.

use sallyport_contract::table::Constraint;
use sallyport_server::{
    api::generated::{ExtractProxies, SeparatorCode},
    edge::{operation::Operation as _, responding::error_code::ErrorCode},
};
use serde_json::json;

use super::server::{SERVER, assert_rejected, extract, groups, search, with_headers};

#[test]
fn an_extraction_has_its_envelope_and_counts() {
    let response = extract("num=3");
    let body = response.json();
    let fields: Vec<_> = body.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(fields, ["code", "success", "msg", "data", "request_ip"]);
    assert_eq!(
        (&body["code"], &body["success"], &body["request_ip"]),
        (&json!(0), &json!(true), &json!("127.0.0.1"))
    );
    assert_eq!(body["data"].as_array().unwrap().len(), 3);
    let headers = ["x-proxy-requested-count", "x-proxy-returned-count", "x-proxy-partial", "cache-control"];
    assert_eq!(
        headers.map(|name| response.header(name)),
        [Some("3"), Some("3"), Some("false"), Some("no-store")]
    );
    assert!(response.header("x-request-id").is_some());
}

#[test]
fn a_scarce_region_gives_what_it_has_and_an_empty_one_says_when_to_ask_again() {
    let sample = &SERVER.sample;
    let asked = sample.scarce_count + 2;
    let response = extract(&format!("num={asked}&regions={}", sample.scarce_region));
    assert_eq!(response.json()["data"].as_array().unwrap().len(), sample.scarce_count as usize);
    assert_eq!(response.header("x-proxy-partial"), Some("true"));
    assert_eq!(response.header("x-proxy-requested-count"), Some(&*asked.to_string()));
    assert_eq!(response.header("x-proxy-returned-count"), Some(&*sample.scarce_count.to_string()));

    let response = extract(&format!("num=1&regions={}", sample.empty_region));
    assert_rejected::<ExtractProxies>(&response, ErrorCode::Shortage);
    let wait: u64 = response.header("retry-after").unwrap().parse().unwrap();
    assert!(wait > 0);
}

#[test]
fn plain_text_is_joined_by_each_separator() {
    let rows = &ExtractProxies::document().part("lb").unwrap().schema.rows;
    let codes = rows.iter().find_map(|row| match &row.constraint {
        Constraint::Enum(codes) => Some(codes),
        _ => None,
    });
    for code in codes.unwrap() {
        let separator =
            serde_json::from_value::<SeparatorCode>(json!(code)).unwrap().separator().unwrap_or("||");
        let response = extract(&format!("num=3&return_type=txt&lb={code}&sb=%7C%7C"));
        assert_eq!(response.header("content-type"), Some("text/plain; charset=utf-8"));
        let entries: Vec<_> = response.body.split(separator).collect();
        assert_eq!(entries.len(), 3, "{code} {response:?}");
        assert!(
            entries
                .iter()
                .all(|entry| entry.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok()))
        );
    }
}

#[test]
fn a_request_id_stands_for_one_extraction_wherever_it_is_sent() {
    let first = extract("num=2&request_id=edge-1").json()["data"].clone();
    assert_eq!(extract("num=2&request_id=edge-1").json()["data"], first);
    let query = format!("num=2&api_key={}", SERVER.sample.tokens.main.expose());
    let by_header = with_headers::<ExtractProxies>(&query, &[("X-Request-Id", "edge-1")]);
    assert_eq!(by_header.json()["data"], first);
    assert_ne!(by_header.header("x-request-id"), Some("edge-1"), "the trace id is another thing");
    let other = extract("num=3&request_id=edge-1");
    assert_rejected::<ExtractProxies>(&other, ErrorCode::RequestIdReused);
}

#[test]
fn static_responses_carry_a_trace_id() {
    let address = SERVER.sample.addresses.first().unwrap().to_string();
    for response in [groups(), search(&json!({ "ips": [address] }).to_string())] {
        let body = response.json();
        assert_eq!((response.status, &body["code"]), (200, &json!(200)));
        assert_eq!(body["requestId"], response.header("x-request-id").unwrap());
        assert_eq!(response.header("cache-control"), Some("no-store"));
        assert!(!body["data"]["items"].as_array().unwrap().is_empty());
    }
}

#[test]
fn defaults_are_those_of_the_document() {
    let address = SERVER.sample.addresses.first().unwrap().to_string();
    let data = search(&json!({ "ips": [address] }).to_string()).json()["data"].clone();
    let page =
        json!({ "ips": [address], "page": data["page"], "pageSize": data["pageSize"], "groupId": null });
    assert_eq!(search(&page.to_string()).json()["data"], data);
}

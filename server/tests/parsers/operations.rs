//! Whole requests of each operation: whatever they hold, they are read or rejected in words that show no token.

use http::{HeaderMap, HeaderName, HeaderValue};
use proptest::prelude::*;
use sallyport_contract::table::Schema;
use sallyport_server::{
    api::generated::{ExtractProxies, ListStaticGroups, SearchStaticInstances},
    edge::{
        operation::Operation,
        reading::{RequestParts, body},
        responding::error_code::ErrorCode,
    },
};

use serde_json::Value;

use super::texts;

const TOKEN: &str = "sesame-open-thyself";

const QUERIES: &str = "api_key=a¦&¦num=1¦num=100¦num=%31¦num=-1¦regions=USA¦country=USA¦country=¦protocol=http¦\
    return_type=txt¦lb=6¦sb=%2F¦sb=%ff¦request_id=a¦request_id=%00¦x=1¦%¦=";

const BODIES: &str = "{\"ips\":[\"192.0.2.1\"]¦,\"page\":1¦,\"pageSize\":1000¦,\"groupId\":null¦,\"status\":\"active\"¦\
    ,\"activatedFrom\":\"2026-01-31T08:00:00Z\"¦,\"countryCode\":\"\"¦,\"orderNo\":\"\\u0000\"¦,\"x\":1¦\
    }¦[¦]¦null¦{\"ips\":[]}¦{\"ips\":{}}¦{\"ips\":[1]}¦1e400¦{\"page\":1.0}¦\"\\ud800\"";

/// The token where it belongs, whole and damaged.
const TOKENS: &[&str] = &[
    "api_key=sesame-open-thyself",
    "api_key=sesame-open-thyself%",
    "api_key=sesame-open-thyself%ff",
    "api%5Fkey=sesame-open-thyself",
];

const HEADERS: &[&str] = &["x-api-key", "authorization", "x-request-id", "content-type", "x-other"];
const VALUES: &str = "¦Bearer ¦bearer¦a¦Basic dTpw¦a b¦\t¦é¦application/json";
const TOKEN_HEADERS: &[(&str, &str)] = &[
    ("x-api-key", "sesame-open-thyself"),
    ("authorization", "bearer sesame-open-thyself"),
    ("authorization", "Bearer sesame-open-thyself x"),
];

/// Queries of clear parts with the token among them, and any others without it: a message shows what a caller takes for
/// something else than a token.
fn queries() -> impl Strategy<Value = String> {
    let clear = prop::collection::vec(
        prop::sample::select(QUERIES.split('¦').chain(TOKENS.repeat(2)).collect::<Vec<_>>()),
        0..6,
    );
    prop_oneof![clear.prop_map(|parts| parts.join("&")), texts(QUERIES)]
}

fn headers() -> impl Strategy<Value = HeaderMap> {
    let other =
        prop_oneof![texts(VALUES).prop_map(String::into_bytes), prop::collection::vec(any::<u8>(), 0..20),];
    let token =
        prop::sample::select(TOKEN_HEADERS).prop_map(|(name, value)| (name, value.as_bytes().to_vec()));
    let header = prop_oneof![(prop::sample::select(HEADERS), other), token];
    prop::collection::vec(header, 0..5).prop_map(|pairs| {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            if let Ok(value) = HeaderValue::from_bytes(&value) {
                headers.append(HeaderName::from_static(name), value);
            }
        }
        headers
    })
}

/// Reads a request as `O` does; what a rejection says, if it is one.
fn rejection<O: Operation>(query: Option<&str>, headers: &HeaderMap, json: Option<Value>) -> Option<String> {
    let json = O::document().body.as_ref().and(json.or(Some(Value::Null)));
    let error = O::read(RequestParts { query, headers, json }).err()?;
    assert_ne!(error.code, ErrorCode::Internal, "the table accepts what the types of a request do not");
    Some(format!("{error} {error:?}"))
}

fn schema() -> &'static Schema {
    &SearchStaticInstances::document().body.as_ref().unwrap().schema
}

proptest! {
    #[test]
    fn any_request_is_read_or_rejected_without_its_token(
        query in prop::option::of(queries()),
        headers in headers(),
        body in texts(BODIES),
    ) {
        let json = body::parse(body.as_bytes(), schema()).ok();
        let query = query.as_deref();
        for told in [
            rejection::<ExtractProxies>(query, &headers, json.clone()),
            rejection::<ListStaticGroups>(query, &headers, json.clone()),
            rejection::<SearchStaticInstances>(query, &headers, json),
        ] {
            prop_assert!(told.as_ref().is_none_or(|told| !told.contains(TOKEN)), "{told:?}");
        }
    }
}

/// The parts above do make requests that are read, or the test would try rejections only.
#[test]
fn good_requests_are_read() {
    let headers = HeaderMap::new();
    let query = format!("api_key={TOKEN}");
    assert_eq!(rejection::<ListStaticGroups>(Some(&query), &headers, None), None);
    assert_eq!(
        rejection::<ExtractProxies>(Some(&format!("{query}&num=1&regions=USA")), &headers, None),
        None
    );
    let body = body::parse(br#"{"ips":["192.0.2.1"],"status":"active"}"#, schema()).unwrap();
    assert_eq!(rejection::<SearchStaticInstances>(Some(&query), &headers, Some(body)), None);
}

//! Queries, headers, credentials and methods that are wrong.

use sallyport_server::{
    api::generated::{ExtractProxies, ListStaticGroups, SearchStaticInstances},
    edge::{operation::Operation, responding::error_code::ErrorCode},
};

use super::{
    server::{SERVER, assert_rejected, extract, get, limit, search_target, with_headers},
    wire::send,
};

#[track_caller]
fn rejected(query: &str, code: ErrorCode) -> String {
    assert_eq!(extract("num=1").status, 200, "the control request");
    assert_rejected::<ExtractProxies>(&extract(query), code)
}

#[test]
fn num_is_a_plain_number_within_its_limits() {
    let [least, most] = ["minimum", "maximum"].map(|keyword| limit::<ExtractProxies>("num", keyword));
    for good in [least, most] {
        assert_eq!(extract(&format!("num={good}")).status, 200);
    }
    let outside = [least - 1, most + 1, i64::MAX, -1];
    for bad in outside.map(|number| number.to_string()) {
        let message = rejected(&format!("num={bad}"), ErrorCode::Invalid);
        assert!(message.contains("`num`") && message.contains(&bad) && message.contains("extract.num-range"));
    }
    for bad in ["%2B1", "01", "1.0", "1e1", "0x1", "one", "%201", "99999999999999999999999", "1%00"] {
        rejected(&format!("num={bad}"), ErrorCode::Invalid);
    }
    assert!(rejected("", ErrorCode::Missing).contains("extract.num-required"));
}

#[test]
fn repeated_empty_and_unknown_parameters() {
    rejected("num=1&num=1", ErrorCode::Repeated);
    rejected("num=1&n%75m=1", ErrorCode::Repeated);
    for empty in ["num=", "num", "num=1&protocol=", "num=1&sb=", "num=1&request_id="] {
        rejected(empty, ErrorCode::Empty);
    }
    assert!(rejected("num=1&return-type=txt", ErrorCode::Unknown).contains("did you mean `return_type`?"));
    rejected("num=1&session=a", ErrorCode::Unknown);
    rejected("num=1&=a", ErrorCode::Unknown);
}

#[test]
fn queries_that_are_not_percent_encoded_utf8() {
    for bad in ["num=%", "num=1%4", "num=1&sb=%zz", "num=1&sb=%ff", "num=1&sb=%ed%a0%80", "%ff=1"] {
        rejected(bad, ErrorCode::MalformedQuery);
    }
}

#[test]
fn values_outside_their_lists() {
    for bad in ["protocol=https", "protocol=HTTP", "return_type=xml", "lb=0", "lb=7", "lb=1.0"] {
        rejected(&format!("num=1&{bad}"), ErrorCode::Invalid);
    }
}

#[test]
fn the_custom_separator_is_required_and_short() {
    let most = usize::try_from(limit::<ExtractProxies>("sb", "x-max-utf8-bytes")).unwrap();
    let longest = "é".repeat(most / 2);
    let encoded = longest.replace('é', "%C3%A9");
    assert_eq!(extract(&format!("num=2&return_type=txt&lb=6&sb={encoded}")).status, 200);
    assert!(rejected("num=1&lb=6", ErrorCode::Missing).contains("extract.sb-required"));
    let message = rejected(&format!("num=1&lb=6&sb={encoded}%C3%A9"), ErrorCode::Invalid);
    assert!(message.contains("extract.sb-length"), "{message}");
}

#[test]
fn both_names_of_a_region_agree() {
    let region = &SERVER.sample.plentiful_region;
    for good in [format!("country={region}"), format!("regions={region}&country={region}")] {
        assert_eq!(extract(&format!("num=1&{good}")).status, 200);
    }
    let message = rejected(&format!("num=1&regions={region}&country=GLOBAL"), ErrorCode::Conflict);
    assert!(message.contains("extract.country-equal"), "{message}");
}

#[test]
fn tokens_in_every_transport() {
    let token = SERVER.sample.tokens.main.expose();
    let bearer = format!("Bearer {token}");
    for headers in [
        vec![("X-API-Key", token)],
        vec![("Authorization", &*bearer)],
        vec![("X-API-Key", token), ("Authorization", &bearer)],
    ] {
        assert_eq!(with_headers::<ExtractProxies>("num=1", &headers).status, 200, "{headers:?}");
    }
    let second = SERVER.sample.tokens.second.expose();
    let conflict =
        with_headers::<ExtractProxies>(&format!("num=1&api_key={token}"), &[("X-API-Key", second)]);
    let message = assert_rejected::<ExtractProxies>(&conflict, ErrorCode::Conflict);
    assert!(message.contains("extract.token-equal"), "{message}");
    let repeated = with_headers::<ExtractProxies>("num=1", &[("X-API-Key", token), ("X-API-Key", token)]);
    assert_rejected::<ExtractProxies>(&repeated, ErrorCode::Repeated);
}

#[test]
fn missing_empty_and_unknown_tokens() {
    for query in ["num=1", "num=1&api_key="] {
        assert_rejected::<ExtractProxies>(&get::<ExtractProxies>(query), ErrorCode::TokenMissing);
    }
    for query in ["", "api_key="] {
        assert_rejected::<ListStaticGroups>(&get::<ListStaticGroups>(query), ErrorCode::TokenMissing);
    }
    let tokens = &SERVER.sample.tokens;
    for token in ["unknown", tokens.revoked.expose(), tokens.expired.expose()] {
        let query = format!("api_key={token}");
        assert_rejected::<ListStaticGroups>(&get::<ListStaticGroups>(&query), ErrorCode::TokenInvalid);
        let query = format!("num=1&api_key={token}");
        assert_rejected::<ExtractProxies>(&get::<ExtractProxies>(&query), ErrorCode::TokenInvalid);
    }
    let link = format!("api_key={}", tokens.link.expose());
    assert_rejected::<ListStaticGroups>(&get::<ListStaticGroups>(&link), ErrorCode::ExtractionOnly);
    assert_eq!(get::<ExtractProxies>(&format!("num=1&{link}")).status, 200);
}

#[test]
fn accounts_that_may_not_extract() {
    let tokens = &SERVER.sample.tokens;
    for (token, code) in [
        (&tokens.not_whitelisted, ErrorCode::NotWhitelisted),
        (&tokens.not_verified, ErrorCode::NotVerified),
        (&tokens.not_entitled, ErrorCode::NotEntitled),
    ] {
        let response = get::<ExtractProxies>(&format!("num=1&api_key={}", token.expose()));
        assert_rejected::<ExtractProxies>(&response, code);
    }
}

#[test]
fn headers_that_are_not_text() {
    let mut head = format!("GET {}?num=1 HTTP/1.1\r\nX-Request-Id: ", ExtractProxies::PATH).into_bytes();
    head.extend_from_slice(b"\xff\xfe\r\nHost: x\r\nConnection: close\r\n\r\n");
    let response = super::wire::read(super::wire::exchange(SERVER.address, &[&head]));
    assert_rejected::<ExtractProxies>(&response, ErrorCode::MalformedHeader);
}

#[test]
fn other_methods_are_told_which_there_are() {
    let of = |method: &str, target: &str| send(SERVER.address, &format!("{method} {target} HTTP/1.1"), b"");
    for method in ["POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE"] {
        let response = of(method, ExtractProxies::PATH);
        assert_rejected::<ExtractProxies>(&response, ErrorCode::MethodNotAllowed);
        assert_eq!(response.header("allow"), Some("GET"));
    }
    for method in ["GET", "PUT"] {
        let response = of(method, &search_target());
        assert_rejected::<SearchStaticInstances>(&response, ErrorCode::MethodNotAllowed);
        assert_eq!(response.header("allow"), Some("POST"));
    }
    assert_eq!(of("BREW", ExtractProxies::PATH).status, 405);
    assert_eq!(of("GET", "/openapi/v1/nothing").status, 404);
}

//! What depends on time follows the clock of the sandbox, set by the library or over HTTP.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use sallyport_server::{
    Config,
    api::generated::ExtractProxies,
    domain::token::Token,
    edge::operation::Operation as _,
    sandbox::{Sandbox, SandboxTokens},
};
use serde_json::json;

use super::{
    http::{call, get, groups},
    wire::Response,
};

fn time(text: &str) -> Timestamp {
    text.parse().unwrap()
}

async fn extract(sandbox: &Sandbox, token: &Token, query: &str) -> Response {
    get(sandbox, &format!("{}?api_key={}&{query}", ExtractProxies::PATH, token.expose())).await
}

async fn code(sandbox: &Sandbox, token: &Token, query: &str) -> i64 {
    extract(sandbox, token, query).await.json()["code"].as_i64().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn tokens_whitelists_and_entitlements_expire_by_it() {
    let sandbox = Sandbox::start().await.unwrap();
    let tokens = &sandbox.sample().tokens;
    // The sample data ends these at the beginning of 2020.
    sandbox.set_time(time("2019-12-31T23:59:59.999999999Z")).await.unwrap();
    assert_eq!(groups(&sandbox, &tokens.expired).await.status, 200);
    assert_eq!(code(&sandbox, &tokens.not_entitled, "num=1").await, 0);
    assert_eq!(code(&sandbox, &tokens.not_whitelisted, "num=1").await, 0);
    let at = sandbox.advance(SignedDuration::from_nanos(1)).await.unwrap();
    assert_eq!((at, sandbox.now()), (time("2020-01-01T00:00:00Z"), at), "it stands still");
    assert_eq!(groups(&sandbox, &tokens.expired).await.json()["code"], 40102);
    assert_eq!(code(&sandbox, &tokens.not_entitled, "num=1").await, 40305);
    assert_eq!(code(&sandbox, &tokens.not_whitelisted, "num=1").await, 40303);
    // And the second account's whitelist in the far future.
    assert_eq!(code(&sandbox, &tokens.second, "num=1").await, 0);
    sandbox.set_time(time("2400-03-01T00:00:00Z")).await.unwrap();
    assert_eq!(code(&sandbox, &tokens.second, "num=1").await, 40303);
    sandbox.reset_time().await.unwrap();
    assert!((sandbox.now() - Timestamp::now()).as_secs().abs() < 60);
    assert_eq!(code(&sandbox, &tokens.second, "num=1").await, 0);
    sandbox.advance(SignedDuration::MAX).await.unwrap_err();
}

#[tokio::test(flavor = "multi_thread")]
async fn request_ids_are_forgotten_by_it() {
    let sandbox = Sandbox::start().await.unwrap();
    let token = sandbox.token();
    let (first, other) = ("num=2&request_id=one", "num=3&request_id=one");
    let before = extract(&sandbox, token, first).await.json();
    assert_eq!(extract(&sandbox, token, first).await.json()["data"], before["data"]);
    assert_eq!(code(&sandbox, token, other).await, 40901);
    let days = |days: u32| SignedDuration::from_hours(24 * i64::from(days));
    sandbox.advance(days(Config::REQUEST_ID_RETENTION_DAYS) - SignedDuration::from_mins(1)).await.unwrap();
    assert_eq!(code(&sandbox, token, other).await, 40901, "it is kept as long as it was said");
    sandbox.advance(SignedDuration::from_mins(2)).await.unwrap();
    assert_eq!(code(&sandbox, token, other).await, 0);

    // A server that keeps them forever does so in the sandbox, too.
    let forever = |config| Config { request_id_retention: None, ..config };
    let sandbox = Sandbox::start_with(SandboxTokens::Random, forever).await.unwrap();
    assert_eq!(code(&sandbox, sandbox.token(), first).await, 0);
    sandbox.advance(days(10_000)).await.unwrap();
    assert_eq!(code(&sandbox, sandbox.token(), other).await, 40901);
    assert!(sandbox.close(Duration::from_secs(5)).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn it_is_read_and_set_over_http() {
    let sandbox = Sandbox::start().await.unwrap();
    let address = sandbox.server().address();
    let put = async |body: &str| call(address, "PUT", "/sandbox/clock", &[], body).await;
    let shown = get(&sandbox, "/sandbox/clock").await;
    assert_eq!((shown.status, &shown.json()["isSet"]), (200, &json!(false)));
    let set = put(r#"{"now": "2019-06-01T02:00:00+02:00"}"#).await;
    assert_eq!((set.status, set.json()), (200, json!({"now": "2019-06-01T00:00:00Z", "isSet": true})));
    assert_eq!(groups(&sandbox, &sandbox.sample().tokens.expired).await.status, 200);
    let moved = put(r#"{"advanceSeconds": -3600}"#).await;
    assert_eq!(moved.json()["now"], "2019-05-31T23:00:00Z");
    for body in [
        "",
        "{}",
        r#"{"now": "yesterday"}"#,
        r#"{"now": "2019-06-01T00:00:00Z", "advanceSeconds": 1}"#,
        "[1]",
    ] {
        let rejected = put(body).await;
        assert_eq!(rejected.status, 400, "{body}");
        let message = &rejected.json()["message"];
        assert!(message.as_str().unwrap().starts_with("expected {\"now\""), "{message}");
    }
    assert_eq!(put(r#"{"advanceSeconds": 9223372036854775807}"#).await.status, 400);
    assert_eq!(get(&sandbox, "/sandbox/clock").await.json()["now"], "2019-05-31T23:00:00Z");
    // A web page in a browser on the same machine changes nothing.
    for method in ["PUT", "DELETE"] {
        let page = ["Origin: http://127.0.0.1"];
        let body = r#"{"advanceSeconds": 1}"#;
        assert_eq!(call(address, method, "/sandbox/clock", &page, body).await.status, 403, "{method}");
    }
    let reset = call(address, "DELETE", "/sandbox/clock", &[], "").await;
    assert_eq!((reset.status, &reset.json()["isSet"]), (200, &json!(false)));
}

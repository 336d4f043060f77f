//! The sandbox as a library: its tokens, its examples, its clock and its pages, and that a server on a store that somebody
//! opened has none of it.

use std::{collections::HashSet, net::SocketAddr, sync::Arc, time::Duration};

use jiff::{SignedDuration, Timestamp};
use sallyport_server::{
    Config,
    api::generated::{ListStaticGroups, SearchStaticInstances},
    data::seed::seed,
    domain::token::Token,
    edge::operation::Operation as _,
    sandbox::{Sandbox, SandboxTokens},
    store::{OpenMode, Store},
};
use serde_json::{Value, json};

use crate::support::wire::{Response, ask};

async fn groups(address: SocketAddr, token: &Token) -> Response {
    let head = format!("GET {}?api_key={} HTTP/1.1", ListStaticGroups::PATH, token.expose());
    ask(address, head, Vec::new()).await.unwrap()
}

async fn search(sandbox: &Sandbox, token: &Token, body: &Value) -> Response {
    let target = format!("{}?api_key={}", SearchStaticInstances::PATH, token.expose());
    let body = body.to_string().into_bytes();
    let headers = format!("Content-Type: application/json\r\nContent-Length: {}", body.len());
    let head = format!("POST {target} HTTP/1.1\r\n{headers}");
    ask(sandbox.server().address(), head, body).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_seed_gives_the_same_tokens_again_and_each_has_its_kind() {
    let tokens = async |source| {
        let sandbox = Sandbox::start_with(source, |config| config).await.unwrap();
        serde_json::to_value(sandbox.description()).unwrap()["tokens"].clone()
    };
    let fixed = tokens(SandboxTokens::FIXED).await;
    assert_eq!(fixed, tokens(SandboxTokens::FIXED).await);
    assert_ne!(fixed, tokens(SandboxTokens::Seed(1)).await);
    let random = tokens(SandboxTokens::Random).await;
    assert_ne!(random, tokens(SandboxTokens::Random).await);
    let kinds = random.as_object().unwrap();
    let distinct: HashSet<_> = kinds.values().map(|token| &token["token"]).collect();
    assert_eq!(distinct.len(), 10);
    for (name, token) in kinds {
        let kind = if name == "link" { "link" } else { "api" };
        assert_eq!(token["kind"], kind, "{name}");
        assert!(token["token"].as_str().unwrap().starts_with(&format!("sally_{kind}_")), "{name}");
        assert!(!token["description"].as_str().unwrap().is_empty());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_examples_find_what_they_say() {
    let sandbox = Sandbox::start().await.unwrap();
    let description = serde_json::to_value(sandbox.description()).unwrap();
    let examples = &description["examples"];
    let found = async |body: Value| {
        let response = search(&sandbox, sandbox.token(), &body).await;
        assert_eq!(response.status, 200, "{body}: {}", response.body);
        response.json()["data"]["items"].as_array().unwrap().clone()
    };
    let ports = |items: &[Value]| items.iter().map(|item| item["port"].clone()).collect::<Vec<_>>();
    let several = &examples["severalPorts"];
    assert!(several["ports"].as_array().unwrap().len() > 2, "{several}");
    assert_eq!(json!(ports(&found(json!({"ips": [several["ip"]]})).await)), several["ports"]);
    let (ip, port) = (examples["ipv6"]["ip"].as_str().unwrap(), &examples["ipv6"]["ports"][0]);
    assert_eq!(ports(&found(json!({"ips": [format!("[{ip}]:{port}")]})).await), std::slice::from_ref(port));
    let order = json!({"ips": [examples["orderAddress"]], "orderNo": examples["orderNo"]});
    assert!(!found(order).await.is_empty());
    assert!(!found(json!({"ips": [examples["sharedAddress"]]})).await.is_empty());
    let foreign = &examples["foreignAddress"];
    assert!(found(json!({"ips": [foreign]})).await.is_empty());
    let second = &sandbox.sample().tokens.second;
    let theirs = search(&sandbox, second, &json!({"ips": [foreign]})).await.json();
    assert!(theirs["data"]["total"].as_u64() > Some(0), "{theirs}");
    let listed = groups(sandbox.server().address(), sandbox.token()).await.json();
    assert!(
        listed["data"]["items"].as_array().unwrap().iter().any(|it| it["groupId"] == examples["groupId"])
    );
}

/// `tests/sessions/sandbox.txt` shows what depends on it.
#[tokio::test(flavor = "multi_thread")]
async fn the_clock_is_stopped_moved_and_reset() {
    let sandbox = Sandbox::start().await.unwrap();
    let before: Timestamp = "2019-12-31T23:59:59.999999999Z".parse().unwrap();
    let status = async || groups(sandbox.server().address(), &sandbox.sample().tokens.expired).await.status;
    sandbox.set_time(before).await.unwrap();
    assert_eq!((sandbox.now(), status().await), (before, 200));
    let moved = sandbox.advance(SignedDuration::from_nanos(1)).await.unwrap();
    assert_eq!(moved, "2020-01-01T00:00:00Z".parse().unwrap());
    assert_eq!((sandbox.now(), status().await), (moved, 401), "it stands still");
    sandbox.advance(SignedDuration::MAX).await.unwrap_err();
    sandbox.reset_time().await.unwrap();
    assert!((sandbox.now() - Timestamp::now()).as_secs().abs() < 60);
    assert!(sandbox.close(Duration::from_secs(5)).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_commands_work_as_they_are_pasted() {
    if std::process::Command::new("curl").arg("--version").output().is_err() {
        println!("skipped: curl is not installed");
        return;
    }
    let sandbox = Sandbox::start().await.unwrap();
    let commands = sandbox.description().curl;
    assert_eq!(commands.len(), 8);
    for command in commands {
        let output = tokio::process::Command::new("sh").args(["-c", &command]).output().await.unwrap();
        let body: Value = serde_json::from_slice(&output.stdout).unwrap();
        let is_shortage = command.contains(&sandbox.sample().empty_region);
        let code = if is_shortage {
            50301
        } else if command.contains("num=") {
            0
        } else {
            200
        };
        assert_eq!(body["code"], code, "{command}: {body}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sandbox_serves_its_own_data_whatever_store_it_is_configured_with() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("real.db");
    let real = Arc::new(Store::open(&path, OpenMode::Create).unwrap());
    let theirs = seed(real.as_ref()).await.unwrap();
    let other = Arc::clone(&real);
    let configured = |config| Config { store: other as _, ..config };
    let sandbox = Sandbox::start_with(SandboxTokens::FIXED, configured).await.unwrap();
    assert_eq!(
        groups(sandbox.server().address(), &theirs.tokens.main).await.status,
        401,
        "the store of the configuration is served"
    );
    assert_eq!(groups(sandbox.server().address(), sandbox.token()).await.status, 200);

    // And the server of that store does not know the tokens.
    let server = sallyport_server::start(Config::loopback(real)).unwrap();
    assert_eq!(groups(server.address(), sandbox.token()).await.status, 401);
}

//! The control endpoint: what it changes, what it rejects, and that it shows no token.

use std::time::Duration;

use serde_json::Value;

use super::Running;

#[tokio::test]
async fn scenarios_are_replaced_and_a_mistake_leaves_the_old_ones() {
    let lab = Running::start("[[default.groups]]\nforever = true\nstatus = 503").await;
    assert_eq!(lab.status(None).await, 503);
    let (status, body) = lab.control("PUT", "/scenarios", "[[default.groups]]\nstatsu = 1").await;
    assert_eq!(status, 400);
    let message = body["message"].as_str().expect("a message");
    assert!(message.contains("body:2:1: unknown key `statsu`") && message.contains("`status`"), "{message}");
    assert_eq!(lab.status(None).await, 503);
    let (status, body) = lab.control("PUT", "/scenarios", "[[default.groups]]\nstatus = 404").await;
    assert_eq!((status, &body["scenarios"][0]), (200, &Value::from("default")));
    assert_eq!((lab.status(None).await, lab.status(None).await), (404, 200));
    let (_, body) = lab.control("GET", "/scenarios", "").await;
    assert_eq!(body["playing"][0]["requests"]["groups"], 1, "{body}");
    let (status, help) = lab.control("GET", "/", "").await;
    assert!(status == 200 && help.as_str().is_some_and(|help| help.contains("PUT /scenarios")), "{help}");
    assert_eq!(lab.control("GET", "/nothing", "").await.0, 404);
}

#[tokio::test]
async fn mistakes_in_a_request_change_nothing() {
    let lab = Running::start("[[default.groups]]\nforever = true\nstatus = 503").await;
    assert_eq!(lab.status(None).await, 503);
    for (method, path, expected) in [
        ("PUT", "/scenarios", "the body is empty"),
        ("POST", "/reset?scenaro=default", "unknown parameter `scenaro`; expected scenario"),
        ("POST", "/reset?scenario=nope", "unknown scenario `nope`; expected one of: default"),
        ("DELETE", "/log?all", "unknown parameter `all`; expected none"),
    ] {
        let (status, body) = lab.control(method, path, "").await;
        let message = body["message"].as_str().unwrap_or_default();
        assert!(status == 400 && message.contains(expected), "{method} {path}: {status} {body}");
    }
    let (_, body) = lab.control("GET", "/scenarios", "").await;
    assert_eq!(body["playing"][0]["requests"]["groups"], 1, "{body}");
    assert_eq!(lab.control("POST", "/reset?scenario=default", "").await.1["reset"], 1);
}

#[tokio::test]
async fn the_log_names_the_run_of_each_request() {
    let lab = Running::start("[[flaky.groups]]\nstatus = 503").await;
    for (run, status) in [(Some("flaky/a"), 503), (Some("flaky/a"), 200), (Some("flaky/b"), 503), (None, 200)]
    {
        assert_eq!(lab.status(run).await, status, "{run:?}");
    }
    let with_token = format!("flaky/{}", lab.token());
    assert_eq!(lab.status(Some(&with_token)).await, 503);
    let (_, log) = lab.control("GET", "/log", "").await;
    let runs: Vec<_> =
        log["requests"].as_array().into_iter().flatten().map(|entry| entry["scenario"].as_str()).collect();
    assert_eq!(runs, [Some("flaky/a"), Some("flaky/a"), Some("flaky/b"), None, None], "{log}");
}

#[tokio::test]
async fn the_log_has_requests_whose_caller_left() {
    let lab = Running::start("[[default.groups]]\ndelay-ms = 20000").await;
    let left = lab.groups().timeout(Duration::from_millis(300)).send().await;
    assert!(left.is_err_and(|error| error.is_timeout()));
    // The lab learns of it by the connection.
    for _ in 0..100 {
        if !lab.journal.entries().is_empty() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let entries = lab.journal.entries();
    assert_eq!(entries.iter().map(|entry| entry.status).collect::<Vec<_>>(), [499], "{entries:?}");
    assert_eq!(entries[0].changes[0].what, ["waited 20000 ms"]);
}

#[tokio::test]
async fn the_log_tells_repeats_of_an_extraction_from_new_ones() {
    let lab = Running::start("").await;
    let url = format!("{}/openapi/v1/proxy/extract", lab.proxy.base_url());
    for id in [Some("a"), Some("b"), Some("a"), None] {
        let request = lab.http.get(&url).query(&[("api_key", lab.token()), ("num", "1")]);
        let request = match id {
            Some(id) => request.query(&[("request_id", id)]),
            None => request,
        };
        assert_eq!(request.send().await.expect("a response").status(), 200);
    }
    lab.status(None).await;
    let numbers: Vec<_> = lab.journal.entries().iter().map(|entry| entry.request_id).collect();
    assert_eq!(numbers, [Some(1), Some(2), Some(1), None, None]);
}

#[tokio::test]
async fn a_scenario_is_selected_once() {
    let lab = Running::start("[[flaky.groups]]\nstatus = 503").await;
    let twice = lab.groups().header("x-lab-scenario", "flaky").header("x-lab-scenario", "default");
    let response = twice.send().await.expect("a response");
    assert_eq!(response.status(), 400);
    assert!(response.text().await.expect("a text").contains("expected it once"));
}

#[tokio::test]
async fn the_log_names_what_was_changed_and_shows_no_token() {
    let lab = Running::start("[[default.groups]]\nforever = true\nunknown-fields = true").await;
    // The token in every place that a caller may think of, the names of parameters and headers included.
    let odd = lab.groups().query(&[(lab.token(), "1")]).header("x-api-key", lab.token()).send().await;
    assert!(odd.is_ok());
    let name: String = lab.token().chars().filter(char::is_ascii_alphanumeric).take(20).collect();
    let named = lab.groups().header(name.as_str(), "1").send().await;
    assert!(named.is_ok());
    let (_, log) = lab.control("GET", "/log", "").await;
    let text = log.to_string();
    assert!(text.contains("response body") && text.contains("scenario default, step 1 of groups"), "{text}");
    let telling: String = lab.token().chars().take(lab.token().len() / 2).collect();
    assert!(!text.contains(&telling), "{text}");
    let debug = format!("{:?} {:?} {:?}", lab.journal, lab.proxy, lab.journal.entries());
    assert!(!debug.contains(&telling), "{debug}");
    lab.control("DELETE", "/log", "").await;
    assert_eq!(lab.control("GET", "/log", "").await.1["requests"], Value::Array(Vec::new()));
}

#[tokio::test]
async fn web_pages_and_other_hosts_are_rejected() {
    let lab = Running::start("").await;
    let url = format!("{}/log", lab.control.base_url());
    let http = reqwest::Client::builder().no_proxy().build().expect("a client");
    for (name, value) in [("origin", "http://localhost"), ("host", "rebound.example")] {
        let response = http.get(&url).header(name, value).send().await.expect("a response");
        assert_eq!(response.status(), 403, "{name}");
    }
}

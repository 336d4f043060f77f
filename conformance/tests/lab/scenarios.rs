//! Steps, counts, probabilities, and scenarios that do not meet.

use std::time::{Duration, Instant, SystemTime};

use sallyport_conformance::lab;
use serde_json::Value;

use super::Running;

#[tokio::test]
async fn steps_happen_in_their_order_and_then_nothing_happens() {
    let lab = Running::start(
        "
        [[default.groups]]
        times = 2
        status = 429
        retry-after = 1
        [[default.groups]]
        code = 50301
        message = 'too few'
        retry-after-date = 5
        [[default.groups]]
        [[default.any]]
        status = 503
        ",
    )
    .await;
    for _ in 0..2 {
        let throttled = lab.groups().send().await.expect("a response");
        assert_eq!(
            (throttled.status().as_u16(), throttled.headers()["retry-after"].as_bytes()),
            (429, b"1".as_slice())
        );
    }
    let shortage = lab.groups().send().await.expect("a response");
    let date = httpdate::parse_http_date(shortage.headers()["retry-after"].to_str().expect("text"));
    let wait = date.expect("an HTTP date").duration_since(SystemTime::now()).expect("a later time");
    assert!(wait > Duration::from_secs(3) && wait <= Duration::from_secs(6), "{wait:?}");
    let body: Value = shortage.json().await.expect("JSON");
    assert_eq!((&body["code"], &body["message"]), (&Value::from(50301), &Value::from("too few")));
    assert_eq!(lab.status(None).await, 200, "a step without an action");
    assert_eq!(lab.status(None).await, 503, "no step of the operation is left, but one for any");
    assert_eq!(lab.status(None).await, 200);
}

#[tokio::test]
async fn a_header_selects_a_scenario_and_an_instance_of_it() {
    let lab =
        Running::start("[[busy.groups]]\nstatus = 503\n[[gone.any]]\nforever = true\nstatus = 404").await;
    assert_eq!(lab.status(None).await, 200, "no scenario is the default one");
    for instance in ["busy", "busy/one", "busy/two"] {
        assert_eq!(lab.status(Some(instance)).await, 503, "{instance} counts apart");
        assert_eq!(lab.status(Some(instance)).await, 200, "{instance}");
    }
    assert_eq!(lab.status(Some("gone")).await, 404);
    let unknown = lab.groups().header("x-lab-scenario", "bsuy").send().await.expect("a response");
    assert_eq!(unknown.status(), 400);
    let text = unknown.text().await.expect("a body");
    assert!(text.contains("expected one of: busy, gone"), "{text}");
    let last = lab.journal.entries().pop().expect("an entry");
    assert_eq!(last.changes[0].what, ["rejected: unknown scenario; expected one of: busy, gone"]);

    let (status, body) = lab.control("POST", "/reset?scenario=busy/one", "").await;
    assert_eq!((status, &body["reset"]), (200, &Value::from(1)));
    assert_eq!((lab.status(Some("busy/one")).await, lab.status(Some("busy/two")).await), (503, 200));
    assert_eq!(lab.control("POST", "/reset", "").await.1["reset"], 4);
    assert_eq!(lab.status(Some("busy")).await, 503);
}

#[tokio::test]
async fn probabilities_follow_from_the_seed() {
    let scenario = |seed| {
        format!(
            "[default]\nseed = {seed}\n[[default.groups]]\nforever = true\nprobability = 0.5\nstatus = 503"
        )
    };
    let mut sequences = Vec::new();
    for seed in [1, 2, 1] {
        let lab = Running::start(&scenario(seed)).await;
        let mut sequence = Vec::new();
        for _ in 0..24 {
            sequence.push(lab.status(None).await);
        }
        assert!(sequence.contains(&200) && sequence.contains(&503), "{sequence:?}");
        sequences.push(sequence);
    }
    assert!(sequences[0] == sequences[2] && sequences[0] != sequences[1], "{sequences:?}");
}

#[tokio::test]
async fn a_step_may_be_a_fault_a_variation_or_a_wait() {
    let lab = Running::start(
        "
        [[default.groups]]
        fault = 'groups.order/descending'
        [[default.groups]]
        variation = 'http.pretty-json'
        [[default.groups]]
        delay-ms = 300
        ",
    )
    .await;
    let ids = |body: &Value| {
        let items = body["data"]["items"].as_array().expect("items");
        items.iter().filter_map(|item| item["groupId"].as_i64()).collect::<Vec<_>>()
    };
    let reversed: Value = lab.groups().send().await.expect("a response").json().await.expect("JSON");
    let pretty = lab.groups().send().await.expect("a response").text().await.expect("a body");
    let begun = Instant::now();
    let usual: Value = lab.groups().send().await.expect("a response").json().await.expect("JSON");
    assert!(begun.elapsed() >= Duration::from_millis(300));
    assert!(pretty.starts_with("\r\n{"), "{pretty}");
    assert!(ids(&usual).is_sorted() && !ids(&reversed).is_sorted(), "{reversed}");
    let entries = lab.journal.entries();
    assert_eq!(entries[0].changes[0].by, "groups.order/descending");
    assert_eq!(entries[0].changes[0].what, ["response body"]);
    assert_eq!(entries[1].changes[0].what, ["response body"]);
    assert_eq!(entries[2].changes[0].what, ["waited 300 ms"]);
}

#[tokio::test]
async fn variations_of_a_seed_come_again() {
    let mut sequences = Vec::new();
    for seed in [7, 8, 7] {
        let lab = Running::with("", |lab| lab.pedantic(seed)).await;
        for _ in 0..40 {
            let request = lab.groups().timeout(Duration::from_secs(10));
            request.send().await.expect("a response").bytes().await.expect("a body");
        }
        // This one acts for a part of the time only.
        let is_timed = |by: &String| by == "http.unavailable-in-windows";
        let by = |entry: &lab::Entry| {
            entry.changes.first().map(|change| change.by.clone()).filter(|by| !is_timed(by))
        };
        sequences.push(lab.journal.entries().iter().map(by).collect::<Vec<_>>());
    }
    let chosen = sequences[0].iter().flatten().count();
    assert!(chosen >= 8, "{chosen} of 40 listings were changed");
    assert!(sequences[0] == sequences[2] && sequences[0] != sequences[1], "{sequences:?}");
}

//! What a script does not say: a date, and what follows from a seed.

use std::time::{Duration, SystemTime};

use sallyport_conformance::lab;

use super::Running;

#[tokio::test]
async fn a_date_is_as_many_seconds_ahead() {
    let lab = Running::start("[[default.groups]]\nstatus = 429\nretry-after-date = 5").await;
    let throttled = lab.groups().send().await.expect("a response");
    let date = httpdate::parse_http_date(throttled.headers()["retry-after"].to_str().expect("text"));
    let wait = date.expect("an HTTP date").duration_since(SystemTime::now()).expect("a later time");
    assert!(wait > Duration::from_secs(3) && wait <= Duration::from_secs(6), "{wait:?}");
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
            sequence.push(lab.status().await);
        }
        assert!(sequence.contains(&200) && sequence.contains(&503), "{sequence:?}");
        sequences.push(sequence);
    }
    assert!(sequences[0] == sequences[2] && sequences[0] != sequences[1], "{sequences:?}");
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

//! Waits, retries, request ids and time.

use std::time::Duration;

use super::Calls;
use crate::client::case::{ClientCase, Expectation};
use crate::client::duty::Duty;
use crate::client::evidence::{Evidence, Problem};

pub(super) fn cases(calls: &Calls<'_>) -> Vec<ClientCase> {
    [throttled(calls), shortages(calls), failures(calls), interruptions(calls), stalls(calls)].concat()
}

fn throttled(calls: &Calls<'_>) -> Vec<ClientCase> {
    let case = |name: &str, call, steps| {
        ClientCase::new(Duty::WaitThrottled, name, call)
            .expects(Expectation::Either)
            .plays(steps)
            .judged(|evidence| evidence.early_requests(Duty::WaitThrottled))
    };
    vec![
        ClientCase {
            capitals: true,
            ..case("groups-seconds", calls.groups(), "[[groups]]\nstatus = 429\nretry-after = 2")
                .titled("a listing that gets HTTP 429 with Retry-After in seconds is repeated after it")
        },
        case("groups-date", calls.groups(), "[[groups]]\nstatus = 429\nretry-after-date = 2")
            .titled("a listing that gets HTTP 429 with Retry-After as a date is repeated after it"),
        case("search-seconds", calls.search(50), "[[search]]\ntimes = 2\nstatus = 429\nretry-after = 2")
            .titled("a search that gets HTTP 429 twice waits each time"),
        case("search-date", calls.search(50), "[[search]]\nstatus = 429\nretry-after-date = 2")
            .titled("a search that gets HTTP 429 with Retry-After as a date is repeated after it"),
        case("groups-eleven-seconds", calls.groups(), "[[groups]]\nstatus = 429\nretry-after = 11")
            .titled("a wait of many seconds is kept, or the call gives up"),
        case(
            "extract-seconds",
            calls.extract(),
            "[[extract]]\ndelay-ms = 500\nstatus = 429\nretry-after = 2",
        )
        .titled(
            "an extraction that gets HTTP 429 is repeated after Retry-After, which counts from the response",
        ),
        case(
            "longer-than-the-call",
            calls.groups(),
            // In milliseconds, 30 days are more than the timers of some languages take, which then fire at once.
            "[[groups]]\nforever = true\nstatus = 429\nheaders = { retry-after = '2592000' }",
        )
        .titled("a wait that is longer than the time of the call ends it")
        .expects(Expectation::Error)
        .within(Duration::from_secs(3)),
    ]
}

fn shortages(calls: &Calls<'_>) -> Vec<ClientCase> {
    let case = |name: &str, call, steps| {
        ClientCase::new(Duty::WaitShortage, name, call)
            .expects(Expectation::Either)
            .plays(steps)
            .judged(|evidence| evidence.early_requests(Duty::WaitShortage))
    };
    vec![
        case(
            "status-503",
            calls.extract(),
            "[[extract]]\nstatus = 503\ncode = 50301\nmessage = 'too few gateways'\nretry-after = 2",
        )
        .titled("the client waits for Retry-After of a shortage with HTTP 503"),
        case(
            "status-200",
            calls.extract(),
            "[[extract]]\ncode = 1001\nmessage = 'too few gateways'\nretry-after = 2",
        )
        .titled("the client waits for Retry-After of a shortage within HTTP 200, and does not take it for an empty result"),
        case(
            "status-409-date",
            calls.extract(),
            "[[extract]]\nstatus = 409\nmessage = 'too few gateways'\nretry-after-date = 2",
        )
        .titled("the client waits for Retry-After of a shortage with HTTP 409 and a date"),
        case(
            "status-404",
            calls.extract(),
            "[[extract]]\nstatus = 404\nmessage = 'too few gateways'\nretry-after = 2",
        )
        .titled("the client waits for Retry-After of a shortage with HTTP 404"),
        case(
            "eleven-seconds",
            calls.extract(),
            "[[extract]]\nstatus = 503\ncode = 50301\nmessage = 'too few gateways'\nretry-after = 11",
        )
        .titled("a wait of many seconds for gateways is kept, or the call gives up"),
        case(
            "text",
            calls.text("4", None),
            "[[extract]]\nstatus = 503\ncode = 50301\nmessage = 'too few gateways'\nretry-after = 2",
        )
        .titled("the client waits for Retry-After of a shortage of a text extraction, and does not return it as an entry"),
    ]
}

fn failures(calls: &Calls<'_>) -> Vec<ClientCase> {
    let case = |name: &str, call, steps| {
        ClientCase::new(Duty::LimitedRetries, name, call)
            .expects(Expectation::Error)
            .plays(steps)
            .judged(Evidence::endless_retries)
    };
    vec![
        case("groups-500", calls.groups(), "[[groups]]\nforever = true\nstatus = 500")
            .titled("a listing that always fails with HTTP 500 ends as an error after a few retries"),
        case("search-503", calls.search(50), "[[search]]\nforever = true\nstatus = 503")
            .titled("a search that always fails with HTTP 503 ends as an error after a few retries"),
        case("extract-500", calls.extract(), "[[extract]]\nforever = true\nstatus = 500")
            .titled("an extraction that always fails with HTTP 500 ends as an error after a few retries"),
        case("groups-reset", calls.groups(), "[[groups]]\nforever = true\nreset = true")
            .titled("a listing whose connection is always reset ends as an error after a few retries"),
        case("groups-rejected", calls.groups(), "[[groups]]\nforever = true\nstatus = 400")
            .titled("a listing that is always rejected with HTTP 400 ends as an error"),
    ]
}

fn interruptions(calls: &Calls<'_>) -> Vec<ClientCase> {
    let case = |duty: Duty, name: &str, call, steps| {
        ClientCase::new(duty, name, call)
            .expects(Expectation::Either)
            .plays(steps)
            .judged(Evidence::request_id_problems)
    };
    let same = |name: &str, call, steps| case(Duty::SameRequestId, name, call, steps);
    vec![
        same("reset", calls.extract(), "[[extract]]\ntimes = 2\nreset = true")
            .titled("an extraction whose connection is reset is repeated with the same request id"),
        same("cut-body", calls.extract(), "[[extract]]\ncut-after = 40")
            .titled("an extraction whose response is cut is repeated with the same request id, and not taken for complete"),
        same("server-error", calls.extract(), "[[extract]]\ntimes = 2\nstatus = 500")
            .titled("an extraction that fails with HTTP 500 is repeated with the same request id")
            .judged(|evidence| {
                let problems = evidence.request_id_problems();
                let inferred = "4.1 rule 5: a server error says as little of the outcome as an interruption";
                problems.into_iter().map(|problem| problem.inferred(inferred)).collect()
            }),
        same("no-response", calls.extract(), "[[extract]]\nforever = true\nstall-ms = 60000")
            .titled("an extraction without a response is repeated with the same request id, when its caller stops waiting for one"),
        same("stalled-body", calls.extract(), "[[extract]]\nforever = true\nslow-body = { bytes = 40, pause-ms = 60000 }")
            .titled("an extraction whose response stalls is repeated with the same request id"),
        same("cut-text", calls.text("4", None), "[[extract]]\ncut-after = 20")
            .titled("a text that is cut is not taken for a complete list"),
        ClientCase {
            executions: 2,
            ..ClientCase::new(Duty::SameRequestId, "new-extraction", calls.extract())
                .titled("a new extraction has another request id, and may return other gateways")
                .judged(|evidence| {
                    let ids: Vec<_> =
                        (0..2).filter_map(|number| evidence.request_ids(number).pop().flatten()).collect();
                    let is_repeated = ids.len() == 2 && ids[0] == ids[1];
                    let problem = || {
                        Problem::new(
                            Duty::SameRequestId,
                            "another request id for a new extraction",
                            "the same one",
                        )
                    };
                    is_repeated.then(problem).into_iter().collect()
                })
        },
        case(Duty::NoBlindRepeat, "closed", calls.extract(), "[[extract]]\ntimes = 2\nstall-ms = 300")
            .titled("an extraction whose response never comes is not repeated without a request id"),
    ]
}

fn stalls(calls: &Calls<'_>) -> Vec<ClientCase> {
    let case = |name: &str, call, steps| {
        ClientCase::new(Duty::TimeLimit, name, call)
            .expects(Expectation::Error)
            .plays(steps)
            .within(Duration::from_secs(2))
    };
    vec![
        case("silence", calls.groups(), "[[groups]]\nforever = true\nstall-ms = 60000")
            .titled("a service that never responds ends the call when its time is over"),
        case(
            "dripping-body",
            calls.search(50),
            "[[search]]\nforever = true\nslow-body = { bytes = 1, pause-ms = 300 }",
        )
        .titled("a body that drips without end ends the call when its time is over"),
        case("always-throttled", calls.groups(), "[[groups]]\nforever = true\nstatus = 429\nretry-after = 1")
            .titled("a service that always asks to wait a second ends the call when its time is over"),
        case("silent-extraction", calls.extract(), "[[extract]]\nforever = true\nstall-ms = 60000")
            .titled("an extraction without a response ends when its time is over"),
    ]
}

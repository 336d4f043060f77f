//! Waits, retries, request ids and time.

use std::time::Duration;

use super::Calls;
use crate::client::case::{ClientCase, Expectation};
use crate::client::duty::Duty;
use crate::client::evidence::Problem;

/// Maximum number of requests of one call; more retries count as unlimited. The contract names no number.
const MAX_REQUESTS: usize = 30;

pub(super) fn cases(calls: &Calls<'_>) -> Vec<ClientCase> {
    [throttled(calls), shortages(calls), failures(calls), interruptions(calls), stalls(calls)].concat()
}

fn throttled(calls: &Calls<'_>) -> Vec<ClientCase> {
    let case = |name: &str, title: &str, call, steps| {
        ClientCase::new(Duty::WaitThrottled, name, title, call)
            .expects(Expectation::Either)
            .plays(steps)
            .judged(|evidence| evidence.early_requests(Duty::WaitThrottled))
    };
    vec![
        case(
            "groups-seconds",
            "a listing that gets HTTP 429 with Retry-After in seconds is repeated after it",
            calls.groups(),
            "[[groups]]\nstatus = 429\nretry-after = 2",
        ),
        case(
            "groups-date",
            "a listing that gets HTTP 429 with Retry-After as a date is repeated after it",
            calls.groups(),
            "[[groups]]\nstatus = 429\nretry-after-date = 2",
        ),
        case(
            "search-seconds",
            "a search that gets HTTP 429 twice waits each time",
            calls.search(50),
            "[[search]]\ntimes = 2\nstatus = 429\nretry-after = 2",
        ),
        case(
            "search-date",
            "a search that gets HTTP 429 with Retry-After as a date is repeated after it",
            calls.search(50),
            "[[search]]\nstatus = 429\nretry-after-date = 2",
        ),
        case(
            "groups-six-seconds",
            "a wait of several seconds is kept, or the call gives up",
            calls.groups(),
            "[[groups]]\nstatus = 429\nretry-after = 6",
        ),
        case(
            "extract-seconds",
            "an extraction that gets HTTP 429 is repeated after Retry-After",
            calls.extract(),
            "[[extract]]\nstatus = 429\nretry-after = 2",
        ),
        case(
            "longer-than-the-call",
            "a wait that is longer than the time of the call ends it",
            calls.groups(),
            "[[groups]]\nforever = true\nstatus = 429\nretry-after = 3600",
        )
        .expects(Expectation::Error)
        .within(Duration::from_secs(3)),
    ]
}

fn shortages(calls: &Calls<'_>) -> Vec<ClientCase> {
    let case = |name: &str, title: &str, call, steps| {
        ClientCase::new(Duty::WaitShortage, name, title, call)
            .expects(Expectation::Either)
            .plays(steps)
            .judged(|evidence| evidence.early_requests(Duty::WaitShortage))
    };
    vec![
        case(
            "status-503",
            "a shortage with HTTP 503 is waited out",
            calls.extract(),
            "[[extract]]\nstatus = 503\ncode = 50301\nmessage = 'too few gateways'\nretry-after = 2",
        ),
        case(
            "status-200",
            "a shortage within HTTP 200 is waited out, and is not an empty result",
            calls.extract(),
            "[[extract]]\ncode = 1001\nmessage = 'too few gateways'\nretry-after = 2",
        ),
        case(
            "status-409-date",
            "a shortage with HTTP 409 and a date is waited out",
            calls.extract(),
            "[[extract]]\nstatus = 409\nmessage = 'too few gateways'\nretry-after-date = 2",
        ),
        case(
            "status-404",
            "a shortage with HTTP 404 is waited out",
            calls.extract(),
            "[[extract]]\nstatus = 404\nmessage = 'too few gateways'\nretry-after = 2",
        ),
        case(
            "text",
            "a shortage of a text extraction is waited out, and does not become an entry",
            calls.text("4", None),
            "[[extract]]\nstatus = 503\ncode = 50301\nmessage = 'too few gateways'\nretry-after = 2",
        ),
    ]
}

fn failures(calls: &Calls<'_>) -> Vec<ClientCase> {
    let case = |name: &str, title: &str, call, steps| {
        ClientCase::new(Duty::LimitedRetries, name, title, call)
            .expects(Expectation::Error)
            .plays(steps)
            .judged(|evidence| {
                let problems = evidence.too_many_requests(Duty::LimitedRetries, MAX_REQUESTS);
                let inferred = "7.3: a limited number of times, for which the suite allows a generous one";
                problems.into_iter().map(|problem| problem.inferred(inferred)).collect()
            })
    };
    vec![
        case(
            "groups-500",
            "a listing that always fails with HTTP 500 ends as an error after a few retries",
            calls.groups(),
            "[[groups]]\nforever = true\nstatus = 500",
        ),
        case(
            "search-503",
            "a search that always fails with HTTP 503 ends as an error after a few retries",
            calls.search(50),
            "[[search]]\nforever = true\nstatus = 503",
        ),
        case(
            "extract-500",
            "an extraction that always fails with HTTP 500 ends as an error after a few retries",
            calls.extract(),
            "[[extract]]\nforever = true\nstatus = 500",
        ),
        case(
            "groups-reset",
            "a listing whose connection is always reset ends as an error after a few retries",
            calls.groups(),
            "[[groups]]\nforever = true\nreset = true",
        ),
        case(
            "groups-rejected",
            "a listing that is always rejected with HTTP 400 ends as an error",
            calls.groups(),
            "[[groups]]\nforever = true\nstatus = 400",
        ),
    ]
}

fn interruptions(calls: &Calls<'_>) -> Vec<ClientCase> {
    let case = |duty: Duty, name: &str, title: &str, call, steps| {
        ClientCase::new(duty, name, title, call)
            .expects(Expectation::Either)
            .plays(steps)
            .judged(super::super::evidence::Evidence::request_id_problems)
    };
    let same = |name: &str, title: &str, call, steps| case(Duty::SameRequestId, name, title, call, steps);
    vec![
        same(
            "reset",
            "an extraction whose connection is reset is repeated with the same request id",
            calls.extract(),
            "[[extract]]\ntimes = 2\nreset = true",
        ),
        same(
            "cut-body",
            "an extraction whose response is cut is repeated with the same request id, and not taken for complete",
            calls.extract(),
            "[[extract]]\ncut-after = 40",
        ),
        same(
            "server-error",
            "an extraction that fails with HTTP 500 is repeated with the same request id",
            calls.extract(),
            "[[extract]]\ntimes = 2\nstatus = 500",
        )
        .judged(|evidence| {
            let problems = evidence.request_id_problems();
            let inferred = "4.1 rule 5: a server error says as little of the outcome as an interruption";
            problems.into_iter().map(|problem| problem.inferred(inferred)).collect()
        }),
        same(
            "cut-text",
            "a text that is cut is not taken for a complete list",
            calls.text("4", None),
            "[[extract]]\ncut-after = 20",
        ),
        ClientCase {
            executions: 2,
            ..ClientCase::new(
                Duty::SameRequestId,
                "new-extraction",
                "a new extraction has another request id, and may return other gateways",
                calls.extract(),
            )
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
        case(
            Duty::NoBlindRepeat,
            "closed",
            "an extraction whose response never comes is not repeated without a request id",
            calls.extract(),
            "[[extract]]\ntimes = 2\nstall-ms = 300",
        ),
    ]
}

fn stalls(calls: &Calls<'_>) -> Vec<ClientCase> {
    let case = |name: &str, title: &str, call, steps| {
        ClientCase::new(Duty::TimeLimit, name, title, call)
            .expects(Expectation::Error)
            .plays(steps)
            .within(Duration::from_secs(2))
    };
    vec![
        case(
            "silence",
            "a service that never responds ends the call when its time is over",
            calls.groups(),
            "[[groups]]\nforever = true\nstall-ms = 60000",
        ),
        case(
            "dripping-body",
            "a body that drips without end ends the call when its time is over",
            calls.search(50),
            "[[search]]\nforever = true\nslow-body = { bytes = 1, pause-ms = 300 }",
        ),
        case(
            "always-throttled",
            "a service that always asks to wait a second ends the call when its time is over",
            calls.groups(),
            "[[groups]]\nforever = true\nstatus = 429\nretry-after = 1",
        ),
        case(
            "silent-extraction",
            "an extraction without a response ends when its time is over",
            calls.extract(),
            "[[extract]]\nforever = true\nstall-ms = 60000",
        ),
    ]
}

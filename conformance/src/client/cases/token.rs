//! Where the token goes. That no output shows it is judged in every case.

use std::time::Duration;

use super::Calls;
use crate::client::case::{ClientCase, Expectation, Place};
use crate::client::duty::Duty;
use crate::client::evidence::Problem;

pub(super) fn cases(calls: &Calls<'_>) -> Vec<ClientCase> {
    let case = |name: &str, title: &str, call, steps| {
        ClientCase::new(Duty::TokenPrivate, name, title, call).expects(Expectation::Error).plays(steps)
    };
    vec![
        case(
            "redirect-groups",
            "a listing that is redirected to another host takes no token there",
            calls.groups(),
            "[[groups]]\nforever = true\nredirect-to = '{elsewhere}'",
        ),
        case(
            "redirect-search",
            "a search that is redirected to another host takes no token there",
            calls.search(50),
            "[[search]]\nforever = true\nredirect-to = '{elsewhere}'",
        ),
        case(
            "redirect-extract",
            "an extraction that is redirected to another host takes no token there",
            calls.extract(),
            "[[extract]]\nforever = true\nstatus = 302\nredirect-to = '{elsewhere}'",
        ),
        case(
            "redirect-groups-with-query",
            "a listing that is redirected to another host with its query takes no token there",
            calls.groups(),
            "[[groups]]\nforever = true\nredirect-to = '{elsewhere}'\nredirect-query = true",
        ),
        case(
            "redirect-search-with-query",
            "a search that is redirected to another host with its query takes no token there",
            calls.search(50),
            "[[search]]\nforever = true\nredirect-to = '{elsewhere}'\nredirect-query = true",
        ),
        case(
            "echoed",
            "an error whose message repeats the token is shown without it",
            calls.extract(),
            "[[extract]]\nforever = true\nstatus = 400\nmessage = 'unknown key {token}'",
        ),
        case(
            "interrupted",
            "the error of an interruption shows no token",
            calls.groups(),
            "[[groups]]\nforever = true\nreset = true",
        ),
        case(
            "no-json",
            "the error of an unexpected page shows no token",
            calls.groups(),
            "[[groups]]\nforever = true\ncontent-type = 'text/html'\nbody = '<h1>maintenance</h1>'",
        ),
        case(
            "timeout",
            "the error of a timeout shows no token",
            calls.groups(),
            "[[groups]]\nforever = true\nstall-ms = 60000",
        )
        .within(Duration::from_secs(2)),
        ClientCase {
            place: Place::Nobody,
            ..ClientCase::new(
                Duty::TokenPrivate,
                "unreachable",
                "the error of a service that is not there shows no token",
                calls.groups(),
            )
            .expects(Expectation::Error)
        },
        ClientCase {
            place: Place::PlainHttp,
            ..ClientCase::new(
                Duty::HttpsOnly,
                "plain-http",
                "nothing is sent over plain http to an address outside of the loopback interface",
                calls.groups(),
            )
            .expects(Expectation::Either)
            .judged(|evidence| {
                let problem = |_| {
                    let actual = format!("{} over plain http", evidence.summary(0));
                    Problem::new(
                        Duty::HttpsOnly,
                        "no request: http://0.0.0.0 is not the loopback interface",
                        actual,
                    )
                };
                evidence.requests.first().map(problem).into_iter().collect()
            })
        },
    ]
}

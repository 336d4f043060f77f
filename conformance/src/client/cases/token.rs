//! Where the token goes. That no output shows it is judged in every case.

use std::time::Duration;

use super::Calls;
use crate::client::case::{ClientCase, Expectation, Place};
use crate::client::duty::Duty;
use crate::client::evidence::Problem;

pub(super) fn cases(calls: &Calls<'_>) -> Vec<ClientCase> {
    let case = |name: &str, call, steps| {
        ClientCase::new(Duty::TokenPrivate, name, call).expects(Expectation::Error).plays(steps)
    };
    vec![
        case("redirect-groups", calls.groups(), "[[groups]]\nforever = true\nredirect-to = '{elsewhere}'")
            .titled("a listing that is redirected to another host takes no token there"),
        case("redirect-search", calls.search(50), "[[search]]\nforever = true\nredirect-to = '{elsewhere}'")
            .titled("a search that is redirected to another host takes no token there"),
        case(
            "redirect-extract",
            calls.extract(),
            "[[extract]]\nforever = true\nstatus = 302\nredirect-to = '{elsewhere}'",
        )
        .titled("an extraction that is redirected to another host takes no token there"),
        case(
            "redirect-groups-with-query",
            calls.groups(),
            "[[groups]]\nforever = true\nredirect-to = '{elsewhere}'\nredirect-query = true",
        )
        .titled("a listing that is redirected to another host with its query takes no token there"),
        case(
            "redirect-search-with-query",
            calls.search(50),
            "[[search]]\nforever = true\nredirect-to = '{elsewhere}'\nredirect-query = true",
        )
        .titled("a search that is redirected to another host with its query takes no token there"),
        case(
            "echoed",
            calls.extract(),
            "[[extract]]\nforever = true\nstatus = 400\nmessage = 'unknown key {token}'",
        )
        .titled("an error whose message repeats the token is shown without it"),
        case("interrupted", calls.groups(), "[[groups]]\nforever = true\nreset = true")
            .titled("the error of an interruption shows no token"),
        case(
            "no-json",
            calls.groups(),
            "[[groups]]\nforever = true\ncontent-type = 'text/html'\nbody = '<h1>maintenance</h1>'",
        )
        .titled("the error of an unexpected page shows no token"),
        case("timeout", calls.groups(), "[[groups]]\nforever = true\nstall-ms = 60000")
            .titled("the error of a timeout shows no token")
            .within(Duration::from_secs(2)),
        ClientCase {
            place: Place::Nobody,
            ..ClientCase::new(Duty::TokenPrivate, "unreachable", calls.groups())
                .titled("the error of a service that is not there shows no token")
                .expects(Expectation::Error)
        },
        ClientCase {
            place: Place::PlainHttp,
            ..ClientCase::new(Duty::HttpsOnly, "plain-http", calls.groups())
                .titled("nothing is sent over plain http to an address outside of the loopback interface")
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

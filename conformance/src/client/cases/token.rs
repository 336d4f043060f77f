//! Where the token goes. That no output shows it is judged in every case.

use std::borrow::Cow;
use std::time::Duration;

use super::Calls;
use crate::client::case::{ClientCase, Expectation, Place};
use crate::client::duty::Duty;
use crate::client::evidence::{Evidence, Problem};
use crate::client::protocol::Call;

pub(super) fn cases(calls: &Calls<'_>) -> Vec<ClientCase> {
    fn case(name: &str, call: Call, steps: impl Into<Cow<'static, str>>) -> ClientCase {
        ClientCase::new(Duty::TokenPrivate, name, call).expects(Expectation::Error).plays(steps)
    }
    const ELSEWHERE: &str = "to another host";
    const PORT: &str = "to another port of the host";
    const WITH_QUERY: &str = "redirect-query = true";
    let redirects = [
        ("groups", "a listing", calls.groups(), "{elsewhere}", "", ELSEWHERE),
        ("search", "a search", calls.search(50), "{elsewhere}", "", ELSEWHERE),
        ("extract", "an extraction", calls.extract(), "{elsewhere}", "status = 302", ELSEWHERE),
        ("text", "a text extraction", calls.text("4", None), "{elsewhere}", "status = 301", ELSEWHERE),
        (
            "groups-with-query",
            "a listing with its query",
            calls.groups(),
            "{elsewhere}",
            WITH_QUERY,
            ELSEWHERE,
        ),
        (
            "search-with-query",
            "a search with its query",
            calls.search(50),
            "{elsewhere}",
            WITH_QUERY,
            ELSEWHERE,
        ),
        ("extract-to-port", "an extraction", calls.extract(), "{other-port}", "status = 303", PORT),
        ("groups-to-port", "a listing with its query", calls.groups(), "{other-port}", WITH_QUERY, PORT),
        (
            "groups-to-pretender",
            "a listing with its query",
            calls.groups(),
            "{pretender}",
            WITH_QUERY,
            "to a URL that only begins as the service's does",
        ),
    ];
    let redirect = |(name, what, call, url, more, target): (&str, &str, _, &str, &str, &str)| {
        case(
            &format!("redirect-{name}"),
            call,
            format!("[[any]]\nforever = true\nredirect-to = '{url}'\n{more}"),
        )
        .titled(format!("{what} that is redirected {target} takes no token there"))
    };
    let mut cases: Vec<_> = redirects.map(redirect).into();
    cases.extend([
        case(
            "second-redirect",
            calls.groups(),
            "[[groups]]\nredirect-to = '{service}'\nredirect-query = true\n\
             [[groups]]\nforever = true\nredirect-to = '{elsewhere}'\nredirect-query = true",
        )
        .titled("a listing that is redirected within the service, and then to another host, takes no token there"),
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
            "[[groups]]\nforever = true\ncontent-type = 'text/html'\nbody = '<h1>maintenance</h1> for {token}'",
        )
        .titled("the error of an unexpected page shows no token, also where the page repeats it")
        .judged(Evidence::endless_retries),
        case("timeout", calls.groups(), "[[groups]]\nforever = true\nstall-ms = 60000")
            .titled("the error of a timeout shows no token")
            .within(Duration::from_secs(2)),
        ClientCase {
            place: Place::Nobody,
            ..ClientCase::new(Duty::TokenPrivate, "unreachable", calls.groups())
                .titled("the error of a service that is not there shows no token")
                .expects(Expectation::Error)
        },
    ]);
    let plain_http = [
        ("plain-http", "http://", "an address outside of the loopback interface"),
        (
            "plain-http-after-user",
            "http://127.0.0.1:80@",
            "a host after a user that looks like a loopback address",
        ),
        (
            "plain-http-after-localhost",
            "http://localhost@",
            "a host after a user that looks like `localhost`",
        ),
        ("plain-http-in-capitals", "HTTP://", "an address whose scheme is in capitals"),
        ("no-scheme", "", "an address without a scheme"),
    ];
    cases.extend(plain_http.map(|(name, prefix, what)| {
        ClientCase {
            place: Place::PlainHttp(prefix),
            ..ClientCase::new(Duty::HttpsOnly, name, calls.groups())
                .titled(format!("nothing is sent over plain http to {what}"))
                .expects(Expectation::Either)
                .judged(|evidence| {
                    let problem = |_| {
                        let actual = format!("{} over plain http", evidence.summary(0));
                        Problem::new(
                            Duty::HttpsOnly,
                            "no request: 0.0.0.0 is not the loopback interface",
                            actual,
                        )
                    };
                    evidence.requests.first().map(problem).into_iter().collect()
                })
        }
    }));
    cases
}

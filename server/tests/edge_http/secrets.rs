//! No token in a response or in the log, whatever goes wrong.

use sallyport_server::{
    api::generated::{ExtractProxies, ListStaticGroups},
    data::seed::SampleToken,
    edge::operation::Operation,
};

use super::{
    server::{SERVER, extract, get, groups, search, with_headers},
    wire::send,
};

#[test]
fn tokens_are_nowhere() {
    let tokens = SERVER.sample.tokens.list();
    let main = SERVER.sample.tokens.main.expose();
    let mut responses = vec![extract("num=1"), extract("num=0"), extract("nun=1"), groups(), search("{")];
    for token in tokens.map(|it| it.token.expose()) {
        for query in [format!("{token}&api_key={token}"), format!("{token}%ff"), format!("{token}%")] {
            responses.push(get::<ListStaticGroups>(&format!("api_key={query}")));
        }
        let (query, bearer) = (format!("num=1&api_key={token}"), format!("Bearer {token} x"));
        responses.push(with_headers::<ExtractProxies>(&query, &[("X-API-Key", "other")]));
        responses.push(with_headers::<ExtractProxies>("num=1", &[("Authorization", &bearer)]));
    }
    let path = ExtractProxies::PATH;
    for request in [
        format!("GET /nowhere?api_key={main}"),
        format!("BREW {path}?api_key={main}"),
        format!("GET {path}%3Fapi_key={main}"),
        format!("GET /{main}"),
        format!("{main} {path}"),
        format!("PUT {path}?api_key={main}"),
    ] {
        responses.push(send(SERVER.address, &format!("{request} HTTP/1.1"), b""));
    }

    let log = SERVER.log.text();
    assert!(log.contains(ExtractProxies::PATH), "the log says nothing");
    for SampleToken { description: what, token, .. } in tokens {
        assert!(!log.contains(token.expose()), "the token of `{what}` is in the log");
        for response in &responses {
            assert!(!response.whole().contains(token.expose()), "the token of `{what}` is in {response:?}");
        }
    }
    for canary in &SERVER.sample.canaries {
        assert!(!log.contains(canary) && responses.iter().all(|response| !response.whole().contains(canary)));
    }
}

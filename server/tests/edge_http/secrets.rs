//! No token in a response or in the log, whatever goes wrong.

use sallyport_server::{
    api::generated::{ExtractProxies, ListStaticGroups},
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
    let mut answers = vec![extract("num=1"), extract("num=0"), extract("nun=1"), groups(), search("{")];
    for (_, token) in tokens {
        let token = token.expose();
        answers.push(get::<ListStaticGroups>(&format!("api_key={token}&api_key={token}")));
        answers.push(get::<ListStaticGroups>(&format!("api_key={token}%ff")));
        answers.push(get::<ListStaticGroups>(&format!("api_key={token}%")));
        answers.push(with_headers::<ExtractProxies>(
            &format!("num=1&api_key={token}"),
            &[("X-API-Key", "other")],
        ));
        answers.push(with_headers::<ExtractProxies>(
            "num=1",
            &[("Authorization", &format!("Bearer {token} x"))],
        ));
    }
    answers.push(send(SERVER.address, &format!("GET /nowhere?api_key={main} HTTP/1.1"), b""));
    answers.push(send(
        SERVER.address,
        &format!("BREW {}?api_key={main} HTTP/1.1", ExtractProxies::PATH),
        b"",
    ));
    answers.push(send(
        SERVER.address,
        &format!("GET {}%3Fapi_key={main} HTTP/1.1", ExtractProxies::PATH),
        b"",
    ));
    answers.push(send(SERVER.address, &format!("GET /{main} HTTP/1.1"), b""));
    answers.push(send(SERVER.address, &format!("{main} {} HTTP/1.1", ExtractProxies::PATH), b""));
    answers.push(send(SERVER.address, &format!("PUT {}?api_key={main} HTTP/1.1", ExtractProxies::PATH), b""));

    let log = SERVER.log.text();
    assert!(log.contains(ExtractProxies::PATH), "the log says nothing");
    for (what, token) in tokens {
        assert!(!log.contains(token.expose()), "the token of `{what}` is in the log");
        for answer in &answers {
            assert!(!answer.whole().contains(token.expose()), "the token of `{what}` is in {answer:?}");
        }
    }
    for canary in &SERVER.sample.canaries {
        assert!(!log.contains(canary) && answers.iter().all(|answer| !answer.whole().contains(canary)));
    }
}

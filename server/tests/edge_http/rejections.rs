//! Queries, bodies, headers, credentials and methods that are wrong, and their neighbours that are not.

use std::{
    io::Write as _,
    net::{IpAddr, TcpStream},
    thread,
};

use sallyport_server::{
    api::generated::{ExtractProxies, ListStaticGroups, SearchStaticInstances},
    edge::{operation::Operation, reading::body::MAX_BYTES, responding::error_code::ErrorCode},
    openapi,
};
use serde_json::{Value, json};

use super::{
    server::{SERVER, assert_rejected, extract, get, search, search_as, search_target, with_headers},
    wire::{Response, exchange, read, send},
};

/// A limit of the document, which stops the tests where it is not.
fn limit(pointer: &str) -> usize {
    usize::try_from(openapi().pointer(pointer).and_then(Value::as_u64).unwrap()).unwrap()
}

const NUM: &str = "/paths/~1openapi~1v1~1proxy~1extract/get/parameters/0/schema";
const FIELDS: &str = "/components/schemas/SearchRequest/properties";
const PORT: &str = "/components/schemas/AddressItem/x-port";

/// Queries after the token: the name of the error, or `ok`, and what the message says. Columns are parted by two spaces, and names in
/// capital letters stand for limits of the document.
const QUERIES: &str = include_str!("queries.txt");

/// Bodies of a search, in which `+` stands for the begin of one with an address.
const BODIES: &str = include_str!("bodies.txt");

/// Sends the request of each row, and compares what comes back.
fn assert_rows<O: Operation>(rows: &str, send: impl Fn(&str) -> Response) {
    let longest = limit("/paths/~1openapi~1v1~1proxy~1extract/get/parameters/6/schema/x-max-utf8-bytes") / 2;
    let mut names = vec![
        ("LONGEST".to_owned(), "%C3%A9".repeat(longest)),
        ("REGION".to_owned(), SERVER.sample.plentiful_region.clone()),
    ];
    for (name, at) in [
        ("NUM", NUM),
        ("PORT", PORT),
        ("PAGE", &format!("{FIELDS}/page")),
        ("SIZE", &format!("{FIELDS}/pageSize")),
    ] {
        let (minimum, maximum) = (limit(&format!("{at}/minimum")), limit(&format!("{at}/maximum")));
        for (end, number) in
            [("MIN", minimum), ("MAX", maximum), ("UNDER", minimum - 1), ("OVER", maximum + 1)]
        {
            names.push((format!("{name}_{end}"), number.to_string()));
        }
    }
    let rows = names.iter().fold(rows.to_owned(), |rows, (name, value)| rows.replace(name, value));
    for row in rows.lines().filter(|row| !row.is_empty()) {
        let mut columns = row.split("  ").filter(|column| !column.is_empty());
        let (request, expected) = (columns.next().unwrap(), columns.next().unwrap().trim());
        let response = send(request);
        let Some(code) = ErrorCode::ALL.iter().find(|code| format!("{code:?}") == expected) else {
            assert_eq!((response.status, expected), (200, "ok"), "{request}: {response:?}");
            continue;
        };
        let message = assert_rejected::<O>(&response, *code);
        assert!(columns.all(|words| message.contains(words.trim())), "{row}: {message}");
    }
}

#[test]
fn queries_are_rejected_with_their_code_and_clause() {
    assert_rows::<ExtractProxies>(QUERIES, extract);
}

#[test]
fn bodies_are_rejected_with_their_code_and_clause() {
    assert_rows::<SearchStaticInstances>(BODIES, |body| {
        search(&body.replacen('+', r#"{"ips":["192.0.2.1"]"#, 1))
    });
}

/// Sends a search with these headers and this part of its body, and leaves the connection open.
fn send_part(headers: &str, body: &str) -> TcpStream {
    let target = search_target();
    let head = format!(
        "POST {target} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n{headers}\r\n\r\n{body}"
    );
    exchange(SERVER.address, &[head.as_bytes()])
}

#[track_caller]
fn rejected(response: &Response, code: ErrorCode) -> String {
    assert_rejected::<SearchStaticInstances>(response, code)
}

#[test]
fn batches_within_and_outside_their_limits() {
    let max = limit(&format!("{FIELDS}/ips/maxItems"));
    let distinct = limit(&format!("{FIELDS}/ips/x-max-distinct"));
    let item = |index: usize| format!("198.18.{}.{}", index / 256, index % 256);
    let mapped = |index: usize| format!("::ffff:{}", item(index));
    let batch = |count: usize, item: &dyn Fn(usize) -> String| {
        search(&json!({ "ips": (0..count).map(item).collect::<Vec<_>>() }).to_string())
    };
    assert_eq!(batch(max, &|index| item(index % distinct)).status, 200);
    let message = rejected(&batch(max + 1, &|_| item(0)), ErrorCode::Invalid);
    assert!(
        message.contains("search.ips-raw-limit") && message.contains(&(max + 1).to_string()),
        "{message}"
    );
    // `open.addresses.ipv4-mapped`: another spelling of the IPv4 address, which counts as that.
    let both = |index: usize| if index.is_multiple_of(2) { item(index / 2) } else { mapped(index / 2) };
    assert_eq!(batch(2 * distinct, &both).status, 200);
    for more in [batch(distinct + 1, &item), batch(2 * distinct + 1, &both)] {
        let message = rejected(&more, ErrorCode::Invalid);
        assert!(message.contains("search.ips-dedup-limit"), "{message}");
    }
    let longest = format!("\"[{}]:{}\",\n", ["ffff"; 8].join(":"), limit(&format!("{PORT}/maximum")));
    assert!(longest.len() * max + 4096 < MAX_BYTES, "the largest batch fits into a body");
}

/// `open.addresses.ipv4-mapped`: it matches as the IPv4 address as well.
#[test]
fn an_ipv4_mapped_item_is_the_ipv4_address() {
    let found = |ips: &[String]| {
        let response = search(&json!({ "ips": ips }).to_string());
        assert_eq!(response.status, 200, "{ips:?}: {response:?}");
        response.json()["data"].clone()
    };
    let own = SERVER.sample.addresses.iter().find(|address| address.ip.is_ipv4() && address.port.is_none());
    let IpAddr::V4(ip) = own.unwrap().ip else { unreachable!("an IPv4 address was looked for") };
    let plain = found(&[ip.to_string()]);
    assert!(plain["total"].as_u64().unwrap() > 0);
    let [high, low] = [ip.to_bits() >> 16, ip.to_bits() & 0xffff];
    let spellings = [
        format!("::ffff:{ip}"),
        format!("::FFFF:{high:04X}:{low:x}"),
        format!("0:0:0:0:0:ffff:{high:x}:{low:x}"),
    ];
    for spelling in &spellings {
        assert_eq!(found(std::slice::from_ref(spelling)), plain, "{spelling}");
    }
    assert_eq!(found(&[&spellings[..], &[ip.to_string()]].concat()), plain, "each instance comes once");
    assert_eq!(found(&[format!("::{ip}")])["total"], 0, "IPv4-compatible is IPv6");
    let port = plain["items"][0]["port"].to_string();
    assert_eq!(found(&[format!("[::ffff:{ip}]:{port}")]), found(&[format!("{ip}:{port}")]));
}

#[test]
fn bodies_that_are_not_text_or_of_another_type() {
    let response = search_as("Content-Type: application/json", b"{\"ips\":[\"\xff\"]}");
    rejected(&response, ErrorCode::MalformedBody);
    // Each takes at least a hundred times its length in memory.
    let chain = format!("{}0{},", "[".repeat(99), "]".repeat(99));
    for many in ["0,", "{},", "{\"\":0},", &chain] {
        let items = many.repeat(30_000 / many.matches(['0', '[', '{']).count());
        let response = search(&format!(r#"{{"ips":[{items}0]}}"#));
        rejected(&response, ErrorCode::BodyTooLarge);
        let message = response.json()["message"].to_string();
        assert!(message.contains("body: expected at most 20022 JSON values (search.json-body"), "{message}");
    }
    let good = br#"{"ips":["192.0.2.1"]}"#;
    for media in
        ["Content-Type: Application/JSON; charset=UTF-8", "content-type: application/json;charset=\"utf-8\""]
    {
        assert_eq!(search_as(media, good).status, 200, "{media}");
    }
    for media in [
        "X-Other: 1",
        "Content-Type: ",
        "Content-Type: text/plain",
        "Content-Type: application/jsonx",
        "Content-Type: application/x-www-form-urlencoded",
        "Content-Type: application/json; charset=latin1",
        "Content-Type: application/json\r\nContent-Encoding: gzip",
    ] {
        rejected(&search_as(media, good), ErrorCode::NotJson);
    }
    let twice = "Content-Type: application/json\r\nContent-Type: application/json";
    rejected(&search_as(twice, good), ErrorCode::Repeated);
}

#[test]
fn large_endless_and_half_sent_bodies_are_rejected_while_they_are_sent() {
    let padding = " ".repeat(MAX_BYTES);
    rejected(&search(&format!(r#"{{"ips":["192.0.2.1"]}}{padding}"#)), ErrorCode::BodyTooLarge);
    rejected(&read(send_part("Content-Length: 99999999999", "")), ErrorCode::BodyTooLarge);
    rejected(&read(send_part("Content-Length: 100", "{\"ips\"")), ErrorCode::BodyTimeout);
    let chunk = format!("10000\r\n{}\r\n", " ".repeat(0x10000));
    let stream = send_part("Transfer-Encoding: chunked", "");
    let mut writer = stream.try_clone().unwrap();
    // The server stops listening some time after its response, so writing may fail then.
    let writing = thread::spawn(move || (0..64).all(|_| writer.write_all(chunk.as_bytes()).is_ok()));
    rejected(&read(stream), ErrorCode::BodyTooLarge);
    writing.join().unwrap();
}

#[test]
fn a_body_where_none_belongs_is_passed_over() {
    let (path, token) = (ExtractProxies::PATH, SERVER.sample.tokens.main.expose());
    let head =
        format!("GET {path}?num=1&api_key={token} HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello");
    assert_eq!(read(exchange(SERVER.address, &[head.as_bytes()])).status, 200);
}

#[test]
fn tokens_in_every_transport() {
    let token = SERVER.sample.tokens.main.expose();
    let bearer = format!("Bearer {token}");
    for headers in [
        vec![("X-API-Key", token)],
        vec![("Authorization", &*bearer)],
        vec![("X-API-Key", token), ("Authorization", &bearer)],
    ] {
        assert_eq!(with_headers::<ExtractProxies>("num=1", &headers).status, 200, "{headers:?}");
    }
    let second = SERVER.sample.tokens.second.expose();
    let conflict =
        with_headers::<ExtractProxies>(&format!("num=1&api_key={token}"), &[("X-API-Key", second)]);
    let message = assert_rejected::<ExtractProxies>(&conflict, ErrorCode::Conflict);
    assert!(message.contains("extract.token-equal"), "{message}");
    let repeated = with_headers::<ExtractProxies>("num=1", &[("X-API-Key", token), ("X-API-Key", token)]);
    assert_rejected::<ExtractProxies>(&repeated, ErrorCode::Repeated);
}

#[test]
fn missing_empty_and_unknown_tokens() {
    for query in ["num=1", "num=1&api_key="] {
        assert_rejected::<ExtractProxies>(&get::<ExtractProxies>(query), ErrorCode::TokenMissing);
    }
    for query in ["", "api_key="] {
        assert_rejected::<ListStaticGroups>(&get::<ListStaticGroups>(query), ErrorCode::TokenMissing);
    }
    let tokens = &SERVER.sample.tokens;
    for token in ["unknown", tokens.revoked.expose(), tokens.expired.expose()] {
        let query = format!("api_key={token}");
        assert_rejected::<ListStaticGroups>(&get::<ListStaticGroups>(&query), ErrorCode::TokenInvalid);
        let query = format!("num=1&api_key={token}");
        assert_rejected::<ExtractProxies>(&get::<ExtractProxies>(&query), ErrorCode::TokenInvalid);
    }
    let link = format!("api_key={}", tokens.link.expose());
    assert_rejected::<ListStaticGroups>(&get::<ListStaticGroups>(&link), ErrorCode::ExtractionOnly);
    assert_eq!(get::<ExtractProxies>(&format!("num=1&{link}")).status, 200);
}

#[test]
fn accounts_that_may_not_extract() {
    let tokens = &SERVER.sample.tokens;
    for (token, code) in [
        (&tokens.not_whitelisted, ErrorCode::NotWhitelisted),
        (&tokens.not_verified, ErrorCode::NotVerified),
        (&tokens.not_entitled, ErrorCode::NotEntitled),
    ] {
        let response = get::<ExtractProxies>(&format!("num=1&api_key={}", token.expose()));
        assert_rejected::<ExtractProxies>(&response, code);
    }
}

#[test]
fn misplaced_tokens_are_not_repeated() {
    let token = SERVER.sample.tokens.main.expose();
    let body = |name: &str, value: &str| format!(r#"{{"ips":["192.0.2.1"],"{name}":{value}}}"#);
    for response in [
        extract(&format!("num={token}")),
        extract(&format!("num=1&protocol=x%20{token}")),
        extract(&format!("num=1&regions={token}&country=b")),
        search(&body("status", &format!(r#""{token}""#))),
        search(&body("page", &format!(r#""{token}""#))),
        search(&format!(r#"{{"ips":["{token}"]}}"#)),
        search_as(&format!("Content-Type: {token}"), b"{}"),
    ] {
        assert_eq!(response.status / 100, 4, "{response:?}");
        assert!(!response.body.contains(&token[token.len() - 20..]), "{response:?}");
        assert!(!response.body.contains(&token[..20]), "{response:?}");
    }
}

#[test]
fn headers_that_are_not_text() {
    let mut head = format!("GET {}?num=1 HTTP/1.1\r\nX-Request-Id: ", ExtractProxies::PATH).into_bytes();
    head.extend_from_slice(b"\xff\xfe\r\nHost: x\r\nConnection: close\r\n\r\n");
    let response = read(exchange(SERVER.address, &[&head]));
    assert_rejected::<ExtractProxies>(&response, ErrorCode::MalformedHeader);
}

#[test]
fn other_methods_are_told_which_there_are() {
    let of = |method: &str, target: &str| send(SERVER.address, &format!("{method} {target} HTTP/1.1"), b"");
    for method in ["POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE"] {
        let response = of(method, ExtractProxies::PATH);
        assert_rejected::<ExtractProxies>(&response, ErrorCode::MethodNotAllowed);
        assert_eq!(response.header("allow"), Some("GET"));
    }
    for method in ["GET", "PUT"] {
        let response = of(method, &search_target());
        assert_rejected::<SearchStaticInstances>(&response, ErrorCode::MethodNotAllowed);
        assert_eq!(response.header("allow"), Some("POST"));
    }
    assert_eq!(of("BREW", ExtractProxies::PATH).status, 405);
    assert_eq!(of("GET", "/openapi/v1/nothing").status, 404);
}

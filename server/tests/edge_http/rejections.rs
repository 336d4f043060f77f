//! Queries and bodies that are wrong, and their neighbours that are not. `tests/sessions/callers.txt` has headers, tokens and methods.

use std::{
    io::Write as _,
    net::{IpAddr, TcpStream},
    thread,
    time::Duration,
};

use sallyport_contract::table::Limit;
use sallyport_server::{
    api::generated::{ExtractProxies, SearchStaticInstances},
    edge::{operation::Operation, reading::body::MAX_BYTES, responding::error_code::ErrorCode},
    openapi,
};
use serde_json::{Value, json};

use super::{
    server::{SERVER, assert_rejected, extract, search, search_target, with_headers},
    wire::{Response, exchange, read},
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

/// The longest address in the largest batch; the suite sends shorter ones.
#[test]
fn the_largest_batch_fits_into_a_body() {
    let longest = format!("\"[{}]:{}\",\n", ["ffff"; 8].join(":"), limit(&format!("{PORT}/maximum")));
    assert!(longest.len() * limit(&format!("{FIELDS}/ips/maxItems")) + 4096 < MAX_BYTES);
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

/// Whoever still sends a body when the response is there already may send it, and reads the response.
#[test]
fn a_body_that_is_sent_after_its_rejection_costs_nobody_the_response() {
    for (line, status) in [
        (format!("POST {}?api_key=unknown", SearchStaticInstances::PATH), 401),
        (format!("PUT {}", search_target()), 405),
    ] {
        let body = [b' '; 64 << 10];
        let head = format!(
            "{line} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\n\r\n",
            body.len()
        );
        let mut stream = exchange(SERVER.address, &[head.as_bytes()]);
        for part in body.chunks(16 << 10) {
            thread::sleep(Duration::from_millis(100));
            stream.write_all(part).unwrap();
        }
        assert_eq!(read(stream).status, status, "{line}");
    }
}

/// By the query and by the header, which nobody looks at beside the query's.
#[test]
fn a_request_id_is_bounded_before_anything_is_stored() {
    let part = ExtractProxies::document().part("request_id").unwrap();
    let max = usize::try_from(part.schema.limit(Limit::MaxUtf8Bytes).unwrap()).unwrap();
    let query = format!("num=1&api_key={}", SERVER.sample.tokens.main.expose());
    let send = |by_query: &str, header: &str| {
        with_headers::<ExtractProxies>(&format!("{query}{by_query}"), &[("X-Request-Id", header)])
    };
    for longer in ["x".repeat(max + 1), "é".repeat(max / 2 + 1), "x".repeat(40 * max)] {
        let by_query = format!("&request_id={}", longer.replace('é', "%C3%A9"));
        for response in [send(&by_query, "short"), send("", &longer)] {
            let message = assert_rejected::<ExtractProxies>(&response, ErrorCode::Invalid);
            assert!(message.contains(&format!("at most {max} bytes")) && message.len() < 200, "{message}");
            assert!(message.contains("open.extract.request-id-length"), "{message}");
        }
        assert_eq!(send("&request_id=short", &longer).status, 200);
    }
}

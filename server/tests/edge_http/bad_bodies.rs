//! Bodies that are wrong.

use std::{
    io::Write,
    net::{IpAddr, TcpStream},
    thread,
};

use sallyport_contract::table::Constraint;
use sallyport_server::{
    api::generated::{ExtractProxies, SearchStaticInstances},
    edge::{operation::Operation as _, reading::body::MAX_BYTES, responding::error_code::ErrorCode},
};
use serde_json::json;

use super::{
    server::{SERVER, assert_rejected, limit, search, search_as, search_target},
    wire::{exchange, read},
};

#[track_caller]
fn rejected(body: &str, code: ErrorCode) -> String {
    assert_eq!(search(r#"{"ips":["192.0.2.1"]}"#).status, 200, "the control request");
    assert_rejected::<SearchStaticInstances>(&search(body), code)
}

/// Sends a search with these headers and this part of its body, and leaves the connection open.
fn send_part(headers: &str, body: &str) -> TcpStream {
    let target = search_target();
    let head = format!(
        "POST {target} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n{headers}\r\n\r\n{body}"
    );
    exchange(SERVER.address, &[head.as_bytes()])
}

/// The number of a keyword of a field of the body.
fn field(name: &str, keyword: &str) -> i64 {
    limit::<SearchStaticInstances>(&format!("body.{name}"), keyword)
}

/// The maximum number of items, and that of distinct ones.
fn most_items() -> [usize; 2] {
    ["maxItems", "x-max-distinct"].map(|keyword| usize::try_from(field("ips", keyword)).unwrap())
}

/// The ports that an item may have.
fn ports() -> [u32; 2] {
    let items = SearchStaticInstances::document().part("body.ips").unwrap().schema.items().unwrap();
    let ports = items.rows.iter().find_map(|row| match &row.constraint {
        Constraint::IpEndpoint { ports, .. } => Some([*ports.start(), *ports.end()].map(u32::from)),
        _ => None,
    });
    ports.unwrap()
}

/// A search for `count` addresses, of which `distinct` differ.
fn batch(count: usize, distinct: usize) -> String {
    let item = |index: usize| format!("198.18.{}.{}", index / 256, index % 256);
    json!({"ips": (0..count).map(|index| item(index % distinct)).collect::<Vec<_>>()}).to_string()
}

#[test]
fn batches_within_and_outside_their_limits() {
    let [most, distinct] = most_items();
    assert_eq!(search(&batch(most, distinct)).status, 200);
    let message = rejected(&batch(most + 1, 1), ErrorCode::Invalid);
    assert!(message.contains("search.ips-raw-limit"), "{message}");
    assert!(message.contains(&(most + 1).to_string()), "{message}");
    let message = rejected(&batch(distinct + 1, distinct + 1), ErrorCode::Invalid);
    assert!(message.contains("search.ips-dedup-limit"), "{message}");
    rejected(r#"{"ips":[]}"#, ErrorCode::Invalid);
    assert!(rejected("{}", ErrorCode::Missing).contains("search.ips-required"));
}

#[test]
fn the_largest_batch_fits_into_a_body() {
    let longest = format!("\"[{}]:{}\",\n", ["ffff"; 8].join(":"), ports()[1]);
    assert!(longest.len() * most_items()[0] + 4096 < MAX_BYTES);
}

/// `open.addresses.ipv4-mapped`: another spelling of the IPv4 address, which counts and matches as that.
#[test]
fn an_ipv4_mapped_item_is_the_ipv4_address() {
    let found = |ips: &[String]| {
        let response = search(&json!({"ips": ips}).to_string());
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

    let [_, distinct] = most_items();
    let mapped = |index: usize| format!("::ffff:198.18.{}.{}", index / 256, index % 256);
    let plain = |index: usize| mapped(index).replace("::ffff:", "");
    let both: Vec<_> = (0..distinct).flat_map(|index| [plain(index), mapped(index)]).collect();
    found(&both);
    let more = [&both[..], &[mapped(distinct)]].concat();
    let message = rejected(&json!({"ips": more}).to_string(), ErrorCode::Invalid);
    assert!(message.contains("search.ips-dedup-limit"), "{message}");
}

#[test]
fn items_that_are_not_addresses() {
    let port = |port: u32| format!("192.0.2.1:{port}");
    let [least, most] = ports();
    for good in [port(least), port(most), "2001:db8::1".into()] {
        assert_eq!(search(&json!({"ips": [good]}).to_string()).status, 200, "{good}");
    }
    for bad in [port(least - 1), port(most + 1)] {
        let message = rejected(&json!({"ips": ["192.0.2.9", bad]}).to_string(), ErrorCode::Invalid);
        assert!(message.contains("`ips[1]`") && message.contains("search.ips-port"), "{message}");
    }
    for bad in [
        "192.0.2.0/24",
        "fe80::1%eth0",
        "[fe80::1%25eth0]:80",
        "192.0.2",
        "192.0.2.01",
        " 192.0.2.1",
        "example.org",
        "",
    ] {
        let message = rejected(&json!({"ips": [bad]}).to_string(), ErrorCode::Invalid);
        assert!(message.contains("search.ips-item"), "{message}");
    }
    for bad in [json!(1), json!(null), json!(["192.0.2.1"]), json!({})] {
        rejected(&json!({"ips": [bad]}).to_string(), ErrorCode::Invalid);
    }
}

#[test]
fn fields_of_the_wrong_type_or_size() {
    for bad in [
        r#""ips":"192.0.2.1""#.to_owned(),
        format!(r#""page":{}"#, field("page", "minimum") - 1),
        format!(r#""page":{}"#, field("page", "maximum") + 1),
        format!(r#""pageSize":{}"#, field("pageSize", "minimum") - 1),
        format!(r#""pageSize":{}"#, field("pageSize", "maximum") + 1),
        r#""page":18446744073709551616"#.to_owned(),
        r#""page":2.0"#.to_owned(),
        r#""page":"2""#.to_owned(),
        r#""page":null"#.to_owned(),
        r#""groupId":-1"#.to_owned(),
        r#""groupId":9223372036854775808"#.to_owned(),
        r#""groupId":false"#.to_owned(),
        r#""status":"ACTIVE""#.to_owned(),
        r#""status":null"#.to_owned(),
        r#""orderNo":17"#.to_owned(),
        r#""activatedFrom":"2026-01-01T00:00:00""#.to_owned(),
        r#""activatedFrom":"2026-01-01""#.to_owned(),
        r#""activatedTo":1767225600"#.to_owned(),
        r#""activatedFrom":"2026-01-02T00:00:00Z","activatedTo":"2026-01-02T00:30:00+01:00""#.to_owned(),
    ] {
        let body = if bad.starts_with(r#""ips""#) {
            format!("{{{bad}}}")
        } else {
            format!(r#"{{"ips":["192.0.2.1"],{bad}}}"#)
        };
        rejected(&body, ErrorCode::Invalid);
    }
    for good in [
        r#""groupId":null"#,
        r#""groupId":0"#,
        r#""activatedFrom":"2026-01-02T00:00:00Z","activatedTo":"2026-01-02T01:00:00+01:00""#,
    ] {
        assert_eq!(search(&format!(r#"{{"ips":["192.0.2.1"],{good}}}"#)).status, 200, "{good}");
    }
}

#[test]
fn unknown_repeated_and_empty_fields() {
    let message = rejected(r#"{"ips":["192.0.2.1"],"page_size":1}"#, ErrorCode::Unknown);
    assert!(message.contains("did you mean `pageSize`?"), "{message}");
    rejected(r#"{"ips":["192.0.2.1"],"page":1,"page":1}"#, ErrorCode::Repeated);
    rejected(r#"{"ips":["192.0.2.1"],"orderNo":""}"#, ErrorCode::Empty);
}

#[test]
fn bodies_that_are_not_one_json_object() {
    for bad in [
        "",
        "{",
        r#"{"ips":["192.0.2.1"]} x"#,
        r#"{"ips":["192.0.2.1"]}{}"#,
        "nonsense",
        r#"{"ips":["192.0.2.1"],}"#,
        r#"{"ips":["\ud800"]}"#,
    ] {
        rejected(bad, ErrorCode::MalformedBody);
    }
    rejected(&"[".repeat(100_000), ErrorCode::MalformedBody);
    rejected(&format!(r#"{{"ips":{}1{}}}"#, "[".repeat(200), "]".repeat(200)), ErrorCode::MalformedBody);
    for bad in ["[]", "null", "1", "\"ips\""] {
        rejected(bad, ErrorCode::Invalid);
    }
    let response = search_as("Content-Type: application/json", b"{\"ips\":[\"\xff\"]}");
    assert_rejected::<SearchStaticInstances>(&response, ErrorCode::MalformedBody);
}

#[test]
fn media_types_that_are_not_json() {
    let body = br#"{"ips":["192.0.2.1"]}"#;
    for good in ["Content-Type: application/json", "content-type: Application/JSON; charset=utf-8"] {
        assert_eq!(search_as(good, body).status, 200, "{good}");
    }
    for bad in [
        "X-Other: 1",
        "Content-Type: text/plain",
        "Content-Type: application/json; charset=latin1",
        "Content-Type: application/json\r\nContent-Encoding: gzip",
    ] {
        assert_rejected::<SearchStaticInstances>(&search_as(bad, body), ErrorCode::NotJson);
    }
}

#[test]
fn large_bodies_are_rejected_while_they_are_sent() {
    let padding = " ".repeat(MAX_BYTES);
    let response = search(&format!(r#"{{"ips":["192.0.2.1"]}}{padding}"#));
    assert_rejected::<SearchStaticInstances>(&response, ErrorCode::BodyTooLarge);

    let response = read(send_part("Content-Length: 99999999999", ""));
    assert_rejected::<SearchStaticInstances>(&response, ErrorCode::BodyTooLarge);
}

#[test]
fn endless_chunks_are_rejected() {
    let chunk = format!("10000\r\n{}\r\n", " ".repeat(0x10000));
    let stream = send_part("Transfer-Encoding: chunked", "");
    let mut writer = stream.try_clone().unwrap();
    // The server stops listening some time after its response, so writing may fail then.
    let writing = thread::spawn(move || (0..64).all(|_| writer.write_all(chunk.as_bytes()).is_ok()));
    let response = read(stream);
    assert_rejected::<SearchStaticInstances>(&response, ErrorCode::BodyTooLarge);
    writing.join().unwrap();
}

#[test]
fn half_sent_bodies_end_in_time() {
    let response = read(send_part("Content-Length: 100", "{\"ips\""));
    assert_rejected::<SearchStaticInstances>(&response, ErrorCode::BodyTimeout);
}

#[test]
fn a_body_where_none_belongs_is_passed_over() {
    let head = format!(
        "GET {}?num=1&api_key={} HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello",
        ExtractProxies::PATH,
        SERVER.sample.tokens.main.expose()
    );
    assert_eq!(read(exchange(SERVER.address, &[head.as_bytes()])).status, 200);
}

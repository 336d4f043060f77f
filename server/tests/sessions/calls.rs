//! The requests of a session, and what their responses must be.

use sallyport_server::{api::generated::ExtractProxies, edge::operation::Operation as _};

use super::{Session, Stream, text::*};
use crate::support::wire::{Response, exchange, read};

impl Session {
    /// Number of extractions that a server has served from memory.
    pub(super) fn cache_hits(&self, server: usize) -> u64 {
        let request = b"GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
        let page = read(exchange(self.servers[server].admin, &[request])).body;
        let hits = page.lines().find_map(|line| line.strip_prefix("sallyport_store_cache_hits_total "));
        hits.unwrap().parse().unwrap()
    }

    /// Sends requests, on this connection or else each on its own, and looks at their responses.
    pub(super) fn request(
        &mut self,
        mut held: Option<&mut dyn Stream>,
        server: usize,
        place: &str,
        request: &str,
        expected: &str,
    ) {
        let (head, bodies) = request.split_once(" < ").map_or((request, None), |(head, it)| (head, Some(it)));
        let (line, headers) = head.split_once(" | ").unwrap_or((head, ""));
        let (methods, target) =
            line.split_once(' ').unwrap_or_else(|| panic!("{place}: no line of a session"));
        let (endpoint, target) = target
            .split_once(":/")
            .map_or(("", target), |(endpoint, _)| (endpoint, &target[endpoint.len() + 1..]));
        let mut headers: String =
            headers.split(" | ").filter(|it| !it.is_empty()).map(|it| format!("\r\n{it}")).collect();
        if held.is_none() {
            headers.push_str("\r\nConnection: close");
        }
        let (number, texts) = expected.split_once(' ').unwrap_or((expected, ""));
        let mut data = None;
        let bodies: Vec<_> = bodies.map_or(vec![None], |bodies| bodies.split(" ; ").map(Some).collect());
        let same_data = target.contains("&request_id=") || bodies.len() > 1;
        for (method, body) in
            repeated(methods).split(',').flat_map(|method| bodies.iter().map(move |body| (method, body)))
        {
            let body = body.map(bytes);
            let length = body.as_ref().filter(|_| !headers.contains("Content-Length"));
            let length = length.map(|body| format!("\r\nContent-Length: {}", body.len())).unwrap_or_default();
            let head = format!("{method} {target} HTTP/1.1\r\nHost: x{headers}{length}\r\n\r\n");
            let whole = [bytes(&head), body.unwrap_or_default()].concat();
            let mut new = if held.is_none() { Some(self.connect(server, endpoint).0) } else { None };
            let stream = held.as_deref_mut().or(new.as_deref_mut()).unwrap();
            // The server may hang up at the first letter.
            let _ = stream.write_all(&whole);
            if number == "0" {
                let mut response = Vec::new();
                // A reset is an end as well.
                let _ = stream.read_to_end(&mut response);
                assert!(!String::from_utf8_lossy(&response).contains("HTTP/1.1"), "{place}: {response:?}");
                continue;
            }
            let response = read(stream);
            if number.len() == 5 {
                assert_eq!(assert_rejected(&response, target).to_string(), number, "{place}: {response:?}");
            } else {
                assert_eq!(response.status.to_string(), number, "{place}: {response:?}");
            }
            assert_texts(place, &response.text(), texts);
            if same_data && response.status == 200 {
                let again = response.json()["data"].take();
                assert_eq!(*data.get_or_insert_with(|| again.clone()), again, "{place}");
            }
            let request_id = response.header("x-request-id").unwrap_or_default();
            self.names.insert("request-id".to_owned(), request_id.to_owned());
        }
    }
}

/// That the response is a rejection in the envelope of its operation. Returns its code.
#[track_caller]
pub(crate) fn assert_rejected(response: &Response, target: &str) -> i64 {
    let body = response.json();
    let code = body["code"].as_i64().unwrap();
    assert_eq!(code / 100, i64::from(response.status), "{response:?}");
    assert_ne!(body["message"].as_str().unwrap(), "");
    assert_eq!(response.header("cache-control"), Some("no-store"));
    if response.status == 429 {
        // Every rate of these sessions is two an hour.
        let wait: u64 = response.header("retry-after").unwrap().parse().unwrap();
        assert!((1..=1800).contains(&wait), "{wait}");
    }
    let trace = response.header("x-request-id").expect("X-Request-Id");
    let fields: Vec<_> = body.as_object().unwrap().keys().map(String::as_str).collect();
    if target.starts_with(ExtractProxies::PATH) {
        assert_eq!(fields, ["code", "message"]);
    } else {
        assert_eq!(fields, ["code", "message", "requestId"]);
        assert_eq!(body["requestId"], trace);
    }
    code
}

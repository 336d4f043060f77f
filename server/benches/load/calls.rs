//! The calls of the load: of ten, six extract, two extract under a request id of their own, one searches and one lists
//! groups.

use std::sync::atomic::{AtomicU64, Ordering};

use sallyport_server::{
    api::generated::{ExtractProxies, ListStaticGroups, SearchStaticInstances},
    data::seed::Sample,
    edge::operation::Operation as _,
};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufStream},
    net::TcpStream,
};

/// Addresses of a search.
const ADDRESSES: usize = 100;

pub(crate) struct Calls {
    extract: String,
    groups: String,
    search: String,
    made: AtomicU64,
}

impl Calls {
    pub(crate) fn new(sample: Sample) -> Self {
        let token = sample.tokens.main.expose();
        let addresses: Vec<_> = sample.addresses.iter().take(ADDRESSES).map(ToString::to_string).collect();
        let body = serde_json::json!({ "ips": addresses }).to_string();
        let (extract, search, groups) =
            (ExtractProxies::PATH, SearchStaticInstances::PATH, ListStaticGroups::PATH);
        Self {
            extract: format!("GET {extract}?api_key={token}&num=10&regions={}", sample.plentiful_region),
            groups: format!("GET {groups}?api_key={token} HTTP/1.1\r\nHost: bench\r\n\r\n"),
            search: format!(
                "POST {search}?api_key={token} HTTP/1.1\r\nHost: bench\r\nContent-Type: application/json\r\n\
                 Content-Length: {}\r\n\r\n{body}",
                body.len()
            ),
            made: AtomicU64::new(0),
        }
    }

    /// Makes the next call and sees that it succeeds.
    pub(crate) async fn next(&self, stream: &mut BufStream<TcpStream>) {
        let number = self.made.fetch_add(1, Ordering::Relaxed);
        let id = match number % 10 {
            0 => return exchange(stream, &self.groups).await,
            1 => return exchange(stream, &self.search).await,
            2 | 3 => format!("&request_id={number}"),
            _ => String::new(),
        };
        exchange(stream, &format!("{}{id} HTTP/1.1\r\nHost: bench\r\n\r\n", self.extract)).await;
    }
}

async fn exchange(stream: &mut BufStream<TcpStream>, request: &str) {
    stream.write_all(request.as_bytes()).await.unwrap();
    stream.flush().await.unwrap();
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        assert!(stream.read_line(&mut head).await.unwrap() > 0, "the server closed the connection: {head}");
    }
    let length = head.to_ascii_lowercase();
    let length = length.split("content-length: ").nth(1).unwrap().lines().next().unwrap().parse().unwrap();
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await.unwrap();
    assert!(head.starts_with("HTTP/1.1 200"), "{head}{}", String::from_utf8_lossy(&body));
}

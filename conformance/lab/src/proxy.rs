//! The listener of the lab: HTTP/1.1 on real sockets, with bounds on connections, bodies and time.

use std::convert::Infallible;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt as _, Full, Limited, StreamBody};
use hyper::Response;
use hyper::body::{Frame, Incoming};
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use serde_json::json;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use super::exchange::{Framing, ProxiedRequest, Reply};
use super::socket::{self, Socket};
use super::upstream::Upstream;

/// Maximum length of a request body, in bytes (4 MiB: four times the largest search).
const MAX_BODY: usize = 4 << 20;

const BODY_TIMEOUT: Duration = Duration::from_secs(60);

/// Maximum time for the head of a request, which also ends idle connections.
const HEAD_TIMEOUT: Duration = Duration::from_secs(60);

/// Size of the pieces in which the spaces after a padded body are sent, in bytes.
const BLANKS: usize = 64 << 10;

/// How a proxy listens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProxyOptions {
    /// The address; port 0 chooses a free one. Default: port 0 of 127.0.0.1.
    pub address: SocketAddr,
    /// Whether names of headers are spelt with capitals. Default: no.
    pub capitals: bool,
    /// Maximum number of open connections; further ones wait to be accepted. Default: 4,096.
    pub connections: usize,
    /// Maximum time of a connection. Default: no limit.
    pub time: Duration,
}

impl Default for ProxyOptions {
    fn default() -> Self {
        let address = (Ipv4Addr::LOCALHOST, 0).into();
        Self { address, capitals: false, connections: 4_096, time: Duration::MAX }
    }
}

/// A running proxy; it stops when it is dropped.
#[derive(Debug)]
pub struct Proxy {
    address: SocketAddr,
    _listening: JoinSet<()>,
}

impl Proxy {
    /// Starts a proxy on a free port of the loopback interface. Fails where none is free.
    pub async fn start(upstream: Upstream) -> std::io::Result<Self> {
        Self::start_with(upstream, ProxyOptions::default()).await
    }

    /// Starts a proxy. Fails where the address cannot be bound.
    pub async fn start_with(upstream: Upstream, options: ProxyOptions) -> std::io::Result<Self> {
        let listener = TcpListener::bind(options.address).await?;
        let address = listener.local_addr()?;
        let mut listening = JoinSet::new();
        listening.spawn(accept(listener, upstream, options));
        Ok(Self { address, _listening: listening })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Base URL of the proxy.
    pub fn base_url(&self) -> String {
        format!("http://{}", self.address)
    }
}

async fn accept(listener: TcpListener, upstream: Upstream, options: ProxyOptions) {
    let places = Arc::new(Semaphore::new(options.connections));
    // Connections end with the proxy.
    let mut connections = JoinSet::new();
    loop {
        let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
        let Ok((stream, _)) = listener.accept().await else {
            // Out of descriptors, perhaps: others may close theirs meanwhile.
            tokio::time::sleep(Duration::from_millis(20)).await;
            continue;
        };
        while connections.try_join_next().is_some() {}
        let upstream = upstream.clone();
        connections.spawn(async move {
            let served = serve_connection(stream, upstream, options.capitals);
            let _ = tokio::time::timeout(options.time, served).await;
            drop(place);
        });
    }
}

async fn serve_connection(stream: TcpStream, upstream: Upstream, capitals: bool) {
    let _ = stream.set_nodelay(true);
    let socket = Socket::new(stream);
    let own = socket.clone();
    let service = service_fn(move |request| serve(request, upstream.clone(), own.clone()));
    // A caller that leaves early is the caller's business.
    let _ = hyper::server::conn::http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIMEOUT)
        .title_case_headers(capitals)
        .serve_connection(TokioIo::new(socket), service)
        .await;
}

/// The response to a request; an error ends the connection.
async fn serve(
    request: hyper::Request<Incoming>,
    upstream: Upstream,
    socket: Socket,
) -> Result<Response<BoxBody<Bytes, Infallible>>, socket::IntendedClose> {
    let (parts, body) = request.into_parts();
    socket.begin_body();
    let body = body.map_frame(|frame| {
        socket.add_content(frame.data_ref().map_or(0, Bytes::len));
        frame
    });
    let read = tokio::time::timeout(BODY_TIMEOUT, Limited::new(body, MAX_BODY).collect()).await;
    socket.begin_head();
    let reply = match read {
        Ok(Ok(body)) => upstream.call(&ProxiedRequest::from_parts(parts, body.to_bytes())).await,
        Ok(Err(_)) => {
            let expected = format!("expected a body of at most {MAX_BODY} bytes");
            rejection(413, &format!("{expected}, found a longer or an incomplete one"))
        }
        Err(_) => rejection(408, &format!("expected a body within {} s", BODY_TIMEOUT.as_secs())),
    };
    socket.send_broken(&reply).await?;
    let mut response = Response::new(framed(reply.body, reply.framing));
    *response.status_mut() = reply.status;
    *response.headers_mut() = reply.headers;
    Ok(response)
}

fn rejection(status: u16, message: &str) -> Reply {
    Reply::json_with(status, &json!({"code": u32::from(status) * 100, "message": message}))
}

fn framed(body: Bytes, framing: Framing) -> BoxBody<Bytes, Infallible> {
    let (size, wait) = match framing {
        Framing::Pieces(size) => (size, Duration::ZERO),
        Framing::Drip(size) => (size, Duration::from_millis(2)),
        Framing::Slow(size, wait) => (size, wait),
        Framing::Padded(blanks) => return padded(body, blanks),
        // `send_broken` has sent the others, unless their body is too short to be cut.
        _ => return Full::new(body).boxed(),
    };
    // Pieces share the memory of the body.
    let frames = futures::stream::unfold(body, move |mut rest| async move {
        if rest.is_empty() {
            return None;
        }
        // Even no time takes a tick of the timer.
        if !wait.is_zero() {
            tokio::time::sleep(wait).await;
        }
        let piece = rest.split_to(size.clamp(1, rest.len()));
        Some((Ok(Frame::data(piece)), rest))
    });
    StreamBody::new(frames).boxed()
}

/// The body and blanks after it, which are made while they are sent.
fn padded(body: Bytes, blanks: u64) -> BoxBody<Bytes, Infallible> {
    let piece = Bytes::from(vec![b' '; BLANKS]);
    let blanks = futures::stream::unfold(blanks, move |left| {
        let size = usize::try_from(left).unwrap_or(BLANKS).min(BLANKS);
        let piece = piece.slice(..size);
        async move { (left > 0).then(|| (Ok(Frame::data(piece)), left - size as u64)) }
    });
    let first = futures::stream::iter([Ok(Frame::data(body))]);
    // A boxed body must be `Sync`, which its stream is by these parts.
    StreamBody::new(futures::stream::StreamExt::chain(first, blanks)).boxed()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_take_the_memory_of_the_body_once() {
        const SIZE: usize = 1 << 20;
        let body = Bytes::from(vec![b'x'; SIZE]);
        let memory = allocation_counter::measure(|| {
            let mut framed = framed(body.clone(), Framing::Slow(1, Duration::ZERO));
            for _ in 0..SIZE {
                let frame =
                    futures::executor::block_on(framed.frame()).expect("a piece").expect("infallible");
                assert_eq!(frame.data_ref().map(Bytes::len), Some(1));
            }
            assert!(futures::executor::block_on(framed.frame()).is_none());
        });
        assert!(memory.bytes_max < 64 << 10, "{memory:?}");
    }
}

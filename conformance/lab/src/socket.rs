//! The socket of a connection, shared by HTTP and by responses that HTTP would not send.

use std::io::{self, ErrorKind};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use hyper::header::DATE;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _, ReadBuf};
use tokio::net::TcpStream;

use super::exchange::{Framing, Reply};

/// Maximum time to hand a broken response to a caller that does not read.
const SENDING: Duration = Duration::from_secs(30);

#[derive(Debug, thiserror::Error)]
#[error("the connection was closed on purpose")]
pub(crate) struct IntendedClose;

/// Bytes that are read at once. Others are served between two reads.
const READ_SIZE: usize = 16 << 10;

/// Bytes that may be read until a head is complete: more than hyper accepts.
const HEAD_SIZE: usize = 512 << 10;

/// Bytes that may be read for a body beside its content: sizes of chunks and their extensions. hyper accepts a size with any number of
/// leading zeros, which never become content.
const BODY_OVERHEAD: usize = 64 << 10;

/// Bytes that may be read for a byte of content: those of a chunk that has no more, and some.
const BYTES_PER_BYTE: usize = 8;

/// What HTTP reads and writes. Clones are the same socket.
#[derive(Debug, Clone)]
pub(crate) struct Socket {
    stream: Arc<TcpStream>,
    allowance: Arc<AtomicUsize>,
}

impl Socket {
    pub(crate) fn new(stream: TcpStream) -> Self {
        Self { stream: Arc::new(stream), allowance: Arc::new(AtomicUsize::new(HEAD_SIZE)) }
    }

    /// The head of the next request may be read.
    pub(crate) fn begin_head(&self) {
        self.allowance.store(HEAD_SIZE, Ordering::Relaxed);
    }

    /// The body of a request may be read.
    pub(crate) fn begin_body(&self) {
        self.allowance.store(BODY_OVERHEAD, Ordering::Relaxed);
    }

    /// Adds what content of this length allows.
    pub(crate) fn add_content(&self, length: usize) {
        self.allowance.fetch_add(length.saturating_mul(BYTES_PER_BYTE), Ordering::Relaxed);
    }

    /// Sends a response whose framing HTTP would not produce, and ends the connection; leaves others alone.
    pub(crate) async fn send_broken(&self, reply: &Reply) -> Result<(), IntendedClose> {
        if !reply.is_broken() {
            return Ok(());
        }
        let body = reply.body.len();
        let (declared, sent, is_reset) = match reply.framing {
            Framing::Silent(time) => {
                tokio::time::sleep(time).await;
                return Err(IntendedClose);
            }
            Framing::Reset(None) => {
                reset(&self.stream);
                return Err(IntendedClose);
            }
            Framing::Cut(after) => (body, after, false),
            Framing::Reset(Some(after)) => (body, after, true),
            Framing::WrongLength(by) => {
                (body.saturating_add_signed(isize::try_from(by).unwrap_or_default()), body, false)
            }
            Framing::Whole
            | Framing::Pieces(_)
            | Framing::Drip(_)
            | Framing::Slow(..)
            | Framing::Padded(_) => return Ok(()),
        };
        let mut bytes = head(reply, declared);
        bytes.extend_from_slice(reply.body.get(..sent).unwrap_or_default());
        // A caller that does not read gets its connection closed too.
        let _ = tokio::time::timeout(SENDING, self.clone().write_all(&bytes)).await;
        if is_reset {
            // What was sent has to arrive before the reset overtakes it.
            tokio::time::sleep(Duration::from_millis(20)).await;
            reset(&self.stream);
        }
        Err(IntendedClose)
    }
}

impl AsyncRead for Socket {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let max = self.allowance.load(Ordering::Relaxed).min(READ_SIZE).min(buffer.remaining());
        if max == 0 && buffer.remaining() > 0 {
            let message = "the request is longer than its content allows";
            return Poll::Ready(Err(io::Error::new(ErrorKind::InvalidData, message)));
        }
        loop {
            ready!(self.stream.poll_read_ready(cx))?;
            match self.stream.try_read(buffer.initialize_unfilled_to(max)) {
                Ok(count) => {
                    self.allowance.fetch_sub(count, Ordering::Relaxed);
                    buffer.advance(count);
                    return Poll::Ready(Ok(()));
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
    }
}

impl AsyncWrite for Socket {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        loop {
            ready!(self.stream.poll_write_ready(cx))?;
            match self.stream.try_write(bytes) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                written => return Poll::Ready(written),
            }
        }
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    /// The socket closes when it is dropped.
    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

/// The head of a response, with a declared length.
fn head(reply: &Reply, declared: usize) -> Vec<u8> {
    let reason = reply.status.canonical_reason().unwrap_or_default();
    let mut head = format!("HTTP/1.1 {} {reason}\r\n", reply.status.as_u16()).into_bytes();
    for (name, value) in &reply.headers {
        head.extend_from_slice(name.as_str().as_bytes());
        head.extend_from_slice(b": ");
        head.extend_from_slice(value.as_bytes());
        head.extend_from_slice(b"\r\n");
    }
    if !reply.headers.contains_key(DATE) {
        let now = httpdate::fmt_http_date(std::time::SystemTime::now());
        head.extend_from_slice(format!("date: {now}\r\n").as_bytes());
    }
    head.extend_from_slice(format!("content-length: {declared}\r\nconnection: close\r\n\r\n").as_bytes());
    head
}

/// Closing then sends RST instead of FIN.
fn reset(stream: &TcpStream) {
    let _ = stream.set_zero_linger();
}

//! Reads the bodies of responses, within their limits.

use std::mem;

use bytes::{Bytes, BytesMut};
use reqwest::{
    Version,
    header::{CONTENT_LENGTH, TRANSFER_ENCODING},
};

use crate::response::RawResponse;

/// Maximum length of a rejection that is read, and maximum initial capacity for a body, in bytes.
const BEGINNING: usize = 64 << 10;

/// Why a body could not be read to its end.
pub(crate) enum BodyError {
    /// The connection broke or timed out.
    Connection(reqwest::Error),
    /// It is longer than allowed; what was read of it.
    TooLong(RawResponse),
}

/// Reads the whole body, of at most `max` bytes.
pub(crate) async fn read(mut response: reqwest::Response, max: usize) -> Result<RawResponse, BodyError> {
    let head = head(&mut response);
    // `Content-Length` is only what the service claims, so it reserves little.
    let declared = response.content_length().and_then(|length| usize::try_from(length).ok());
    let capacity = declared.unwrap_or_default().min(max).min(BEGINNING);
    // A body that is received in one chunk is not copied.
    let (mut piece, mut joined) = (Bytes::new(), BytesMut::new());
    while let Some(chunk) = response.chunk().await.map_err(BodyError::Connection)? {
        let length = piece.len().max(joined.len());
        if chunk.len() > max.saturating_sub(length) {
            let body = if joined.is_empty() { piece } else { joined.freeze() };
            return Err(BodyError::TooLong(RawResponse { body, ..head }));
        }
        if length == 0 {
            piece = chunk;
            continue;
        }
        if joined.is_empty() {
            joined.reserve(capacity);
            joined.extend_from_slice(&mem::take(&mut piece));
        }
        joined.extend_from_slice(&chunk);
    }
    let body = if joined.is_empty() { piece } else { joined.freeze() };
    Ok(RawResponse { body, ..head })
}

/// Reads the beginning of a rejection. Its status and `Retry-After` count even when the body is interrupted.
pub(crate) async fn read_beginning(mut response: reqwest::Response) -> RawResponse {
    let head = head(&mut response);
    let mut body = BytesMut::new();
    while body.len() < BEGINNING
        && let Ok(Some(chunk)) = response.chunk().await
    {
        body.extend_from_slice(&chunk[..chunk.len().min(BEGINNING - body.len())]);
    }
    RawResponse { body: body.freeze(), ..head }
}

/// The response without its body, whose end is told by `Content-Length`, by chunks or by HTTP/2 frames, if at all.
fn head(response: &mut reqwest::Response) -> RawResponse {
    let (status, version) = (response.status(), response.version());
    let headers = mem::take(response.headers_mut());
    let has_length = version > Version::HTTP_11
        || headers.contains_key(CONTENT_LENGTH)
        || headers.contains_key(TRANSFER_ENCODING);
    RawResponse { status, headers, body: Bytes::new(), has_length }
}

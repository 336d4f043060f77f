//! Reads responses within limits, and decompresses them.

use std::io::Read as _;

use bytes::Bytes;
use flate2::read::MultiGzDecoder;
use reqwest::StatusCode;
use reqwest::header::{CONTENT_ENCODING, CONTENT_LENGTH, HeaderMap};

use super::client::{failure, too_large};
use super::{FailureKind, WireFailure};

/// The content coding that requests accept.
pub(super) const ACCEPTED_CODING: &str = "gzip";

/// A response with its whole body, which is decompressed.
pub struct ReceivedResponse {
    /// Its status.
    pub status: StatusCode,
    /// Without those that described the compressed body.
    pub headers: HeaderMap,
    /// Its body.
    pub body: Bytes,
}

/// Reads a response of up to `limit` bytes. `take` counts those received and those decompression adds, and may end the reading.
///
/// # Errors
/// What `take` says. A response that is too long or breaks off is a failure within the result.
pub async fn receive<E>(
    mut response: reqwest::Response,
    limit: usize,
    mut take: impl FnMut(usize) -> Result<(), E>,
) -> Result<Result<ReceivedResponse, WireFailure>, E> {
    let (status, mut headers) = (response.status(), std::mem::take(response.headers_mut()));
    let is_compressed = is_gzip(&headers);
    let is_too_long = || too_large(format!("is longer than {limit} bytes"));
    // A compressed body is hardly longer than its content, but one may have no content at all, and no end.
    let most = if is_compressed { limit.saturating_mul(2) } else { limit };
    let mut body = Vec::new();
    loop {
        match response.chunk().await {
            Ok(Some(chunk)) => {
                take(chunk.len())?;
                body.extend_from_slice(&chunk);
            }
            Ok(None) => break,
            Err(error) => return Ok(Err(failure(error))),
        }
        if body.len() > most {
            return Ok(Err(is_too_long()));
        }
    }
    if is_compressed {
        headers.remove(CONTENT_ENCODING);
        headers.remove(CONTENT_LENGTH);
    }
    // A response without a body may have the header all the same.
    if is_compressed && !body.is_empty() {
        let mut content = Vec::new();
        let mut decoder = MultiGzDecoder::new(body.as_slice()).take(limit as u64 + 1);
        if let Err(error) = decoder.read_to_end(&mut content) {
            let detail = format!("the response cannot be decompressed with gzip: {error}");
            return Ok(Err(WireFailure { kind: FailureKind::Broken, detail }));
        }
        take(content.len().saturating_sub(body.len()))?;
        if content.len() > limit {
            return Ok(Err(is_too_long()));
        }
        body = content;
    }
    Ok(Ok(ReceivedResponse { status, headers, body: body.into() }))
}

/// Whether `Content-Encoding` is gzip, where `x-gzip` is another name of it, and case does not matter (RFC 9110, sections 8.4.1 and
/// 8.4.1.3). A body in several codings is left as it is.
fn is_gzip(headers: &HeaderMap) -> bool {
    let values = headers.get_all(CONTENT_ENCODING).iter().filter_map(|value| value.to_str().ok());
    let codings = values.flat_map(|value| value.split(',')).map(|coding| coding.trim().to_ascii_lowercase());
    let codings: Vec<String> = codings.filter(|coding| !matches!(&**coding, "" | "identity")).collect();
    matches!(codings.as_slice(), [coding] if matches!(&**coding, "gzip" | "x-gzip"))
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::io::Write as _;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    const LIMIT: usize = 10_000;

    async fn received(codings: &[&str], body: Vec<u8>) -> Result<ReceivedResponse, FailureKind> {
        let mut response = http::Response::new(body);
        for coding in codings {
            response.headers_mut().append(CONTENT_ENCODING, coding.parse().expect("a value"));
        }
        let received = receive(response.into(), LIMIT, |_| Ok::<_, Infallible>(())).await;
        received.unwrap_or_else(|never| match never {}).map_err(|failure| failure.kind)
    }

    fn gzip(text: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(text).expect("written");
        encoder.finish().expect("compressed")
    }

    #[tokio::test]
    async fn gzip_is_decompressed_under_each_of_its_names() {
        let text = b"{\"code\": 0}".repeat(100);
        for codings in [&["gzip"][..], &["x-gzip"], &["GZIP"], &["identity, X-Gzip"], &["", "gzip"]] {
            let received = received(codings, gzip(&text)).await.expect("a body");
            assert_eq!(received.body, text, "{codings:?}");
            assert!(!received.headers.contains_key(CONTENT_ENCODING), "{codings:?}");
        }
        for codings in [&[][..], &["identity"], &["br"], &["gzip, gzip"], &["gzip", "x-gzip"]] {
            assert_eq!(received(codings, text.clone()).await.expect("a body").body, text, "{codings:?}");
        }
        assert!(received(&["gzip"], Vec::new()).await.expect("no body").body.is_empty());
    }

    #[tokio::test]
    async fn a_compressed_body_is_complete_and_within_the_limit() {
        let kind = async |body: Vec<u8>| received(&["gzip"], body).await.map(|_| ()).expect_err("a failure");
        assert!(received(&["gzip"], gzip(&[b' '; LIMIT])).await.is_ok());
        assert_eq!(kind(gzip(&[b' '; LIMIT + 1])).await, FailureKind::TooLarge);
        assert_eq!(kind(gzip(&vec![b' '; 64 << 20])).await, FailureKind::TooLarge);
        assert_eq!(kind(gzip(b"").repeat(LIMIT)).await, FailureKind::TooLarge, "there is no content");
        let whole = gzip(b"{}");
        assert_eq!(kind(whole[..whole.len() - 1].to_vec()).await, FailureKind::Broken);
        assert_eq!(kind(b"{}".to_vec()).await, FailureKind::Broken);
    }
}

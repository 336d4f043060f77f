//! Reads responses within limits, and decompresses them.

use std::io::{self, Write as _};

use bytes::Bytes;
use flate2::write::MultiGzDecoder;
use reqwest::StatusCode;
use reqwest::header::{CONTENT_ENCODING, CONTENT_LENGTH, HeaderMap};

use super::client::{failure, too_large};
use super::{FailureKind, WireFailure};

/// The content coding that requests accept.
pub(super) const ACCEPTED_CODING: &str = "gzip";

/// Bytes that are decompressed at once. A byte may become a thousand, so that the limit is exceeded by a mebibyte at most.
const PIECE: usize = 1 << 10;

/// A response with its whole body, which is decompressed.
pub(crate) struct ReceivedResponse {
    pub(crate) status: StatusCode,
    /// Without those that described the compressed body.
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

/// The body so far.
enum Decoder {
    Identity(Vec<u8>),
    Gzip(Box<MultiGzDecoder<Vec<u8>>>),
}

/// Reads a response whose body may have up to `limit` bytes. `take` counts the bytes as they are read, and may end the reading.
pub(crate) async fn receive<E>(
    mut response: reqwest::Response,
    limit: usize,
    mut take: impl FnMut(usize) -> Result<(), E>,
) -> Result<Result<ReceivedResponse, WireFailure>, E> {
    let (status, mut headers) = (response.status(), std::mem::take(response.headers_mut()));
    let mut decoder = Decoder::new(&headers);
    if matches!(decoder, Decoder::Gzip(_)) {
        headers.remove(CONTENT_ENCODING);
        headers.remove(CONTENT_LENGTH);
    }
    let (mut received, mut length) = (0_usize, 0);
    let is_too_long = || too_large(format!("is longer than {limit} bytes"));
    loop {
        let chunk = match response.chunk().await {
            Ok(Some(chunk)) => chunk,
            Ok(None) => break,
            Err(error) => return Ok(Err(failure(error))),
        };
        received = received.saturating_add(chunk.len());
        for piece in chunk.chunks(decoder.piece()) {
            if let Err(error) = decoder.write(piece) {
                return Ok(Err(undecodable(&error)));
            }
            let before = std::mem::replace(&mut length, decoder.decoded().len());
            take(length - before)?;
            if length > limit {
                return Ok(Err(is_too_long()));
            }
        }
        // A compressed body is hardly longer than its content, but one may have no content at all, and no end.
        if received > limit.saturating_mul(2) {
            return Ok(Err(is_too_long()));
        }
    }
    // The decoder keeps some of what it has decompressed until then.
    let body = match decoder.finish(received) {
        Ok(body) => body,
        Err(error) => return Ok(Err(undecodable(&error))),
    };
    take(body.len() - length)?;
    if body.len() > limit {
        return Ok(Err(is_too_long()));
    }
    Ok(Ok(ReceivedResponse { status, headers, body: body.into() }))
}

impl Decoder {
    /// By `Content-Encoding`, where `x-gzip` is another name of gzip, and case does not matter (RFC 9110, sections 8.4.1 and
    /// 8.4.1.3). A body in several codings is left as it is.
    fn new(headers: &HeaderMap) -> Self {
        let values = headers.get_all(CONTENT_ENCODING).iter().filter_map(|value| value.to_str().ok());
        let codings = values.flat_map(|value| value.split(',')).map(str::trim);
        let mut codings =
            codings.filter(|coding| !coding.is_empty() && !coding.eq_ignore_ascii_case("identity"));
        let is_gzip = |coding: &str| ["gzip", "x-gzip"].iter().any(|name| coding.eq_ignore_ascii_case(name));
        match (codings.next(), codings.next()) {
            (Some(coding), None) if is_gzip(coding) => Self::Gzip(Box::new(MultiGzDecoder::new(Vec::new()))),
            _ => Self::Identity(Vec::new()),
        }
    }

    /// How many bytes to write at once.
    fn piece(&self) -> usize {
        match self {
            Self::Identity(_) => usize::MAX,
            Self::Gzip(_) => PIECE,
        }
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Self::Identity(body) => {
                body.extend_from_slice(bytes);
                Ok(())
            }
            Self::Gzip(decoder) => decoder.write_all(bytes),
        }
    }

    fn decoded(&self) -> &[u8] {
        match self {
            Self::Identity(body) => body,
            Self::Gzip(decoder) => decoder.get_ref(),
        }
    }

    /// The whole body, of which so many bytes were received.
    fn finish(self, received: usize) -> io::Result<Vec<u8>> {
        match self {
            Self::Identity(body) => Ok(body),
            // A response without a body may have the header all the same.
            Self::Gzip(_) if received == 0 => Ok(Vec::new()),
            Self::Gzip(decoder) => decoder.finish(),
        }
    }
}

fn undecodable(error: &io::Error) -> WireFailure {
    let detail = format!("the response cannot be decompressed with gzip: {error}");
    WireFailure { kind: FailureKind::Broken, detail }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

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

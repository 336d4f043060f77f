use std::io::Read;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::error::Category;

use crate::report::HAR_CUT;

/// An HTTP Archive, version 1.2: what of it the suite judges. It holds whatever the traffic held, tokens too, so it is neither
/// shown nor kept.
pub struct Archive {
    pub(super) entries: Vec<Entry>,
}

/// Why a file is not an archive that can be judged. No text of the file is repeated: it holds tokens.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    /// It can't be read.
    #[error("{0}")]
    Read(#[from] std::io::Error),
    /// It is too long.
    #[error("expected at most {0} bytes, found more; export fewer requests, or pass a larger --max-bytes")]
    TooLong(u64),
    /// It has too many entries.
    #[error("expected at most {most} entries, found {found}; export fewer requests", most = Archive::MAX_ENTRIES)]
    TooMany {
        /// How many it has.
        found: usize,
    },
    /// It is no JSON, or has another shape.
    #[error("line {line}, column {column}: {message}; expected an HTTP Archive (HAR 1.2)")]
    Form {
        /// From 1.
        line: usize,
        /// From 1.
        column: usize,
        /// What is wrong.
        message: String,
    },
}

#[derive(Deserialize)]
struct Document {
    log: Log,
}

#[derive(Deserialize)]
struct Log {
    entries: Vec<Entry>,
}

/// A request with its response.
#[derive(Deserialize)]
pub(super) struct Entry {
    #[serde(rename = "startedDateTime", default)]
    started: Option<String>,
    pub(super) request: EntryRequest,
    pub(super) response: EntryResponse,
}

#[derive(Deserialize)]
pub(super) struct EntryRequest {
    pub(super) method: String,
    pub(super) url: String,
    #[serde(default)]
    pub(super) headers: Vec<Header>,
    #[serde(rename = "postData", default)]
    pub(super) body: Option<RequestBody>,
}

#[derive(Deserialize)]
pub(super) struct RequestBody {
    #[serde(default)]
    pub(super) text: Option<String>,
    #[serde(default)]
    comment: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct EntryResponse {
    status: i64,
    #[serde(default)]
    pub(super) headers: Vec<Header>,
    #[serde(default)]
    content: Content,
}

#[derive(Default, Deserialize)]
struct Content {
    #[serde(default)]
    size: Option<i64>,
    #[serde(default)]
    text: Option<String>,
    #[serde(default)]
    encoding: Option<String>,
    #[serde(default)]
    comment: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct Header {
    pub(super) name: String,
    pub(super) value: String,
}

impl Archive {
    /// Default maximum size of a file, in bytes.
    pub const MAX_BYTES: u64 = 64 << 20;
    /// Maximum number of entries of an archive.
    pub const MAX_ENTRIES: usize = 100_000;

    /// Reads an archive of at most `limit` bytes.
    ///
    /// # Errors
    /// When it can't be read, is longer, or is no archive; with the line and the column.
    pub fn read(file: impl Read, limit: u64) -> Result<Self, ArchiveError> {
        let mut bytes = Vec::new();
        file.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > limit {
            return Err(ArchiveError::TooLong(limit));
        }
        Self::parse(&bytes)
    }

    fn parse(bytes: &[u8]) -> Result<Self, ArchiveError> {
        const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
        let text = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes);
        let document: Document = serde_json::from_slice(text).map_err(|error| ArchiveError::Form {
            line: error.line(),
            column: error.column(),
            message: without_content(&error),
        })?;
        let entries = document.log.entries;
        if entries.len() > Self::MAX_ENTRIES {
            return Err(ArchiveError::TooMany { found: entries.len() });
        }
        Ok(Self { entries })
    }
}

impl std::fmt::Debug for Archive {
    /// The entries hold tokens.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Archive").field("entries", &self.entries.len()).finish()
    }
}

/// The message of serde without the value that it found.
fn without_content(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let text = text.rsplit_once(" at line ").map_or(text.as_str(), |(text, _)| text);
    match error.classify() {
        // Messages of the parser are fixed.
        Category::Syntax | Category::Eof | Category::Io => text.to_owned(),
        Category::Data if text.starts_with("missing field `") => text.to_owned(),
        // "invalid type: string "…", expected u16": what was found may say anything, what was expected is ours.
        Category::Data => match text.rsplit_once(", expected ") {
            Some((_, expected)) => format!("a value of another kind, expected {expected}"),
            None => "an unexpected value".to_owned(),
        },
    }
}

impl Entry {
    /// When the request was sent, if the archive says so.
    pub(super) fn begun(&self) -> Option<Timestamp> {
        self.started.as_deref()?.parse().ok()
    }

    /// Whether an exchange is complete enough to be judged.
    pub(super) fn is_request_cut(&self) -> bool {
        self.request.body.as_ref().is_some_and(|body| body.comment.as_deref() == Some(HAR_CUT))
    }
}

impl EntryResponse {
    /// The HTTP status, if there was a response.
    pub(super) fn status(&self) -> Option<u16> {
        u16::try_from(self.status).ok().filter(|status| (100..=999).contains(status))
    }

    /// The body as it was received; none when the archive has not all of it.
    pub(super) fn body(&self) -> Option<Bytes> {
        let Content { size, text, encoding, comment } = &self.content;
        if comment.as_deref() == Some(HAR_CUT) {
            return None;
        }
        let Some(text) = text else { return size.unwrap_or(0).le(&0).then(Bytes::new) };
        let body: Bytes = match encoding.as_deref() {
            Some(encoding) if encoding.eq_ignore_ascii_case("base64") => {
                STANDARD.decode(text.trim()).ok()?.into()
            }
            _ => text.clone().into(),
        };
        // Browsers truncate long bodies silently, which leaves invalid JSON.
        let is_shorter =
            size.and_then(|size| usize::try_from(size).ok()).is_some_and(|size| body.len() < size);
        let is_json = || serde_json::from_slice::<serde::de::IgnoredAny>(&body).is_ok();
        if is_shorter && body.first().is_some_and(|first| b"{[".contains(first)) && !is_json() {
            return None;
        }
        Some(body)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        Archive::parse(text.as_bytes()).expect_err("no archive").to_string()
    }

    #[test]
    fn what_is_wrong_is_said_with_its_place_and_without_the_value() {
        assert_eq!(
            error("{\"log\": {\n \"entries\": [{\"request\": \"s3cret, expected\"}]}}"),
            "line 2, column 43: a value of another kind, expected struct EntryRequest; expected an HTTP Archive (HAR 1.2)"
        );
        assert!(
            error("{\"log\": {}}").starts_with("line 1, column 10: missing field `entries`;"),
            "{}",
            error("{\"log\": {}}")
        );
        assert!(error("s3cret").starts_with("line 1, column 1: expected value;"), "{}", error("s3cret"));
        let status =
            r#"{"log":{"entries":[{"request":{"method":"GET","url":"u"},"response":{"status":"s3cret"}}]}}"#;
        assert!(
            !error(status).contains("s3cret") && error(status).contains("line 1, column 8"),
            "{}",
            error(status)
        );
        assert!(!error(&"[".repeat(1_000)).is_empty());
    }

    #[test]
    fn a_file_has_limits() {
        let archive = "{\"log\":{\"entries\":[]}}";
        assert!(Archive::read(archive.as_bytes(), 22).is_ok());
        assert!(matches!(Archive::read(archive.as_bytes(), 21), Err(ArchiveError::TooLong(21))));
        let marked = format!("\u{feff}{archive}");
        assert!(Archive::parse(marked.as_bytes()).is_ok());
    }

    #[test]
    fn bodies_are_decoded_or_known_to_be_cut() {
        let body = |content: &str| -> Option<Bytes> {
            serde_json::from_str::<EntryResponse>(&format!(r#"{{"status":200,"content":{content}}}"#))
                .expect("a response")
                .body()
        };
        assert_eq!(body(r#"{"size":0}"#), Some(Bytes::new()));
        assert_eq!(body(r#"{"size":9}"#), None);
        assert_eq!(body(r#"{"size":2,"text":"e30=","encoding":"base64"}"#), Some(Bytes::from_static(b"{}")));
        assert_eq!(body(r#"{"size":2,"text":"?","encoding":"base64"}"#), None);
        assert_eq!(body(r#"{"size":99,"text":"{\"a\":"}"#), None);
        assert_eq!(body(r#"{"size":99,"text":"{}"}"#), Some(Bytes::from_static(b"{}")));
        assert_eq!(body(&format!(r#"{{"size":2,"text":"ab","comment":"{HAR_CUT}"}}"#)), None);
    }
}

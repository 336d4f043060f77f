use std::io::Read;
use std::ops::Range;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use serde::de::{IgnoredAny, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::error::Category;
use serde_json::value::RawValue;

use crate::report::HAR_CUT;

/// An HTTP Archive (1.2), which is neither shown nor kept, for its tokens. Entries are read one at a time: values take more memory.
pub struct Archive {
    text: String,
    entries: Vec<Range<usize>>,
}

#[derive(Deserialize)]
struct Document<'a> {
    #[serde(borrow)]
    log: Log<'a>,
}

#[derive(Deserialize)]
struct Log<'a> {
    /// Texts that are not parsed yet; none when there are too many.
    #[serde(borrow, deserialize_with = "entries")]
    entries: Option<Vec<&'a RawValue>>,
}

fn entries<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Vec<&'de RawValue>>, D::Error> {
    deserializer.deserialize_seq(EntriesVisitor)
}

struct EntriesVisitor;

impl<'de> Visitor<'de> for EntriesVisitor {
    type Value = Option<Vec<&'de RawValue>>;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a sequence")
    }

    /// Those beyond the limit are read but not kept: references to short ones take many times the memory of their text.
    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Self::Value, A::Error> {
        let mut entries = Vec::new();
        while entries.len() < Archive::MAX_ENTRIES {
            let Some(entry) = sequence.next_element()? else { return Ok(Some(entries)) };
            entries.push(entry);
        }
        let is_more = sequence.next_element::<IgnoredAny>()?.is_some();
        while sequence.next_element::<IgnoredAny>()?.is_some() {}
        Ok((!is_more).then_some(entries))
    }
}

#[derive(Deserialize)]
pub(super) struct Entry {
    #[serde(rename = "startedDateTime")]
    pub(super) started: Option<String>,
    pub(super) request: EntryRequest,
    pub(super) response: Option<EntryResponse>,
}

#[derive(Deserialize)]
pub(super) struct EntryRequest {
    pub(super) method: String,
    pub(super) url: String,
    pub(super) headers: Option<Vec<Header>>,
    #[serde(rename = "postData")]
    pub(super) body: Option<RequestBody>,
}

#[derive(Deserialize)]
pub(super) struct RequestBody {
    pub(super) text: Option<String>,
    pub(super) comment: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct EntryResponse {
    status: i64,
    pub(super) headers: Option<Vec<Header>>,
    content: Option<Content>,
}

#[derive(Default, Deserialize)]
struct Content {
    size: Option<i64>,
    text: Option<String>,
    encoding: Option<String>,
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
    /// When it can't be read, is longer, or is no archive, with the place. No text of it is repeated: it holds tokens.
    pub fn read(file: impl Read, limit: u64) -> Result<Self, String> {
        let mut bytes = Vec::new();
        file.take(limit.saturating_add(1)).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
        if bytes.len() as u64 > limit {
            let advice = "export fewer requests, or pass a larger --max-bytes";
            return Err(format!("expected at most {limit} bytes, found more; {advice}"));
        }
        // It grew by doubling, and is kept as long as the archive.
        bytes.shrink_to_fit();
        // An odd byte leaves the entries without it readable.
        let text = String::from_utf8(bytes);
        Self::parse(text.unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
    }

    fn parse(text: String) -> Result<Self, String> {
        let document = text.trim_start_matches('\u{feff}');
        let Document { log } = serde_json::from_str(document).map_err(|error| {
            let (line, column, message) = (error.line(), error.column(), without_content(&error));
            format!("line {line}, column {column}: {message}; expected an HTTP Archive (HAR 1.2)")
        })?;
        let too_many =
            || format!("expected at most {} entries, found more; export fewer requests", Self::MAX_ENTRIES);
        let entries = log.entries.ok_or_else(too_many)?;
        let place = |entry: &&RawValue| {
            let begin = entry.get().as_ptr().addr() - text.as_ptr().addr();
            begin..begin + entry.get().len()
        };
        let entries = entries.iter().map(place).collect();
        Ok(Self { text, entries })
    }

    /// The entry with that number, from 0, alone. None if there is no such entry.
    #[must_use]
    pub fn only(self, number: usize) -> Option<Self> {
        let entries = vec![self.entries.get(number)?.clone()];
        Some(Self { entries, ..self })
    }

    /// Number of entries.
    #[expect(clippy::len_without_is_empty, reason = "nobody asks for that")]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// The entry with that number, from 0, or why it is none.
    pub(super) fn entry(&self, number: usize) -> Result<Entry, String> {
        let text = self.entries.get(number).and_then(|place| self.text.get(place.clone()));
        serde_json::from_str(text.unwrap_or_default()).map_err(|error| without_content(&error))
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

impl EntryResponse {
    pub(super) fn status(&self) -> Option<u16> {
        u16::try_from(self.status).ok().filter(|status| (100..=999).contains(status))
    }

    /// The body as it was received; none when the archive has not all of it.
    pub(super) fn into_body(self) -> Option<Bytes> {
        let Content { size, text, encoding, comment } = self.content.unwrap_or_default();
        if comment.as_deref() == Some(HAR_CUT) {
            return None;
        }
        // Exporters that leave bodies out write -1, or no size.
        let Some(text) = text else { return (size == Some(0)).then(Bytes::new) };
        let body: Bytes = match encoding.as_deref() {
            Some(encoding) if encoding.eq_ignore_ascii_case("base64") => {
                STANDARD.decode(text.trim()).ok()?.into()
            }
            _ => text.into(),
        };
        // Browsers truncate long bodies silently, which leaves invalid JSON.
        let is_shorter =
            size.and_then(|size| usize::try_from(size).ok()).is_some_and(|size| body.len() < size);
        let is_json = || serde_json::from_slice::<IgnoredAny>(&body).is_ok();
        if is_shorter && body.first().is_some_and(|first| b"{[".contains(first)) && !is_json() {
            return None;
        }
        Some(body)
    }
}

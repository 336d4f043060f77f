use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use serde_json::Value;

use super::{Recorded, password};

/// A response as it came. It is not redacted: what a check says of it goes through the redactor before it is kept.
#[derive(Clone)]
pub struct Answer {
    /// HTTP status.
    pub status: u16,
    headers: Arc<[(String, Vec<u8>)]>,
    body: Bytes,
    /// Bytes of the body as it came.
    length: usize,
    json: Option<Arc<Value>>,
}

impl Answer {
    pub(crate) fn new(status: u16, headers: Vec<(String, Vec<u8>)>, body: Bytes) -> Self {
        let json = serde_json::from_slice(&body).ok().map(Arc::new);
        Self { status, headers: headers.into(), length: body.len(), body, json }
    }

    /// The response as it is kept once it was judged: without the parsed body, which takes many times what the text takes, and
    /// with no more of the text than a report may show.
    pub(crate) fn brief(&self) -> Self {
        let body = if self.body.len() > Recorded::KEPT {
            // Which member is a password can't be told from a part of a body.
            let masked = password::masked(&self.body);
            let whole = masked.as_deref().unwrap_or(&self.body);
            Bytes::copy_from_slice(&whole[..whole.len().min(Recorded::KEPT)])
        } else {
            self.body.clone()
        };
        Self {
            status: self.status,
            headers: Arc::clone(&self.headers),
            body,
            length: self.length,
            json: None,
        }
    }

    /// Every value of a header, in the order of the response; bytes that are no UTF-8 are replaced.
    #[must_use]
    pub fn header_values(&self, name: &str) -> Vec<String> {
        let values = self.headers.iter().filter(|(known, _)| known.eq_ignore_ascii_case(name));
        values.map(|(_, value)| String::from_utf8_lossy(value).trim().to_owned()).collect()
    }

    /// The first value of a header.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<String> {
        self.header_values(name).into_iter().next()
    }

    /// Names and values of all headers.
    #[must_use]
    pub fn headers(&self) -> &[(String, Vec<u8>)] {
        &self.headers
    }

    /// The body as bytes.
    #[must_use]
    pub fn body(&self) -> &Bytes {
        &self.body
    }

    /// Bytes of the body as it came.
    pub(super) fn length(&self) -> usize {
        self.length
    }

    /// The body as text; bytes that are no UTF-8 are replaced.
    #[must_use]
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// The body as JSON, when it is.
    #[must_use]
    pub fn json(&self) -> Option<&Value> {
        self.json.as_deref()
    }

    /// The same, for those who keep it.
    pub(crate) fn shared_json(&self) -> Option<&Arc<Value>> {
        self.json.as_ref()
    }

    /// The member of the JSON body at a pointer.
    #[must_use]
    pub fn at(&self, pointer: &str) -> Option<&Value> {
        self.json.as_ref()?.pointer(pointer)
    }
}

impl fmt::Debug for Answer {
    /// A response may echo the token.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Answer").field("status", &self.status).finish_non_exhaustive()
    }
}

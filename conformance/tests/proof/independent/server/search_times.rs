//! The activation range of a search.

use serde_json::Value;

use super::behaviour::Tags;
use super::search_input::{Body, Query, wrong};
use super::time::{Parts, parse};
use super::{Reject, Server};

impl Server {
    pub(super) fn time_field(
        &self,
        body: &Body,
        name: &'static str,
        tags: &Tags,
    ) -> Result<Option<i128>, Reject> {
        let Some(value) = body.get(name) else { return Ok(None) };
        if let Some(nanos) = self.instead::<Option<i128>>("search.time", tags, || known! { value }).flatten()
        {
            return Ok(Some(nanos));
        }
        let Some(text) = value.as_str() else { return self.wrong_type(name, value, tags).map(|_| None) };
        if let Some(nanos) = parse(text) {
            return self.valid_time(name, text, nanos, tags).map(Some);
        }
        let read: Option<String> = self.instead("search.time-text", tags, || {
            let Parts { moment, zone, .. } = Parts::of(text).unwrap_or_default();
            known! { text, moment, zone }
        });
        if let Some(nanos) = read.and_then(|text| parse(&text)) {
            return Ok(Some(nanos));
        }
        let is_ignored = match text.is_empty() {
            true => self.decides("empty-filter-ignored"),
            false => self.on("search-time-malformed-ignored", tags),
        };
        if is_ignored { Ok(None) } else { Err(wrong(name)) }
    }

    fn valid_time(&self, name: &'static str, text: &str, nanos: i128, tags: &Tags) -> Result<i128, Reject> {
        let Some(Parts { moment, fraction, zone }) = Parts::of(text) else { return Ok(nanos) };
        let read: Option<String> = self.instead("search.valid-time", tags, || {
            let fraction = if fraction.is_empty() { String::new() } else { format!(".{fraction}") };
            known! { moment, fraction, zone }
        });
        if let Some(other) = read.and_then(|text| parse(&text)) {
            return Ok(other);
        }
        if self.breaks("search.time-refused", tags, || known! { nanos, zone }) {
            return Err(wrong(name));
        }
        Ok(self.instead("search.nanos", tags, || known! { nanos, name }).unwrap_or(nanos))
    }

    pub(super) fn time_order(&self, body: &Body, query: &Query, tags: &Tags) -> Result<(), Reject> {
        let text = |name: &str| body.get(name).and_then(Value::as_str).unwrap_or_default();
        let (from, to) = (query.from, query.to);
        let known = || known! { from, to, texts => text("activatedFrom") <= text("activatedTo") };
        let is_valid = from.zip(to).is_none_or(|(from, to)| from <= to);
        let is_valid = self.instead("search.range", tags, known).unwrap_or(is_valid);
        if is_valid { Ok(()) } else { Err(wrong("activatedTo")) }
    }
}

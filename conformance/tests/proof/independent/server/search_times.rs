//! The activation range of a search.

use serde_json::Value;

use super::behaviour::Tags;
use super::search_input::{Body, Query, wrong};
use super::time::{Parts, parse};
use super::{Reject, Server};

/// In nanoseconds.
const SECOND: i128 = 1_000_000_000;

const DAY: i128 = 86_400 * SECOND;

impl Server {
    pub(super) fn time_field(
        &self,
        body: &Body,
        name: &'static str,
        tags: &Tags,
    ) -> Result<Option<i128>, Reject> {
        let Some(value) = body.get(name) else { return Ok(None) };
        if let Some(seconds) = value.as_f64()
            && self.on("search-time-number", tags)
        {
            return Ok(Some((seconds as i128).saturating_mul(SECOND)));
        }
        let Some(text) = value.as_str() else { return self.wrong_type(name, value, tags).map(|_| None) };
        if let Some(nanos) = parse(text) {
            return self.valid_time(name, text, nanos, tags).map(Some);
        }
        let with_zone = |text: String| if parse(&text).is_some() { text } else { text + "Z" };
        let colon = text.len().checked_sub(2).filter(|at| text.is_char_boundary(*at)).unwrap_or(0);
        let (head, tail) = text.split_at(colon);
        let is_ascii = text.is_ascii() && text.len() > 17;
        let (minutes, rest) = if is_ascii { text.split_at(16) } else { (text, "") };
        let parts = Parts::of(text);
        let of_parts = |moment: &str, zone: &str| format!("{moment}{zone}");
        let days = parts
            .as_ref()
            .map(|parts| of_parts(&format!("{}28{}", &parts.moment[..8], &parts.moment[10..]), parts.zone));
        let is_day =
            parts.as_ref().is_some_and(|parts| &parts.moment[8..10] <= "31" && &parts.moment[8..10] > "00");
        let rules = [
            ("search-time-without-zone", Some(format!("{text}Z"))),
            ("search-time-date-only", Some(format!("{text}T00:00:00Z"))),
            ("search-time-space", Some(with_zone(text.replacen(' ', "T", 1)))),
            ("search-time-short-zone", Some(format!("{head}:{tail}"))),
            ("search-time-short-zone", Some(format!("{text}:00"))),
            ("search-time-wide-zone", parts.as_ref().map(|parts| of_parts(parts.moment, "Z"))),
            ("search-time-day-31", days.filter(|_| is_day)),
            (
                "search-time-overflowing-fields",
                parts.map(|parts| of_parts("2026-01-01T00:00:00", parts.zone)),
            ),
            ("search-time-comma", Some(text.replace(',', "."))),
            ("search-time-zone-name", text.split_once('[').map(|(text, _)| with_zone(text.to_owned()))),
            ("search-time-without-seconds", Some(format!("{minutes}:00{rest}"))),
        ];
        let rules = rules.map(|(rule, text)| (rule, text.and_then(|text| parse(&text))));
        if let Some(nanos) = self.first_broken(tags, rules) {
            return Ok(Some(nanos));
        }
        let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        if digits && self.on("search-time-digits", tags) {
            return Ok(text.parse::<i128>().ok().map(|seconds| seconds.saturating_mul(SECOND)));
        }
        let is_ignored = match text.is_empty() {
            true => self.decides("empty-filter-ignored"),
            false => self.on("search-time-malformed-ignored", tags),
        };
        if is_ignored { Ok(None) } else { Err(wrong(name)) }
    }

    fn valid_time(&self, name: &'static str, text: &str, nanos: i128, tags: &Tags) -> Result<i128, Reject> {
        let Some(Parts { moment, fraction, zone }) = Parts::of(text) else { return Ok(nanos) };
        let flipped = zone.replace('+', "<").replace('-', "+").replace('<', "-");
        let whole = |fraction: &str, zone: &str| {
            let point = if fraction.is_empty() { "" } else { "." };
            parse(&format!("{moment}{point}{fraction}{zone}")).filter(|other| *other != nanos)
        };
        let rules = [
            ("search-time-zone-ignored", whole(fraction, "Z")),
            ("search-time-zone-flipped", whole(fraction, &flipped)),
            ("search-time-fraction-ignored", whole("", zone)),
            ("search-time-milliseconds", whole(&fraction[..fraction.len().min(3)], zone)),
        ];
        if let Some(other) = self.first_broken(tags, rules) {
            return Ok(other);
        }
        let rules = [
            (nanos % SECOND != 0, "search-time-fraction-refused"),
            (zone.starts_with('-'), "search-time-negative-zone-refused"),
            (!zone.eq_ignore_ascii_case("z"), "search-time-offset-refused"),
            (nanos < 0 || nanos > i128::from(i64::MAX), "search-time-far-refused"),
        ];
        if self.breaks_any(tags, rules) {
            return Err(wrong(name));
        }
        let midnight = nanos - nanos.rem_euclid(DAY);
        let in_32_bits = i128::from((nanos / SECOND) as i32) * SECOND;
        let rules = [
            (nanos > i128::from(i64::MAX), "search-time-64-bits", i128::from(nanos as i64)),
            (nanos / SECOND > i128::from(i32::MAX), "search-time-32-bits", in_32_bits),
            (nanos < 0, "search-time-before-1970-as-1970", 0),
            (name == "activatedTo", "search-to-end-of-day", midnight + DAY - 1),
            (name == "activatedFrom", "search-from-start-of-day", midnight),
        ];
        Ok(self.first_broken_of(tags, rules).unwrap_or(nanos))
    }

    pub(super) fn time_order(&self, body: &Body, query: &Query, tags: &Tags) -> Result<(), Reject> {
        let text = |name: &str| body.get(name).and_then(Value::as_str).unwrap_or_default();
        let are_texts_in_order = text("activatedFrom") <= text("activatedTo");
        let (Some(from), Some(to)) = (query.from, query.to) else {
            let rules = [
                (query.from.is_some(), "search-from-alone-refused"),
                (query.to.is_some(), "search-to-alone-refused"),
            ];
            return if self.breaks_any(tags, rules) { Err(wrong("activatedTo")) } else { Ok(()) };
        };
        let rejects = [
            (from == to, "search-equal-times-refused"),
            (!are_texts_in_order, "search-times-compared-as-text"),
        ];
        let accepts = [
            (true, "search-times-reversed-empty"),
            (from / SECOND == to / SECOND, "search-times-compared-by-second"),
            (from / DAY == to / DAY, "search-times-compared-by-day"),
            (are_texts_in_order, "search-times-compared-as-text"),
        ];
        let is_wrong =
            if from <= to { self.breaks_any(tags, rejects) } else { !self.breaks_any(tags, accepts) };
        if is_wrong { Err(wrong("activatedTo")) } else { Ok(()) }
    }
}

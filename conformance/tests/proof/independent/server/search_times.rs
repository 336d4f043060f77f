//! The activation range of a search.

use serde_json::Value;

use super::behaviour::Tags;
use super::search_input::{Body, Query, wrong};
use super::time::{TimeLeniency, parse};
use super::{Reject, Server};

/// In nanoseconds.
const SECOND: i128 = 1_000_000_000;

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
        if let Some(nanos) = parse(text, TimeLeniency::default()) {
            let changed = |lax| parse(text, lax).filter(|other| *other != nanos);
            let base = TimeLeniency::default();
            let rules = [
                ("search-time-zone-ignored", changed(TimeLeniency { zone_ignored: true, ..base })),
                ("search-time-zone-flipped", changed(TimeLeniency { zone_flipped: true, ..base })),
                ("search-time-fraction-ignored", changed(TimeLeniency { fraction_ignored: true, ..base })),
                ("search-time-milliseconds", changed(TimeLeniency { milliseconds: true, ..base })),
            ];
            if let Some(other) = self.first_broken(tags, rules) {
                return Ok(Some(other));
            }
            if nanos % SECOND != 0 && self.on("search-time-fraction-refused", tags)
                || parse(text, TimeLeniency { no_negative_zone: true, ..base }).is_none()
                    && self.on("search-time-negative-zone-refused", tags)
                || !text.ends_with(['Z', 'z']) && self.on("search-time-offset-refused", tags)
                || (nanos < 0 || nanos > i128::from(i64::MAX)) && self.on("search-time-far-refused", tags)
            {
                return Err(wrong(name));
            }
            let midnight = nanos - nanos.rem_euclid(86_400 * SECOND);
            let in_64_bits = i128::from(nanos as i64);
            let in_32_bits = i128::from((nanos / SECOND) as i32) * SECOND;
            let rules = [
                (nanos > i128::from(i64::MAX), "search-time-64-bits", in_64_bits),
                (nanos / SECOND > i128::from(i32::MAX), "search-time-32-bits", in_32_bits),
                (nanos < 0, "search-time-before-1970-as-1970", 0),
                (name == "activatedTo", "search-to-end-of-day", midnight + 86_400 * SECOND - 1),
                (name == "activatedFrom", "search-from-start-of-day", midnight),
            ];
            return Ok(Some(self.first_broken_of(tags, rules).unwrap_or(nanos)));
        }
        let base = TimeLeniency::default();
        let rules = [
            ("search-time-without-zone", TimeLeniency { no_zone: true, ..base }),
            ("search-time-date-only", TimeLeniency { date_only: true, ..base }),
            ("search-time-space", TimeLeniency { space: true, no_zone: true, ..base }),
            ("search-time-short-zone", TimeLeniency { short_zone: true, ..base }),
            ("search-time-wide-zone", TimeLeniency { wide_zone: true, ..base }),
            ("search-time-day-31", TimeLeniency { days: true, ..base }),
            ("search-time-overflowing-fields", TimeLeniency { fields: true, days: true, ..base }),
            ("search-time-comma", TimeLeniency { comma: true, ..base }),
            ("search-time-zone-name", TimeLeniency { annotation: true, no_zone: true, ..base }),
            ("search-time-without-seconds", TimeLeniency { no_seconds: true, ..base }),
        ];
        if let Some(nanos) = self.first_broken(tags, rules.map(|(rule, lax)| (rule, parse(text, lax)))) {
            return Ok(Some(nanos));
        }
        let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        if digits && self.on("search-time-digits", tags) {
            return Ok(text.parse::<i128>().ok().map(|seconds| seconds.saturating_mul(SECOND)));
        }
        if text.is_empty() {
            return if self.decides("empty-filter-ignored") { Ok(None) } else { Err(wrong(name)) };
        }
        if self.on("search-time-malformed-ignored", tags) {
            return Ok(None);
        }
        Err(wrong(name))
    }

    pub(super) fn time_order(&self, body: &Body, query: &Query, tags: &Tags) -> Result<(), Reject> {
        let (Some(from), Some(to)) = (query.from, query.to) else {
            let alone = query.from.is_some() != query.to.is_some();
            if alone && query.from.is_some() && self.on("search-from-alone-refused", tags)
                || alone && query.to.is_some() && self.on("search-to-alone-refused", tags)
            {
                return Err(wrong("activatedTo"));
            }
            return Ok(());
        };
        let text = |name: &str| body.get(name).and_then(Value::as_str).unwrap_or_default();
        if from == to && self.on("search-equal-times-refused", tags)
            || from <= to
                && text("activatedFrom") > text("activatedTo")
                && self.on("search-times-compared-as-text", tags)
        {
            return Err(wrong("activatedTo"));
        }
        if to >= from {
            return Ok(());
        }
        let same_second = from / SECOND == to / SECOND;
        let same_day = from / (86_400 * SECOND) == to / (86_400 * SECOND);
        let later_text = text("activatedFrom") <= text("activatedTo");
        let accepted = self.on("search-times-reversed-empty", tags)
            || same_second && self.on("search-times-compared-by-second", tags)
            || same_day && self.on("search-times-compared-by-day", tags)
            || later_text && self.on("search-times-compared-as-text", tags);
        if accepted { Ok(()) } else { Err(wrong("activatedTo")) }
    }
}

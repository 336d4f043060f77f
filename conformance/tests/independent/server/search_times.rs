//! The activation range of a search.

use serde_json::Value;

use super::behaviour::{EmptyFilter, Tags};
use super::search_input::{Body, Query, wrong};
use super::time::{TimeLeniency, parse};
use super::{Reject, Server};

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
            return Ok(Some((seconds as i128).saturating_mul(1_000_000_000)));
        }
        let Some(text) = value.as_str() else { return self.wrong_type(name, value, tags).map(|_| None) };
        if let Some(nanos) = parse(text, TimeLeniency::default()) {
            let changed = |lax| parse(text, lax).filter(|other| *other != nanos);
            let base = TimeLeniency::default();
            for (rule, lax) in [
                ("search-time-zone-ignored", TimeLeniency { zone_ignored: true, ..base }),
                ("search-time-zone-flipped", TimeLeniency { zone_flipped: true, ..base }),
                ("search-time-fraction-ignored", TimeLeniency { fraction_ignored: true, ..base }),
                ("search-time-milliseconds", TimeLeniency { milliseconds: true, ..base }),
            ] {
                if let Some(other) = changed(lax)
                    && self.on(rule, tags)
                {
                    return Ok(Some(other));
                }
            }
            if nanos % 1_000_000_000 != 0 && self.on("search-time-fraction-refused", tags)
                || parse(text, TimeLeniency { no_negative_zone: true, ..base }).is_none()
                    && self.on("search-time-negative-zone-refused", tags)
                || !text.ends_with(['Z', 'z']) && self.on("search-time-offset-refused", tags)
                || (nanos < 0 || nanos > i128::from(i64::MAX)) && self.on("search-time-far-refused", tags)
            {
                return Err(wrong(name));
            }
            if nanos > i128::from(i64::MAX) && self.on("search-time-64-bits", tags) {
                return Ok(Some(i128::from(nanos as i64)));
            }
            if nanos / 1_000_000_000 > i128::from(i32::MAX) && self.on("search-time-32-bits", tags) {
                return Ok(Some(i128::from((nanos / 1_000_000_000) as i32) * 1_000_000_000));
            }
            if nanos < 0 && self.on("search-time-before-1970-as-1970", tags) {
                return Ok(Some(0));
            }
            let day = 86_400_000_000_000;
            if name == "activatedTo" && self.on("search-to-end-of-day", tags) {
                return Ok(Some(nanos - nanos.rem_euclid(day) + day - 1));
            }
            if name == "activatedFrom" && self.on("search-from-start-of-day", tags) {
                return Ok(Some(nanos - nanos.rem_euclid(day)));
            }
            return Ok(Some(nanos));
        }
        let base = TimeLeniency::default();
        for (rule, lax) in [
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
        ] {
            if let Some(nanos) = parse(text, lax)
                && self.on(rule, tags)
            {
                return Ok(Some(nanos));
            }
        }
        let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        if digits && self.on("search-time-digits", tags) {
            return Ok(text.parse::<i128>().ok().map(|seconds| seconds.saturating_mul(1_000_000_000)));
        }
        if text.is_empty() {
            return match self.decisions.empty_filter {
                EmptyFilter::Ignored => Ok(None),
                _ => Err(wrong(name)),
            };
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
        let second = 1_000_000_000;
        let same_second = from / second == to / second;
        let same_day = from / (86_400 * second) == to / (86_400 * second);
        let later_text = text("activatedFrom") <= text("activatedTo");
        let accepted = self.on("search-times-reversed-empty", tags)
            || same_second && self.on("search-times-compared-by-second", tags)
            || same_day && self.on("search-times-compared-by-day", tags)
            || later_text && self.on("search-times-compared-as-text", tags);
        if accepted { Ok(()) } else { Err(wrong("activatedTo")) }
    }
}

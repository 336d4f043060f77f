//! RFC 3339 date-times, read strictly, to nanoseconds since 1970.

const NANOS: i128 = 1_000_000_000;

/// An instant and how it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Time {
    pub(crate) text: String,
    pub(crate) nanos: i128,
}

impl Time {
    /// The instant so many nanoseconds after 1970, in UTC, with a fraction when it has one.
    pub(crate) fn from_nanos(nanos: i128) -> Self {
        Self { text: timestamp(nanos).to_string(), nanos }
    }

    /// The same instant, two hours east.
    pub(crate) fn zoned(&self) -> String {
        timestamp(self.nanos).display_with_offset(jiff::tz::offset(2)).to_string()
    }
}

fn timestamp(nanos: i128) -> jiff::Timestamp {
    jiff::Timestamp::from_nanosecond(nanos).expect("a time of these centuries")
}

fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

fn number(text: &str) -> Option<i64> {
    (!text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())).then(|| text.parse().ok()).flatten()
}

fn days_in_month(year: i64, month: i64) -> i64 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// What a reader of times gets wrong.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct TimeLeniency {
    pub(crate) days: bool,
    pub(crate) fields: bool,
    pub(crate) zone_ignored: bool,
    pub(crate) zone_flipped: bool,
    pub(crate) short_zone: bool,
    pub(crate) wide_zone: bool,
    pub(crate) no_zone: bool,
    pub(crate) no_negative_zone: bool,
    pub(crate) space: bool,
    pub(crate) date_only: bool,
    pub(crate) comma: bool,
    pub(crate) annotation: bool,
    pub(crate) no_seconds: bool,
    pub(crate) fraction_ignored: bool,
    pub(crate) milliseconds: bool,
    pub(crate) fraction_refused: bool,
}

/// Reads a time; `lax` says which mistakes the reader makes, none for a strict one.
pub(crate) fn parse(text: &str, lax: TimeLeniency) -> Option<i128> {
    let mut text = text.to_owned();
    if lax.annotation
        && let Some(at) = text.find('[')
    {
        text.truncate(at);
    }
    if !text.is_ascii() {
        return None;
    }
    if lax.date_only && text.len() == 10 {
        text.push_str("T00:00:00Z");
    }
    let date = text.get(..10)?;
    let (year, month, day) = (number(&date[..4])?, number(&date[5..7])?, number(&date[8..10])?);
    if &date[4..5] != "-" || &date[7..8] != "-" {
        return None;
    }
    let mark = text.get(10..11)?;
    if !(mark.eq_ignore_ascii_case("t") || lax.space && mark == " ") {
        return None;
    }
    let mut rest = text.get(11..)?.to_owned();
    if lax.no_seconds && rest.get(5..6).is_some_and(|next| next != ":") {
        rest.insert_str(5, ":00");
    }
    let clock = rest.get(..8)?;
    let (hour, minute, second) = (number(&clock[..2])?, number(&clock[3..5])?, number(&clock[6..8])?);
    if &clock[2..3] != ":" || &clock[5..6] != ":" {
        return None;
    }
    let last_day = if lax.days { 31 } else { days_in_month(year, month) };
    let in_range = (1..=12).contains(&month) && (1..=last_day).contains(&day);
    let in_clock = hour < 24 && minute < 60 && second <= 60;
    if !lax.fields && !(in_range && in_clock) {
        return None;
    }
    let mut rest = rest.get(8..)?;
    let mut fraction = 0;
    if rest.starts_with('.') || lax.comma && rest.starts_with(',') {
        let digits = rest[1..].bytes().take_while(u8::is_ascii_digit).count();
        if digits == 0 || lax.fraction_refused {
            return None;
        }
        let kept = &rest[1..=digits.min(9)];
        fraction = number(kept)? as i128 * 10_i128.pow(9 - kept.len() as u32);
        rest = &rest[1 + digits..];
    }
    if lax.fraction_ignored {
        fraction = 0;
    }
    if lax.milliseconds {
        fraction -= fraction % 1_000_000;
    }
    let seconds = days_from_civil(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second;
    let mut east = zone(rest, lax)?;
    if lax.zone_ignored {
        east = 0;
    }
    if lax.zone_flipped {
        east = -east;
    }
    Some((seconds - east) as i128 * NANOS + fraction)
}

/// Seconds east of UTC.
fn zone(text: &str, lax: TimeLeniency) -> Option<i64> {
    if text.eq_ignore_ascii_case("z") || lax.no_zone && text.is_empty() {
        return Some(0);
    }
    let sign = match text.get(..1)? {
        "+" => 1,
        "-" if !lax.no_negative_zone => -1,
        _ => return None,
    };
    let digits = text.get(1..)?;
    let (hours, minutes) = match digits.len() {
        5 if &digits[2..3] == ":" => (number(&digits[..2])?, number(&digits[3..])?),
        4 if lax.short_zone => (number(&digits[..2])?, number(&digits[2..])?),
        2 if lax.short_zone => (number(digits)?, 0),
        _ => return None,
    };
    (lax.wide_zone || hours < 24 && minutes < 60).then_some(sign * (hours * 3600 + minutes * 60))
}

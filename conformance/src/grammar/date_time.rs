//! Instants of RFC 3339, with a time zone (`search.activated-range`).

use fastrand::Rng;

use super::{Spelling, distinct};

/// Valid and malformed instants.
pub(crate) fn date_times(seed: u64) -> Vec<Spelling> {
    let mut random = Rng::with_seed(seed);
    let mut spellings: Vec<Spelling> =
        VALID.iter().map(|(text, reason)| Spelling::valid(*text, reason)).collect();
    spellings.extend(MALFORMED.iter().map(|(text, reason)| Spelling::malformed(*text, reason)));
    for (reason, part, damaged) in DAMAGED {
        let mut parts = Parts::random(&mut random);
        *parts.part(part) = damaged.to_owned();
        spellings.push(Spelling::malformed(parts.text(), reason));
    }
    distinct(spellings)
}

const VALID: [(&str, &str); 21] = [
    ("2026-03-01T12:00:00Z", "an instant in UTC"),
    ("2026-03-01T12:00:00z", "a lower-case `z`"),
    ("2026-03-01t12:00:00Z", "a lower-case `t`"),
    ("2026-03-01t12:00:00+02:00", "a lower-case `t` with an offset"),
    ("2026-03-01t12:00:00.25z", "lower-case letters and a fraction"),
    ("2026-03-01T12:00:00.123z", "a lower-case `z` after milliseconds"),
    ("2026-03-01T12:00:00.5Z", "a fraction of one digit"),
    ("2026-03-01T12:00:00.000Z", "milliseconds"),
    ("2026-03-01T12:00:00.123456Z", "microseconds"),
    ("2026-03-01T12:00:00.123456789Z", "nanoseconds"),
    ("2026-03-01T12:00:00+00:00", "an offset of zero"),
    ("2026-03-01T12:00:00-00:00", "an unknown local offset"),
    ("2026-03-01T12:00:00+05:30", "an offset of half an hour"),
    ("2026-03-01T12:00:00+15:00", "an offset farther than any zone of today"),
    ("2026-03-01T12:00:00-12:00", "the farthest zone in the west"),
    ("2025-12-31T23:59:59-11:00", "an offset across the end of the year"),
    ("2024-02-29T23:59:59.999+00:00", "the last day of February in a leap year"),
    ("1970-01-01T00:00:00Z", "the start of Unix time"),
    ("2038-01-19T03:14:08Z", "seconds that do not fit into 32 bits"),
    ("0001-01-01T00:00:00Z", "the first second of the first year"),
    ("9999-01-01T00:00:00Z", "the last year of four digits"),
];

const MALFORMED: [(&str, &str); 46] = [
    (" 2026-03-01T12:00:00Z", "a blank before the time"),
    ("2026-03-01T12:00:00Z ", "a blank after the time"),
    ("2026-03-01T12:00:00", "no time zone"),
    ("2026-03-01T12:00:00.5", "a fraction and no time zone"),
    ("2026-03-01t12:00:00", "no time zone"),
    ("2026-03-01T12:00", "neither seconds nor a time zone"),
    ("2026-03-01T12:00Z", "no seconds"),
    ("2026-03-01T12:00+02:00", "no seconds"),
    ("2026-03-01T12Z", "neither minutes nor seconds"),
    ("20260301T120000Z", "the basic format of ISO 8601"),
    ("2026-03-01T120000Z", "the basic format of ISO 8601"),
    ("2026-03-01T12:00:00,5Z", "a decimal comma"),
    ("2026-03-01_12:00:00Z", "an underscore in place of `T`"),
    ("2026/03/01T12:00:00Z", "slashes in the date"),
    ("2026-03-01", "a date without a time"),
    ("2026-03-01Z", "a date with a time zone"),
    ("2026-03", "a month"),
    ("2026", "a year"),
    ("12:00:00Z", "a time without a date"),
    ("T12:00:00Z", "a time without a date"),
    ("2026-03-01T", "nothing after `T`"),
    ("2026-03-01T12:00:00.Z", "a fraction without digits"),
    ("2026-03-01T12:00:00ZZ", "two time zones"),
    ("2026-03-01T12:00:00Z+01:00", "two time zones"),
    ("2026-03-01T12:00:00+", "an offset without digits"),
    ("2026-03-01T12:00:00+02:00:00", "an offset with seconds"),
    ("2026-03-01T12:00:00 UTC", "a zone by name"),
    ("2026-03-01T24:00:00Z", "hour 24"),
    ("2026-03-01T12:00:00 Europe/Berlin", "a zone by name"),
    ("2026-03-01T12:00:00[Europe/Berlin]", "a zone by name and no offset"),
    ("2026-3-1T9:00:00Z", "a month of one digit"),
    ("2026-03-01T12:00:00\u{2212}05:00", "a minus sign that is not ASCII"),
    ("Sun, 01 Mar 2026 12:00:00 GMT", "a date of HTTP"),
    ("1772366400", "seconds since 1970"),
    ("1772366400000", "milliseconds since 1970"),
    ("@1772366400", "seconds since 1970"),
    ("now", "a word"),
    ("yesterday", "a word"),
    ("null", "a word"),
    ("2026-W09-7T12:00:00Z", "a week date"),
    ("2026-060T12:00:00Z", "an ordinal date"),
    ("2026-03-01T12:00:00Z/2026-03-02T12:00:00Z", "an interval"),
    ("2026-02-30T12:00:00Z", "a day that the month does not have"),
    ("2026-04-31T12:00:00Z", "a day that the month does not have"),
    ("2025-02-29T12:00:00Z", "the 29th of February in a common year"),
    ("2100-02-29T12:00:00Z", "the 29th of February in a common year"),
];

/// Invalid parts, each in an otherwise valid instant.
const DAMAGED: [(&str, Part, &str); 33] = [
    ("month 0", Part::Month, "00"),
    ("month 13", Part::Month, "13"),
    ("a month of one digit", Part::Month, "3"),
    ("a month by name", Part::Month, "Mar"),
    ("day 0", Part::Day, "00"),
    ("day 32", Part::Day, "32"),
    ("a day of one digit", Part::Day, "1"),
    ("a negative day", Part::Day, "-1"),
    ("hour 25", Part::Hour, "25"),
    ("an hour of one digit", Part::Hour, "1"),
    ("an hour that is no number", Part::Hour, "xx"),
    ("minute 60", Part::Minute, "60"),
    ("minute 99", Part::Minute, "99"),
    ("a minute of one digit", Part::Minute, "1"),
    ("second 61", Part::Second, "61"),
    ("second 99", Part::Second, "99"),
    ("a second of one digit", Part::Second, "1"),
    ("an offset of 24 hours", Part::Offset, "+24:00"),
    ("an offset with 60 minutes", Part::Offset, "+05:60"),
    ("an offset with 99 minutes", Part::Offset, "-05:99"),
    ("an offset of one digit", Part::Offset, "+5"),
    ("an offset with an hour of one digit", Part::Offset, "+2:00"),
    ("an offset of hours alone", Part::Offset, "+02"),
    ("an offset without a colon", Part::Offset, "+0200"),
    ("an offset without a sign", Part::Offset, "05:30"),
    ("a word for an offset", Part::Offset, "UTC"),
    ("a military zone", Part::Offset, "A"),
    ("a year of two digits", Part::Year, "26"),
    ("a year of three digits", Part::Year, "202"),
    ("a year of five digits", Part::Year, "20260"),
    ("a negative year", Part::Year, "-2026"),
    ("a year that is no number", Part::Year, "abcd"),
    ("digits of another script", Part::Day, "\u{661}\u{662}"),
];

#[derive(Debug, Clone, Copy)]
enum Part {
    Year,
    Month,
    Day,
    Hour,
    Minute,
    Second,
    Offset,
}

struct Parts([String; 7]);

impl Parts {
    fn random(random: &mut Rng) -> Self {
        let two = |number: u8| format!("{number:02}");
        let year = random.u16(2024..2029).to_string();
        let (month, day) = (two(random.u8(10..13)), two(random.u8(10..29)));
        let (hour, minute, second) = (two(random.u8(10..24)), two(random.u8(10..60)), two(random.u8(10..60)));
        let offset = (*random.choice(&["Z", "+00:00", "-03:00", "+05:30"]).unwrap_or(&"Z")).to_owned();
        Self([year, month, day, hour, minute, second, offset])
    }

    fn part(&mut self, part: Part) -> &mut String {
        &mut self.0[part as usize]
    }

    fn text(&self) -> String {
        let [year, month, day, hour, minute, second, offset] = &self.0;
        format!("{year}-{month}-{day}T{hour}:{minute}:{second}{offset}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LENIENT: [&str; 9] = [
        "an offset of 24 hours",
        "an offset with seconds",
        "an offset of hours alone",
        "an offset without a colon",
        "no seconds",
        "neither minutes nor seconds",
        "the basic format of ISO 8601",
        "a decimal comma",
        "an offset with an hour of one digit",
    ];

    #[test]
    fn valid_ones_parse_and_malformed_ones_do_not() {
        for seed in 0..20 {
            for Spelling { text, is_valid, reason, .. } in date_times(seed) {
                let parsed = text.parse::<jiff::Timestamp>().is_ok();
                assert!(parsed || !is_valid, "{text:?}: {reason}");
                // jiff accepts more than the grammar of RFC 3339, section 5.6.
                assert!(!parsed || is_valid || LENIENT.contains(&reason), "{text:?}: {reason}");
            }
        }
    }

    #[test]
    fn a_seed_gives_the_same_texts() {
        assert_eq!(date_times(5), date_times(5));
        assert!(date_times(0).len() > 70, "{}", date_times(0).len());
    }
}

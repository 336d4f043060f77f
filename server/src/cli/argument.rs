//! Arguments of `server token`. No error quotes a value where somebody may have put a token by mistake.

use std::time::Duration;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use jiff::{Span, SpanRelativeTo, Timestamp};
use sallyport_server::domain::instance::Id;

use super::Failure;

/// Parses the number of a token.
pub(super) fn id(text: &str) -> Result<Id, Failure> {
    text.parse().ok().and_then(Id::new).ok_or_else(|| {
        Failure::Usage("expected the number of a token, as `server list token` shows it".to_owned())
    })
}

/// Parses a time in the future.
pub(super) fn future(text: &str) -> Result<Timestamp, String> {
    let time: Timestamp = text
        .parse()
        .map_err(|_| "expected a time with its zone, for example 2027-01-01T00:00:00Z".to_owned())?;
    if time <= Timestamp::now() { Err("expected a time in the future".to_owned()) } else { Ok(time) }
}

/// Parses a duration, in which a day has 24 hours.
pub(super) fn duration(text: &str) -> Result<Duration, String> {
    if text == "0" {
        return Ok(Duration::ZERO);
    }
    let wrong = || "expected a duration, for example 24h, 90m, 7d or 0".to_owned();
    let span: Span = text.parse().map_err(|_| wrong())?;
    let length = span.to_duration(SpanRelativeTo::days_are_24_hours()).map_err(|_| wrong())?;
    Duration::try_from(length).map_err(|_| wrong())
}

/// Parses the name of one of these values. `--help` lists them.
pub(super) fn named<T: Copy + Send + Sync + 'static, const N: usize>(
    all: [T; N],
    name: fn(T) -> &'static str,
) -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(all.map(name)).try_map(move |given| {
        let found = all.into_iter().find(|value| name(*value) == given);
        found.ok_or("expected one of the names above")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations() {
        for (text, seconds) in
            [("0", 0), ("0s", 0), ("24h", 86_400), ("90m", 5400), ("1d 12h", 129_600), ("PT1M", 60)]
        {
            assert_eq!(duration(text), Ok(Duration::from_secs(seconds)), "{text}");
        }
        for text in ["", "24", "-1h", "soon", "1mo", "99999999999d"] {
            assert!(duration(text).is_err(), "{text}");
        }
    }

    #[test]
    fn times_must_be_in_the_future() {
        assert!(future("9998-01-01T00:00:00Z").is_ok());
        assert!(future("2020-01-01T00:00:00Z").unwrap_err().contains("future"));
        assert!(future("2027-01-01").unwrap_err().contains("zone"));
    }

    #[test]
    fn errors_do_not_quote_the_text() {
        for text in ["sally_api_5f", "0", "-1", "9223372036854775808", ""] {
            let Err(Failure::Usage(line)) = id(text) else { panic!("{text}") };
            assert_eq!(line, "expected the number of a token, as `server list token` shows it");
        }
    }
}

//! Arguments of the administrator's commands. No error quotes a value where somebody may have put a token by mistake.

use std::time::Duration;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use jiff::{Span, SpanRelativeTo, Timestamp};
use sallyport_server::{domain::instance::Id, store::registry::Registry};

use super::{Database, Failure, confirm::Confirmation};

/// The database that a command works on, and the command's other arguments.
#[derive(clap::Args)]
pub(super) struct WithDatabase<A: clap::Args> {
    #[command(flatten)]
    database: Database,
    #[command(flatten)]
    pub(super) arguments: A,
}

impl<A: clap::Args> WithDatabase<A> {
    /// Opens the database.
    pub(super) async fn open(self) -> Result<(Registry, A), Failure> {
        Ok((Registry::open(&self.database.location()?).await?, self.arguments))
    }
}

/// Numbers of entries to change.
#[derive(clap::Args)]
pub(super) struct Numbers {
    /// Numbers, as `list` shows them.
    #[arg(required = true, value_name = "NUMBER")]
    pub(super) numbers: Vec<String>,
}

/// Numbers of entries to remove or revoke.
#[derive(clap::Args)]
pub(super) struct ConfirmedNumbers {
    /// Numbers, as `list` shows them.
    #[arg(required = true, value_name = "NUMBER")]
    numbers: Vec<String>,
    #[command(flatten)]
    confirmation: Confirmation,
}

impl WithDatabase<ConfirmedNumbers> {
    /// Opens the database and returns the numbers, once the user has confirmed the question that `question` makes of them.
    pub(super) async fn confirm(
        self,
        what: &str,
        question: impl FnOnce(&[Id]) -> String,
    ) -> Result<(Registry, Vec<Id>), Failure> {
        let ids = ids(what, &self.arguments.numbers)?;
        self.arguments.confirmation.check_terminal()?;
        let (registry, ConfirmedNumbers { confirmation, .. }) = self.open().await?;
        confirmation.ask(&question(&ids))?;
        Ok((registry, ids))
    }
}

/// Parses the number of an entry that `list` shows.
pub(super) fn id(what: &str, text: &str) -> Result<Id, Failure> {
    let article = if what.starts_with('i') { "an" } else { "a" };
    let noun = what.split(' ').next().unwrap_or(what);
    text.parse().ok().and_then(Id::new).ok_or_else(|| {
        Failure::Usage(format!("expected the number of {article} {what}, as `server {noun} list` shows it"))
    })
}

/// Parses several numbers and removes duplicates.
pub(super) fn ids(what: &str, texts: &[String]) -> Result<Vec<Id>, Failure> {
    let mut ids = texts.iter().map(|text| id(what, text)).collect::<Result<Vec<_>, _>>()?;
    ids.sort();
    ids.dedup();
    Ok(ids)
}

/// A noun with its numbers: "token 3", "tokens 3, 4".
pub(super) fn in_words(what: &str, ids: &[Id]) -> String {
    let numbers: Vec<_> = ids.iter().map(|id| id.get().to_string()).collect();
    let plural = if ids.len() == 1 { "" } else { "s" };
    format!("{what}{plural} {}", numbers.join(", "))
}

/// "is" for one, "are" for several.
pub(super) fn is_or_are(ids: &[Id]) -> &'static str {
    if ids.len() == 1 { "is" } else { "are" }
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
    fn numbers_are_sorted_and_errors_do_not_quote_the_text() {
        let texts = ["3", "1", "3"].map(str::to_owned);
        assert_eq!(in_words("token", &ids("token", &texts).ok().unwrap()), "tokens 1, 3");
        for text in ["sally_api_5f", "0", "-1", "9223372036854775808", ""] {
            let Err(Failure::Usage(line)) = id("token", text) else { panic!("{text}") };
            assert_eq!(line, "expected the number of a token, as `server token list` shows it");
        }
    }
}

//! `server token`.

use std::time::Duration;

use clap::{
    Subcommand,
    builder::{PossibleValuesParser, TypedValueParser},
};
use jiff::{Span, SpanRelativeTo, Timestamp};
use sallyport_server::{
    domain::{instance::Id, token::TokenKind},
    printable::counted,
    store::registry::{End, IssuedToken},
};

use super::{Confirmation, Database, Failure, print_line, terminal::print_error_line};

pub(super) const EXAMPLES: &str = "\
Examples:
  server token issue --account acme --expires 2027-01-01T00:00:00Z
  server list token --where account=acme
  server token rotate 3 --overlap 7d     issue a new token; the old one stays valid for seven days
  server token revoke 3 --yes            reject token 3 from the next call on";

/// Commands for tokens.
#[derive(Subcommand)]
pub(super) enum Command {
    /// Issue a token and print it once; only its hash is stored.
    Issue {
        /// Issue the token for this account.
        #[arg(long, value_name = "NAME")]
        account: String,
        /// Issue a token of this kind: `api` for every operation, `link` for extraction only.
        #[arg(long, value_parser = kind(), default_value = TokenKind::Api.name())]
        kind: TokenKind,
        /// Let the token expire at this time, for example 2027-01-01T00:00:00Z [default: never]
        #[arg(long, value_name = "TIME|never", value_parser = end)]
        expires: Option<End>,
        #[command(flatten)]
        database: Database,
    },
    /// Issue a token that replaces another, of the same account and kind, and print it once.
    Rotate {
        /// Number of the old token, as `server list token` shows it.
        // Not parsed by clap, whose error would quote a token that was passed here by mistake.
        number: String,
        /// Keep the old token valid for this time, unless it expires before; 0 revokes it at once.
        #[arg(long, value_name = "DURATION", value_parser = duration, default_value = "24h")]
        overlap: Duration,
        /// Let the new token expire at this time, in RFC 3339 [default: never; required if the old token expires]
        #[arg(long, value_name = "TIME|never", value_parser = end)]
        expires: Option<End>,
        #[command(flatten)]
        database: Database,
        #[command(flatten)]
        confirmation: Confirmation,
    },
    /// Revoke tokens by number, all or none; they are rejected from the next call on.
    Revoke {
        /// Numbers of the tokens, as `server list token` shows them.
        #[arg(required = true, value_name = "NUMBER")]
        numbers: Vec<String>,
        #[command(flatten)]
        database: Database,
        #[command(flatten)]
        confirmation: Confirmation,
    },
}

/// Prints a new token, the only time that it is shown.
fn print(IssuedToken { id, token, account, replaces }: IssuedToken) -> Result<(), Failure> {
    let replaces = replaces.map(|words| format!(" {words}")).unwrap_or_default();
    print_error_line(&format!("token {} of account {account}{replaces}; it is shown only once:", id.get()));
    print_line(token.expose())
}

/// Numbers of tokens in words, such as "2 tokens: 1, 3".
fn words(ids: &[Id]) -> String {
    let shown: Vec<_> = ids.iter().map(|id| id.get().to_string()).collect();
    format!("{}: {}", counted(ids.len() as u64, "token"), shown.join(", "))
}

pub(super) async fn execute(command: Command) -> Result<(), Failure> {
    match command {
        Command::Issue { account, kind, expires, database } => {
            let expires = if let Some(End::At(end)) = expires { Some(end) } else { None };
            print(database.open().await?.issue_token(&account, kind, expires).await?)
        }
        Command::Rotate { number, overlap, expires, database, confirmation } => {
            let old = id(&number)?;
            if overlap.is_zero() {
                confirmation.require(&format!("revoke token {} at once", old.get()))?;
            }
            let end = expires.unwrap_or(End::AsBefore);
            print(database.open().await?.rotate_token(old, overlap, end).await?)
        }
        Command::Revoke { numbers, database, confirmation } => {
            let mut ids = numbers.iter().map(|text| id(text)).collect::<Result<Vec<_>, _>>()?;
            ids.sort();
            ids.dedup();
            confirmation.require(&format!("revoke {}", words(&ids)))?;
            let store = database.open().await?;
            let earlier = store.revoke_tokens(ids.clone(), Timestamp::now()).await?;
            ids.retain(|id| !earlier.contains(id));
            for (done, ids) in [("revoked", ids), ("already revoked", earlier)] {
                if !ids.is_empty() {
                    print_line(&format!("{done} {}", words(&ids)))?;
                }
            }
            Ok(())
        }
    }
}

/// Parses a time in the future, or none.
fn end(text: &str) -> Result<End, &'static str> {
    match text.parse::<Timestamp>() {
        _ if text == "never" => Ok(End::Never),
        Err(_) => Err("expected a time with its zone, for example 2027-01-01T00:00:00Z"),
        Ok(time) if time <= Timestamp::now() => Err("expected a time in the future"),
        Ok(time) => Ok(End::At(time)),
    }
}

/// Parses the number of a token.
fn id(text: &str) -> Result<Id, Failure> {
    text.parse().ok().and_then(Id::new).ok_or_else(|| {
        Failure::Usage("expected the number of a token, as `server list token` shows it".to_owned())
    })
}

/// Parses a duration, in which a day has 24 hours.
fn duration(text: &str) -> Result<Duration, &'static str> {
    let span: Option<Span> = if text == "0" { Some(Span::new()) } else { text.parse().ok() };
    let length = span.and_then(|span| span.to_duration(SpanRelativeTo::days_are_24_hours()).ok());
    let length = length.and_then(|length| length.try_into().ok());
    length.ok_or("expected a duration, for example 24h, 90m, 7d or 0")
}

/// Parses a kind of token. `--help` lists them.
fn kind() -> impl TypedValueParser<Value = TokenKind> {
    PossibleValuesParser::new(TokenKind::NAMES)
        .try_map(|name| TokenKind::from_name(&name).ok_or("expected one of the names above"))
}

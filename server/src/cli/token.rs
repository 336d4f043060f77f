//! `server token`.

use std::time::Duration;

use clap::{Args, Subcommand};
use jiff::Timestamp;
use sallyport_server::{
    data::tokens::{self, End, TokenRotation},
    domain::{access::has_expired, instance::Id, token::TokenKind},
    store::registry::{TokenEntry, TokenFilter},
};
use serde::Serialize;

use super::{
    Failure,
    argument::{ConfirmedNumbers, WithDatabase, duration, future, id, in_words, is_or_are, named},
    confirm::Confirmation,
    listing::{Line, ListArguments, ShowArguments},
    print_line,
    terminal::print_error_line,
};

pub(super) const EXAMPLES: &str = "\
Examples:
  server token issue --account acme --expires 2027-01-01T00:00:00Z
  server token list --account acme
  server token rotate 3 --overlap 7d     issue a new token; the old one stays valid for seven days
  server token revoke 3                  reject token 3 from the next call on";

/// Commands for tokens.
#[derive(Subcommand)]
pub(super) enum Command {
    /// Issue a token and print it once; only its hash is stored.
    Issue(WithDatabase<Issue>),
    /// List tokens by number, without their secrets.
    List(WithDatabase<List>),
    /// Issue a token that replaces another, of the same account and kind, and print it once.
    Rotate(WithDatabase<Rotate>),
    /// Revoke tokens by number, all or none; they are rejected from the next call on.
    Revoke(WithDatabase<ConfirmedNumbers>),
}

/// Arguments of `issue`.
#[derive(Args)]
pub(super) struct Issue {
    /// Issue the token for this account.
    #[arg(long, value_name = "NAME")]
    account: String,
    /// Issue a token of this kind: `api` for every operation, `link` for extraction only.
    #[arg(long, value_parser = named(TokenKind::ALL, TokenKind::name), default_value = TokenKind::Api.name())]
    kind: TokenKind,
    /// Let the token expire at this time, for example 2027-01-01T00:00:00Z [default: never]
    #[arg(long, value_name = "TIME", value_parser = future)]
    expires: Option<Timestamp>,
    #[command(flatten)]
    show: ShowArguments,
}

/// Arguments of `list`.
#[derive(Args)]
pub(super) struct List {
    /// Show only tokens of this account.
    #[arg(long, value_name = "NAME")]
    account: Option<String>,
    #[command(flatten)]
    list: ListArguments,
}

/// Arguments of `rotate`.
#[derive(Args)]
pub(super) struct Rotate {
    /// Number of the old token, as `list` shows it.
    // Not parsed by clap, whose error would quote a token that was passed here by mistake.
    number: String,
    /// Keep the old token valid for this time, unless it expires before; 0 revokes it at once.
    #[arg(long, value_name = "DURATION", value_parser = duration, default_value = "24h")]
    overlap: Duration,
    /// Let the new token expire at this time, in RFC 3339 [default: never; required if the old token expires]
    #[arg(long, value_name = "TIME|never", value_parser = end)]
    expires: Option<End>,
    #[command(flatten)]
    show: ShowArguments,
    #[command(flatten)]
    confirmation: Confirmation,
}

impl Line for TokenEntry {
    const HEAD: &'static [&'static str] = &["number", "account", "kind", "created", "state"];

    fn cells(&self) -> Vec<String> {
        let Self { id, account, kind, created_at, expires_at, revoked_at } = self;
        let state = match (revoked_at, expires_at) {
            (Some(at), _) => format!("revoked {at}"),
            (None, Some(at)) if has_expired(Some(*at), Timestamp::now()) => format!("expired {at}"),
            (None, Some(at)) => format!("valid until {at}"),
            (None, None) => "valid".to_owned(),
        };
        vec![id.get().to_string(), account.clone(), kind.to_string(), created_at.to_string(), state]
    }
}

/// A new token as JSON.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct IssuedToken<'a> {
    id: i64,
    account: &'a str,
    kind: TokenKind,
    expires_at: Option<Timestamp>,
    token: &'a str,
    /// The token that it replaces.
    #[serde(skip_serializing_if = "Option::is_none")]
    old: Option<&'a TokenEntry>,
}

pub(super) async fn execute(command: Command) -> Result<(), Failure> {
    match command {
        Command::Issue(on) => {
            let (registry, Issue { account, kind, expires, show }) = on.open().await?;
            let (id, token) = tokens::issue(&registry, &account, kind, expires).await?;
            let issued = IssuedToken {
                id: id.get(),
                account: &account,
                kind,
                expires_at: expires,
                token: token.expose(),
                old: None,
            };
            print_error_line(&format!("token {} of account {account}; it is shown only once:", id.get()));
            show.print_or(&issued, token.expose())
        }
        Command::List(on) => {
            let (registry, List { account, list }) = on.open().await?;
            list.print::<TokenEntry>(&registry, TokenFilter { account }).await
        }
        Command::Rotate(on) => rotate(on).await,
        Command::Revoke(on) => {
            let question = |ids: &[Id]| format!("Revoke {}?", in_words("token", ids));
            let (registry, ids) = on.confirm("token", question).await?;
            registry.revoke_tokens(ids.clone(), Timestamp::now()).await?;
            print_line(&format!("{} {} revoked", in_words("token", &ids), is_or_are(&ids)))
        }
    }
}

async fn rotate(on: WithDatabase<Rotate>) -> Result<(), Failure> {
    let old = id("token", &on.arguments.number)?;
    let at_once = on.arguments.overlap.is_zero();
    if at_once {
        on.arguments.confirmation.check_terminal()?;
    }
    let (registry, Rotate { number: _, overlap, expires, show, confirmation }) = on.open().await?;
    if at_once {
        confirmation.ask(&format!("Revoke token {} at once?", old.get()))?;
    }
    let expires = expires.unwrap_or(End::AsBefore);
    let TokenRotation { id, token, expires_at, old } =
        tokens::rotate(&registry, old, overlap, expires).await?;
    let end = match (old.revoked_at, old.expires_at) {
        (None, Some(end)) => format!("valid until {end}"),
        (Some(_), _) | (None, None) => "revoked".to_owned(),
    };
    print_error_line(&format!(
        "token {} of account {} replaces token {}, which is {end}; it is shown only once:",
        id.get(),
        old.account,
        old.id.get()
    ));
    let issued = IssuedToken {
        id: id.get(),
        account: &old.account,
        kind: old.kind,
        expires_at,
        token: token.expose(),
        old: Some(&old),
    };
    show.print_or(&issued, token.expose())
}

/// A time in the future, or none.
fn end(text: &str) -> Result<End, String> {
    if text == "never" { Ok(End::Never) } else { future(text).map(End::At) }
}

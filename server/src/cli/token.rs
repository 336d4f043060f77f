//! `server token`.
#![expect(clippy::print_stderr, reason = "the remark beside a new token must not get into a pipe with it")]

use clap::{Args, Subcommand, ValueEnum};
use jiff::Timestamp;
use sallyport_server::{
    data::tokens,
    domain::{instance::Id, token::TokenKind},
    store::TokenEntry,
};

use super::{Database, Failure, say};

/// What to do with tokens.
#[derive(Subcommand)]
pub(super) enum Command {
    /// Make a token and print it, this once; only its hash is kept.
    Issue(Issue),
    /// List tokens by number; the tokens themselves are not known.
    List {
        #[command(flatten)]
        database: Database,
    },
    /// Revoke a token by its number; it is refused from the next call on.
    Revoke {
        #[command(flatten)]
        database: Database,
        /// Number of the token, as `list` shows it.
        // Not parsed by clap, whose error would repeat a token that somebody wrote here.
        number: String,
    },
}

/// What `issue` is told.
#[derive(Args)]
pub(super) struct Issue {
    #[command(flatten)]
    database: Database,
    /// Name of the account that shall own the token.
    #[arg(long, value_name = "NAME")]
    account: String,
    /// What the token is good for.
    #[arg(long, value_enum, default_value = "api")]
    kind: Kind,
    /// When its time is over, as RFC 3339, for instance 2027-01-01T00:00:00Z [default: never]
    #[arg(long, value_name = "TIME")]
    expires: Option<Timestamp>,
}

#[derive(Clone, Copy, ValueEnum)]
enum Kind {
    /// Every operation.
    Api,
    /// Extraction only.
    Link,
}

impl From<Kind> for TokenKind {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::Api => Self::Api,
            Kind::Link => Self::Link,
        }
    }
}

pub(super) async fn execute(command: Command) -> Result<(), Failure> {
    match command {
        Command::Issue(Issue { database, account, kind, expires }) => {
            let store = database.open().await?;
            let (id, token) = tokens::issue(store.as_ref(), &account, kind.into(), expires).await?;
            eprintln!("token {} of account {account}; it is shown this once:", id.get());
            say(token.expose())
        }
        Command::List { database } => {
            let (entries, now) = (database.open().await?.tokens().await?, Timestamp::now());
            say(&line("number", "account", "kind", "created", "state"))?;
            entries.iter().try_for_each(|entry| say(&row(entry, now)))
        }
        Command::Revoke { database, number } => {
            let id = id(&number)?;
            if database.open().await?.revoke_token(id, Timestamp::now()).await? {
                say(&format!("token {} is revoked", id.get()))
            } else {
                let line =
                    format!("there is no token {}; `server token list` shows which there are", id.get());
                Err(Failure::Failed(line))
            }
        }
    }
}

fn row(entry: &TokenEntry, now: Timestamp) -> String {
    let TokenEntry { id, account, kind, created_at, expires_at, revoked_at } = entry;
    let state = match (revoked_at, expires_at) {
        (Some(at), _) => format!("revoked {at}"),
        (None, Some(at)) if *at <= now => format!("expired {at}"),
        (None, Some(at)) => format!("good until {at}"),
        (None, None) => "good".to_owned(),
    };
    line(&id.get().to_string(), account, kind.name(), &created_at.to_string(), &state)
}

fn line(number: &str, account: &str, kind: &str, created: &str, state: &str) -> String {
    format!("{number:>6}  {account:<24} {kind:<5} {created:<30} {state}")
}

fn id(number: &str) -> Result<Id, Failure> {
    number.parse().ok().and_then(Id::new).ok_or_else(|| {
        Failure::Usage(
            "expected the number of a token, not the token; `server token list` shows it".to_owned(),
        )
    })
}

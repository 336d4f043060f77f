//! `server entitlement`.

use clap::{Args, Subcommand};
use jiff::Timestamp;
use sallyport_server::{
    domain::{access::has_expired, protocol::Protocol},
    store::{record::EntitlementRecord, registry::EntitlementFilter},
};

use super::{
    Failure,
    argument::{WithDatabase, future, named},
    confirm::Confirmation,
    listing::{Line, ListArguments},
    print_line,
};

pub(super) const EXAMPLES: &str = "\
Examples:
  server entitlement grant --account acme --protocol socks5 --expires 2027-01-01T00:00:00Z
  server entitlement grant --account acme --protocol socks5    without an expiry
  server entitlement list --account acme";

/// Commands for entitlements.
#[derive(Subcommand)]
pub(super) enum Command {
    /// Entitle an account to a protocol; replaces the expiry of an earlier entitlement.
    Grant(WithDatabase<Grant>),
    /// List entitlements by account.
    List(WithDatabase<List>),
    /// Revoke an entitlement; the next extraction is rejected.
    Revoke(WithDatabase<Revoke>),
}

#[derive(Args)]
pub(super) struct Grant {
    /// Name of the account.
    #[arg(long, value_name = "NAME")]
    account: String,
    /// Entitle the account to this protocol.
    #[arg(long, value_parser = named(Protocol::ALL, Protocol::name))]
    protocol: Protocol,
    /// Let the entitlement expire at this time, for example 2027-01-01T00:00:00Z [default: never]
    #[arg(long, value_name = "TIME", value_parser = future)]
    expires: Option<Timestamp>,
}

#[derive(Args)]
pub(super) struct List {
    /// Show only entitlements of this account.
    #[arg(long, value_name = "NAME")]
    account: Option<String>,
    /// Show only entitlements for this protocol.
    #[arg(long, value_parser = named(Protocol::ALL, Protocol::name))]
    protocol: Option<Protocol>,
    #[command(flatten)]
    list: ListArguments,
}

#[derive(Args)]
pub(super) struct Revoke {
    /// Name of the account.
    #[arg(long, value_name = "NAME")]
    account: String,
    /// Revoke the entitlement for this protocol.
    #[arg(long, value_parser = named(Protocol::ALL, Protocol::name))]
    protocol: Protocol,
    #[command(flatten)]
    confirmation: Confirmation,
}

impl Line for EntitlementRecord {
    const HEAD: &'static [&'static str] = &["account", "protocol", "state"];

    fn cells(&self) -> Vec<String> {
        let Self { account, protocol, expires_at } = self;
        let state = match expires_at {
            Some(at) if has_expired(Some(*at), Timestamp::now()) => format!("expired {at}"),
            Some(at) => format!("valid until {at}"),
            None => "valid".to_owned(),
        };
        vec![account.clone(), protocol.to_string(), state]
    }
}

pub(super) async fn execute(command: Command) -> Result<(), Failure> {
    match command {
        Command::Grant(on) => {
            let (registry, Grant { account, protocol, expires }) = on.open().await?;
            let end = expires.map_or_else(String::new, |end| format!(" until {end}"));
            let words = format!("account {account:?} may extract {protocol} gateways{end}");
            registry.grant(EntitlementRecord { account, protocol, expires_at: expires }).await?;
            print_line(&words)
        }
        Command::List(on) => {
            let (registry, List { account, protocol, list }) = on.open().await?;
            list.print::<EntitlementRecord>(&registry, EntitlementFilter { account, protocol }).await
        }
        Command::Revoke(on) => {
            on.arguments.confirmation.check_terminal()?;
            let (registry, Revoke { account, protocol, confirmation }) = on.open().await?;
            confirmation.ask(&format!("Revoke the entitlement of account {account:?} for {protocol}?"))?;
            registry.revoke_entitlement(account.clone(), protocol).await?;
            print_line(&format!("account {account:?} may no longer extract {protocol}"))
        }
    }
}

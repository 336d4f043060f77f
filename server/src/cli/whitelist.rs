//! `server whitelist`.

use std::net::{IpAddr, Ipv4Addr};

use clap::{Args, Subcommand};
use ipnet::Ipv4Net;
use jiff::Timestamp;
use sallyport_server::{
    domain::{access::WhitelistEntry, instance::Id},
    store::{
        record::WhitelistRecord,
        registry::{WhitelistFilter, WhitelistRow},
    },
};

use super::{
    Failure,
    argument::{ConfirmedNumbers, Numbers, WithDatabase, future, ids, in_words, is_or_are},
    listing::{Line, ListArguments, ShowArguments},
    print_line,
};

pub(super) const EXAMPLES: &str = "\
Examples:
  server whitelist add --account acme 192.0.2.1 192.0.2.16-192.0.2.31 198.51.100.0/24
  server whitelist list --covers 192.0.2.20   list the entries that cover this address
  server whitelist disable 5                  disable entry 5 from the next call on";

/// Commands for whitelist entries.
#[derive(Subcommand)]
pub(super) enum Command {
    /// Add addresses from which an account may extract, all or none.
    Add(WithDatabase<Add>),
    /// List entries by number.
    List(WithDatabase<List>),
    /// Enable entries, all or none.
    Enable(WithDatabase<Numbers>),
    /// Disable entries, all or none.
    Disable(WithDatabase<Numbers>),
    /// Remove entries, all or none.
    Remove(WithDatabase<ConfirmedNumbers>),
}

#[derive(Args)]
pub(super) struct Add {
    /// Add the entries to this account.
    #[arg(long, value_name = "NAME")]
    account: String,
    /// Let the entries expire at this time, for example 2027-01-01T00:00:00Z [default: never]
    #[arg(long, value_name = "TIME", value_parser = future)]
    expires: Option<Timestamp>,
    /// Add the entries disabled.
    #[arg(long)]
    disabled: bool,
    /// IPv4 addresses (192.0.2.1), ranges with both ends (192.0.2.1-192.0.2.9) or networks (192.0.2.0/24).
    #[arg(required = true, value_name = "ADDRESSES")]
    ranges: Vec<String>,
    #[command(flatten)]
    show: ShowArguments,
}

#[derive(Args)]
pub(super) struct List {
    /// Show only entries of this account.
    #[arg(long, value_name = "NAME")]
    account: Option<String>,
    /// Show only entries that cover this address.
    #[arg(long, value_name = "ADDRESS", value_parser = address)]
    covers: Option<Ipv4Addr>,
    #[command(flatten)]
    list: ListArguments,
}

impl Line for WhitelistRow {
    const HEAD: &'static [&'static str] = &["number", "account", "first", "last", "state"];

    fn cells(&self) -> Vec<String> {
        let Self { id, entry: WhitelistRecord { account, first, last, enabled, expires_at } } = self;
        let state = match (enabled, expires_at) {
            (_, Some(at)) if WhitelistEntry::has_expired(Some(*at), Timestamp::now()) => {
                format!("expired {at}")
            }
            (false, _) => "disabled".to_owned(),
            (true, Some(at)) => format!("enabled until {at}"),
            (true, None) => "enabled".to_owned(),
        };
        let last = last.unwrap_or(*first);
        vec![id.get().to_string(), account.clone(), first.to_string(), last.to_string(), state]
    }
}

pub(super) async fn execute(command: Command) -> Result<(), Failure> {
    match command {
        Command::Add(on) => {
            let entry = |(first, last)| WhitelistRecord {
                account: on.arguments.account.clone(),
                first,
                last: Some(last),
                enabled: !on.arguments.disabled,
                expires_at: on.arguments.expires,
            };
            let ranges = on.arguments.ranges.iter().map(|text| Ok(entry(range(text)?)));
            let entries = ranges.collect::<Result<_, String>>().map_err(Failure::Usage)?;
            let (registry, Add { show, .. }) = on.open().await?;
            registry.add_whitelist(entries).await?.iter().try_for_each(|row| {
                let WhitelistRow { id, entry } = row;
                let last = entry.last.unwrap_or(entry.first);
                let words = format!("whitelist entry {}: {}-{last}", id.get(), entry.first);
                show.print_or(row, &words)
            })
        }
        Command::List(on) => {
            let (registry, List { account, covers, list }) = on.open().await?;
            list.print::<WhitelistRow>(&registry, WhitelistFilter { account, covers }).await
        }
        Command::Enable(on) => enable(on, true).await,
        Command::Disable(on) => enable(on, false).await,
        Command::Remove(on) => {
            let question = |ids: &[Id]| format!("Remove {} from the whitelist?", in_words("number", ids));
            let (registry, ids) = on.confirm("whitelist entry", question).await?;
            registry.remove_whitelist(ids.clone()).await?;
            print_line(&format!("{} of the whitelist {} removed", in_words("number", &ids), is_or_are(&ids)))
        }
    }
}

async fn enable(on: WithDatabase<Numbers>, enabled: bool) -> Result<(), Failure> {
    let ids = ids("whitelist entry", &on.arguments.numbers)?;
    let (registry, _) = on.open().await?;
    registry.enable_whitelist(ids.clone(), enabled, Timestamp::now()).await?;
    let state = if enabled { "enabled" } else { "disabled" };
    print_line(&format!("{} of the whitelist {} {state}", in_words("number", &ids), is_or_are(&ids)))
}

/// Parses an IPv4 address, which may be written as IPv4-mapped IPv6.
fn address(text: &str) -> Result<Ipv4Addr, String> {
    match text.parse().map(|ip: IpAddr| ip.to_canonical()) {
        Ok(IpAddr::V4(ip)) => Ok(ip),
        _ => Err("expected an IPv4 address, for example 192.0.2.1".to_owned()),
    }
}

/// Parses an address, a range or a network into its first and last address.
fn range(text: &str) -> Result<(Ipv4Addr, Ipv4Addr), String> {
    let expected = || {
        "expected IPv4 addresses: one (192.0.2.1), a range (192.0.2.1-192.0.2.9) or a network (192.0.2.0/24)"
            .to_owned()
    };
    let address = |text: &str| address(text).map_err(|_| expected());
    if let Some((first, last)) = text.split_once('-') {
        let (first, last) = (address(first)?, address(last)?);
        if last < first {
            return Err(format!(
                "the range ends at {last}, before it begins at {first}; write {last}-{first}"
            ));
        }
        return Ok((first, last));
    }
    if text.contains('/') {
        let net: Ipv4Net = text.parse().map_err(|_| expected())?;
        if net.trunc() != net {
            return Err(format!(
                "`{net}` is not the first address of a network; write {} for the network or {} for the address",
                net.trunc(),
                net.addr()
            ));
        }
        return Ok((net.network(), net.broadcast()));
    }
    address(text).map(|address| (address, address))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_ranges_and_networks() {
        let both = |first: [u8; 4], last: [u8; 4]| Ok((first.into(), last.into()));
        assert_eq!(range("192.0.2.1"), both([192, 0, 2, 1], [192, 0, 2, 1]));
        assert_eq!(range("192.0.2.1-192.0.2.9"), both([192, 0, 2, 1], [192, 0, 2, 9]));
        assert_eq!(range("192.0.2.0/24"), both([192, 0, 2, 0], [192, 0, 2, 255]));
        assert_eq!(range("192.0.2.7/32"), both([192, 0, 2, 7], [192, 0, 2, 7]));
        assert_eq!(range("::ffff:192.0.2.1"), both([192, 0, 2, 1], [192, 0, 2, 1]));
        assert_eq!(range("::ffff:c000:201-192.0.2.9"), both([192, 0, 2, 1], [192, 0, 2, 9]));
        assert_eq!(range("0.0.0.0/0"), both([0; 4], [255; 4]));
    }

    #[test]
    fn what_is_no_range_is_told_how_to_be_one() {
        for (text, reason) in [
            ("192.0.2.9-192.0.2.1", "write 192.0.2.1-192.0.2.9"),
            ("192.0.2.5/24", "write 192.0.2.0/24 for the network or 192.0.2.5"),
            ("192.0.2.0/33", "expected IPv4"),
            ("2001:db8::1", "expected IPv4"),
            ("::192.0.2.1", "expected IPv4"),
            ("::ffff:192.0.2.0/120", "expected IPv4"),
            ("192.0.2", "expected IPv4"),
            ("192.0.2.01", "expected IPv4"),
            ("192.0.2.1-", "expected IPv4"),
            ("sally_api_5f", "expected IPv4"),
        ] {
            let error = range(text).unwrap_err();
            assert!(error.contains(reason) && !error.contains("sally"), "{error}");
        }
    }
}

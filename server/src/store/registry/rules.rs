//! What a record must keep to, beside the types of its fields.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ipnet::Ipv4Net;
use jiff::Timestamp;

use super::{Entry, RegistryError, Result, Session, rejected};
use crate::{
    domain::{
        access::{WhitelistEntry, has_expired},
        instance::{Id, Status},
        token::Token,
    },
    store::{
        record::{GatewayRecord, InstanceRecord, Record, WhitelistRecord, canonical_host},
        record_kind::RecordKind,
    },
};

/// Maximum length of an account's name, in characters.
const MAX_NAME_LENGTH: usize = 200;

/// Brings fields into the form in which they are stored, before their record is looked up by them.
pub(super) fn normalize(kind: RecordKind, given: &mut Entry) -> Result<()> {
    // What a list shows in place of a password.
    given.remove("hasPassword");
    match kind {
        RecordKind::Whitelist => {
            if let Some(range) = given.remove("range") {
                let (first, last) = range_of(range.as_str().unwrap_or_default())?;
                given.insert("first".to_owned(), first.to_string().into());
                given.insert("last".to_owned(), last.to_string().into());
            }
            if let Some(first) = given.get("first").cloned()
                && given.get("last").is_none_or(serde_json::Value::is_null)
            {
                given.insert("last".to_owned(), first);
            }
        }
        RecordKind::Gateway => {
            if let Some(host) = given.get("host").and_then(|host| host.as_str()) {
                given.insert("host".to_owned(), canonical_host(host.to_owned()).into());
            }
        }
        _ => {}
    }
    Ok(())
}

/// Checks what changes in a record against the rules of its kind, and sets what follows from it. `stored` is the record that it
/// replaces, `changed` has the given fields that have another value there.
pub(super) fn check(
    session: &mut dyn Session,
    stored: Option<&Record>,
    changed: &Entry,
    record: &mut Record,
    now: Timestamp,
) -> Result<()> {
    if let Some((before, after)) = stored.and_then(Record::owner).zip(record.owner())
        && before != after
    {
        return rejected(format!(
            "a record cannot move from account {before:?} to {after:?}; remove it and put it anew"
        ));
    }
    let changes = |name: &str| changed.contains_key(name);
    match record {
        Record::Account(account) if changes("name") => check_account_name(&account.name),
        Record::Account(_) | Record::Token(_) => Ok(()),
        Record::Whitelist(entry) => check_whitelist(entry, changes("enabled") || changes("expiresAt"), now),
        Record::Entitlement(entitlement) if changes("expiresAt") => check_expiry(entitlement.expires_at, now),
        Record::Entitlement(_) => Ok(()),
        Record::Gateway(gateway) => check_gateway(gateway, changed),
        Record::Group(group) => {
            if changes("name") {
                check_group_name(&group.name)?;
            }
            if stored.is_none() && group.group_id.get() <= retired(session)? {
                return rejected(format!(
                    "group {} was removed, or numbers above it were; they are not used again: leave out `groupId` for a new \
                     number",
                    group.group_id.get()
                ));
            }
            Ok(())
        }
        Record::Instance(instance) => {
            let before = match stored {
                Some(Record::Instance(before)) => Some(before.status),
                _ => None,
            };
            check_instance(session, before, changed, instance, now)
        }
    }
}

fn check_instance(
    session: &mut dyn Session,
    before: Option<Status>,
    changed: &Entry,
    instance: &mut InstanceRecord,
    now: Timestamp,
) -> Result<()> {
    let is_renewed = changed.contains_key("expiresAt") && !has_expired(instance.expires_at, now);
    if is_renewed && before == Some(Status::Expired) && !changed.contains_key("status") {
        instance.status = Status::Active;
    }
    if instance.status == Status::Active {
        if changed.contains_key("expiresAt") {
            check_expiry(instance.expires_at, now)?;
        }
        if before != Some(Status::Active) && !changed.contains_key("activatedAt") {
            instance.activated_at = instance.activated_at.or(Some(now));
        }
    }
    let Some(group) = instance.group_id else { return Ok(()) };
    match group_owner(session, group)? {
        Some(owner) if owner == instance.account => Ok(()),
        Some(owner) => rejected(format!(
            "group {} belongs to account {owner:?}, but instance {} to {:?}; `server list group` shows the groups of each \
             account",
            group.get(),
            instance.instance_id.get(),
            instance.account
        )),
        None => Err(RegistryError::Unknown(format!(
            "unknown group {}; `server list group` shows all",
            group.get()
        ))),
    }
}

fn group_owner(session: &mut dyn Session, group: Id) -> Result<Option<String>> {
    let owner = "SELECT a.name FROM groups AS g JOIN accounts AS a ON a.id = g.account_id WHERE g.id = $1";
    Ok(session.first(owner, &[group.into()])?)
}

fn check_whitelist(entry: &WhitelistRecord, opens: bool, now: Timestamp) -> Result<()> {
    let WhitelistRecord { first, last, enabled, expires_at, .. } = entry;
    if let Some(last) = last.filter(|last| last < first) {
        return rejected(backwards(*first, last));
    }
    match expires_at {
        Some(end) if opens && *enabled && WhitelistEntry::has_expired(Some(*end), now) => rejected(format!(
            "the whitelist entry expired {end}, so enabling it has no effect; set `expiresAt` to a later time, or to null"
        )),
        _ => Ok(()),
    }
}

fn check_expiry(end: Option<Timestamp>, now: Timestamp) -> Result<()> {
    match end {
        Some(end) if has_expired(Some(end), now) => {
            rejected(format!("`expiresAt`: expected a time in the future, found {end}"))
        }
        _ => Ok(()),
    }
}

fn check_account_name(name: &str) -> Result<()> {
    if Token::resembles(name) {
        return rejected("expected a name for the account, found what looks like a token; choose a name");
    }
    if name.trim() != name || name.is_empty() || name.chars().any(char::is_control) {
        return rejected(
            "expected a name for the account that is not empty, without control characters and without spaces at its \
             ends",
        );
    }
    match name.chars().count() {
        length if length > MAX_NAME_LENGTH => rejected(format!(
            "expected a name for the account of at most {MAX_NAME_LENGTH} characters, found {length}; shorten it"
        )),
        _ => Ok(()),
    }
}

fn check_group_name(name: &str) -> Result<()> {
    if name.is_empty() || name.chars().any(char::is_control) {
        return rejected("expected a name for the group that is not empty, without control characters");
    }
    Ok(())
}

/// The host is not quoted, because it may have a password before an `@`.
fn check_gateway(gateway: &GatewayRecord, changed: &Entry) -> Result<()> {
    let GatewayRecord { host, port, password, .. } = gateway;
    let bad = |letter: char| letter.is_control() || letter.is_whitespace() || "@/[]".contains(letter);
    let has_port = host.contains(':') && host.parse::<Ipv6Addr>().is_err();
    let changes = |name: &str| changed.contains_key(name);
    if changes("host") && (host.is_empty() || host.contains(bad) || has_port) {
        return rejected(
            "`host`: expected a host name or an address alone, for example gw1.example; user name, password and port are \
                         fields of their own",
        );
    }
    if changes("port") && *port == 0 {
        return rejected("`port`: expected an integer from 1 to 65535, found `0`");
    }
    let is_typed = |text: &str| !text.is_empty() && !text.chars().any(char::is_control);
    if changes("password") && password.as_ref().is_some_and(|password| !is_typed(password.expose())) {
        return rejected("`password`: expected a password without control characters that is not empty");
    }
    Ok(())
}

/// A number that no group has or had. No other transaction gets it.
pub(super) fn new_group_number(session: &mut dyn Session) -> Result<i64> {
    session.lock_numbers()?;
    let highest = session.number("SELECT coalesce(max(id), 0) FROM groups", &[])?;
    match highest.max(retired(session)?).checked_add(1) {
        Some(number) => Ok(number),
        None => {
            rejected("no group number above the largest one is left; put the group with a number of its own")
        }
    }
}

/// The highest number of a group that was removed. It and all below are not used again.
fn retired(session: &mut dyn Session) -> Result<i64> {
    Ok(session.number("SELECT coalesce(max(last), 0) FROM numbers WHERE kind = 'group'", &[])?)
}

/// Records the number of a group that is removed as used, and all below.
pub(super) fn retire(session: &mut dyn Session, number: i64) -> Result<()> {
    session.execute(
        "INSERT INTO numbers (kind, last) VALUES ('group', $1)
         ON CONFLICT (kind) DO UPDATE SET last = excluded.last WHERE excluded.last > numbers.last",
        &[number.into()],
    )?;
    Ok(())
}

fn backwards(first: Ipv4Addr, last: Ipv4Addr) -> String {
    format!("the range ends at {last}, before it begins at {first}; write {last}-{first}")
}

/// Parses an address, a range or a network into its first and last address. No error quotes the text, because it may be a token
/// by mistake.
fn range_of(text: &str) -> Result<(Ipv4Addr, Ipv4Addr)> {
    let expected = || {
        RegistryError::Rejected(
            "`range`: expected IPv4 addresses: one (192.0.2.1), a range (192.0.2.1-192.0.2.9) or a network \
             (192.0.2.0/24)"
                .to_owned(),
        )
    };
    let address = |text: &str| match text.parse().map(|ip: IpAddr| ip.to_canonical()) {
        Ok(IpAddr::V4(ip)) => Ok(ip),
        _ => Err(expected()),
    };
    if let Some((first, last)) = text.split_once('-') {
        let (first, last) = (address(first)?, address(last)?);
        return if last < first { rejected(backwards(first, last)) } else { Ok((first, last)) };
    }
    if !text.contains('/') {
        return address(text).map(|address| (address, address));
    }
    let net: Ipv4Net = text.parse().map_err(|_| expected())?;
    if net.trunc() != net {
        return rejected(format!(
            "`{net}` is not the first address of a network; write {} for the network or {} for the address",
            net.trunc(),
            net.addr()
        ));
    }
    Ok((net.network(), net.broadcast()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::token::TokenKind;

    #[test]
    fn invalid_names_are_rejected() {
        for good in ["acme", "Acme, Inc.", "北京公司", "a", &"x".repeat(MAX_NAME_LENGTH)] {
            assert!(check_account_name(good).is_ok(), "{good}");
        }
        for bad in ["", " acme", "acme\n", "a\u{1b}[31m", &"x".repeat(MAX_NAME_LENGTH + 1)] {
            assert!(matches!(check_account_name(bad), Err(RegistryError::Rejected(_))), "{bad:?}");
        }
        let token = Token::generate(TokenKind::Api);
        let error = check_account_name(token.expose()).unwrap_err();
        assert!(!error.to_string().contains(token.expose()), "{error}");
    }

    #[test]
    fn hosts_have_neither_ports_nor_passwords() {
        let check = |host: &str| {
            let gateway = GatewayRecord {
                host: host.to_owned(),
                port: 1,
                region: "USA".to_owned(),
                protocol: crate::domain::protocol::Protocol::Http,
                username: None,
                password: None,
            };
            check_gateway(&gateway, &Entry::from_iter([("host".to_owned(), host.into())]))
        };
        for host in ["gw1.example", "192.0.2.1", "2001:db8::1"] {
            assert!(check(host).is_ok(), "{host}");
        }
        for host in
            ["", "gw1.example:80", "user:very-secret@gw1.example", "[very-secret]", "http://gw1", "gw1 .x"]
        {
            let error = check(host).unwrap_err().to_string();
            assert!(error.starts_with("`host`: ") && !error.contains("very-secret"), "{error}");
        }
    }

    #[test]
    fn addresses_ranges_and_networks() {
        let both = |first: [u8; 4], last: [u8; 4]| Some((first.into(), last.into()));
        for (text, range) in [
            ("192.0.2.1", both([192, 0, 2, 1], [192, 0, 2, 1])),
            ("192.0.2.1-192.0.2.9", both([192, 0, 2, 1], [192, 0, 2, 9])),
            ("192.0.2.0/24", both([192, 0, 2, 0], [192, 0, 2, 255])),
            ("192.0.2.7/32", both([192, 0, 2, 7], [192, 0, 2, 7])),
            ("::ffff:192.0.2.1", both([192, 0, 2, 1], [192, 0, 2, 1])),
            ("::ffff:c000:201-192.0.2.9", both([192, 0, 2, 1], [192, 0, 2, 9])),
            ("0.0.0.0/0", both([0; 4], [255; 4])),
        ] {
            assert_eq!(range_of(text).ok(), range, "{text}");
        }
        for (text, reason) in [
            ("192.0.2.9-192.0.2.1", "write 192.0.2.1-192.0.2.9"),
            ("192.0.2.5/24", "write 192.0.2.0/24 for the network or 192.0.2.5"),
            ("192.0.2.0/33", "expected IPv4"),
            ("2001:db8::1", "expected IPv4"),
            ("::192.0.2.1", "expected IPv4"),
            ("::ffff:192.0.2.0/120", "expected IPv4"),
            ("192.0.2.01", "expected IPv4"),
            ("192.0.2.1-", "expected IPv4"),
            ("sally_api_5f", "expected IPv4"),
        ] {
            let error = range_of(text).unwrap_err().to_string();
            assert!(error.contains(reason) && !error.contains("sally"), "{error}");
        }
    }
}

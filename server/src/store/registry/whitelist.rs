//! The whitelist: the addresses from which an account may extract.

use std::net::{IpAddr, Ipv4Addr};

use jiff::Timestamp;
use serde::Serialize;

use super::{FromRow, ListEntry, Query, Registry, RegistryError, Result, Row, Session, accounts, from_row};
use crate::{
    domain::{access::WhitelistEntry, instance::Id},
    store::{StoreError, record::WhitelistRecord},
};

/// A whitelist entry with its number.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WhitelistRow {
    /// Number of the entry.
    pub id: Id,
    /// The entry; its last address is always set.
    #[serde(flatten)]
    pub entry: WhitelistRecord,
}

/// Selects whitelist entries.
#[derive(Clone, Debug, Default)]
pub struct WhitelistFilter {
    /// Those of the account of that name.
    pub account: Option<String>,
    /// Those that cover this address.
    pub covers: Option<Ipv4Addr>,
}

const SELECT: &str = "SELECT w.id, a.name, w.first, w.last, w.enabled, w.expires_at
     FROM whitelist AS w JOIN accounts AS a ON a.id = w.account_id WHERE TRUE";

impl ListEntry for WhitelistRow {
    type Filter = WhitelistFilter;

    fn query(session: &mut dyn Session, filter: &WhitelistFilter) -> Result<Query> {
        let account = accounts::find_any(session, filter.account.as_ref())?;
        let mut query = Query::new(SELECT).only("w.account_id", account);
        if let Some(ip) = filter.covers {
            query.values.push(IpAddr::V4(ip).into());
            let place = query.values.len();
            query = query.then(&format!("AND w.first <= ${place} AND w.last >= ${place}"));
        }
        Ok(query.then("ORDER BY w.id"))
    }
}

from_row!(WhitelistRow: id, entry);

impl Registry {
    /// Adds entries, all or none, and returns them with their numbers.
    ///
    /// # Errors
    /// The account is unknown, a range ends before it begins, or the account already has an entry for the same range.
    pub async fn add_whitelist(&self, entries: Vec<WhitelistRecord>) -> Result<Vec<WhitelistRow>> {
        self.change(move |session| entries.into_iter().map(|entry| add(session, entry)).collect()).await
    }

    /// Enables or disables entries, all or none of them.
    ///
    /// # Errors
    /// One of the entries is unknown, or one to be enabled has expired.
    pub async fn enable_whitelist(&self, ids: Vec<Id>, enabled: bool, now: Timestamp) -> Result<()> {
        self.change(move |session| {
            for id in ids {
                if enabled
                    && let Some(end) = find(session, id)?.entry.expires_at
                    && WhitelistEntry::has_expired(Some(end), now)
                {
                    return Err(RegistryError::Rejected(format!(
                        "whitelist entry {} expired {end}, so enabling it has no effect; remove it and add the range \
                         again",
                        id.get()
                    )));
                }
                let change = "UPDATE whitelist SET enabled = $1 WHERE id = $2";
                if session.execute(change, &[enabled.into(), id.into()])? == 0 {
                    return Err(unknown(id));
                }
            }
            Ok(())
        })
        .await
    }

    /// Removes entries, all or none of them.
    ///
    /// # Errors
    /// One of the entries is unknown.
    pub async fn remove_whitelist(&self, ids: Vec<Id>) -> Result<()> {
        self.change(move |session| {
            for id in ids {
                if session.execute("DELETE FROM whitelist WHERE id = $1", &[id.into()])? == 0 {
                    return Err(unknown(id));
                }
            }
            Ok(())
        })
        .await
    }
}

fn add(session: &mut dyn Session, entry: WhitelistRecord) -> Result<WhitelistRow> {
    let WhitelistRecord { account, first, last, enabled, expires_at } = entry;
    let last = last.unwrap_or(first);
    if last < first {
        return Err(RegistryError::Rejected(format!(
            "the range ends at {last}, before it begins at {first}; write {last}-{first}"
        )));
    }
    let owner = accounts::find(session, &account)?;
    let [from, to] = [first, last].map(IpAddr::V4);
    let added = session.first(
        "INSERT INTO whitelist (account_id, first, last, enabled, expires_at) VALUES ($1, $2, $3, $4, $5)
         ON CONFLICT (account_id, first, last) DO NOTHING RETURNING id",
        &[owner.into(), from.into(), to.into(), enabled.into(), expires_at.into()],
    )?;
    if let Some(id) = added {
        let entry = WhitelistRecord { account, first, last: Some(last), enabled, expires_at };
        return Ok(WhitelistRow { id, entry });
    }
    let same = session.first(
        "SELECT id FROM whitelist WHERE account_id = $1 AND first = $2 AND last = $3",
        &[owner.into(), from.into(), to.into()],
    )?;
    let id: Id = same.ok_or_else(|| {
        StoreError::Busy(format!("the entry for {first}-{last} was removed at the same time"))
    })?;
    let WhitelistRecord { enabled, expires_at, .. } = find(session, id)?.entry;
    let number = id.get();
    let advice = match expires_at {
        Some(end) => format!("with the end {end}; `server whitelist remove {number}` removes it"),
        None if enabled => "enabled and without an end".to_owned(),
        None => format!("disabled; `server whitelist enable {number}` enables it"),
    };
    Err(RegistryError::AlreadyExists(format!(
        "account {account:?} already has {first}-{last}, as whitelist entry {number}, {advice}"
    )))
}

fn find(session: &mut dyn Session, id: Id) -> Result<WhitelistRow> {
    Query::new(SELECT).only("w.id", Some(id)).first(session)?.ok_or_else(|| unknown(id))
}

fn unknown(id: Id) -> RegistryError {
    RegistryError::Unknown(format!("unknown whitelist entry {}; `server whitelist list` shows all", id.get()))
}

//! Static instances. Lists hold no passwords.

use std::net::IpAddr;

use jiff::Timestamp;
use serde::Serialize;

use super::{
    FromRow, ListEntry, Query, Registry, RegistryError, Result, Row, Session, accounts, from_row, groups,
};
use crate::{
    domain::instance::{Capabilities, Id, Status},
    store::StoreError,
};

/// An instance as [`InstanceRecord`](crate::store::record::InstanceRecord), but without its password.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "the fields are those of the record, and whether it has a password")]
pub struct InstanceEntry {
    pub account: String,
    pub order_no: Option<String>,
    pub instance_id: Id,
    pub offer_id: Id,
    pub status: Status,
    pub ip: IpAddr,
    pub port: u16,
    pub protocols: Vec<String>,
    pub country_code: String,
    pub city_code: String,
    pub isp_type: u32,
    pub expires_at: Option<Timestamp>,
    pub activated_at: Option<Timestamp>,
    pub capabilities: Capabilities,
    pub group_id: Option<Id>,
    pub username: Option<String>,
    pub has_password: bool,
}

/// The group of an instance, if any.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupChoice {
    /// In no group.
    Ungrouped,
    /// In this group.
    In(Id),
}

/// Selects instances.
#[derive(Clone, Debug, Default)]
#[expect(missing_docs, reason = "each field asks for equality with the field of that name")]
pub struct InstanceFilter {
    /// Those of the account of that name.
    pub account: Option<String>,
    pub group: Option<GroupChoice>,
    pub status: Option<Status>,
    pub ip: Option<IpAddr>,
    pub country_code: Option<String>,
    pub city_code: Option<String>,
    pub order_no: Option<String>,
}

// The accounts come first, so that for each of them the index by address is scanned in order, or searched.
const SELECT: &str =
    "SELECT a.name, i.order_no, i.id, i.offer_id, i.status, i.ip, i.port, i.protocols, i.country_code,
     i.city_code, i.isp_type, i.expires_at, i.activated_at, i.capabilities, i.group_id, i.username,
     i.password IS NOT NULL
     FROM accounts AS a CROSS JOIN instances AS i WHERE i.account_id = a.id";

impl ListEntry for InstanceEntry {
    type Filter = InstanceFilter;

    fn query(session: &mut dyn Session, filter: &InstanceFilter) -> Result<Query> {
        let InstanceFilter { account, group, status, ip, country_code, city_code, order_no } = filter;
        let account = accounts::find_any(session, account.as_ref())?;
        let query = Query::new(SELECT);
        let query = match *group {
            None => query,
            Some(GroupChoice::Ungrouped) => query.then("AND i.group_id IS NULL"),
            Some(GroupChoice::In(id)) => {
                // An unknown group is an error, not an empty list.
                groups::owner(session, id)?;
                query.only("i.group_id", Some(id))
            }
        };
        Ok(query
            .only("a.id", account)
            .only("i.status", *status)
            .only("i.ip", *ip)
            .only("i.country_code", country_code.as_deref())
            .only("i.city_code", city_code.as_deref())
            .only("i.order_no", order_no.as_deref())
            .then("ORDER BY a.id, i.ip, i.port, i.id"))
    }
}

from_row!(InstanceEntry: account, order_no, instance_id, offer_id, status, ip, port, protocols, country_code, city_code,
    isp_type, expires_at, activated_at, capabilities, group_id, username, has_password);

impl Registry {
    /// One instance.
    ///
    /// # Errors
    /// The instance is unknown.
    pub async fn instance(&self, id: Id) -> Result<InstanceEntry> {
        self.read(move |session| {
            let (account, _) = owner(session, id)?;
            let query = Query::new(SELECT).only("a.id", Some(account)).only("i.id", Some(id));
            query.first(session)?.ok_or_else(|| unknown(id))
        })
        .await
    }

    /// Sets the status of instances, all or none of them. The first change to active sets the activation time to `now`.
    ///
    /// # Errors
    /// One of the instances is unknown.
    pub async fn set_instance_status(&self, ids: Vec<Id>, status: Status, now: Timestamp) -> Result<()> {
        self.change_uncached(move |session| {
            let activated = (status == Status::Active).then_some(now);
            for id in ids {
                let (account, _) = owner(session, id)?;
                session.execute(
                    "UPDATE instances SET status = $1, activated_at = coalesce(activated_at, $2)
                     WHERE account_id = $3 AND id = $4",
                    &[status.into(), activated.into(), account.into(), id.into()],
                )?;
            }
            Ok(())
        })
        .await
    }

    /// Sets the time at which instances expire, all or none of them. Expired ones become active, as [`Registry::set_instance_status`]
    /// makes them.
    ///
    /// # Errors
    /// One of the instances is unknown.
    pub async fn renew_instances(&self, ids: Vec<Id>, expires_at: Timestamp, now: Timestamp) -> Result<()> {
        self.change_uncached(move |session| {
            for id in ids {
                let (account, _) = owner(session, id)?;
                session.execute(
                    "UPDATE instances SET expires_at = $1 WHERE account_id = $2 AND id = $3",
                    &[Some(expires_at).into(), account.into(), id.into()],
                )?;
                session.execute(
                    "UPDATE instances SET status = $1, activated_at = coalesce(activated_at, $2)
                     WHERE account_id = $3 AND id = $4 AND status = $5",
                    &[
                        Status::Active.into(),
                        Some(now).into(),
                        account.into(),
                        id.into(),
                        Status::Expired.into(),
                    ],
                )?;
            }
            Ok(())
        })
        .await
    }

    /// Moves instances into a group of their account, or out of their groups, all or none of them.
    ///
    /// # Errors
    /// An instance or the group is unknown, or they belong to different accounts.
    pub async fn move_instances(&self, ids: Vec<Id>, to: GroupChoice) -> Result<()> {
        self.change_uncached(move |session| {
            let group = match to {
                GroupChoice::Ungrouped => None,
                GroupChoice::In(id) => Some((id, groups::owner(session, id)?)),
            };
            for id in ids {
                let (account, name) = owner(session, id)?;
                if let Some((group, (groups_account, groups_name))) = &group
                    && *groups_account != account
                {
                    return Err(RegistryError::Rejected(format!(
                        "group {} belongs to account {groups_name:?}, but instance {} to {name:?}; `server group \
                         list --account` shows the groups of an account",
                        group.get(),
                        id.get()
                    )));
                }
                session.execute(
                    "UPDATE instances SET group_id = $1 WHERE account_id = $2 AND id = $3",
                    &[group.as_ref().map(|(id, _)| *id).into(), account.into(), id.into()],
                )?;
            }
            Ok(())
        })
        .await
    }

    /// Removes instances, all or none of them.
    ///
    /// # Errors
    /// One of the instances is unknown.
    pub async fn remove_instances(&self, ids: Vec<Id>) -> Result<()> {
        self.change_uncached(move |session| {
            for id in ids {
                let (account, _) = owner(session, id)?;
                session.execute(
                    "DELETE FROM instances WHERE account_id = $1 AND id = $2",
                    &[account.into(), id.into()],
                )?;
            }
            Ok(())
        })
        .await
    }
}

/// The number of the account that owns an instance, and its name.
fn owner(session: &mut dyn Session, id: Id) -> Result<(i64, String)> {
    let owner = session.first(
        "SELECT i.account_id, a.name FROM instances AS i JOIN accounts AS a ON a.id = i.account_id
         WHERE i.id = $1",
        &[id.into()],
    )?;
    owner.ok_or_else(|| unknown(id))
}

fn unknown(id: Id) -> RegistryError {
    RegistryError::Unknown(format!("unknown instance {}; `server instance list` shows all", id.get()))
}

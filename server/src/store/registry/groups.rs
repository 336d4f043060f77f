//! Groups of static instances.

use jiff::Timestamp;

use super::{ListEntry, Query, Registry, RegistryError, Result, Session, Value, accounts, numbers};
use crate::{domain::instance::Id, printable::counted, store::record::GroupRecord};

/// Selects groups.
#[derive(Clone, Debug, Default)]
pub struct GroupFilter {
    /// Those of the account of that name.
    pub account: Option<String>,
}

const SELECT: &str = "SELECT a.name, g.id, g.name, g.created_at, g.updated_at
     FROM groups AS g JOIN accounts AS a ON a.id = g.account_id WHERE TRUE";

impl ListEntry for GroupRecord {
    type Filter = GroupFilter;

    fn query(session: &mut dyn Session, filter: &GroupFilter) -> Result<Query> {
        let account = accounts::find_any(session, filter.account.as_ref())?;
        Ok(Query::new(SELECT).only("g.account_id", account).then("ORDER BY g.id"))
    }
}

impl Registry {
    /// Adds a group to an account, with a number that no group has had before.
    ///
    /// # Errors
    /// The account is unknown.
    pub async fn add_group(&self, account: String, name: String, now: Timestamp) -> Result<GroupRecord> {
        self.change_uncached(move |session| {
            check_name(&name)?;
            let owner = accounts::find(session, &account)?;
            session.lock_numbers()?;
            let highest = session.number("SELECT coalesce(max(id), 0) FROM groups", &[])?;
            let retired =
                session.number("SELECT coalesce(max(last), 0) FROM numbers WHERE kind = 'group'", &[])?;
            let group_id = highest.max(retired).checked_add(1).and_then(Id::new).ok_or_else(|| {
                RegistryError::Rejected("no group number above the largest one is left; import the group with a number of its own".to_owned())
            })?;
            session.execute(
                "INSERT INTO groups (id, account_id, name, created_at, updated_at) VALUES ($1, $2, $3, $4, $4)",
                &[group_id.into(), owner.into(), name.as_str().into(), now.into()],
            )?;
            Ok(GroupRecord { account, group_id, name, created_at: now, updated_at: now })
        })
        .await
    }

    /// One group, and the number of its instances.
    ///
    /// # Errors
    /// The group is unknown.
    pub async fn group(&self, id: Id) -> Result<(GroupRecord, i64)> {
        self.read(move |session| {
            let group = find(session, id)?;
            let account = accounts::find(session, &group.account)?;
            Ok((group, count_instances(session, account, id)?))
        })
        .await
    }

    /// Renames a group.
    ///
    /// # Errors
    /// The group is unknown.
    pub async fn rename_group(&self, id: Id, name: String, now: Timestamp) -> Result<()> {
        self.change_uncached(move |session| {
            check_name(&name)?;
            let changed = session.execute(
                "UPDATE groups SET name = $1, updated_at = $2 WHERE id = $3",
                &[name.as_str().into(), now.into(), id.into()],
            )?;
            if changed == 0 { Err(unknown(id)) } else { Ok(()) }
        })
        .await
    }

    /// Removes a group. With `ungroup` its instances become ungrouped. Returns the number of these.
    ///
    /// # Errors
    /// The group is unknown, or it has instances and `ungroup` is false.
    pub async fn remove_group(&self, id: Id, ungroup: bool) -> Result<i64> {
        self.change_uncached(move |session| {
            let group = find(session, id)?;
            let account = accounts::find(session, &group.account)?;
            let count = count_instances(session, account, id)?;
            if count > 0 && !ungroup {
                return Err(RegistryError::InUse(format!(
                    "group {} has {}; move them with `server instance move`, or pass --ungroup to leave them \
                     without a group",
                    id.get(),
                    counted(count, "instance")
                )));
            }
            session.execute(
                "UPDATE instances SET group_id = NULL WHERE account_id = $1 AND group_id = $2",
                &[account.into(), id.into()],
            )?;
            numbers::retire(session, id.get())?;
            session.execute("DELETE FROM groups WHERE id = $1", &[id.into()])?;
            Ok(count)
        })
        .await
    }
}

/// The number of the account that owns a group, and its name.
pub(super) fn owner(session: &mut dyn Session, id: Id) -> Result<(i64, String)> {
    let owner = session.first(
        "SELECT g.account_id, a.name FROM groups AS g JOIN accounts AS a ON a.id = g.account_id WHERE g.id = $1",
        &[id.into()],
    )?;
    owner.ok_or_else(|| unknown(id))
}

fn find(session: &mut dyn Session, id: Id) -> Result<GroupRecord> {
    Query::new(SELECT).only("g.id", Some(id)).first(session)?.ok_or_else(|| unknown(id))
}

fn count_instances(session: &mut dyn Session, account: i64, id: Id) -> Result<i64> {
    let values: [Value<'_>; 2] = [account.into(), id.into()];
    Ok(session.number("SELECT count(*) FROM instances WHERE account_id = $1 AND group_id = $2", &values)?)
}

fn unknown(id: Id) -> RegistryError {
    RegistryError::Unknown(format!("unknown group {}; `server group list` shows all", id.get()))
}

fn check_name(name: &str) -> Result<()> {
    if name.is_empty() || name.chars().any(char::is_control) {
        let reason = "expected a name for the group that is not empty, without control characters";
        return Err(RegistryError::Rejected(reason.to_owned()));
    }
    Ok(())
}

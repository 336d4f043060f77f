//! What a record that is put must keep to, beside the forms of its fields.

use jiff::Timestamp;

use super::{RegistryError, Result, Session, rejected};
use crate::{
    domain::{Status, access::has_expired, instance::Id},
    store::{record::Record, record_kind::RecordKind, value::Value},
};

/// Checks what changes in a record against the rules of its kind, and sets what follows from it. `stored` is the record that it
/// replaces, `given` has the fields that were given. What is stored may be old or imported, and is no reason to reject a change of
/// something else.
pub(super) fn check(
    session: &mut dyn Session,
    stored: Option<&Record>,
    given: &Record,
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
    let changes = |name: &str| {
        let value = given.value(name);
        value.is_some() && stored.is_none_or(|stored| stored.value(name) != value)
    };
    for (field, value) in given.given().filter(|(field, value)| **value != Value::Null && changes(field.name))
    {
        if let Some(rule) = field.rule.filter(|rule| !(rule.is_met)(value)) {
            return rejected(format!("`{}`: expected {}", field.name, rule.expected));
        }
    }
    match record.kind {
        RecordKind::Group => {
            let number: Id = record.get("groupId")?;
            if stored.is_none() && number.get() <= retired(session)? {
                return rejected(format!(
                    "group {} was removed, or numbers above it were; they are not used again: leave out `groupId` for a new \
                     number",
                    number.get()
                ));
            }
            Ok(())
        }
        RecordKind::Instance => check_instance(session, stored, changes, record, now),
        _ => Ok(()),
    }
}

fn check_instance(
    session: &mut dyn Session,
    stored: Option<&Record>,
    changes: impl Fn(&str) -> bool,
    instance: &mut Record,
    now: Timestamp,
) -> Result<()> {
    let before: Option<Status> = stored.map(|stored| stored.get("status")).transpose()?;
    let is_renewed = changes("expiresAt") && !has_expired(instance.get("expiresAt")?, now);
    if is_renewed && before == Some(Status::Expired) && !changes("status") {
        instance.set("status", Status::Active.into());
    }
    let is_activated = instance.get::<Option<Timestamp>>("activatedAt")?.is_some();
    let becomes_active =
        instance.get::<Status>("status")? == Status::Active && before != Some(Status::Active);
    if becomes_active && !changes("activatedAt") && !is_activated {
        instance.set("activatedAt", now.into());
    }
    let Some(group) = instance.get::<Option<Id>>("groupId")? else { return Ok(()) };
    let owner = "SELECT a.name FROM groups AS g JOIN accounts AS a ON a.id = g.account_id WHERE g.id = $1";
    let (group, owner) = (group.get(), session.first::<String>(owner, &[group.into()])?);
    match owner {
        Some(owner) if instance.owner() == Some(&owner) => Ok(()),
        Some(owner) => rejected(format!(
            "group {group} belongs to account {owner:?}, but {} to {:?}; `server list group` shows the groups of each account",
            instance.shown(),
            instance.owner().unwrap_or_default()
        )),
        None => Err(RegistryError::Unknown(format!("unknown group {group}; `server list group` shows all"))),
    }
}

/// A number that no group has or had. No other transaction gets it.
pub(super) fn new_group_number(session: &mut dyn Session) -> Result<i64> {
    session.batch(session.dialect().lock_numbers)?;
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

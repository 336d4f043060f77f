//! Removes records, and what depends on them if that is asked for.

use super::{
    Access, RegistryError, Result, Session, Store, accounts,
    list::{Condition, Query},
    put::{shown, unknown},
    rules,
};
use crate::{printable::counted, store::record_kind::RecordKind};

/// The records to remove: for each list of conditions those that meet all of them, which must exist.
pub type Selection = Vec<Vec<Condition>>;

/// What happens to records that refer to a removed one. If they are not mentioned, nothing is removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dependents {
    /// The records of an account are removed with it.
    pub with_data: bool,
    /// The instances of a group stay, without a group.
    pub ungroup: bool,
}

impl Store {
    /// What [`Self::remove`] would remove, in words.
    pub async fn removal(&self, kind: RecordKind, selection: Selection, of: Dependents) -> Result<String> {
        self.run(Access::Snapshot, move |session| Ok(check(session, kind, &selection, of, "")?.1)).await
    }

    /// Removes records, all or none. Returns in words what was removed.
    ///
    /// # Errors
    /// No record meets one of the lists of conditions, other records refer to a record, or another command has put more meanwhile.
    pub async fn remove(&self, kind: RecordKind, selection: Selection, of: Dependents) -> Result<String> {
        if kind == RecordKind::Token {
            return super::rejected("a token cannot be removed; revoke it with `server token revoke`");
        }
        self.change(kind, move |session| {
            let lock = session.dialect().row_lock;
            let (total, words) = check(session, kind, &selection, of, lock)?;
            let mut removed = 0;
            for conditions in selection {
                for number in numbers(session, kind, &conditions, lock)? {
                    remove_dependents(session, kind, number)?;
                }
                let delete = Query::new(&format!("DELETE FROM {} AS t WHERE TRUE", kind.table()));
                let delete = delete.only(session, &conditions)?;
                removed += session.execute(&delete.sql, &delete.values)?;
            }
            // Each statement may see what another command has put meanwhile.
            if i64::try_from(removed) != Ok(total) {
                return super::rejected(
                    "what would be removed has changed meanwhile; nothing was removed, try again",
                );
            }
            Ok(words)
        })
        .await
    }
}

/// Checks that every condition is met and that nothing refers to the records. Returns their number, and them in words.
fn check(
    session: &mut dyn Session,
    kind: RecordKind,
    selection: &Selection,
    of: Dependents,
    lock: &str,
) -> Result<(i64, String)> {
    let (mut names, mut total, mut dependents) = (Vec::new(), 0, Vec::new());
    for conditions in selection {
        let count = Query::new(&format!("SELECT count(*) FROM {} AS t WHERE TRUE", kind.table()));
        let count = count.only(session, conditions)?;
        match session.number(&count.sql, &count.values)? {
            0 => return Err(missing(session, kind, conditions)?),
            count => total += count,
        }
        names.push(shown(conditions));
        for number in numbers(session, kind, conditions, lock)? {
            dependents.extend(check_dependents(session, kind, number, of)?);
        }
    }
    let is_named = i64::try_from(names.len()) == Ok(total)
        && selection.iter().flatten().all(|condition| condition.is_of_key(kind));
    let words = match (is_named, total) {
        (false, _) => counted(total, kind.noun()),
        (true, 1) => format!("{} {}", kind.noun(), names.join(", ")),
        (true, _) => format!("{}: {}", counted(total, kind.noun()), names.join(", ")),
    };
    let with =
        if dependents.is_empty() { String::new() } else { format!(", with {}", dependents.join(", ")) };
    Ok((total, words + &with))
}

fn missing(session: &mut dyn Session, kind: RecordKind, conditions: &[Condition]) -> Result<RegistryError> {
    match (kind, conditions) {
        (RecordKind::Account, [name]) => accounts::unknown(session, name.text().unwrap_or_default()),
        // A text is not quoted, because it may hold a password.
        (_, [key]) if key.text().is_none() => Ok(unknown(kind, conditions)),
        _ => Ok(RegistryError::Unknown(format!(
            "no {} meets the conditions; `server list {}` shows all",
            kind.noun(),
            kind.name()
        ))),
    }
}

/// The numbers of the matching records that others may refer to: accounts and groups. With the suffix `row_lock` of the dialect nothing
/// can be added to them until the transaction ends.
fn numbers(
    session: &mut dyn Session,
    kind: RecordKind,
    conditions: &[Condition],
    lock: &str,
) -> Result<Vec<i64>> {
    if referring(kind).is_empty() {
        return Ok(Vec::new());
    }
    let query = Query::new(&format!("SELECT t.id FROM {} AS t WHERE TRUE", kind.table()));
    let mut query = query.only(session, conditions)?;
    query.push(lock);
    Ok(session.all(&query.sql, &query.values)?)
}

/// The instances of a group, by the index that begins with their account.
const OF_GROUP: &str = "account_id = (SELECT account_id FROM groups WHERE id = $1) AND group_id = $1";

/// The kinds of what refers to a record of this kind, with the condition that it meets.
fn referring(kind: RecordKind) -> Vec<(RecordKind, &'static str)> {
    match kind {
        RecordKind::Account => {
            let owned = RecordKind::ALL.into_iter().filter(|kind| kind.has_owner());
            owned.map(|kind| (kind, "account_id = $1")).collect()
        }
        RecordKind::Group => vec![(RecordKind::Instance, OF_GROUP)],
        _ => Vec::new(),
    }
}

/// What refers to a record, in words such as "2 tokens, 1 group". Fails if that keeps the record.
fn check_dependents(
    session: &mut dyn Session,
    kind: RecordKind,
    number: i64,
    of: Dependents,
) -> Result<Option<String>> {
    let mut words = Vec::new();
    for (kind, condition) in referring(kind) {
        let sql = format!("SELECT count(*) FROM {} WHERE {condition}", kind.table());
        let count = session.number(&sql, &[number.into()])?;
        words.extend((count > 0).then(|| counted(count, kind.noun())));
    }
    let words = words.join(", ");
    let is_account = kind == RecordKind::Account;
    if words.is_empty() || (if is_account { of.with_data } else { of.ungroup }) {
        return Ok(Some(words).filter(|words| !words.is_empty()));
    }
    let (name, advice) = if is_account {
        let name = session.first::<String>("SELECT name FROM accounts WHERE id = $1", &[number.into()])?;
        let name = format!("{:?}", name.unwrap_or_default());
        (name, "remove them first, or all together with --with-data")
    } else {
        let advice = "put them into another group, or pass --ungroup to leave them without a group";
        (number.to_string(), advice)
    };
    super::rejected(format!("{} {name} has {words}; {advice}", kind.noun()))
}

fn remove_dependents(session: &mut dyn Session, kind: RecordKind, number: i64) -> Result<()> {
    if kind == RecordKind::Group {
        let ungroup = format!("UPDATE instances SET group_id = NULL WHERE {OF_GROUP}");
        session.execute(&ungroup, &[number.into()])?;
        return rules::retire(session, number);
    }
    let highest = "SELECT coalesce(max(id), 0) FROM groups WHERE account_id = $1";
    let highest = session.number(highest, &[number.into()])?;
    rules::retire(session, highest)?;
    // Instances refer to groups.
    let owned = referring(kind).into_iter().rev().map(|(owned, _)| owned.table());
    for table in owned.chain(["extractions"]) {
        session.execute(&format!("DELETE FROM {table} WHERE account_id = $1"), &[number.into()])?;
    }
    Ok(())
}

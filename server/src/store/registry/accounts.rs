//! Accounts by name.

use super::{RecordKind, RegistryError, Result, Session, shown_name};
use crate::{names::nearest, printable::counted};

/// The number of an account.
pub(super) fn find(session: &mut dyn Session, name: &str) -> Result<i64> {
    match session.first("SELECT id FROM accounts WHERE name = $1", &[name.into()])? {
        Some(id) => Ok(id),
        None => Err(unknown(session, name)?),
    }
}

pub(super) fn unknown(session: &mut dyn Session, name: &str) -> Result<RegistryError> {
    let names: Vec<String> = session.all("SELECT name FROM accounts", &[])?;
    let names: Vec<_> = names.iter().map(String::as_str).collect();
    let advice = match nearest(name, &names) {
        Some(near) => format!("did you mean {near:?}?"),
        None => "`server list account` shows all".to_owned(),
    };
    Ok(RegistryError::Unknown(format!("unknown account {}; {advice}", shown_name(name))))
}

/// The records that an account owns, in words such as "2 tokens, 1 group"; `None` if it owns none.
pub(super) fn belongings(session: &mut dyn Session, account: i64) -> Result<Option<String>> {
    let mut words = Vec::new();
    for kind in RecordKind::ALL.into_iter().filter(|kind| kind.has_owner()) {
        let sql = format!("SELECT count(*) FROM {} WHERE account_id = $1", kind.table());
        let count = session.number(&sql, &[account.into()])?;
        words.extend((count > 0).then(|| counted(count, kind.noun())));
    }
    Ok((!words.is_empty()).then(|| words.join(", ")))
}

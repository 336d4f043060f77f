//! Accounts by name.

use super::{RegistryError, Result, Session, shown_name};
use crate::names::nearest;

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

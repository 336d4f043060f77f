//! Group numbers that were in use. No new group gets one of them.

use super::{Result, Session};

/// Records the numbers of an account's groups as used before the groups are removed, so that no new group gets one of them.
pub(super) fn retire_all(session: &mut dyn Session, account: i64) -> Result<()> {
    let highest =
        session.number("SELECT coalesce(max(id), 0) FROM groups WHERE account_id = $1", &[account.into()])?;
    retire(session, highest)
}

/// Records this number, and all below, as used.
pub(super) fn retire(session: &mut dyn Session, number: i64) -> Result<()> {
    session.execute(
        "INSERT INTO numbers (kind, last) VALUES ('group', $1)
         ON CONFLICT (kind) DO UPDATE SET last = excluded.last WHERE excluded.last > numbers.last",
        &[number.into()],
    )?;
    Ok(())
}

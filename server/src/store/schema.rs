//! Brings the schema of a database up to date.

use super::{OpenMode, Unusable, session::Session};

/// Runs the migrations that the database lacks. If several programs start at the same time, one does it, and the others wait. If this
/// fails, the connection must be closed, which undoes all of it.
pub(super) fn migrate(session: &mut dyn Session, mode: OpenMode) -> Result<(), Unusable> {
    let schema = &session.dialect().schema;
    session.batch(schema.begin)?;
    let (is_ours, is_empty) = session.first(schema.owner, &[])?.unwrap_or((false, false));
    let known = i64::try_from(schema.migrations.len()).unwrap_or(i64::MAX);
    let found = match (is_ours, is_empty, mode) {
        (true, ..) => session.number(schema.version, &[])?,
        (false, true, OpenMode::Create) => 0,
        (false, true, OpenMode::Existing) => return Err(Unusable::Missing),
        (false, false, _) => return Err(Unusable::Foreign(schema.foreign)),
    };
    if found > known {
        return Err(Unusable::Newer(found, known));
    }
    for migration in schema.migrations.iter().skip(usize::try_from(found).unwrap_or(0)) {
        session.batch(migration)?;
    }
    if found < known {
        session.batch(&schema.mark.replace("VERSION", &known.to_string()))?;
    }
    Ok(session.batch("COMMIT")?)
}

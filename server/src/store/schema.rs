//! Brings the schema of a database up to date.

use super::{OpenMode, Unusable, session::Session};

/// Runs the migrations that the database lacks. If several programs start at the same time, one does it, and the others wait. If this
/// fails, the connection must be closed, which undoes all of it.
pub(super) fn migrate(session: &mut dyn Session, mode: OpenMode) -> Result<(), Unusable> {
    let schema = &session.dialect().schema;
    let known = i64::try_from(schema.migrations.len()).unwrap_or(i64::MAX);
    // Before the lock too, so that a database which is not for us is named as such even while others write to it.
    version(session, known, mode)?;
    session.batch(schema.begin)?;
    let found = version(session, known, mode)?;
    for migration in schema.migrations.iter().skip(usize::try_from(found).unwrap_or(0)) {
        session.batch(migration)?;
    }
    if found < known {
        session.batch(&schema.mark.replace("VERSION", &known.to_string()))?;
    }
    Ok(session.batch("COMMIT")?)
}

/// The version of our schema, 0 where there are no tables and may be some.
fn version(session: &mut dyn Session, known: i64, mode: OpenMode) -> Result<i64, Unusable> {
    let schema = &session.dialect().schema;
    let (is_ours, is_empty) = session.first(schema.owner, &[])?.unwrap_or((false, false));
    match (is_ours, is_empty, mode) {
        (true, ..) => match session.number(schema.version, &[])? {
            found if found > known => Err(Unusable::Newer(found, known)),
            found => Ok(found),
        },
        (false, true, OpenMode::Create) => Ok(0),
        (false, true, OpenMode::Existing) => Err(Unusable::Missing),
        (false, false, _) => Err(Unusable::Foreign(schema.foreign)),
    }
}

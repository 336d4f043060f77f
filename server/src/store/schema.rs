//! Brings the schema of a database up to date.

use super::{OpenError, OpenMode, Result, session::Session};

/// Runs the migrations that the database lacks. If several programs start at the same time, one does it, and the others wait. If this
/// fails, the connection must be closed, which undoes all of it.
pub(super) fn migrate(session: &mut dyn Session, database: &str, mode: OpenMode) -> Result<(), OpenError> {
    let unusable = |source| OpenError::Store { database: database.to_owned(), source };
    let schema = &session.dialect().schema;
    let known = i64::try_from(schema.migrations.len()).unwrap_or(i64::MAX);
    // Before the lock too, so that a database which is not for us is named as such even while others write to it.
    version(session, known, database, mode)?;
    session.batch(schema.begin).map_err(unusable)?;
    let found = version(session, known, database, mode)?;
    for migration in schema.migrations.iter().skip(usize::try_from(found).unwrap_or(0)) {
        session.batch(migration).map_err(unusable)?;
    }
    if found < known {
        session.batch(&schema.mark.replace("VERSION", &known.to_string())).map_err(unusable)?;
    }
    session.batch("COMMIT").map_err(unusable)
}

/// The version of our schema, 0 where there are no tables and may be some.
fn version(session: &mut dyn Session, known: i64, database: &str, mode: OpenMode) -> Result<i64, OpenError> {
    let unusable = |source| OpenError::Store { database: database.to_owned(), source };
    let schema = &session.dialect().schema;
    let (is_ours, is_empty) = session.first(schema.owner, &[]).map_err(unusable)?.unwrap_or((false, false));
    let database = database.to_owned();
    match (is_ours, is_empty, mode) {
        (true, ..) => match session.number(schema.version, &[]).map_err(unusable)? {
            found if found > known => Err(OpenError::Newer { database, found, known }),
            found => Ok(found),
        },
        (false, true, OpenMode::Create) => Ok(0),
        (false, true, OpenMode::Existing) => Err(OpenError::Missing { database }),
        (false, false, _) => Err(OpenError::Foreign { database, reason: schema.foreign.to_owned() }),
    }
}

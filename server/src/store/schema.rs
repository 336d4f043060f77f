//! Brings the schema of a database up to date.

use super::{OpenError, OpenMode, Result, session::Session};

/// Runs the migrations that the database lacks. If several programs start at the same time, one does it, and the others wait. If this
/// fails, the connection must be closed, which undoes all of it.
pub(super) fn migrate(session: &mut dyn Session, database: &str, mode: OpenMode) -> Result<(), OpenError> {
    let unusable = |source| OpenError::Store { database: database.to_owned(), source };
    let schema = &session.dialect().schema;
    session.batch(schema.begin).map_err(unusable)?;
    let (is_ours, is_empty) = session.first(schema.owner, &[]).map_err(unusable)?.unwrap_or((false, false));
    let known = i64::try_from(schema.migrations.len()).unwrap_or(i64::MAX);
    let found = match (is_ours, is_empty, mode) {
        (true, ..) => session.number(schema.version, &[]).map_err(unusable)?,
        (false, true, OpenMode::Create) => 0,
        (false, true, OpenMode::Existing) => {
            return Err(OpenError::Missing { database: database.to_owned() });
        }
        (false, false, _) => {
            let reason = schema.foreign.to_owned();
            return Err(OpenError::Foreign { database: database.to_owned(), reason });
        }
    };
    if found > known {
        return Err(OpenError::Newer { database: database.to_owned(), found, known });
    }
    for migration in schema.migrations.iter().skip(usize::try_from(found).unwrap_or(0)) {
        session.batch(migration).map_err(unusable)?;
    }
    if found < known {
        session.batch(&schema.mark.replace("VERSION", &known.to_string())).map_err(unusable)?;
    }
    session.batch("COMMIT").map_err(unusable)
}

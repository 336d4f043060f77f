//! Migrations, in order. The table `sallyport_schema` has one row, with the version of the schema.

use deadpool_postgres::{Client, Transaction};

use crate::store::{OpenError, OpenMode, Result, StoreError};

/// One entry per version. Entries are only added, because existing databases have run the earlier ones.
const MIGRATIONS: [&str; 5] = [
    include_str!("migrations/0001_initial.sql"),
    include_str!("migrations/0002_numbers.sql"),
    include_str!("migrations/0003_extractions_by_age.sql"),
    include_str!("migrations/0004_addresses_alone.sql"),
    include_str!("migrations/0005_whitelist_ranges.sql"),
];

/// The schema version of this program.
const VERSION: i64 = MIGRATIONS.len() as i64;

/// Number of the lock under which a program migrates ("sallypor" in ASCII, so that no other program uses it). It is released at the
/// end of the transaction.
const SCHEMA_LOCK: i64 = 0x7361_6c6c_7970_6f72;

/// Number of the lock under which an import or a command assigns numbers ("sallyloa" in ASCII).
pub(super) const NUMBERS_LOCK: i64 = 0x7361_6c6c_796c_6f61;

enum SchemaState {
    /// Our schema in this version.
    Version(i64),
    /// No tables.
    Nothing,
    /// Tables of another program.
    Foreign,
}

/// Brings the schema up to date, all or nothing. If several programs start at the same time, one does it, and the lock makes the
/// others wait.
pub(super) async fn migrate(client: &mut Client, database: &str, mode: OpenMode) -> Result<(), OpenError> {
    let wrong = |source: StoreError| OpenError::Store { database: database.to_owned(), source };
    match found(client).await.map_err(wrong)? {
        SchemaState::Version(VERSION) => return Ok(()),
        found => allowed(&found, database, mode)?,
    }
    let change = client.transaction().await.map_err(|error| wrong(error.into()))?;
    // A migration may take longer than a statement of a request.
    let lock = format!("SET LOCAL statement_timeout = 0; SELECT pg_advisory_xact_lock({SCHEMA_LOCK})");
    change.batch_execute(&lock).await.map_err(|error| wrong(error.into()))?;
    let found = found(&change).await.map_err(wrong)?;
    allowed(&found, database, mode)?;
    apply(&change, &found).await.map_err(wrong)?;
    change.commit().await.map_err(|error| wrong(error.into()))
}

async fn found(client: &impl deadpool_postgres::GenericClient) -> Result<SchemaState> {
    let row = client
        .query_one(
            "SELECT to_regclass('sallyport_schema') IS NOT NULL,
                    EXISTS (SELECT 1 FROM pg_class
                            WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r')",
            &[],
        )
        .await?;
    match (row.try_get(0)?, row.try_get(1)?) {
        (true, _) => {
            let row = client.query_one("SELECT version FROM sallyport_schema", &[]).await?;
            Ok(SchemaState::Version(row.try_get(0)?))
        }
        (false, true) => Ok(SchemaState::Foreign),
        (false, false) => Ok(SchemaState::Nothing),
    }
}

fn allowed(found: &SchemaState, database: &str, mode: OpenMode) -> Result<(), OpenError> {
    let database = database.to_owned();
    match (found, mode) {
        (SchemaState::Version(found), _) if *found > VERSION => {
            Err(OpenError::Newer { database, found: *found, known: VERSION })
        }
        (SchemaState::Nothing, OpenMode::Existing) => Err(OpenError::Missing { database }),
        (SchemaState::Foreign, _) => {
            let reason = "it has tables of another program; use a database of its own".to_owned();
            Err(OpenError::Foreign { database, reason })
        }
        (SchemaState::Version(_), _) | (SchemaState::Nothing, OpenMode::Create) => Ok(()),
    }
}

async fn apply(change: &Transaction<'_>, found: &SchemaState) -> Result<()> {
    let done = match found {
        SchemaState::Version(version) => usize::try_from(*version).unwrap_or(0),
        SchemaState::Nothing | SchemaState::Foreign => {
            change.batch_execute("CREATE TABLE sallyport_schema (version bigint NOT NULL)").await?;
            change.execute("INSERT INTO sallyport_schema VALUES (0)", &[]).await?;
            0
        }
    };
    for migration in MIGRATIONS.iter().skip(done) {
        change.batch_execute(migration).await?;
    }
    change.execute("UPDATE sallyport_schema SET version = $1", &[&VERSION]).await?;
    Ok(())
}

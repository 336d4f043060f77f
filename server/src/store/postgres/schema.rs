//! Migrations, in order. The table `sallyport_schema` has one row, with the version of the schema.

use deadpool_postgres::{Client, GenericClient, Transaction};
use tokio_postgres::Error;

use crate::store::{OpenError, OpenMode};

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

/// Brings the schema up to date, all or nothing. If several programs start at the same time, one does it, and the lock makes the
/// others wait.
pub(super) async fn migrate(client: &mut Client, database: &str, mode: OpenMode) -> Result<(), OpenError> {
    if version(client, database, mode).await? == VERSION {
        return Ok(());
    }
    let change = client.transaction().await.map_err(unusable(database))?;
    // A migration may take longer than a statement of a request.
    let lock = format!("SET LOCAL statement_timeout = 0; SELECT pg_advisory_xact_lock({SCHEMA_LOCK})");
    change.batch_execute(&lock).await.map_err(unusable(database))?;
    let version = version(&change, database, mode).await?;
    apply(&change, version).await.map_err(unusable(database))?;
    change.commit().await.map_err(unusable(database))
}

fn unusable(database: &str) -> impl Fn(Error) -> OpenError {
    move |error| OpenError::Store { database: database.to_owned(), source: error.into() }
}

/// The version of our schema, 0 where there are no tables.
async fn version(client: &impl GenericClient, database: &str, mode: OpenMode) -> Result<i64, OpenError> {
    let tables = "SELECT to_regclass('sallyport_schema') IS NOT NULL,
                         EXISTS (SELECT 1 FROM pg_class
                                 WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r')";
    let tables = client.query_one(tables, &[]).await.map_err(unusable(database))?;
    let (is_ours, has_tables): (bool, bool) = (tables.get(0), tables.get(1));
    let database = database.to_owned();
    if is_ours {
        let row = client.query_one("SELECT version FROM sallyport_schema", &[]).await;
        let found: i64 = row.and_then(|row| row.try_get(0)).map_err(unusable(&database))?;
        return if found > VERSION {
            Err(OpenError::Newer { database, found, known: VERSION })
        } else {
            Ok(found)
        };
    }
    if has_tables {
        let reason = "it has tables of another program; use a database of its own".to_owned();
        return Err(OpenError::Foreign { database, reason });
    }
    if mode == OpenMode::Existing { Err(OpenError::Missing { database }) } else { Ok(0) }
}

async fn apply(change: &Transaction<'_>, version: i64) -> Result<(), Error> {
    if version == 0 {
        let table = "CREATE TABLE sallyport_schema (version bigint NOT NULL); INSERT INTO sallyport_schema VALUES (0)";
        change.batch_execute(table).await?;
    }
    for migration in MIGRATIONS.iter().skip(usize::try_from(version).unwrap_or(0)) {
        change.batch_execute(migration).await?;
    }
    change.execute("UPDATE sallyport_schema SET version = $1", &[&VERSION]).await.map(drop)
}

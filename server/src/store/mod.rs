//! The storage on SQLite and PostgreSQL. A store returns data; the domain decides.

mod cache;
mod database;
mod error;
mod load;
#[cfg(feature = "postgres")]
mod location;
mod packed;
mod pool;
#[cfg(feature = "postgres")]
pub mod postgres;
mod queries;
mod range;
#[cfg_attr(not(feature = "admin"), expect(dead_code, reason = "as for `record_kind`"))]
pub mod record;
#[cfg_attr(
    not(feature = "admin"),
    expect(dead_code, reason = "administration uses all that is declared of records")
)]
mod record_kind;
#[cfg(feature = "admin")]
pub mod registry;
mod schema;
mod session;
pub mod sqlite;
mod value;
mod writer;

use self::error::Result;
#[cfg(feature = "postgres")]
pub use self::location::{Location, LocationError};
#[doc(hidden)]
pub use self::{
    cache::Epochs,
    database::Backend,
    queries::{extract_sql, gateways_sql, search_sql},
};
pub use self::{
    database::Store,
    error::{BadLines, Conflict, ExportError, LoadError, OpenError, StoreError, Unusable},
    pool::Pool,
    record_kind::{Field, Form, RecordKind},
    session::{Access, Dialect, Session},
};

/// What is done in a session.
pub type Work = Box<dyn FnOnce(&mut dyn Session) -> Result<()> + Send>;

/// Whether a missing database is created.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpenMode {
    /// It must exist.
    Existing,
    /// A missing one is created.
    Create,
}

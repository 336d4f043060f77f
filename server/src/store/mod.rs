//! The storage on SQLite and PostgreSQL. A store returns data; the domain decides.

mod archive;
mod cache;
mod database;
mod error;
mod load;
#[cfg(feature = "postgres")]
mod location;
mod packed;
#[cfg(feature = "postgres")]
pub mod postgres;
mod queries;
pub mod record;
mod record_kind;
#[cfg(feature = "admin")]
pub mod registry;
mod session;
pub mod sqlite;
mod upkeep;
mod value;

use self::error::Result;
#[cfg(feature = "postgres")]
pub use self::location::{Location, LocationError};
#[doc(hidden)]
pub use self::queries::{extract_sql, gateways_sql, search_sql};
pub use self::{
    archive::{Archive, Lines, Sink},
    error::{BadLines, LoadError, OpenError, StoreError, UnloadError},
    record_kind::{Field, Form, RecordKind},
    upkeep::{Pool, Supply, Upkeep},
};
use crate::domain::ports::Repository;

/// An open database: the domain's repository, import and export, and maintenance.
pub trait Store: Repository + Archive + Upkeep {}

impl<T: Repository + Archive + Upkeep> Store for T {}

/// Whether a missing database is created.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpenMode {
    /// It must exist.
    Existing,
    /// A missing one is created.
    Create,
}

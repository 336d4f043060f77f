//! Maintenance of a store by the running server: retention and figures for the operator.

use async_trait::async_trait;
use jiff::Timestamp;

use super::StoreError;
use crate::domain::protocol::Protocol;

/// Maintenance of a store.
#[async_trait]
pub trait Upkeep: Send + Sync {
    /// Deletes up to 500 of the oldest extractions that were stored before `end`; if this fails, those of some accounts may be deleted
    /// already. Returns their number, `0` if none is left.
    async fn delete_extractions(&self, end: Timestamp) -> Result<u64, StoreError>;

    /// When the newest extraction was stored, by the clock of the server that stored it.
    async fn newest_extraction(&self) -> Result<Option<Timestamp>, StoreError>;

    /// Number of gateways for each protocol and region that has any. Counts all gateways, which is too slow for every call.
    async fn supply(&self) -> Result<Vec<Supply>, StoreError>;

    /// The connections to the database at this moment.
    fn pool(&self) -> Pool;

    /// Number of extractions that were served from memory, without a query.
    fn cache_hits(&self) -> u64;
}

/// Maximum number of extractions that one transaction deletes, so that other writers do not wait long.
pub(super) const MAX_DELETED_AT_ONCE: u32 = 500;

/// Gateways of one protocol and region.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Supply {
    /// The protocol.
    pub protocol: Protocol,
    /// Code of the region.
    pub region: String,
    /// Number of gateways.
    pub gateways: u64,
}

/// The connections that queries share.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pool {
    /// Maximum number of connections.
    pub connections: usize,
    /// Number of connections in use.
    pub busy: usize,
    /// Number of queries that wait for a connection.
    pub waiting: usize,
}

//! What the running server asks of a store beside serving requests: retention and figures for the operator.

use async_trait::async_trait;
use jiff::Timestamp;

use super::StoreError;
use crate::domain::protocol::Protocol;

/// A store that is looked after.
#[async_trait]
pub trait Upkeep: Send + Sync {
    /// Deletes the oldest of the extractions that were stored before `end`, at most 500 in one transaction, and returns
    /// how many; `0` when none is left.
    async fn delete_extractions(&self, end: Timestamp) -> Result<u64, StoreError>;

    /// How many gateways there are for each protocol and region that has any. It counts all of them, which is too
    /// expensive to do on every call.
    async fn supply(&self) -> Result<Vec<Supply>, StoreError>;

    /// The connections to the database at this moment.
    fn pool(&self) -> Pool;
}

/// Maximum number of extractions that one transaction deletes, so that writers do not wait long.
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

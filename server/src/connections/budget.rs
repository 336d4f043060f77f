//! The memory that connections share for request bodies being received and responses being sent.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use super::{Connection, Limit, MemoryUse};

/// Bytes that all connections may reserve together, and those that they have reserved.
#[derive(Debug)]
pub(crate) struct Budget {
    pub(super) limit: Limit,
    reserved: AtomicUsize,
}

/// The budget is used up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BudgetExceeded;

impl Budget {
    pub(super) const fn new(limit: Limit) -> Self {
        Self { limit, reserved: AtomicUsize::new(0) }
    }
}

/// The part of a budget that one body or response has reserved, until this is dropped.
#[derive(Debug)]
pub(crate) struct Reservation {
    connection: Arc<Connection>,
    usage: MemoryUse,
    bytes: usize,
}

impl Reservation {
    pub(super) const fn new(connection: Arc<Connection>, usage: MemoryUse) -> Self {
        Self { connection, usage, bytes: 0 }
    }

    /// Reserves `more` bytes. Three bounds apply: the total of all connections, the share of this connection, and for each
    /// address at most as much as it leaves free, so that no caller takes everything and a new one always finds memory. A
    /// bound does not apply while this is the only reservation that counts towards it: a single body or response may have
    /// any size.
    pub(crate) fn grow(&mut self, more: usize) -> Result<(), BudgetExceeded> {
        let (Connection { peer, .. }, Limit { total, of_connection }) =
            (&*self.connection, self.budget().limit);
        let add = |counter: &AtomicUsize| counter.fetch_add(more, Ordering::Relaxed).saturating_add(more);
        let [all, here, from_address] = self.counters().map(add);
        let own = self.bytes.saturating_add(more);
        self.bytes = own;
        let fits = (all <= total || all == own)
            && (here <= of_connection || here == own)
            && (peer.is_proxy || from_address <= total.saturating_sub(all) || from_address == own);
        if fits {
            return Ok(());
        }
        self.release(more);
        Err(BudgetExceeded)
    }

    fn release(&mut self, bytes: usize) {
        for counter in self.counters() {
            counter.fetch_sub(bytes, Ordering::Relaxed);
        }
        self.bytes -= bytes;
    }

    fn budget(&self) -> &Budget {
        &self.connection.shared.budgets[self.usage as usize]
    }

    /// The bytes of all connections, of this one, and of its address.
    fn counters(&self) -> [&AtomicUsize; 3] {
        let Connection { peer, reserved, .. } = &*self.connection;
        let usage = self.usage as usize;
        [&self.budget().reserved, &reserved[usage], &peer.reserved[usage]]
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.release(self.bytes);
    }
}

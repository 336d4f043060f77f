//! Memory that connections share: request bodies that are being received, responses that are being sent.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use super::{Connection, MemoryUse};

/// Bytes that all connections may hold together, and the share of one of them.
#[derive(Debug)]
pub(crate) struct Budget {
    total: usize,
    connection_share: usize,
    held: AtomicUsize,
}

/// The budget is used up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BudgetExceeded;

impl Budget {
    pub(super) const fn new(total: usize, connection_share: usize) -> Self {
        Self { total, connection_share, held: AtomicUsize::new(0) }
    }

    pub(super) const fn connection_share(&self) -> usize {
        self.connection_share
    }
}

/// The part of a budget that one body or response takes, until it is dropped.
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

    /// Takes so many bytes more. Three bounds hold: that of all connections; the share of this one; and its address may
    /// hold no more than it leaves free, so that no caller takes everything and a new one always finds something. None
    /// of them applies to what is held alone, by all, by the connection or by the address: it may have any size.
    ///
    /// # Errors
    /// One of the bounds is reached; nothing is taken then.
    pub(crate) fn grow(&mut self, more: usize) -> Result<(), BudgetExceeded> {
        let Connection { shared, peer, held, .. } = &*self.connection;
        let budget = shared.budget(self.usage);
        let (here, from_address) = (held.counter(self.usage), peer.held.counter(self.usage));
        let own = self.bytes.saturating_add(more);
        let add = |counter: &AtomicUsize| counter.fetch_add(more, Ordering::Relaxed).saturating_add(more);
        let (all, here, from_address) = (add(&budget.held), add(here), add(from_address));
        self.bytes = own;
        let fits = (all <= budget.total || all == own)
            && (here <= budget.connection_share || here == own)
            && (peer.is_proxy || from_address <= budget.total.saturating_sub(all) || from_address == own);
        if fits {
            return Ok(());
        }
        self.release(more);
        Err(BudgetExceeded)
    }

    fn release(&mut self, bytes: usize) {
        let Connection { shared, peer, held, .. } = &*self.connection;
        for counter in
            [&shared.budget(self.usage).held, held.counter(self.usage), peer.held.counter(self.usage)]
        {
            counter.fetch_sub(bytes, Ordering::Relaxed);
        }
        self.bytes -= bytes;
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.release(self.bytes);
    }
}

use std::sync::Arc;

use super::{control::Control, pages};
use crate::{domain::clock::Clock, store::sqlite::SqliteStore};

/// A temporary database with sample data, and the features that only it may have. Only [`Sandbox`] constructs it.
#[derive(Debug)]
pub(crate) struct Parts {
    pub(super) store: Arc<SqliteStore>,
    pub(super) clock: Clock,
    pub(super) control: Arc<Control>,
    pub(super) site: pages::Site,
}

impl Parts {
    /// The temporary database.
    pub(crate) fn store(&self) -> Arc<SqliteStore> {
        Arc::clone(&self.store)
    }

    /// The clock that tests can set.
    pub(crate) fn clock(&self) -> Clock {
        self.clock.clone()
    }

    /// Adds the sandbox's pages to an API.
    pub(crate) fn add_pages(self, api: &mut pages::Api) -> Result<(), String> {
        pages::register(api, self.site, &self.control)
    }
}

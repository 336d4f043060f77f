//! A variation: a conforming server that decides unspecified behaviour otherwise.

use super::context::Context;
use super::rows::row::{Kind, Row, RowServer};
use super::upstream::Handler;
use crate::contract::OperationId;

/// A conforming server that decides unspecified behaviour otherwise.
#[derive(Debug, Clone, Copy)]
pub struct Variation {
    /// What it decides otherwise.
    pub id: &'static str,
    /// The same in one sentence.
    pub decides: &'static str,
    pub(super) row: &'static Row,
}

impl Variation {
    pub(super) fn new(row: &'static Row) -> Self {
        Self { id: &row.id, decides: &row.breaks, row }
    }

    /// The variations of a text in the form of `src/lab/rows/variations.txt`; `file` names it in errors.
    ///
    /// # Errors
    /// The lines that cannot be read.
    pub fn parse(file: &str, text: &'static str) -> Result<Vec<Self>, Vec<String>> {
        Ok(Row::parse(file, text, Kind::Variation)?.iter().map(Self::new).collect())
    }

    /// Whether it is about an operation, as the first part of its id says.
    #[must_use]
    pub fn concerns(&self, operation: OperationId) -> bool {
        self.row.concerns(Some(operation))
    }

    /// Whether names of headers are spelt with capitals.
    #[must_use]
    pub fn has_capitals(&self) -> bool {
        self.row.has("capitals")
    }

    /// Whether a server has to decide so for all of its responses, such as an order of items.
    #[must_use]
    pub fn is_consistent(&self) -> bool {
        self.row.has("consistent")
    }

    /// Why its row could not be followed, when that happened, by file and line.
    #[must_use]
    pub fn failure(&self) -> Option<&'static str> {
        self.row.failure()
    }

    /// A server that decides so.
    #[must_use]
    pub fn server(self, context: Context) -> impl Handler {
        RowServer { row: self.row, context }
    }
}

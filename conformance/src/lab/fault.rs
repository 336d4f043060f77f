//! A fault: a server that keeps every clause but one.

use super::context::Context;
use super::rows::row::{Kind, Need, Row, RowServer};
use super::upstream::Handler;
use crate::contract::{Clause, Contract, OperationId};
use crate::target::Facts;

/// A way to break one clause.
#[derive(Debug, Clone, Copy)]
pub struct Fault {
    /// `clause/what-is-wrong`.
    pub id: &'static str,
    /// What the server does wrong, in a sentence.
    pub breaks: &'static str,
    pub(super) row: &'static Row,
}

impl Fault {
    pub(super) fn new(row: &'static Row) -> Self {
        Self { id: &row.id, breaks: &row.breaks, row }
    }

    /// The faults of a text in the form of `src/lab/rows/*.txt`; `file` names it in errors.
    ///
    /// # Errors
    /// The lines that cannot be read.
    pub fn parse(file: &str, text: &'static str) -> Result<Vec<Self>, Vec<String>> {
        Ok(Row::parse(file, text, Kind::Fault)?.iter().map(Self::new).collect())
    }

    /// The clause that is broken.
    ///
    /// # Panics
    /// The id does not begin with that of a clause.
    #[must_use]
    #[expect(clippy::expect_used, reason = "ids are constants, and the proof looks up the clause of each")]
    pub fn clause(&self) -> Clause {
        let id = self.id.split('/').next().unwrap_or(self.id);
        Clause::from_id(id).expect("the id of a fault begins with that of its clause")
    }

    /// The operations whose requests it touches: that of its clause, or all of them for `all.…` unless its row is limited to one.
    #[must_use]
    pub fn operations(&self) -> Vec<OperationId> {
        let operations = Contract::embedded().into_iter().flat_map(Contract::operations);
        operations.map(|operation| operation.id).filter(|id| self.row.concerns(Some(*id))).collect()
    }

    /// The environment variables of what it needs and does not have: without it, the fault changes nothing. `has_token` says
    /// whether the token of the main account is known.
    #[must_use]
    pub fn lacks(&self, has_token: bool, facts: &Facts) -> Vec<&'static str> {
        let variable = |need: Need| match need {
            Need::Token => (!has_token).then_some("SALLYPORT_API_KEY"),
            Need::Fact(fact) => (!facts.has(fact)).then(|| fact.variable()),
        };
        self.row.needs().into_iter().filter_map(variable).collect()
    }

    /// Why its row could not be followed, when that happened, by file and line: what was noticed then is not the fault.
    #[must_use]
    pub fn failure(&self) -> Option<&'static str> {
        self.row.failure()
    }

    /// A server with the fault.
    #[must_use]
    pub fn server(self, context: Context) -> impl Handler {
        RowServer { row: self.row, context }
    }
}

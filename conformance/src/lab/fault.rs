//! A fault: a server that keeps every clause but one.

use std::collections::BTreeSet;
use std::sync::Arc;

use futures::future::BoxFuture;
use serde_json::Value;

use super::call::{Call, Change, Condition};
use super::context::Context;
use super::exchange::{ProxiedRequest, Reply};
use super::rows::row::{Need, Row};
use super::upstream::Handler;
use crate::contract::{Clause, Contract, OperationId};
use crate::target::Facts;

/// A way to break one clause.
pub struct Fault {
    /// `clause/what-is-wrong`.
    pub id: &'static str,
    /// What the server does wrong, in a sentence.
    pub breaks: &'static str,
    change: Change,
    when: Vec<Condition>,
    only: Option<OperationId>,
}

impl Fault {
    /// A fault that changes nothing until one of the other methods says what it does.
    #[must_use]
    pub fn new(id: &'static str, breaks: &'static str) -> Self {
        Self { id, breaks, change: Change::Nothing, when: Vec::new(), only: None }
    }

    /// What a row of a text says.
    pub(super) fn of_row(row: &'static Row) -> Self {
        Self { change: Change::Row(row), only: row.only, ..Self::new(&row.id, &row.breaks) }
    }

    /// Changes the requests to the operation of the clause (all operations for `all.…`).
    #[must_use]
    pub fn request(self, change: impl Fn(&mut Call<'_>) + Send + Sync + 'static) -> Self {
        Self { change: Change::Request(Box::new(change)), ..self }
    }

    /// Changes every response of the operation of the clause (of all operations for `all.…`).
    #[must_use]
    pub fn reply(self, change: impl Fn(&Call<'_>, &mut Reply) + Send + Sync + 'static) -> Self {
        Self { change: Change::Reply(Box::new(change)), ..self }
    }

    /// Changes the JSON body of the successes.
    #[must_use]
    pub fn success(self, change: impl Fn(&Call<'_>, &mut Value) + Send + Sync + 'static) -> Self {
        self.reply(move |call, reply| {
            if call.accepted(reply) {
                reply.edit(|body| change(call, body));
            }
        })
    }

    /// Limits the fault to requests that fit a condition, in addition to its other conditions.
    #[must_use]
    pub fn when(mut self, condition: impl Fn(&Call<'_>) -> bool + Send + Sync + 'static) -> Self {
        self.when.push(Box::new(condition));
        self
    }

    /// Limits the fault to one operation, although its clause is one of all.
    #[must_use]
    pub fn only(self, operation: OperationId) -> Self {
        Self { only: Some(operation), ..self }.when(move |call| call.operation() == Some(operation))
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

    /// The operations whose requests it touches: that of its clause, or all of them for `all.…` unless limited by [`Fault::only`].
    #[must_use]
    pub fn operations(&self) -> Vec<OperationId> {
        if let Some(only) = self.only {
            return vec![only];
        }
        let prefix = self.prefix();
        let operations = Contract::embedded().into_iter().flat_map(Contract::operations);
        operations.map(|operation| operation.id).filter(|id| prefix == "all" || id.id() == prefix).collect()
    }

    fn prefix(&self) -> &'static str {
        self.id.split('.').next().unwrap_or_default()
    }

    /// The environment variables of what it needs and does not have: without it, the fault changes nothing. `has_token` says
    /// whether the token of the main account is known.
    #[must_use]
    pub fn lacks(&self, has_token: bool, facts: &Facts) -> Vec<&'static str> {
        let needs = self.needs();
        let variable = |need: Need| match need {
            Need::Token => (!has_token).then_some("SALLYPORT_API_KEY"),
            Need::Fact(fact) => (!facts.has(fact)).then(|| fact.variable()),
        };
        needs.into_iter().filter_map(variable).collect()
    }

    /// What it changes nothing without.
    fn needs(&self) -> BTreeSet<Need> {
        match self.change {
            Change::Row(row) => row.needs(),
            _ => BTreeSet::new(),
        }
    }

    /// Why its row of a text could not be followed, when that happened, by file and line: what was noticed then is not the fault.
    #[must_use]
    pub fn failure(&self) -> Option<&str> {
        match self.change {
            Change::Row(row) => row.failure(),
            _ => None,
        }
    }

    async fn response(&self, call: Call<'_>) -> Reply {
        let prefix = self.prefix();
        let served = match self.change {
            Change::Serve(_) => true,
            Change::Row(row) => row.is_everywhere,
            _ => false,
        };
        if self.only.is_some_and(|only| call.operation() != Some(only)) {
            return call.send().await;
        }
        let concerned = served || prefix == "all" || call.operation().is_some_and(|id| id.id() == prefix);
        if !concerned || !self.when.iter().all(|condition| condition(&call)) {
            return call.send().await;
        }
        self.change.response(call).await
    }
}

/// A fault at work.
#[derive(Debug)]
pub struct FaultyServer {
    /// The fault.
    pub fault: Arc<Fault>,
    /// What it works with.
    pub context: Context,
}

impl Handler for FaultyServer {
    fn handle<'a>(&'a self, seen: ProxiedRequest) -> BoxFuture<'a, Reply> {
        Box::pin(self.fault.response(Call::new(&self.context, seen)))
    }
}

impl std::fmt::Debug for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Fault({})", self.id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_lacks_what_it_needs_and_nothing_else() {
        let faults = crate::lab::faults();
        let lacks = |id: &str, has_token: bool, facts: &Facts| {
            let fault = faults.iter().find(|fault| fault.id == id).expect("a fault");
            fault.lacks(has_token, facts).join(" ")
        };
        let none = Facts::default();
        let foreign = Facts { foreign_addresses: vec!["203.0.113.9".to_owned()], ..Facts::default() };
        let (of_foreign, of_second) = ("SALLYPORT_FOREIGN_ADDRESSES", "SALLYPORT_SECOND_API_KEY");
        for (id, has_token, facts, missing) in [
            ("search.paging/overlap", false, &none, ""),
            ("search.no-reveal/not-found", true, &none, ""),
            ("groups.token/two-accounts", true, &none, of_second),
            ("search.no-reveal/instances", true, &none, &format!("{of_foreign} {of_second}")),
            ("search.no-reveal/instances", true, &foreign, of_second),
            (
                "extract.whitelist/not-asked",
                false,
                &none,
                "SALLYPORT_API_KEY SALLYPORT_NOT_WHITELISTED_API_KEY",
            ),
        ] {
            assert_eq!(lacks(id, has_token, facts), missing, "{id}");
        }
    }
}

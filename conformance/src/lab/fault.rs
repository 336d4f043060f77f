//! A fault: a server that keeps every clause but one.

use std::sync::Arc;

use futures::future::BoxFuture;
use serde_json::{Value, json};

use super::call::{Call, Change};
use super::context::Context;
use super::exchange::{ProxiedRequest, Reply};
use super::upstream::Handler;
use crate::contract::{Clause, Contract, OperationId};

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

type Condition = Box<dyn Fn(&Call<'_>) -> bool + Send + Sync>;

impl Fault {
    /// A fault that changes nothing until one of the other methods says what it does.
    #[must_use]
    pub fn new(id: &'static str, breaks: &'static str) -> Self {
        Self { id, breaks, change: Change::Nothing, when: Vec::new(), only: None }
    }

    /// Takes the token out of the requests, so that the server rejects them.
    pub(super) fn reject(id: &'static str, breaks: &'static str) -> Self {
        Self::new(id, breaks).request(|call| call.reject())
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

    /// Changes the gateways, groups or instances of the successes.
    pub(super) fn list(self, change: impl Fn(&Call<'_>, &mut Vec<Value>) + Send + Sync + 'static) -> Self {
        self.success(move |call, body| {
            if let Some(items) = call.list(body) {
                change(call, items);
            }
        })
    }

    /// Changes the JSON body of the successes that list no groups or instances.
    pub(super) fn empty(self, change: impl Fn(&Call<'_>, &mut Value) + Send + Sync + 'static) -> Self {
        self.success(move |call, body| {
            if body["data"]["items"] == json!([]) {
                change(call, body);
            }
        })
    }

    /// Changes the JSON body of the successes by what another request finds; `ask` turns the request into that one.
    pub(super) fn compared(
        self,
        ask: impl Fn(&mut Call<'_>) + Send + Sync + 'static,
        change: impl Fn(&Call<'_>, &Value, &mut Value) + Send + Sync + 'static,
    ) -> Self {
        Self { change: Change::Compared(Box::new(ask), Box::new(change)), ..self }
    }

    /// Changes the rejections.
    #[must_use]
    pub fn rejection(self, change: impl Fn(&Call<'_>, &mut Reply) + Send + Sync + 'static) -> Self {
        self.reply(move |call, reply| {
            if reply.status.as_u16() >= 400 {
                change(call, reply);
            }
        })
    }

    /// Responds to the requests of every operation by itself.
    #[must_use]
    pub fn serve(
        self,
        serve: impl for<'a> Fn(Call<'a>) -> BoxFuture<'a, Reply> + Send + Sync + 'static,
    ) -> Self {
        Self { change: Change::Serve(Box::new(serve)), ..self }
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
        operations
            .map(|operation| operation.id)
            .filter(|id| prefix == "all" || id.prefix() == prefix)
            .collect()
    }

    fn prefix(&self) -> &'static str {
        self.id.split('.').next().unwrap_or_default()
    }

    async fn response(&self, call: Call<'_>) -> Reply {
        let prefix = self.prefix();
        let served = matches!(self.change, Change::Serve(_));
        let concerned = served || prefix == "all" || call.operation().is_some_and(|id| id.prefix() == prefix);
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
    fn every_fault_changes_something() {
        for fault in crate::lab::faults() {
            assert!(!matches!(fault.change, Change::Nothing), "{fault:?}");
        }
    }
}

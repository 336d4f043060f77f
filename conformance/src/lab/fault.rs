//! A fault: a server that keeps every clause but one.

use std::sync::Arc;

use futures::future::BoxFuture;
use serde_json::Value;

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
    how: How,
    when: Vec<Condition>,
    only: Option<OperationId>,
}

/// How a fault is implemented.
enum How {
    /// Changes a request before it is forwarded.
    Request(RequestChange),
    /// Changes a response before it is returned.
    Reply(ReplyChange),
    /// Responds by itself.
    Serve(Serve),
}

type RequestChange = Box<dyn Fn(&Context, &mut ProxiedRequest) + Send + Sync>;

/// A change of a response.
pub(super) type ReplyChange = Box<dyn Fn(&Context, &ProxiedRequest, &mut Reply) + Send + Sync>;

type Serve = Box<dyn for<'a> Fn(&'a Context, ProxiedRequest) -> BoxFuture<'a, Reply> + Send + Sync>;

type Condition = Box<dyn Fn(&Context, &ProxiedRequest) -> bool + Send + Sync>;

impl Fault {
    /// Changes the requests to the operation of the clause (all operations for `all.…`).
    #[must_use]
    pub fn request(
        id: &'static str,
        breaks: &'static str,
        change: impl Fn(&Context, &mut ProxiedRequest) + Send + Sync + 'static,
    ) -> Self {
        Self { id, breaks, how: How::Request(Box::new(change)), when: Vec::new(), only: None }
    }

    /// Takes the token out of the requests, so that the server rejects them.
    pub(super) fn reject(id: &'static str, breaks: &'static str) -> Self {
        Self::request(id, breaks, Context::reject)
    }

    /// Changes every response of the operation of the clause (of all operations for `all.…`).
    #[must_use]
    pub fn reply(
        id: &'static str,
        breaks: &'static str,
        change: impl Fn(&Context, &ProxiedRequest, &mut Reply) + Send + Sync + 'static,
    ) -> Self {
        Self { id, breaks, how: How::Reply(Box::new(change)), when: Vec::new(), only: None }
    }

    /// Changes the JSON body of the successes.
    #[must_use]
    pub fn success(
        id: &'static str,
        breaks: &'static str,
        change: impl Fn(&Context, &ProxiedRequest, &mut Value) + Send + Sync + 'static,
    ) -> Self {
        Self::reply(id, breaks, move |context, seen, reply| {
            if context.accepted(seen, reply) {
                reply.edit(|body| change(context, seen, body));
            }
        })
    }

    /// Changes the rejections.
    #[must_use]
    pub fn rejection(
        id: &'static str,
        breaks: &'static str,
        change: impl Fn(&Context, &ProxiedRequest, &mut Reply) + Send + Sync + 'static,
    ) -> Self {
        Self::reply(id, breaks, move |context, seen, reply| {
            if reply.status.as_u16() >= 400 {
                change(context, seen, reply);
            }
        })
    }

    /// Responds to the requests of every operation by itself.
    #[must_use]
    pub fn serve(
        id: &'static str,
        breaks: &'static str,
        serve: impl for<'a> Fn(&'a Context, ProxiedRequest) -> BoxFuture<'a, Reply> + Send + Sync + 'static,
    ) -> Self {
        Self { id, breaks, how: How::Serve(Box::new(serve)), when: Vec::new(), only: None }
    }

    /// Limits the fault to requests that fit a condition, in addition to its other conditions.
    #[must_use]
    pub fn when(
        mut self,
        condition: impl Fn(&Context, &ProxiedRequest) -> bool + Send + Sync + 'static,
    ) -> Self {
        self.when.push(Box::new(condition));
        self
    }

    /// Limits the operations that it claims to touch to one, although its clause is one of all.
    #[must_use]
    pub fn only(self, operation: OperationId) -> Self {
        Self { only: Some(operation), ..self }
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

    async fn response(&self, context: &Context, mut seen: ProxiedRequest) -> Reply {
        let prefix = self.prefix();
        let operation = context.operation(&seen);
        let served = matches!(self.how, How::Serve(_));
        let concerned = served || prefix == "all" || operation.is_some_and(|id| id.prefix() == prefix);
        if !concerned || !self.when.iter().all(|condition| condition(context, &seen)) {
            return context.upstream.call(&seen).await;
        }
        match &self.how {
            How::Request(change) => {
                change(context, &mut seen);
                context.upstream.call(&seen).await
            }
            How::Reply(change) => {
                let mut reply = context.upstream.call(&seen).await;
                change(context, &seen, &mut reply);
                reply
            }
            How::Serve(serve) => serve(context, seen).await,
        }
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
        Box::pin(self.fault.response(&self.context, seen))
    }
}

impl std::fmt::Debug for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Fault({})", self.id)
    }
}

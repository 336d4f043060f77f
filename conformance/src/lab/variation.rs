//! A variation: a conforming server that decides unspecified behaviour otherwise.

use std::sync::Arc;

use futures::future::BoxFuture;

use super::call::{Call, Change};
use super::context::Context;
use super::exchange::{ProxiedRequest, Reply};
use super::rows::row::Row;
use super::upstream::Handler;
use crate::contract::OperationId;

/// A conforming server that decides unspecified behaviour otherwise.
pub struct Variation {
    /// What it decides otherwise.
    pub id: &'static str,
    /// The same in one sentence.
    pub decides: &'static str,
    /// Whether names of headers are spelt with capitals.
    pub capitals: bool,
    /// Whether a server has to decide so for all of its responses, such as an order of items.
    pub is_consistent: bool,
    /// Whether it leaves requests alone that are not about its operations.
    is_limited: bool,
    change: Change,
}

impl Variation {
    /// Whether it is about an operation, as the first part of its id says.
    #[must_use]
    pub fn concerns(&self, operation: OperationId) -> bool {
        match self.id.split('.').next() {
            Some("extract") => operation == OperationId::Extract,
            Some("static") => operation != OperationId::Extract,
            Some("search" | "addresses" | "times") => operation == OperationId::Search,
            _ => true,
        }
    }

    /// A variation that changes nothing until one of the other methods says what it does.
    #[must_use]
    pub fn new(id: &'static str, decides: &'static str) -> Self {
        let change = Change::Nothing;
        Self { id, decides, capitals: false, is_consistent: false, is_limited: false, change }
    }

    /// What a row of a text says.
    pub(super) fn of_row(row: &'static Row) -> Self {
        Self {
            capitals: row.has("capitals"),
            is_consistent: row.has("consistent"),
            is_limited: !row.has("everywhere"),
            change: Change::Row(row),
            ..Self::new(&row.id, &row.breaks)
        }
    }

    /// Changes requests before they are forwarded.
    #[must_use]
    pub fn request(self, change: impl Fn(&mut Call<'_>) + Send + Sync + 'static) -> Self {
        Self { change: Change::Request(Box::new(change)), ..self }
    }

    /// Changes responses before they are returned.
    #[must_use]
    pub fn reply(self, change: impl Fn(&Call<'_>, &mut Reply) + Send + Sync + 'static) -> Self {
        Self { change: Change::Reply(Box::new(change)), ..self }
    }

    /// Changes successes before they are returned.
    #[must_use]
    pub fn success(self, change: impl Fn(&Call<'_>, &mut Reply) + Send + Sync + 'static) -> Self {
        self.reply(move |call, reply| {
            if call.accepted(reply) {
                change(call, reply);
            }
        })
    }

    /// Changes rejections (4xx) before they are returned.
    #[must_use]
    pub fn rejection(self, change: impl Fn(&Call<'_>, &mut Reply) + Send + Sync + 'static) -> Self {
        self.reply(move |call, reply| {
            if (400..500).contains(&reply.status.as_u16()) {
                change(call, reply);
            }
        })
    }

    /// Responds by itself.
    #[must_use]
    pub fn serve(
        self,
        serve: impl for<'a> Fn(Call<'a>) -> BoxFuture<'a, Reply> + Send + Sync + 'static,
    ) -> Self {
        Self { change: Change::Serve(Box::new(serve)), ..self }
    }
}

/// A variation at work.
#[derive(Debug)]
pub struct VariedServer {
    /// The variation.
    pub variation: Arc<Variation>,
    /// What it works with.
    pub context: Context,
}

impl Handler for VariedServer {
    fn handle<'a>(&'a self, seen: ProxiedRequest) -> BoxFuture<'a, Reply> {
        let Self { variation, context } = self;
        let concerned = match context.operation(&seen) {
            Some(id) => variation.concerns(id),
            None => [OperationId::Extract, OperationId::Search].iter().all(|id| variation.concerns(*id)),
        };
        if concerned || !variation.is_limited {
            return Box::pin(variation.change.response(Call::new(context, seen)));
        }
        Box::pin(async move { context.upstream.call(&seen).await })
    }
}

impl std::fmt::Debug for Variation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Variation({})", self.id)
    }
}

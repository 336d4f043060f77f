//! A variation: a conforming server that decides unspecified behaviour otherwise.

use std::sync::Arc;

use futures::future::BoxFuture;

use super::context::Context;
use super::exchange::{ProxiedRequest, Reply};
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
    serve: Serve,
}

type Serve = Box<dyn for<'a> Fn(&'a Context, ProxiedRequest) -> BoxFuture<'a, Reply> + Send + Sync>;

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

    /// Changes requests before they are forwarded.
    #[must_use]
    pub fn request(
        id: &'static str,
        decides: &'static str,
        change: impl Fn(&Context, &mut ProxiedRequest) + Copy + Send + Sync + 'static,
    ) -> Self {
        Self::serve(id, decides, move |context, mut seen| {
            Box::pin(async move {
                change(context, &mut seen);
                context.upstream.call(&seen).await
            })
        })
    }

    /// Changes responses before they are returned.
    #[must_use]
    pub fn reply(
        id: &'static str,
        decides: &'static str,
        change: impl Fn(&Context, &ProxiedRequest, &mut Reply) + Copy + Send + Sync + 'static,
    ) -> Self {
        Self::serve(id, decides, move |context, seen| {
            Box::pin(async move {
                let mut reply = context.upstream.call(&seen).await;
                change(context, &seen, &mut reply);
                reply
            })
        })
    }

    /// Changes successes before they are returned.
    #[must_use]
    pub fn success(
        id: &'static str,
        decides: &'static str,
        change: impl Fn(&Context, &ProxiedRequest, &mut Reply) + Copy + Send + Sync + 'static,
    ) -> Self {
        Self::reply(id, decides, move |context, seen, reply| {
            if context.accepted(seen, reply) {
                change(context, seen, reply);
            }
        })
    }

    /// Changes rejections (4xx) before they are returned.
    #[must_use]
    pub fn rejection(
        id: &'static str,
        decides: &'static str,
        change: impl Fn(&Context, &ProxiedRequest, &mut Reply) + Copy + Send + Sync + 'static,
    ) -> Self {
        Self::reply(id, decides, move |context, seen, reply| {
            if (400..500).contains(&reply.status.as_u16()) {
                change(context, seen, reply);
            }
        })
    }

    /// Responds by itself.
    #[must_use]
    pub fn serve(
        id: &'static str,
        decides: &'static str,
        serve: impl for<'a> Fn(&'a Context, ProxiedRequest) -> BoxFuture<'a, Reply> + Send + Sync + 'static,
    ) -> Self {
        Self { id, decides, capitals: false, is_consistent: false, is_limited: false, serve: Box::new(serve) }
    }

    /// Spells names of headers with capitals.
    #[must_use]
    pub fn with_capitals(self) -> Self {
        Self { capitals: true, ..self }
    }

    /// Leaves requests alone that are not about its operations.
    pub(super) fn limited(self) -> Self {
        Self { is_limited: true, ..self }
    }

    /// Changes the responses of all operations.
    pub(super) fn everywhere(self) -> Self {
        Self { is_limited: false, ..self }
    }

    /// Says that a server has to decide so for all of its responses.
    #[must_use]
    pub fn consistent(self) -> Self {
        Self { is_consistent: true, ..self }
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
            return (variation.serve)(context, seen);
        }
        Box::pin(async move { context.upstream.call(&seen).await })
    }
}

impl std::fmt::Debug for Variation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Variation({})", self.id)
    }
}

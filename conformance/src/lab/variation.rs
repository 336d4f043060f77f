//! What a variation is: a server that keeps every clause and decides what the contract leaves open in its own way.

use std::sync::Arc;

use futures::future::BoxFuture;
use sallyport_conformance::Target;

use crate::fault::Scene;
use crate::proxy::{ProxiedRequest, Reply, Tamper, Upstream};
use crate::world::World;

/// A conforming server that is not like ours.
pub struct Variation {
    /// What it decides otherwise.
    pub id: &'static str,
    /// Whether names of headers are spelt with capitals.
    pub capitals: bool,
    /// What is tested through it, when it is not the main account with all facts.
    pub target: fn(&World, &str) -> Target,
    serve: Serve,
}

type Serve = Box<dyn for<'a> Fn(&'a Scene, ProxiedRequest) -> BoxFuture<'a, Reply> + Send + Sync>;

impl Variation {
    /// Changes requests before they go on.
    pub fn request(
        id: &'static str,
        change: impl Fn(&Scene, &mut ProxiedRequest) + Copy + Send + Sync + 'static,
    ) -> Self {
        Self::serve(id, move |scene, mut seen| {
            Box::pin(async move {
                change(scene, &mut seen);
                scene.upstream.call(&seen).await
            })
        })
    }

    /// Changes responses before they go back.
    pub fn reply(
        id: &'static str,
        change: impl Fn(&Scene, &ProxiedRequest, &mut Reply) + Copy + Send + Sync + 'static,
    ) -> Self {
        Self::serve(id, move |scene, seen| {
            Box::pin(async move {
                let mut reply = scene.upstream.call(&seen).await;
                change(scene, &seen, &mut reply);
                reply
            })
        })
    }

    /// Changes successes before they go back.
    pub fn success(
        id: &'static str,
        change: impl Fn(&Scene, &ProxiedRequest, &mut Reply) + Copy + Send + Sync + 'static,
    ) -> Self {
        Self::reply(id, move |scene, seen, reply| {
            if scene.accepted(seen, reply) {
                change(scene, seen, reply);
            }
        })
    }

    /// Changes rejections before they go back, those that ask to wait apart.
    pub fn rejection(
        id: &'static str,
        change: impl Fn(&Scene, &ProxiedRequest, &mut Reply) + Copy + Send + Sync + 'static,
    ) -> Self {
        Self::reply(id, move |scene, seen, reply| {
            if (400..500).contains(&reply.status.as_u16()) {
                change(scene, seen, reply);
            }
        })
    }

    /// Responses in its own way.
    pub fn serve(
        id: &'static str,
        serve: impl for<'a> Fn(&'a Scene, ProxiedRequest) -> BoxFuture<'a, Reply> + Send + Sync + 'static,
    ) -> Self {
        Self { id, capitals: false, target: World::target, serve: Box::new(serve) }
    }

    /// Spells names of headers with capitals.
    pub fn with_capitals(self) -> Self {
        Self { capitals: true, ..self }
    }

    /// Tests another account, or with other facts.
    pub fn with_target(self, target: fn(&World, &str) -> Target) -> Self {
        Self { target, ..self }
    }
}

/// A variation at work.
pub struct VariedServer {
    /// PropertyGetter one.
    pub variation: Arc<Variation>,
    /// Where.
    pub scene: Scene,
}

impl Tamper for VariedServer {
    fn pass(&self, seen: ProxiedRequest, _: &Upstream) -> impl Future<Output = Reply> + Send {
        (self.variation.serve)(&self.scene, seen)
    }
}

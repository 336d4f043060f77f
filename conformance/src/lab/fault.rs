//! What a fault is: a server that keeps every clause but one.

use std::collections::HashMap;
use std::ops::Deref;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use futures::future::BoxFuture;
use sallyport_conformance::contract::{Clause, OperationId};
use serde_json::Value;

use crate::proxy::{ProxiedRequest, Reply, Tamper, Upstream};
use crate::world::World;

/// A way to break one clause.
pub struct Fault {
    /// `clause/what-is-wrong`.
    pub id: &'static str,
    /// What the server does wrong, in a sentence.
    pub breaks: &'static str,
    how: How,
    when: Vec<Condition>,
}

/// How a fault is brought about.
enum How {
    /// Changes a request before it goes on, so that the server handles another one than was sent.
    Request(Box<dyn Fn(&Scene, &mut ProxiedRequest) + Send + Sync>),
    /// Changes a response before it goes back.
    Reply(Box<dyn Fn(&Scene, &ProxiedRequest, &mut Reply) + Send + Sync>),
    /// Responses in whatever way it likes.
    Serve(Box<dyn for<'a> Fn(&'a Scene, ProxiedRequest) -> BoxFuture<'a, Reply> + Send + Sync>),
}

type Condition = Box<dyn Fn(&Scene, &ProxiedRequest) -> bool + Send + Sync>;

impl Fault {
    /// Changes the requests to the operation of the clause (all operations for `all.…`).
    pub fn request(
        id: &'static str,
        breaks: &'static str,
        change: impl Fn(&Scene, &mut ProxiedRequest) + Send + Sync + 'static,
    ) -> Self {
        Self { id, breaks, how: How::Request(Box::new(change)), when: Vec::new() }
    }

    /// Changes every response of the operation of the clause (of all operations for `all.…`).
    pub fn reply(
        id: &'static str,
        breaks: &'static str,
        change: impl Fn(&Scene, &ProxiedRequest, &mut Reply) + Send + Sync + 'static,
    ) -> Self {
        Self { id, breaks, how: How::Reply(Box::new(change)), when: Vec::new() }
    }

    /// Changes the JSON body of the successes.
    pub fn success(
        id: &'static str,
        breaks: &'static str,
        change: impl Fn(&Scene, &ProxiedRequest, &mut Value) + Send + Sync + 'static,
    ) -> Self {
        Self::reply(id, breaks, move |scene, seen, reply| {
            if scene.accepted(seen, reply) {
                reply.edit(|body| change(scene, seen, body));
            }
        })
    }

    /// Changes the rejections.
    pub fn rejection(
        id: &'static str,
        breaks: &'static str,
        change: impl Fn(&Scene, &ProxiedRequest, &mut Reply) + Send + Sync + 'static,
    ) -> Self {
        Self::reply(id, breaks, move |scene, seen, reply| {
            if reply.status.as_u16() >= 400 {
                change(scene, seen, reply);
            }
        })
    }

    /// Responds to the requests of every operation by itself.
    pub fn serve(
        id: &'static str,
        breaks: &'static str,
        serve: impl for<'a> Fn(&'a Scene, ProxiedRequest) -> BoxFuture<'a, Reply> + Send + Sync + 'static,
    ) -> Self {
        Self { id, breaks, how: How::Serve(Box::new(serve)), when: Vec::new() }
    }

    /// Narrows the fault to requests that fit a condition, beside the conditions that it has.
    pub fn when(
        mut self,
        condition: impl Fn(&Scene, &ProxiedRequest) -> bool + Send + Sync + 'static,
    ) -> Self {
        self.when.push(Box::new(condition));
        self
    }

    /// The clause that is broken.
    pub fn clause(&self) -> Clause {
        let id = self.id.split('/').next().unwrap_or(self.id);
        Clause::from_id(id).expect("the id of a fault begins with that of its clause")
    }

    async fn response(&self, scene: &Scene, mut seen: ProxiedRequest) -> Reply {
        let prefix = self.clause().id().split('.').next().unwrap_or_default();
        let operation = scene.operation(&seen);
        let served = matches!(self.how, How::Serve(_));
        let concerned = served || prefix == "all" || operation.is_some_and(|id| id.prefix() == prefix);
        if !concerned || !self.when.iter().all(|condition| condition(scene, &seen)) {
            return scene.upstream.call(&seen).await;
        }
        match &self.how {
            How::Request(change) => {
                change(scene, &mut seen);
                scene.upstream.call(&seen).await
            }
            How::Reply(change) => {
                let mut reply = scene.upstream.call(&seen).await;
                change(scene, &seen, &mut reply);
                reply
            }
            How::Serve(serve) => serve(scene, seen).await,
        }
    }
}

/// What a fault has at hand: the world, the server behind it, and a memory of its own. Gives the world's facts directly.
pub struct Scene {
    /// The server that keeps every clause.
    pub upstream: Upstream,
    /// What happened before.
    pub memory: Memory,
    world: Arc<World>,
}

impl Scene {
    /// A scene in which nothing has happened yet.
    pub fn new(world: &Arc<World>) -> Self {
        Self { upstream: world.upstream.clone(), memory: Memory::default(), world: Arc::clone(world) }
    }

    /// The operation that a request is for.
    pub fn operation(&self, seen: &ProxiedRequest) -> Option<OperationId> {
        OperationId::ALL.into_iter().find(|id| self.contract.operation(*id).path == seen.path)
    }

    /// Whether a response is a success: status and code, or status and text where text was asked for.
    pub fn accepted(&self, seen: &ProxiedRequest, reply: &Reply) -> bool {
        let Some(id) = self.operation(seen) else { return false };
        let success = &self.contract.operation(id).success;
        let code = reply.json().get("code").and_then(Value::as_i64);
        let text = id == OperationId::Extract && self.wants_text(seen);
        reply.status.as_u16() == success.status && (code == Some(success.code) || (text && code.is_none()))
    }

    /// Whether an extraction asks for plain text.
    pub fn wants_text(&self, seen: &ProxiedRequest) -> bool {
        let extract = &self.contract.extract;
        seen.param(&extract.return_type.name).as_ref() == Some(&extract.text)
    }

    /// Takes every credential out of a request, so that the server rejects it with a response that is in order.
    pub fn reject(&self, seen: &mut ProxiedRequest) {
        let extract = &self.contract.extract;
        seen.drop_param(&extract.api_key.name);
        seen.headers.remove(extract.api_key_header.as_str());
        seen.headers.remove(hyper::header::AUTHORIZATION);
    }

    /// Makes a request one of the main account, whatever credentials it has.
    pub fn as_main(&self, seen: &mut ProxiedRequest) {
        self.act_as(seen, &self.token);
    }

    /// Makes a request one of the account of a token.
    pub fn act_as(&self, seen: &mut ProxiedRequest, token: &str) {
        self.reject(seen);
        seen.set_param(&self.contract.extract.api_key.name, token);
    }
}

impl Deref for Scene {
    type Target = World;

    fn deref(&self) -> &World {
        &self.world
    }
}

/// What a fault remembers between requests.
#[derive(Default)]
pub struct Memory {
    calls: AtomicU64,
    counts: Mutex<HashMap<String, u64>>,
    replies: Mutex<HashMap<String, Reply>>,
}

impl Memory {
    /// How often this was asked before.
    pub fn calls(&self) -> u64 {
        self.calls.fetch_add(1, Ordering::Relaxed)
    }

    /// How often this was asked before for a key.
    pub fn calls_of(&self, key: &str) -> u64 {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        let count = counts.entry(key.to_owned()).or_default();
        *count += 1;
        *count - 1
    }

    /// How often [`Memory::calls_of`] was asked for a key.
    pub fn count(&self, key: &str) -> u64 {
        let counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        counts.get(key).copied().unwrap_or_default()
    }

    /// The response that was kept under a key.
    pub fn recall(&self, key: &str) -> Option<Reply> {
        self.replies.lock().unwrap_or_else(PoisonError::into_inner).get(key).cloned()
    }

    /// Keeps a response under a key, in place of an earlier one.
    pub fn keep(&self, key: &str, reply: &Reply) {
        let mut replies = self.replies.lock().unwrap_or_else(PoisonError::into_inner);
        replies.insert(key.to_owned(), reply.clone());
    }
}

/// A fault at work.
pub struct FaultyServer {
    /// PropertyGetter one.
    pub fault: Arc<Fault>,
    /// Where.
    pub scene: Scene,
}

impl Tamper for FaultyServer {
    fn pass(&self, seen: ProxiedRequest, _: &Upstream) -> impl Future<Output = Reply> + Send {
        self.fault.response(&self.scene, seen)
    }
}

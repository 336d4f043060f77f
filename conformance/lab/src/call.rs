//! A request that a fault or a variation handles, and the ways to change it or its response.

use std::ops::{Deref, DerefMut};

use sallyport_conformance_base::contract::{Contract, OperationId};
use serde_json::Value;

use super::context::Context;
use super::exchange::{ProxiedRequest, Reply};

/// A request, to which it dereferences, with what a fault or a variation works with.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    pub(super) contract: &'static Contract,
    pub(super) context: Context,
    request: ProxiedRequest,
}

impl Call {
    pub(super) fn new(context: &Context, request: ProxiedRequest) -> Self {
        Self { contract: context.contract, context: context.clone(), request }
    }

    pub(crate) async fn send(&self) -> Reply {
        self.context.upstream.call(&self.request).await
    }

    pub(crate) fn operation(&self) -> Option<OperationId> {
        self.context.operation(&self.request)
    }

    /// Whether a response is a success: status, code and list of the operation, or status and text where text was requested.
    pub(crate) fn accepted(&self, reply: &Reply) -> bool {
        let Some(id) = self.operation() else { return false };
        let success = &self.contract.operation(id).success;
        let body = reply.json();
        let code = body.get("code").and_then(Value::as_i64);
        let has_list = success.list.as_ref().is_none_or(|(pointer, _)| {
            let list = body.pointer(pointer).and_then(Value::as_array);
            list.is_some_and(|entries| entries.iter().all(Value::is_object))
        });
        let extract = &self.contract.extract;
        let text = id == OperationId::Extract
            && self.param(&extract.return_type.name).as_ref() == Some(&extract.text);
        reply.status.as_u16() == success.status
            && ((code == Some(success.code) && has_list) || (text && code.is_none()))
    }

    /// The gateways, groups or instances of a response.
    pub(super) fn list<'b>(&self, body: &'b mut Value) -> Option<&'b mut Vec<Value>> {
        let (pointer, _) = self.contract.operation(self.operation()?).success.list.as_ref()?;
        body.pointer_mut(pointer)?.as_array_mut()
    }

    /// Removes every credential, so that the server rejects the request in a conforming way.
    pub(crate) fn reject(&mut self) {
        let extract = &self.contract.extract;
        self.drop_param(&extract.operation.api_key.name);
        self.headers.remove(extract.api_key_header.as_str());
        self.headers.remove(hyper::header::AUTHORIZATION);
    }
}

impl Deref for Call {
    type Target = ProxiedRequest;

    fn deref(&self) -> &ProxiedRequest {
        &self.request
    }
}

impl DerefMut for Call {
    fn deref_mut(&mut self) -> &mut ProxiedRequest {
        &mut self.request
    }
}

//! Dropshot extractors for raw requests. They never fail, so that request errors get the envelope of their operation.

use std::{marker::PhantomData, sync::Arc, time::Duration};

use async_trait::async_trait;
use dropshot::{
    ApiEndpointBodyContentType, Body, ExclusiveExtractor, ExtractorMetadata, HttpError, Path, RequestContext,
    ServerContext, SharedExtractor,
};
use schemars::{
    JsonSchema,
    schema::{InstanceType, Schema, SchemaObject},
};
use serde::Deserialize;

use super::{
    operation::Operation,
    reading::{
        RequestParts,
        body::{self, UnreadBody},
    },
    responding::api_error::ApiError,
};
use crate::{connections::Connection, domain::token::Token};

/// A request of an operation before it is parsed.
#[derive(Debug)]
pub struct RawRequest<O> {
    body: UnreadBody,
    operation: PhantomData<fn() -> O>,
}

impl<O: Operation> RawRequest<O> {
    /// Drops a request that is rejected without reading its body.
    pub fn discard(self) {
        self.body.discard();
    }

    /// Receives the body and parses the request.
    ///
    /// # Errors
    /// The body cannot be received, or the first request error: in the body, then in parameters, then a missing token.
    pub(crate) async fn read<C: ServerContext>(
        self,
        rqctx: &RequestContext<C>,
        body_timeout: Duration,
        connection: &Arc<Connection>,
    ) -> Result<(Token, O::Request), ApiError> {
        let headers = rqctx.request.headers();
        // The memory of the body stays reserved until it is parsed.
        let json = match &O::document().body {
            Some(part) => {
                // Boxed to keep the futures of operations without a body small.
                let (body, _reservation) =
                    Box::pin(body::read(self.body, headers, body_timeout, connection, part.schema.clauses()))
                        .await?;
                Some(body::parse(&body, &part.schema)?)
            }
            None => {
                self.body.discard();
                None
            }
        };
        let uri = rqctx.request.uri();
        Ok(O::read(RequestParts { path: uri.path(), query: uri.query(), headers, json })?)
    }
}

#[async_trait]
impl<O: Operation> ExclusiveExtractor for RawRequest<O> {
    async fn from_request<C: ServerContext>(
        _: &RequestContext<C>,
        request: hyper::Request<Body>,
    ) -> Result<Self, HttpError> {
        Ok(Self { body: UnreadBody::new(request), operation: PhantomData })
    }

    /// The parameters of the path, which Dropshot compares with the path that it routes. It need not know any others, because the
    /// document describes the API.
    fn metadata(content_type: ApiEndpointBodyContentType) -> ExtractorMetadata {
        <Path<PathParameters<O>> as SharedExtractor>::metadata(content_type)
    }
}

/// Describes the parameters of an operation's path. It is never made, since `reading::path` reads them.
#[derive(Deserialize)]
struct PathParameters<O>(#[serde(skip)] PhantomData<fn() -> O>);

impl<O: Operation> JsonSchema for PathParameters<O> {
    fn schema_name() -> String {
        format!("PathParametersOf{}", O::ID)
    }

    fn json_schema(generator: &mut schemars::r#gen::SchemaGenerator) -> Schema {
        let mut object =
            SchemaObject { instance_type: Some(InstanceType::Object.into()), ..SchemaObject::default() };
        let names = O::PATH.split('/').filter_map(|segment| segment.strip_prefix('{')?.strip_suffix('}'));
        for name in names {
            object.object().properties.insert(name.to_owned(), generator.subschema_for::<String>());
            object.object().required.insert(name.to_owned());
        }
        object.into()
    }
}

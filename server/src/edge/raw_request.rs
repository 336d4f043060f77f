//! Dropshot extractors for raw requests. They never fail, so that request errors get the envelope of their operation.

use std::{marker::PhantomData, sync::Arc, time::Duration};

use super::{
    operation::Operation,
    reading::{
        RequestParts,
        body::{self, UnreadBody},
    },
    responding::api_error::ApiError,
};
use crate::{connections::Connection, domain::token::Token};
use async_trait::async_trait;
use dropshot::{
    ApiEndpointBodyContentType, Body, ExclusiveExtractor, ExtractorMetadata, HttpError, Query,
    RequestContext, ServerContext, SharedExtractor,
};

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
        Ok(O::read(RequestParts { query: rqctx.request.uri().query(), headers, json })?)
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

    /// No parameters: the document describes the API. Dropshot refuses to register a path that has some.
    fn metadata(content_type: ApiEndpointBodyContentType) -> ExtractorMetadata {
        <Query<()> as SharedExtractor>::metadata(content_type)
    }
}

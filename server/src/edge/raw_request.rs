//! Dropshot extractors for raw requests. They never fail, so that request errors get the envelope of their operation.

use std::{marker::PhantomData, sync::Arc, time::Duration};

use async_trait::async_trait;
use dropshot::{
    ApiEndpointBodyContentType, Body, ExclusiveExtractor, ExtractorMetadata, HttpError, RequestContext,
    ServerContext,
};

use super::{
    deprecation::{self, Used},
    operation::Operation,
    reading::{
        RequestParts,
        body::{self, UnreadBody},
    },
    responding::api_error::ApiError,
};
use crate::connections::Connection;

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

    /// Receives the body, parses the request, and adds the deprecated parts that the body uses to `used`.
    ///
    /// # Errors
    /// The body cannot be received, or the first request error: in the body, then in parameters, then a missing token.
    pub(crate) async fn read<C: ServerContext>(
        self,
        rqctx: &RequestContext<C>,
        body_timeout: Duration,
        connection: &Arc<Connection>,
        used: &mut Used,
    ) -> Result<O::Request, ApiError> {
        let headers = rqctx.request.headers();
        let body;
        let json = match O::BODY {
            Some(input) => {
                // Boxed to keep the futures of operations without a body small.
                body = Box::pin(body::read(self.body, headers, body_timeout, connection, input)).await?;
                let json = body::parse(&body.0, input)?;
                deprecation::add_body(O::DEPRECATED_PARTS, &json, used);
                Some(json)
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

    fn metadata(content_type: ApiEndpointBodyContentType) -> ExtractorMetadata {
        O::metadata(content_type)
    }
}

/// A request on the path of an operation, without its body.
#[derive(Debug)]
pub struct DiscardedRequest<O>(PhantomData<fn() -> O>);

#[async_trait]
impl<O: Operation> ExclusiveExtractor for DiscardedRequest<O> {
    async fn from_request<C: ServerContext>(
        _: &RequestContext<C>,
        request: hyper::Request<Body>,
    ) -> Result<Self, HttpError> {
        UnreadBody::new(request).discard();
        Ok(Self(PhantomData))
    }

    fn metadata(content_type: ApiEndpointBodyContentType) -> ExtractorMetadata {
        O::path_metadata(content_type)
    }
}

//! Our extractor: it takes a request as it is and never fails, so that reading can happen where a fault can get its
//! envelope.

use std::{marker::PhantomData, sync::Arc};

use async_trait::async_trait;
use dropshot::{
    ApiEndpointBodyContentType, Body, ExclusiveExtractor, ExtensionMode, ExtractorMetadata, HttpError,
    RequestContext, ServerContext,
};

use super::{answer::Operation, body, gate::Gate, refused::Refused};
use crate::{connections::Connection, edge::call::Arrived};

/// A request of an operation, not yet read.
#[derive(Debug)]
pub struct Received<O> {
    body: Body,
    operation: PhantomData<fn() -> O>,
}

impl<O: Operation> Received<O> {
    /// Lets go of a request that is refused unread.
    pub fn discard(self) {
        body::discard(self.body);
    }

    /// Reads the request.
    ///
    /// # Errors
    /// No room for the body, or the first fault found: in the body, then in parameters, then a missing token.
    pub(crate) async fn read<C: ServerContext>(
        self,
        rqctx: &RequestContext<C>,
        gate: &Gate,
        connection: &Arc<Connection>,
    ) -> Result<O::Request, Refused> {
        let headers = rqctx.request.headers();
        let held;
        let json = match O::BODY {
            Some(spot) => {
                // In a box, lest operations without a body have room for this with them.
                held = Box::pin(body::read(self.body, headers, gate, connection, spot)).await?;
                Some(body::parse(&held.0, spot)?)
            }
            None => {
                body::discard(self.body);
                None
            }
        };
        Ok(O::read(Arrived { query: rqctx.request.uri().query(), headers, json })?)
    }
}

#[async_trait]
impl<O: Operation> ExclusiveExtractor for Received<O> {
    async fn from_request<C: ServerContext>(
        _: &RequestContext<C>,
        request: hyper::Request<Body>,
    ) -> Result<Self, HttpError> {
        Ok(Self { body: request.into_body(), operation: PhantomData })
    }

    fn metadata(content_type: ApiEndpointBodyContentType) -> ExtractorMetadata {
        O::metadata(content_type)
    }
}

/// A request that is not read at all.
#[derive(Debug)]
pub struct Unread;

#[async_trait]
impl ExclusiveExtractor for Unread {
    async fn from_request<C: ServerContext>(
        _: &RequestContext<C>,
        request: hyper::Request<Body>,
    ) -> Result<Self, HttpError> {
        body::discard(request.into_body());
        Ok(Self)
    }

    fn metadata(_: ApiEndpointBodyContentType) -> ExtractorMetadata {
        ExtractorMetadata { extension_mode: ExtensionMode::None, parameters: Vec::new() }
    }
}

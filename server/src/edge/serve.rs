//! Serves one call.

use std::{panic::AssertUnwindSafe, sync::Arc};

use dropshot::{HttpError, HttpResponse as _, RawRequest, RequestContext};
use futures::FutureExt;
use tracing::{Instrument as _, Span, field::Empty};

use super::{
    admission::control::AdmissionControl,
    operation::{Call, Handler},
    reading::{
        RequestParts,
        body::{self, UnreadBody},
    },
    responding::{
        api_error::ApiError,
        error_code::ErrorCode,
        response::{OperationResponse, Success},
    },
};
use crate::{
    connections::Connection,
    domain::{service::Service, token::Token},
    metrics,
    proxies::ipv4,
};

/// The state that all calls share.
#[derive(Clone)]
pub struct Context {
    /// The service.
    pub service: Service,
    /// The request limits.
    pub admission: Arc<AdmissionControl>,
}

/// The result of an endpoint for Dropshot. It is never an error, because a raw request cannot fail and API errors are responses.
pub type HandlerResult<O> = Result<OperationResponse<O>, HttpError>;

/// Parses the request, calls the handler, and puts the result into its envelope. Each response is counted and logged in one line. A
/// panic becomes an internal error, because a closed connection would not tell the caller what happened.
#[expect(clippy::manual_async_fn, reason = "the future of an `async fn` stores its arguments twice")]
pub fn serve<O: Handler>(
    rqctx: RequestContext<Context>,
    request: RawRequest,
) -> impl Future<Output = HandlerResult<O>> + Send {
    async move {
        let request_id = rqctx.request_id.as_str();
        let span =
            tracing::info_span!("call", operation = O::ID, request_id, caller = Empty, account = Empty);
        // Dropshot boxes this future. With an inner box both allocations are small, which is faster than a large one.
        let body = UnreadBody::new(request.into_inner());
        Ok(Box::pin(respond(&rqctx, body).instrument(span)).await)
    }
}

async fn respond<O: Handler>(rqctx: &RequestContext<Context>, body: UnreadBody) -> OperationResponse<O> {
    let admission = &rqctx.context().admission;
    let mut in_flight = admission.metrics.begin(O::ID);
    let connection = admission.connections.connection(rqctx.request.remote_addr());
    let _request = connection.begin_request();
    let outcome = AssertUnwindSafe(call(rqctx, &connection, body)).catch_unwind().await;
    let outcome = outcome.unwrap_or_else(|_| {
        tracing::error!("a handler panicked");
        Err(ErrorCode::Internal.into())
    });
    let response = OperationResponse::new(outcome, &rqctx.request_id, &connection);
    let error_code = response.error_code;
    let (outcome, status) = (metrics::outcome(error_code), response.status_code().as_u16());
    let micros = metrics::micros(in_flight.finish(status, error_code));
    match error_code {
        None => tracing::info!(outcome, status, micros, "succeeded"),
        Some(code) => {
            let (number, description) = (code.number(), code.description());
            tracing::info!(outcome, status, code = number, micros, "rejected: {description}")
        }
    }
    response
}

async fn call<O: Handler>(
    rqctx: &RequestContext<Context>,
    connection: &Arc<Connection>,
    body: UnreadBody,
) -> Result<Success<O>, ApiError> {
    let Context { service, admission } = rqctx.context();
    let caller = admission.caller(rqctx.request.remote_addr().ip(), rqctx.request.headers());
    let admitted = caller.and_then(|ip| {
        Span::current().record("caller", tracing::field::display(ip));
        admission.rate_limits.address(O::ID, ip).map(|()| ip)
    });
    let admitted = match admitted {
        // Boxed to keep the futures of operations without a body small.
        Ok(ip) if O::document().body.is_some() => {
            Box::pin(authenticate::<O>(rqctx, connection)).await.map(|()| ip)
        }
        admitted => admitted,
    };
    let ip = match admitted {
        Ok(ip) => ip,
        Err(error) => {
            body.discard();
            return Err(error);
        }
    };
    let (token, request) = read::<O>(rqctx, connection, body).await?;
    if O::document().body.is_none() {
        admission.rate_limits.token(O::ID, &token)?;
    }
    let _work = admission.start_work(connection)?;
    let call = Call { service, caller_ip: ipv4(ip), token, request_id: &rqctx.request_id };
    O::handle(call, request).await
}

/// Receives the body and parses the request.
///
/// # Errors
/// The body cannot be received, or the first request error: in the body, then in parameters, then a missing token.
async fn read<O: Handler>(
    rqctx: &RequestContext<Context>,
    connection: &Arc<Connection>,
    body: UnreadBody,
) -> Result<(Token, O::Request), ApiError> {
    let headers = rqctx.request.headers();
    let timeout = rqctx.context().admission.body_timeout;
    // The memory of the body stays reserved until it is parsed.
    let json = match &O::document().body {
        Some(part) => {
            // Boxed to keep the futures of operations without a body small.
            let (body, _reservation) =
                Box::pin(body::read(body, headers, timeout, connection, part.schema.clauses())).await?;
            Some(body::parse(&body, &part.schema)?)
        }
        None => {
            body.discard();
            None
        }
    };
    Ok(O::read(RequestParts { query: rqctx.request.uri().query(), headers, json })?)
}

/// Checks the token before the body is received, which bounds the memory that unauthenticated callers can use.
async fn authenticate<O: Handler>(
    rqctx: &RequestContext<Context>,
    connection: &Connection,
) -> Result<(), ApiError> {
    let Context { service, admission } = rqctx.context();
    let token = O::credential(rqctx.request.uri().query(), rqctx.request.headers())?;
    admission.rate_limits.token(O::ID, &token)?;
    let _work = admission.start_work(connection)?;
    Ok(service.authenticate(&token, O::PURPOSE).await?)
}

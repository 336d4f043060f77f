//! Serves one call.

use std::{panic::AssertUnwindSafe, sync::Arc};

use dropshot::{HttpError, HttpResponse as _, RequestContext};
use futures::FutureExt;
use tracing::{Instrument as _, Span, field::Empty};

use super::{
    admission::control::AdmissionControl,
    operation::{Call, Handler},
    raw_request::RawRequest,
    responding::{
        api_error::ApiError,
        error_code::ErrorCode,
        response::{OperationResponse, Success},
    },
};
use crate::{connections::Connection, domain::service::Service, metrics, proxies::ipv4};

/// The state that all calls share.
#[derive(Clone, Debug)]
pub struct Context {
    /// The service.
    pub service: Service,
    /// The request limits.
    pub admission: Arc<AdmissionControl>,
}

/// The result of an endpoint for Dropshot. It is never an error, because extractors cannot fail and API errors are responses.
pub type HandlerResult<O> = Result<OperationResponse<O>, HttpError>;

/// Parses the request, calls the handler, and puts the result into its envelope. Each response is counted and logged in one line. A
/// panic becomes an internal error, because a closed connection would not tell the caller what happened.
#[expect(clippy::manual_async_fn, reason = "the future of an `async fn` stores its arguments twice")]
pub fn serve<O: Handler>(
    rqctx: RequestContext<Context>,
    request: RawRequest<O>,
) -> impl Future<Output = HandlerResult<O>> + Send {
    async move {
        let request_id = rqctx.request_id.as_str();
        let span =
            tracing::info_span!("call", operation = O::ID, request_id, caller = Empty, account = Empty);
        // Dropshot boxes this future. With an inner box both allocations are small, which is faster than a large one.
        Ok(Box::pin(respond(&rqctx, request).instrument(span)).await)
    }
}

async fn respond<O: Handler>(
    rqctx: &RequestContext<Context>,
    request: RawRequest<O>,
) -> OperationResponse<O> {
    let admission = &rqctx.context().admission;
    let mut in_flight = admission.metrics.begin(O::ID);
    let connection = admission.connections.connection(rqctx.request.remote_addr());
    let _request = connection.begin_request();
    let outcome = AssertUnwindSafe(call(rqctx, &connection, request)).catch_unwind().await;
    let outcome = outcome.unwrap_or_else(|_| {
        tracing::error!("a handler panicked");
        Err(ErrorCode::Internal.into())
    });
    let response = OperationResponse::new(outcome, &rqctx.request_id, &connection);
    let error_code = response.error_code();
    let micros = metrics::micros(in_flight.finish(error_code));
    let (outcome, status) = (metrics::outcome(error_code), response.status_code().as_u16());
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
    request: RawRequest<O>,
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
            request.discard();
            return Err(error);
        }
    };
    let (token, request) = request.read(rqctx, admission.body_timeout, connection).await?;
    if O::document().body.is_none() {
        admission.rate_limits.token(O::ID, &token)?;
    }
    let _work = admission.start_work(connection)?;
    let call = Call { service, caller_ip: ipv4(ip), token, request_id: &rqctx.request_id };
    O::handle(call, request).await
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

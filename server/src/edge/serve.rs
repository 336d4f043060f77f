//! One call: from its request to its answer.

use std::{
    net::{IpAddr, Ipv4Addr},
    panic::AssertUnwindSafe,
    sync::Arc,
    time::{Duration, Instant},
};

use dropshot::{HttpResponse as _, RequestContext};
use futures::FutureExt;
use http::HeaderMap;
use tracing::{Instrument as _, Span, field::Empty};

use super::{
    answer::{Answer, Operation, Success},
    caller,
    catalogue::Reason,
    gate::Gate,
    json::Json,
    received::Received,
    refused::Refused,
};
use crate::{
    connections::Connection,
    domain::{access::Purpose, service::Service},
    metrics,
};

/// What every handler has at hand.
#[derive(Clone, Debug)]
pub struct Context {
    /// The service.
    pub service: Service,
    /// What every call passes before it gets there.
    pub gate: Arc<Gate>,
}

/// The parts of a request that an operation reads.
#[derive(Debug)]
pub struct Arrived<'a> {
    /// What stands behind the `?`.
    pub query: Option<&'a str>,
    /// The headers.
    pub headers: &'a HeaderMap,
    /// The body, for operations that have one.
    pub json: Option<Json<'a>>,
}

/// What a handler knows of a call besides its request.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    /// The service.
    pub service: &'a Service,
    /// Where the call comes from; `None` when that is not IPv4.
    pub caller_ip: Option<Ipv4Addr>,
    /// Trace id, which the answer carries.
    pub request_id: &'a str,
}

/// An operation with what answers it.
pub trait Handler: Operation + Sized {
    /// What its token must be good for.
    const PURPOSE: Purpose;

    /// Answers a call.
    ///
    /// # Errors
    /// The refusal that the caller gets.
    fn handle(
        call: Call<'_>,
        request: Self::Request,
    ) -> impl Future<Output = Result<Success<Self>, Refused>> + Send;
}

/// What Dropshot is given. Its error never occurs: refusals are answers.
pub type Served<O> = Result<Answer<O>, <O as Operation>::Error>;

/// Reads the request, lets the handler answer it, and puts the outcome into its envelope. Each answer is counted and
/// leaves one line in the log. A panic becomes an internal error, since a dropped connection would tell the caller
/// nothing.
#[expect(clippy::manual_async_fn, reason = "the future of an `async fn` has room for its arguments twice")]
pub fn serve<O: Handler>(
    rqctx: RequestContext<Context>,
    received: Received<O>,
) -> impl Future<Output = Served<O>> + Send {
    async move {
        let request_id = rqctx.request_id.as_str();
        let span =
            tracing::info_span!("call", operation = O::ID, request_id, caller = Empty, account = Empty);
        // Dropshot puts this future into a box. With another one in it both are small; for one large box the allocator
        // would have to search.
        Ok(Box::pin(answer(&rqctx, received).instrument(span)).await)
    }
}

async fn answer<O: Handler>(rqctx: &RequestContext<Context>, received: Received<O>) -> Answer<O> {
    let gate = &rqctx.context().gate;
    let mut under_way = gate.metrics.begin(O::ID);
    let mut unanswered = Unanswered(Some(under_way.begun()));
    let connection = gate.connections.connection(rqctx.request.remote_addr());
    let _request = connection.begin_request();
    let outcome = AssertUnwindSafe(outcome(rqctx, &connection, received)).catch_unwind().await;
    let outcome = outcome.unwrap_or_else(|_| {
        tracing::error!("a handler panicked");
        Err(Reason::Internal.into())
    });
    let answer = Answer::new(outcome, &rqctx.request_id, &connection);
    let reason = answer.reason();
    let micros = micros(under_way.answered(reason));
    unanswered.0 = None;
    let (outcome, status) = (metrics::outcome(reason), answer.status_code().as_u16());
    match reason {
        None => tracing::info!(outcome, status, micros, "answered"),
        Some(reason) => {
            tracing::info!(outcome, status, code = reason.code(), micros, "refused: {}", reason.when())
        }
    }
    answer
}

/// A call that began then. Dropped while it has no answer, its caller has left; the log says so.
struct Unanswered(Option<Instant>);

impl Drop for Unanswered {
    fn drop(&mut self) {
        if let Some(begun) = self.0 {
            tracing::info!(outcome = metrics::LEFT, micros = micros(begun.elapsed()), "the caller left");
        }
    }
}

/// As a number of 64 bits: the log has no longer ones in JSON.
fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

async fn outcome<O: Handler>(
    rqctx: &RequestContext<Context>,
    connection: &Arc<Connection>,
    received: Received<O>,
) -> Result<Success<O>, Refused> {
    let Context { service, gate } = rqctx.context();
    let caller = gate.caller(rqctx.request.remote_addr().ip(), rqctx.request.headers());
    let mut admitted = caller.and_then(|ip| {
        Span::current().record("caller", tracing::field::display(ip));
        gate.limits.address(O::ID, ip).map(|()| ip)
    });
    if O::BODY.is_some()
        && let Ok(ip) = admitted
    {
        // In a box, so that operations without a body have no room for this with them.
        admitted = Box::pin(authenticate::<O>(rqctx, connection, ip)).await.map(|()| ip);
    }
    let ip = match admitted {
        Ok(ip) => ip,
        Err(refused) => {
            received.discard();
            return Err(refused);
        }
    };
    let request = received.read(rqctx, gate, connection).await?;
    if O::BODY.is_none() {
        gate.limits.token(O::ID, O::token(&request), ip)?;
    }
    let _work = gate.begin(connection)?;
    let call = Call { service, caller_ip: caller::ipv4(ip), request_id: &rqctx.request_id };
    O::handle(call, request).await
}

/// Looks at the token before the body is received: memory is for callers who are known.
async fn authenticate<O: Handler>(
    rqctx: &RequestContext<Context>,
    connection: &Connection,
    ip: IpAddr,
) -> Result<(), Refused> {
    let Context { service, gate } = rqctx.context();
    let token = O::credential(rqctx.request.uri().query(), rqctx.request.headers())?;
    gate.limits.token(O::ID, &token, ip)?;
    let _work = gate.begin(connection)?;
    Ok(service.authenticate(&token, O::PURPOSE).await?)
}

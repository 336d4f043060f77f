//! One call: from its request to its answer.

use std::{
    net::{IpAddr, Ipv4Addr, SocketAddr},
    panic::AssertUnwindSafe,
    time::Duration,
};

use dropshot::RequestContext;
use futures::FutureExt;
use http::HeaderMap;

use super::{
    answer::{Answer, Operation, Success},
    catalogue::Reason,
    json::Json,
    received::Received,
    refused::Refused,
};
use crate::domain::service::Service;

/// What every handler has at hand.
#[derive(Clone, Debug)]
pub struct Context {
    /// The service.
    pub service: Service,
    /// Longest time for which a body may arrive.
    pub body_timeout: Duration,
}

/// The parts of a request that an operation reads.
#[derive(Debug)]
pub struct Arrived<'a> {
    /// What stands behind the `?`.
    pub query: Option<&'a str>,
    /// The headers.
    pub headers: &'a HeaderMap,
    /// The body, for operations that have one.
    pub json: Option<Json>,
}

/// What a handler knows of a call besides its request.
#[derive(Clone, Debug)]
pub struct Call {
    /// The service.
    pub service: Service,
    /// Where the call comes from; `None` when that is not IPv4.
    pub caller_ip: Option<Ipv4Addr>,
    /// Trace id, which the answer carries.
    pub request_id: String,
}

/// Reads the request, lets `handle` answer it, and puts the outcome into its envelope. A panic becomes an internal
/// error, since a dropped connection would tell the caller nothing.
pub async fn serve<O, F, H>(rqctx: RequestContext<Context>, received: Received<O>, handle: H) -> Answer<O>
where
    O: Operation,
    H: FnOnce(Call, O::Request) -> F + Send,
    F: Future<Output = Result<Success<O>, Refused>> + Send,
{
    let outcome = async {
        let context = rqctx.context();
        let request = received.read(&rqctx, context.body_timeout).await?;
        let call = Call {
            service: context.service.clone(),
            caller_ip: ipv4(rqctx.request.remote_addr()),
            request_id: rqctx.request_id.clone(),
        };
        handle(call, request).await
    };
    let outcome = AssertUnwindSafe(outcome).catch_unwind().await.unwrap_or_else(|_| {
        tracing::error!(request_id = rqctx.request_id, "a handler panicked");
        Err(Reason::Internal.into())
    });
    Answer::new(outcome, &rqctx.request_id)
}

/// The caller's IPv4 address; a socket that serves both families shows it as IPv4-mapped IPv6.
fn ipv4(address: SocketAddr) -> Option<Ipv4Addr> {
    match address.ip() {
        IpAddr::V4(ip) => Some(ip),
        IpAddr::V6(ip) => ip.to_ipv4_mapped(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mapped_callers_are_ipv4_callers() {
        let ip = |text: &str| ipv4(text.parse().unwrap());
        assert_eq!(ip("198.51.100.4:1"), Some(Ipv4Addr::new(198, 51, 100, 4)));
        assert_eq!(ip("[::ffff:198.51.100.4]:1"), Some(Ipv4Addr::new(198, 51, 100, 4)));
        assert_eq!(ip("[2001:db8::1]:1"), None);
        assert_eq!(ip("[::1]:1"), None);
    }
}

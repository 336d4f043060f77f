//! Who may extract: the addresses that a caller may claim, and entitlements.

use super::*;
use crate::checks::token::is_valid;

pub(crate) const HEADERS: [&str; 9] = [
    "X-Forwarded-For",
    "X-Real-IP",
    "X-Client-IP",
    "True-Client-IP",
    "Forwarded",
    "CF-Connecting-IP",
    "X-Cluster-Client-IP",
    "Fastly-Client-IP",
    RARE,
];

/// Less common headers, between spaces, for which [`RARE`] stands: one request carries all of them.
const RARE_HEADERS: &str = "\
    Client-IP X-Forwarded Forwarded-For X-Forwarded-Client-IP X-Original-Forwarded-For X-Originating-IP X-Remote-IP X-Remote-Addr \
    X-ProxyUser-Ip Proxy-Client-IP WL-Proxy-Client-IP X-Azure-ClientIP X-Appengine-User-IP Fly-Client-IP X-Envoy-External-Address \
    Ali-CDN-Real-IP CF-Connecting-IPv6 Remote-Addr";

/// Stands for [`ADDRESS_PARAMETERS`].
const PARAMETERS: &str = "parameters of the query";

/// Parameters of other APIs with the address of the caller. A service that rejects unknown parameters passes.
const ADDRESS_PARAMETERS: [&str; 3] = ["ip", "client_ip", "request_ip"];

const RARE: &str = "headers of fewer services";

/// The request with an address in a header of [`HEADERS`], in each of [`RARE_HEADERS`], or in each of [`ADDRESS_PARAMETERS`].
pub(crate) fn claiming(request: Request, header: &str, address: &str) -> Request {
    match header {
        PARAMETERS => {
            ADDRESS_PARAMETERS.iter().fold(request, |request, parameter| request.query(parameter, address))
        }
        RARE => RARE_HEADERS.split(' ').fold(request, |request, header| request.header(header, address)),
        "Forwarded" => request.header(header, format!("for={address}")),
        _ => request.header(header, address),
    }
}

/// The responses show which protocols the account is entitled to: some must be accepted, but not all.
pub(super) async fn other_protocol(probe: &Probe<'_>, row: Arc<Row>) -> Result<(), Stop> {
    let form = row.form();
    let token = probe.secret(Fact::TokenPartlyEntitled, 0)?;
    let extract = &probe.contract().extract;
    let (mut accepted, mut rejected) = (Vec::new(), Vec::new());
    for protocol in &extract.protocols {
        let request = form.with_token(probe, token.expose()).query(PROTOCOL, protocol);
        let (exchange, is_served) = probe.is_accepted(&request).await?;
        let responses = if is_served { &mut accepted } else { &mut rejected };
        responses.push(exchange);
    }
    if accepted.is_empty() && form == Extraction::PLAIN {
        is_valid(probe, token, Fact::TokenPartlyEntitled).await?;
        let expected = format!(
            "at least one protocol accepted, as supplied by {}",
            Fact::TokenPartlyEntitled.variable()
        );
        let exchanges: Vec<_> = rejected.iter().collect();
        probe.finding(ExtractEntitlement, &expected, "all rejected", &exchanges);
        return Ok(());
    }
    if accepted.is_empty() {
        let reason = format!(
            "the account cannot extract with any protocol; expected one that is entitled to some protocols, not to all ({})",
            Fact::TokenPartlyEntitled.variable()
        );
        return Err(probe.inconclusive(&reason));
    }
    if accepted.len() == extract.protocols.len() {
        let exchanges: Vec<_> = accepted.iter().collect();
        let expected = format!("at least one protocol rejected, {}", form.name());
        probe.finding(ExtractEntitlement, &expected, "all accepted", &exchanges);
    }
    Ok(())
}

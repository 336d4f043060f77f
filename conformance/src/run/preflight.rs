use crate::checks::first_requests;
use crate::contract::{Contract, OperationId};
use crate::response::{Form, ResponseClass, gateways, operation_of};
use crate::target::Target;
use crate::wire::{
    Exchange, FailureKind, GatewayCount, Redactor, Request, Response, ThrottlingPolicy, Wire, WireError,
    WireFailure,
};

/// Finds out whether the target responds, so that one that cannot be reached does not fail a hundred checks. Sends one request
/// to each operation until one of them is served; a conforming target returns no gateway for any of the requests. The
/// error says what is wrong.
pub(crate) async fn preflight(contract: &Contract, target: &Target, wire: &Wire) -> Option<String> {
    first_response(contract, target, wire).await.err().flatten()
}

/// The same, and whether the target accepts anything of the account, since without an accepted control request every check
/// would end inconclusive. Sends one request when it does, and at most four more. Says what is wrong with the base URL or
/// the token.
pub(crate) async fn preflight_with_token(
    contract: &Contract,
    target: &Target,
    wire: &Wire,
    redactor: &Redactor,
) -> Option<String> {
    match first_response(contract, target, wire).await {
        Err(problem) => problem,
        Ok((request, exchange)) => {
            if is_no_json(&exchange) {
                return is_another_service(contract, target, wire).await;
            }
            if is_down(&exchange).is_some() {
                return serves_nothing(contract, target, wire).await;
            }
            let operation = operation_of(contract, &request)?;
            let own = rejection(contract, redactor, operation, exchange)?;
            accepts_nothing(contract, target, wire, redactor, (operation, own)).await
        }
    }
}

/// The first response of the target to one of the first requests, or the cause of a failure, if it is known.
async fn first_response(
    contract: &Contract,
    target: &Target,
    wire: &Wire,
) -> Result<(Request, Exchange), Option<String>> {
    let mut problem = None;
    for request in first_requests(contract, target) {
        // A budget that is used up shows itself in every check.
        let Ok(exchange) = send(contract, wire, &request).await else { return Err(problem) };
        match &exchange.result {
            Ok(response) => match redirected(response) {
                Some(redirected) => problem = Some(redirected),
                None => return Ok((request, exchange)),
            },
            // The target responds; each check judges the responses.
            Err(failure) if failure.kind == FailureKind::TooLarge => return Err(None),
            Err(failure) => {
                let gone = failure.kind == FailureKind::Connect;
                problem.get_or_insert_with(|| unreachable(failure));
                if gone {
                    break;
                }
            }
        }
    }
    Err(problem)
}

/// Whether a response neither is JSON nor says that it is, and does not come from a limit or a broken service either.
fn is_no_json(exchange: &Exchange) -> bool {
    exchange.result.as_ref().is_ok_and(|response| {
        let says_json = response.header("Content-Type").is_some_and(|kind| kind.contains("json"));
        let judges = response.status < SERVER_ERROR || response.status == NOT_IMPLEMENTED;
        response.json().is_none() && !says_json && judges && response.status != TOO_MANY_REQUESTS
    })
}

/// A file server, another API or a page for visitors responds to no operation with JSON. Judging it would show nothing, and
/// the token has no business there.
async fn is_another_service(contract: &Contract, target: &Target, wire: &Wire) -> Option<String> {
    let mut statuses = Vec::new();
    for request in &first_requests(contract, target) {
        let exchange = send(contract, wire, request).await.ok()?;
        if !is_no_json(&exchange) {
            return None;
        }
        statuses.push(exchange.result.ok()?.status);
    }
    if statuses.iter().all(|status| *status == NOT_FOUND) {
        return Some(wrong_base_url(contract, target));
    }
    let statuses: Vec<String> = statuses.iter().map(|status| format!("HTTP {status}")).collect();
    Some(format!(
        "every operation responds with something else than JSON ({}): this does not look like the API; check the base URL, \
         to which the paths of the contract are added",
        statuses.join(", ")
    ))
}

/// The status of a server error that says neither what was wrong nor when to call again.
fn is_down(exchange: &Exchange) -> Option<u16> {
    let response = exchange.result.as_ref().ok()?;
    let is_mute = response.at("/code").is_none() && response.header("Retry-After").is_none();
    Some(response.status).filter(|status| *status >= SERVER_ERROR && is_mute)
}

/// A proxy whose service does not run responds to every request by itself. A check could only say so once more, each in its
/// own words.
async fn serves_nothing(contract: &Contract, target: &Target, wire: &Wire) -> Option<String> {
    let mut statuses = Vec::new();
    for request in &first_requests(contract, target) {
        let exchange = send(contract, wire, request).await.ok()?;
        statuses.push(format!("HTTP {}", is_down(&exchange)?));
    }
    Some(format!(
        "every operation responds with a server error without a business code ({}): the service does not run, or the proxy in \
         front of it does not reach it",
        statuses.join(", ")
    ))
}

/// `first` is the rejection that was already received.
async fn accepts_nothing(
    contract: &Contract,
    target: &Target,
    wire: &Wire,
    redactor: &Redactor,
    first: (OperationId, Response),
) -> Option<String> {
    let [groups, search, _] = first_requests(contract, target);
    let extract = &contract.extract;
    let extraction = Request::to(&extract.operation)
        .query(&extract.api_key.name, target.token.expose())
        .query(&extract.num.name, extract.num_range.start());
    let (asked, own) = first;
    let mut responses = vec![own];
    let requests =
        [(OperationId::Groups, &groups), (OperationId::Search, &search), (OperationId::Extract, &extraction)];
    for (operation, request) in requests.into_iter().filter(|(operation, _)| *operation != asked) {
        match send(contract, wire, request).await {
            // A target that returns gateways beside a rejection is judged by the checks.
            Ok(exchange) if hands_out(contract, request, &exchange) => {
                let is_link =
                    responses.len() > 1 && responses.iter().all(|response| response.status == FORBIDDEN);
                return is_link.then(|| LINK_CREDENTIAL.to_owned());
            }
            Ok(exchange) => responses.push(rejection(contract, redactor, operation, exchange)?),
            // No gateway may be taken, so the others have to do.
            Err(WireError::Budget(_)) if operation == OperationId::Extract => {}
            Err(_) => return None,
        }
    }
    if responses.iter().all(|response| response.status == NOT_FOUND) {
        return Some(wrong_base_url(contract, target));
    }
    let (unknown, own) = match asked {
        OperationId::Groups => {
            (groups.query(&contract.groups.api_key.name, UNKNOWN_TOKEN), responses.first()?)
        }
        _ => return None,
    };
    let unknown = send(contract, wire, &unknown).await.ok()?;
    let unknown = rejection(contract, redactor, asked, unknown)?;
    let is_unknown = [UNAUTHORIZED, FORBIDDEN].contains(&own.status)
        && own.status == unknown.status
        && own.at("/code") == unknown.at("/code");
    is_unknown.then(|| {
        let code = own.at("/code").map(|code| format!(", code {}", redactor.redact(&code.to_string())));
        format!(
            "the target rejects the account's token as it rejects an unknown one (HTTP {}{}): check SALLYPORT_API_KEY and \
             the base URL",
            own.status,
            code.unwrap_or_default()
        )
    })
}

const UNAUTHORIZED: u16 = 401;
const FORBIDDEN: u16 = 403;
const NOT_FOUND: u16 = 404;
const TOO_MANY_REQUESTS: u16 = 429;
const SERVER_ERROR: u16 = 500;
const NOT_IMPLEMENTED: u16 = 501;

const LINK_CREDENTIAL: &str = "the target rejects the account's token for both static operations (HTTP 403) and accepts it for \
                               extraction only, as it does a link credential: if it is one, set SALLYPORT_API_KEY to the account's token";

/// No service has given it out.
const UNKNOWN_TOKEN: &str = "unknown-token-of-the-conformance-suite";

fn hands_out(contract: &Contract, request: &Request, exchange: &Exchange) -> bool {
    matches!(
        gateways::count(contract, request, &exchange.result),
        GatewayCount::Counted(1..) | GatewayCount::Unbounded
    )
}

/// The response, when it is plainly a rejection.
fn rejection(
    contract: &Contract,
    redactor: &Redactor,
    operation: OperationId,
    exchange: Exchange,
) -> Option<Response> {
    let class = ResponseClass::classify(contract, operation, Form::Json, &exchange.result, redactor);
    exchange.result.ok().filter(|_| matches!(class, ResponseClass::Rejected(_)))
}

async fn send(contract: &Contract, wire: &Wire, request: &Request) -> Result<Exchange, WireError> {
    let count = |exchange: &mut Exchange| gateways::count(contract, request, &exchange.result);
    wire.send(request, gateways::cost(contract, request), ThrottlingPolicy::FirstResponse, count).await
}

fn wrong_base_url(contract: &Contract, target: &Target) -> String {
    let path = &contract.groups.operation.path;
    let base = target.base().path().trim_end_matches('/');
    let overlap = path.match_indices('/').map(|(end, _)| &path[..end]).filter(|prefix| !prefix.is_empty());
    let repeated = overlap.rev().find(|prefix| base.ends_with(prefix));
    match repeated {
        Some(prefix) => format!(
            "every operation returns HTTP {NOT_FOUND}: the base URL ends in `{prefix}`, which is added to it \
             (`{base}{path}`); remove `{prefix}` from it"
        ),
        None => format!(
            "every operation returns HTTP {NOT_FOUND}, for example `{base}{path}`; check the base URL, to which \
             the paths of the contract are added"
        ),
    }
}

fn redirected(response: &Response) -> Option<String> {
    let location = response.header("Location")?;
    (300..400).contains(&response.status).then(|| {
        // Its query may contain the token in an unknown encoding.
        let place = location.split(['?', '#']).next().unwrap_or_default();
        format!(
            "the target returns HTTP {} and points to {place}; redirects are not followed, because they would send the \
             token to another place; set the final base URL",
            response.status
        )
    })
}

fn unreachable(failure: &WireFailure) -> String {
    let advice = match failure.kind {
        FailureKind::Connect if failure.detail.contains("certificate") => {
            "its certificate is not trusted; pass the certificate of its authority with --ca-file"
        }
        FailureKind::Connect if failure.detail.contains("corrupt message") => {
            "the server there does not speak TLS; if it serves plain HTTP, use an http base URL"
        }
        FailureKind::Connect => "check the host and the port, and that the service is running",
        FailureKind::Timeout => "it timed out; pass a longer --timeout",
        FailureKind::Broken if failure.detail.contains("head is too large") => {
            "its response has more header lines, or longer ones, than the suite reads (100 lines)"
        }
        FailureKind::Broken => {
            "the server there does not speak HTTP, or closes the connection; if it serves HTTPS, use an https base URL"
        }
        FailureKind::TooLarge => "its response is too large",
        FailureKind::Request => "the request cannot be built; check the base URL and the token",
    };
    format!("no response from the target: {failure}; {advice}")
}

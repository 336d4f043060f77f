use std::time::{Duration, Instant};

use super::{Session, SessionError, Verdict};
use crate::checks::{UNKNOWN_TOKEN, first_requests};
use crate::contract::{Contract, OperationId};
use crate::response::{Form, ResponseClass, describe, gateways, is_about_caller, operation_of};
use crate::target::Target;
use crate::wire::{
    BudgetError, Exchange, FailureKind, GatewayCount, Request, Response, ThrottlingPolicy, WireFailure,
    advice,
};

/// Why a target can't be tested, as a verdict, and what to do about it.
pub(crate) type Obstacle = (Verdict, String);

/// The first requests to a target, which find out whether it can be tested at all.
impl Session<'_> {
    /// Waits until the target responds, for as long as the wire's options say, and passes each reason to wait, and the time that is left,
    /// to `tell`. Its requests have no token and count nowhere. A response 502, 503 or 504 is one of a proxy in front of a service
    /// that does not run yet. Returns what is wrong in the end.
    pub(crate) async fn wait(&self, tell: impl Fn(&str, Duration)) -> Option<Obstacle> {
        let limit = self.wire.options.wait;
        let request = Request::to(self.contract.groups());
        let begun = Instant::now();
        while !limit.is_zero() {
            let left = limit.saturating_sub(begun.elapsed()).max(INTERVAL);
            let reason = match tokio::time::timeout(left, self.wire.status("waiting", &request)).await {
                Ok(Ok(status @ 502..=504)) => format!("HTTP {status}"),
                // It waits in vain, and the requests after this one say why.
                Ok(Err(failure)) if failure.kind == FailureKind::Handshake => return None,
                Ok(Ok(_)) => return None,
                Ok(Err(failure)) => {
                    let (_, reason) = unreachable(&failure, self.proxy().as_deref());
                    reason
                }
                Err(_) => "no response from the target".to_owned(),
            };
            let left = limit.saturating_sub(begun.elapsed());
            if left.is_zero() {
                let reason = format!("waited {} s in vain (--wait): {reason}", limit.as_secs());
                return Some((Verdict::Unreachable, reason));
            }
            tell(&self.redactor.redact(&reason), left);
            tokio::time::sleep(INTERVAL.min(left)).await;
        }
        None
    }

    fn proxy(&self) -> Option<String> {
        self.wire.options.proxy_of(self.target.base())
    }

    /// Finds out whether the target responds, so that an unreachable one does not fail a hundred checks. Sends one request to each
    /// operation until one of them gets a response; a conforming target returns no gateway for any of them. Returns what is wrong.
    pub(crate) async fn reach(&self) -> Option<Obstacle> {
        self.first_response().await.err().flatten()
    }

    /// Like [`Session::reach`], and finds out whether the target accepts any request of the account: without an accepted control
    /// request every check is inconclusive. Sends one request if it does, and at most four more. Returns what is wrong with the base
    /// URL or the token.
    pub(crate) async fn reach_with_token(&self) -> Option<Obstacle> {
        let (request, exchange) = match self.first_response().await {
            Err(problem) => return problem,
            Ok(first) => first,
        };
        let response = exchange.result.as_ref().ok()?;
        if let Some(obstacle) = self.wrong_way(response) {
            return Some(obstacle);
        }
        if let Some((is_bad, verdict, reason)) = BAD_OF_ALL.iter().find(|(is_bad, ..)| is_bad(response)) {
            let statuses = self.statuses_if_all(*is_bad).await?;
            if statuses.iter().all(|status| *status == 404) {
                return Some(wrong_base_url(self.contract, self.target));
            }
            let listed: Vec<String> = statuses.iter().map(|status| format!("HTTP {status}")).collect();
            return Some((*verdict, reason.replace("{}", &listed.join(", "))));
        }
        let operation = operation_of(self.contract, &request)?;
        let own = self.rejection(operation, exchange)?;
        self.token_rejected(operation, own).await
    }

    /// The response to the first request that gets one, or what is wrong, if it is known.
    async fn first_response(&self) -> Result<(Request, Exchange), Option<Obstacle>> {
        let mut problem = None;
        for request in first_requests(self.contract, self.target) {
            // If the budget is used up, every check says so.
            let Ok(exchange) = self.first(&request).await else { return Err(problem) };
            match &exchange.result {
                Ok(response) => match redirected(response) {
                    Some(redirected) => problem = Some(redirected),
                    None => return Ok((request, exchange)),
                },
                // The target responds, so the checks can judge it.
                Err(failure) if failure.kind == FailureKind::TooLarge => return Err(None),
                Err(failure) => {
                    let gone = matches!(failure.kind, FailureKind::Connect | FailureKind::Handshake);
                    problem.get_or_insert_with(|| unreachable(failure, self.proxy().as_deref()));
                    if gone {
                        break;
                    }
                }
            }
        }
        Err(problem)
    }

    /// The statuses of the responses to a request to each operation, if all of them are bad in this way.
    async fn statuses_if_all(&self, is_bad: IsBad) -> Option<Vec<u16>> {
        let mut statuses = Vec::new();
        for request in &first_requests(self.contract, self.target) {
            match self.first(request).await {
                Ok(exchange) => statuses.push(exchange.result.ok().filter(is_bad)?.status),
                // No gateway may be taken, so the other responses have to suffice.
                Err(SessionError::Budget(BudgetError::Gateways(_))) => {}
                Err(_) => return None,
            }
        }
        Some(statuses)
    }

    /// The problem of a target that accepts no request of the account. `own` is the rejection of a request to `asked`.
    async fn token_rejected(&self, asked: OperationId, own: Response) -> Option<Obstacle> {
        let Self { contract, target, redactor, .. } = self;
        let [groups, search, _] = first_requests(contract, target);
        let extract = &contract.extract;
        let extraction = Request::to(&extract.operation)
            .query(&extract.operation.api_key.name, target.token.expose())
            .query(&extract.num.name, extract.num_range.start());
        let mut responses = vec![own];
        let requests = [
            (OperationId::Groups, &groups),
            (OperationId::Search, &search),
            (OperationId::Extract, &extraction),
        ];
        for (operation, request) in requests.into_iter().filter(|(operation, _)| *operation != asked) {
            match self.first(request).await {
                // The checks judge a target that returns gateways with a rejection.
                Ok(exchange) if hands_out(contract, request, &exchange) => {
                    let is_link =
                        responses.len() > 1 && responses.iter().all(|response| response.status == 403);
                    return is_link.then(|| (Verdict::TokenRejected, LINK_CREDENTIAL.to_owned()));
                }
                Ok(exchange) => responses.push(self.rejection(operation, exchange)?),
                // No gateway may be taken, so the other responses have to suffice.
                Err(SessionError::Budget(_)) if operation == OperationId::Extract => {}
                Err(_) => return None,
            }
        }
        if responses.iter().all(|response| response.status == 404) {
            return Some(wrong_base_url(contract, target));
        }
        if asked != OperationId::Groups {
            return None;
        }
        let own = responses.first()?;
        let unknown = self.first(&groups.query(&contract.groups().api_key.name, UNKNOWN_TOKEN)).await.ok()?;
        let unknown = self.rejection(asked, unknown)?;
        let is_alike = own.status == unknown.status && own.at("/code") == unknown.at("/code");
        let how = if is_alike && is_about_caller(own) {
            "as it rejects an unknown one"
        } else if responses.iter().all(is_about_caller) {
            "for every operation"
        } else {
            return None;
        };
        let source = match self.wire.options.renewal {
            Some(_) => "what the command of the token (`api-key`) prints",
            None => "SALLYPORT_API_KEY",
        };
        let reason = format!(
            "the target rejects the account's token {how} ({}): check {source} and the base URL",
            describe(own, own.at("/code"), redactor)
        );
        Some((Verdict::TokenRejected, reason))
    }

    /// What a proxy in front of the service rejects. nginx completes TLS without a client certificate and then wants one.
    fn wrong_way(&self, response: &Response) -> Option<Obstacle> {
        let text = response.text();
        let says = |words: &str| response.status == 400 && text.contains(words);
        if response.status == 421 {
            let described = describe(response, response.at("/code"), &self.redactor);
            let reason = format!(
                "the target does not serve the host of the base URL ({described}); set the host that it expects"
            );
            return Some((Verdict::WrongTarget, reason));
        }
        let what = match () {
            () if says("No required SSL certificate was sent") => "requires a client certificate",
            () if says("The SSL certificate error") => "rejects the client certificate",
            () => return None,
        };
        let reason = format!(
            "the proxy in front of the service {what}; pass one that its authority has issued with --client-certificate and --client-key"
        );
        Some((Verdict::Unreachable, reason))
    }

    fn rejection(&self, operation: OperationId, exchange: Exchange) -> Option<Response> {
        let Self { contract, redactor, .. } = self;
        let class = ResponseClass::classify(contract, operation, Form::Json, &exchange.result, redactor);
        exchange.result.ok().filter(|_| matches!(class, ResponseClass::Rejected(_)))
    }

    async fn first(&self, request: &Request) -> Result<Exchange, SessionError> {
        self.send("preflight", request, ThrottlingPolicy::FirstResponse).await
    }
}

/// Time between two requests to a target that does not respond yet.
const INTERVAL: Duration = Duration::from_secs(1);

type IsBad = fn(&Response) -> bool;

/// Responses after which nothing can be tested if every operation has such a one, with `{}` for their statuses. A target that
/// responds to no operation with JSON is a file server, another API or a website: testing it would show nothing, and send the token
/// to a service that must not get it. A proxy whose service does not run responds to every request itself.
const BAD_OF_ALL: [(IsBad, Verdict, &str); 2] = [
    (
        is_not_json,
        Verdict::WrongTarget,
        "every operation responds with something other than JSON ({}): this does not look like the API; check the base URL, to \
         which the paths of the contract are added",
    ),
    (
        is_bare_server_error,
        Verdict::Unreachable,
        "every operation responds with a server error without a business code ({}): the service does not run, or the proxy in \
         front of it does not reach it",
    ),
];

/// Whether a response is not JSON by content and `Content-Type`, and is neither throttled nor a server error.
fn is_not_json(response: &Response) -> bool {
    let says_json = response.header("Content-Type").is_some_and(|kind| kind.contains("json"));
    let is_error = response.status >= 500 && response.status != 501;
    response.json().is_none() && !says_json && !is_error && response.status != 429
}

/// Whether it is a server error with neither a business code nor `Retry-After`.
fn is_bare_server_error(response: &Response) -> bool {
    let is_bare = response.at("/code").is_none() && response.header("Retry-After").is_none();
    response.status >= 500 && is_bare
}

const LINK_CREDENTIAL: &str = "the target rejects the account's token for both static operations (HTTP 403) and accepts it for \
                               extraction only, as it does a link credential: if it is one, set SALLYPORT_API_KEY to the account's token";

fn hands_out(contract: &Contract, request: &Request, exchange: &Exchange) -> bool {
    let count = gateways::count(contract, request, &exchange.result);
    matches!(count, GatewayCount::Counted(1..) | GatewayCount::Unbounded)
}

fn wrong_base_url(contract: &Contract, target: &Target) -> Obstacle {
    let path = &contract.groups().path;
    let base = target.base().path().trim_end_matches('/');
    let overlap = path.match_indices('/').map(|(end, _)| &path[..end]).filter(|prefix| !prefix.is_empty());
    let repeated = overlap.rev().find(|prefix| base.ends_with(prefix));
    let reason = match repeated {
        Some(prefix) => format!(
            "every operation returns HTTP 404: the base URL ends in `{prefix}`, which is added to it \
             (`{base}{path}`); remove `{prefix}` from it"
        ),
        None => format!(
            "every operation returns HTTP 404, for example `{base}{path}`; check the base URL, to which \
             the paths of the contract are added"
        ),
    };
    (Verdict::WrongTarget, reason)
}

fn redirected(response: &Response) -> Option<Obstacle> {
    let location = response.header("Location")?;
    (300..400).contains(&response.status).then(|| {
        // Its query may contain the token in an unknown encoding.
        let place = location.split(['?', '#']).next().unwrap_or_default();
        let reason = format!(
            "the target returns HTTP {} and points to {place}; redirects are not followed, because they would send the \
             token to another place; set the final base URL",
            response.status
        );
        (Verdict::WrongTarget, reason)
    })
}

fn unreachable(failure: &WireFailure, proxy: Option<&str>) -> Obstacle {
    let advice = advice(failure).map(|advice| format!("; {advice}")).unwrap_or_default();
    let is_way = matches!(failure.kind, FailureKind::Connect | FailureKind::Timeout);
    let check = |proxy| format!("; check host, port and scheme of the proxy {proxy} too (most speak http)");
    let proxy = proxy.filter(|_| is_way).map(check).unwrap_or_default();
    (Verdict::Unreachable, format!("no response from the target: {failure}{advice}{proxy}"))
}

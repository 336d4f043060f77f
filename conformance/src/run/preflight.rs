use crate::checks::first_requests;
use crate::contract::{Contract, OperationId};
use crate::response::{Form, ResponseClass, gateways};
use crate::target::Target;
use crate::wire::{Answer, Exchange, FailureKind, Patience, Redactor, Request, Wire, WireError, WireFailure};

/// Asks whether anybody is there, so that a target that can't be reached does not fail a hundred checks. Each operation
/// is asked until one of them answers; a target that keeps the contract gives
/// no gateway for any of the requests. Says what is wrong when nobody answers.
pub(crate) async fn preflight(contract: &Contract, target: &Target, wire: &Wire) -> Option<String> {
    let mut problem = None;
    for request in first_requests(contract, target) {
        // A budget that is used up shows itself in every check.
        let Ok(exchange) = send(contract, wire, &request).await else { return problem };
        match &exchange.result {
            Ok(answer) => match redirected(answer) {
                Some(redirected) => problem = Some(redirected),
                None => return None,
            },
            // Somebody is there; what the answers are worth is told by each check.
            Err(failure) if failure.kind == FailureKind::TooLarge => return None,
            Err(failure) => {
                let gone = failure.kind == FailureKind::Connect;
                problem.get_or_insert_with(|| unreachable(failure));
                if gone {
                    break;
                }
            }
        }
    }
    problem
}

/// Asks whether the target accepts anything of the account, since without an accepted control request every check would end
/// inconclusive. Sends one request when it does, and at most four. Says what is wrong with the base URL or the token.
pub(crate) async fn accepts_nothing(
    contract: &Contract,
    target: &Target,
    wire: &Wire,
    redactor: &Redactor,
) -> Option<String> {
    let [groups, search, _] = first_requests(contract, target);
    let extract = &contract.extract;
    let extraction = Request::to(&extract.operation)
        .query(&extract.api_key.name, target.token.expose())
        .query(&extract.num.name, extract.num_range.start());
    let mut answers = vec![
        rejected(contract, wire, redactor, OperationId::Groups, &groups).await.ok()??,
        rejected(contract, wire, redactor, OperationId::Search, &search).await.ok()??,
    ];
    match rejected(contract, wire, redactor, OperationId::Extract, &extraction).await {
        Ok(answer) => answers.push(answer?),
        // No gateway may be taken, so the other two have to do.
        Err(WireError::Budget(_)) => {}
        Err(WireError::Setup(_)) => return None,
    }
    if answers.iter().all(|answer| answer.status == NOT_FOUND) {
        return Some(wrong_base_url(contract, target));
    }
    let unknown = groups.query(&contract.groups.api_key.name, UNKNOWN_TOKEN);
    let unknown = rejected(contract, wire, redactor, OperationId::Groups, &unknown).await.ok()??;
    let own = answers.first()?;
    let is_unknown = own.status == unknown.status && own.at("/code") == unknown.at("/code");
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

const NOT_FOUND: u16 = 404;

/// No service has given it out.
const UNKNOWN_TOKEN: &str = "unknown-token-of-the-conformance-suite";

/// The response, when it is plainly a rejection.
async fn rejected(
    contract: &Contract,
    wire: &Wire,
    redactor: &Redactor,
    operation: OperationId,
    request: &Request,
) -> Result<Option<Answer>, WireError> {
    let exchange = send(contract, wire, request).await?;
    let class = ResponseClass::of(contract, operation, Form::Json, &exchange.result, redactor);
    Ok(exchange.result.ok().filter(|_| matches!(class, ResponseClass::Rejected(_))))
}

async fn send(contract: &Contract, wire: &Wire, request: &Request) -> Result<Exchange, WireError> {
    let took = |exchange: &mut Exchange| gateways::took(contract, request, &exchange.result);
    wire.send(request, gateways::hold(contract, request), Patience::FirstAnswer, took).await
}

fn wrong_base_url(contract: &Contract, target: &Target) -> String {
    let path = &contract.groups.operation.path;
    let base = target.base().path().trim_end_matches('/');
    let overlap = path.match_indices('/').map(|(end, _)| &path[..end]).filter(|prefix| !prefix.is_empty());
    let repeated = overlap.filter(|prefix| base.ends_with(prefix)).last();
    match repeated {
        Some(prefix) => format!(
            "every operation is answered with HTTP {NOT_FOUND}: the base URL ends in `{prefix}`, which is added to it \
             (`{base}{path}`); give it without `{prefix}`"
        ),
        None => format!(
            "every operation is answered with HTTP {NOT_FOUND}, for instance `{base}{path}`: check the base URL, to which \
             the paths of the contract are added"
        ),
    }
}

fn redirected(answer: &Answer) -> Option<String> {
    let location = answer.header("Location")?;
    (300..400).contains(&answer.status).then(|| {
        // Its query may repeat the token in a form that nobody knows.
        let place = location.split(['?', '#']).next().unwrap_or_default();
        format!(
            "the target answers HTTP {} and points to {place}: redirects are not followed, as they would carry the \
             token to another place; give the final base URL",
            answer.status
        )
    })
}

fn unreachable(failure: &WireFailure) -> String {
    let advice = match failure.kind {
        FailureKind::Connect if failure.detail.contains("certificate") => {
            "its certificate is not trusted; --ca-file names an authority of your own"
        }
        FailureKind::Connect => "check host and port, and whether it is running",
        FailureKind::Timeout => "it took too long to answer; --timeout gives it more time",
        FailureKind::Broken => "what answers there does not speak HTTP, or breaks the connection",
        FailureKind::TooLarge => "its answer is too large",
        FailureKind::Request => "the request can't be built: check the base URL and the token",
    };
    format!("no answer from the target: {failure}; {advice}")
}

use crate::check::{Probe, gateways};
use crate::contract::Contract;
use crate::target::Target;
use crate::wire::{Answer, Exchange, FailureKind, Patience, Request, Wire, WireFailure};

/// Asks whether anybody is there, so that a target that can't be reached does not fail a hundred checks. Each operation
/// is asked until one of them answers; a target that keeps the contract gives
/// no gateway for any of the requests. Says what is wrong when nobody answers.
pub(crate) async fn preflight(contract: &Contract, target: &Target, wire: &Wire) -> Option<String> {
    let mut complaint = None;
    for request in requests(contract, target) {
        let took = |exchange: &mut Exchange| gateways::took(contract, &request, &exchange.result);
        let hold = gateways::hold(contract, &request);
        // A budget that is used up shows itself in every check.
        let Ok(exchange) = wire.send(&request, hold, Patience::FirstAnswer, took).await else {
            return complaint;
        };
        match &exchange.result {
            Ok(answer) => match redirected(answer) {
                Some(redirected) => complaint = Some(redirected),
                None => return None,
            },
            // Somebody is there; what the answers are worth is told by each check.
            Err(failure) if failure.kind == FailureKind::TooLarge => return None,
            Err(failure) => {
                let gone = failure.kind == FailureKind::Connect;
                complaint.get_or_insert_with(|| unreachable(failure));
                if gone {
                    break;
                }
            }
        }
    }
    complaint
}

/// The last one lacks what an extraction needs, so it is refused.
fn requests(contract: &Contract, target: &Target) -> [Request; 3] {
    let Contract { groups, search, extract, .. } = contract;
    let token = target.token.expose();
    [
        Request::to(&groups.operation).query(&groups.api_key.name, token),
        Request::to(&search.operation)
            .query(&search.api_key.name, token)
            .field(&search.ips.name, vec![Probe::NOBODYS_ADDRESS]),
        Request::to(&extract.operation).query(&extract.api_key.name, token),
    ]
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

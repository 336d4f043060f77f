use crate::checks::first_requests;
use crate::contract::Contract;
use crate::response::gateways;
use crate::target::Target;
use crate::wire::{Answer, Exchange, FailureKind, Patience, Wire, WireFailure};

/// Asks whether anybody is there, so that a target that can't be reached does not fail a hundred checks. Each operation
/// is asked until one of them answers; a target that keeps the contract gives
/// no gateway for any of the requests. Says what is wrong when nobody answers.
pub(crate) async fn preflight(contract: &Contract, target: &Target, wire: &Wire) -> Option<String> {
    let mut problem = None;
    for request in first_requests(contract, target) {
        let took = |exchange: &mut Exchange| gateways::took(contract, &request, &exchange.result);
        let hold = gateways::hold(contract, &request);
        // A budget that is used up shows itself in every check.
        let Ok(exchange) = wire.send(&request, hold, Patience::FirstAnswer, took).await else {
            return problem;
        };
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

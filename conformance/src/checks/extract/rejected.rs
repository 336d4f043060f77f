//! Other credentials that extraction must reject: a whitelist can be missed in more than one way, and so can every rule.

use super::access::is_alive;
use super::forms::{Context, Transport, rejects};
use crate::check::{Case, Check, Cost, Probe, Run, Scope, Stop};
use crate::contract::{Clause, OperationId};
use crate::target::{Fact, RejectionReason};

pub(super) static REJECTED: Check = Check {
    id: "extract.whitelist.rejected-tokens",
    title: "each credential of `SALLYPORT_REJECTED_TOKENS` is rejected, wherever the request sends it",
    why: "Access that was switched off, has expired or was never granted still hands out gateways.",
    operation: Some(OperationId::Extract),
    clauses: &[
        Clause::AllTokenRequired,
        Clause::ExtractEntitlement,
        Clause::ExtractRealName,
        Clause::ExtractWhitelist,
    ],
    needs: &[Fact::RejectedTokens],
    run: Run::Cases(cases),
};

fn cases(scope: &Scope<'_>) -> Vec<Case> {
    let text = Context { is_text: true, ..Context::PLAIN };
    let json = Transport::ALL.map(|transport| Context { transport, ..Context::PLAIN });
    let contexts: Vec<_> = json.into_iter().chain([text]).collect();
    let case = |(index, reason, context): (usize, RejectionReason, Context)| {
        let label = format!("{} {}/{}", reason.name(), index + 1, context.label());
        let shared = context.without_transport();
        let case = Case::with(label, Cost::requests(1), (index, context), |probe, data| {
            Box::pin(rejected(probe, data))
        });
        shared.share(case).sharing(format!("groups {index}"), Cost::requests(1))
    };
    let mut reasons: Vec<_> = scope.facts.rejected_tokens.iter().map(|rejected| rejected.reason).collect();
    if reasons.is_empty() {
        // A plan without the fact shows that there would be something.
        reasons.push(RejectionReason::Revoked);
    }
    let each = |(index, reason): (usize, RejectionReason)| {
        contexts.iter().map(move |context| (index, reason, context.clone())).collect::<Vec<_>>()
    };
    reasons.into_iter().enumerate().flat_map(each).map(case).collect()
}

async fn rejected(probe: &Probe<'_>, (index, context): (usize, Context)) -> Result<(), Stop> {
    let rejected = probe.required(Fact::RejectedTokens, |facts| facts.rejected_tokens.get(index))?;
    context.without_transport().control(probe).await?;
    if rejected.reason != RejectionReason::Revoked {
        is_alive(probe, &rejected.token, Fact::RejectedTokens).await?;
    }
    let note = if rejected.note.is_empty() { String::new() } else { format!(" ({})", rejected.note) };
    let why = format!(
        "credential {} of {}, {}{note}, {}",
        index + 1,
        Fact::RejectedTokens.variable(),
        rejected.reason.name(),
        context.name()
    );
    let request = context.with_token(probe, rejected.token.expose());
    rejects(probe, rejected.reason.clause(), &why, &request).await
}

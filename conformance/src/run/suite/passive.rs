//! The results of passive checks.

use crate::check::{Check, Finding, Outcome, PassiveCheck, Probe, ProbeContext, Severity};
use crate::contract::Contract;
use crate::run::CheckResult;
use crate::wire::{RecordedExchange, Request};

/// Repeats the requests of failures that passive checks found once, until they occur again: a defect may only show in every
/// second or third response. A failure that does not occur again is flaky, unless the check does not judge the new responses.
pub(super) async fn repeat_single_failures(context: &ProbeContext<'_>) {
    const MAX_FAILURES: usize = 20;
    const REPEATS: usize = 4;
    let checks = &context.shared.passive;
    for (check, key, request) in checks.seen_once().into_iter().take(MAX_FAILURES) {
        for _ in 0..REPEATS {
            let Some((judged, true)) = checks.status(check, &key) else { break };
            // A request that can't be sent again, for instance because a limit is reached, decides nothing.
            if Probe::new(check, context).send(&request).await.is_err() {
                break;
            }
            match checks.status(check, &key) {
                Some((judged_now, true)) if judged_now > judged => checks.set_flaky(check, &key, true),
                Some((_, false)) => checks.set_flaky(check, &key, false),
                _ => {}
            }
        }
    }
}

/// Sends requests for passive checks to judge. Returns why one was not sent.
pub(super) async fn send_given(
    context: &ProbeContext<'_>,
    checks: &[&'static Check],
    requests: &[Request],
) -> Option<String> {
    let check = checks.iter().find(|check| check.is_passive())?;
    let mut not_sent = None;
    for request in requests {
        if let Err(stop) = Probe::new(check, context).send(request).await {
            not_sent = Some(format!("a request of the report was not served: {stop}"));
        }
    }
    not_sent
}

/// The result of a passive check. `not_applicable` is the reason if it judged no exchange.
pub(crate) fn concluded(passive: PassiveCheck, contract: &Contract, not_applicable: &str) -> CheckResult {
    let PassiveCheck { check, seen, kinds, findings, has_more } = passive;
    if seen == 0 {
        return CheckResult::not_run(check, Outcome::Skipped(not_applicable.to_owned()));
    }
    let mut result = CheckResult { judged: Some(kinds), ..CheckResult::not_run(check, Outcome::Passed) };
    let failing = || findings.values().filter(|noted| noted.finding.severity == Severity::Fail);
    let (failures, flaky) = (failing().count(), failing().filter(|noted| noted.is_flaky).count());
    for noted in findings.into_values() {
        let finding = noted.finding;
        if !check.clauses.contains(&finding.clause) {
            let reason = format!("the check cites {}, which it does not declare", finding.clause);
            result.outcome = Outcome::Error(reason);
            return result;
        }
        let times = if noted.times == 1 { String::new() } else { format!(" (in {} responses)", noted.times) };
        let first = result.exchanges.len();
        let numbered = (first..).zip(noted.exchanges);
        result.exchanges.extend(numbered.map(|(index, exchange)| RecordedExchange { index, ..exchange }));
        let entry = contract.catalogue.clause(finding.clause);
        let texts = (finding.expected.clone(), format!("{}{times}", finding.actual));
        result.findings.push(Finding {
            exchanges: (first..result.exchanges.len()).collect(),
            facts: check.needs.iter().map(|fact| fact.variable().to_owned()).collect(),
            response_kind: Some(noted.kind),
            seen_in: noted.seen_in.into_iter().map(|(check, label)| (check.to_owned(), label)).collect(),
            ..Finding::new(entry, finding.inferred_from(contract), finding.severity, texts)
        });
    }
    if let Some(last) = result.findings.last_mut().filter(|_| has_more) {
        last.actual.push_str("; further findings of this check were not kept");
    }
    if failures > 0 {
        result.outcome = if flaky < failures {
            Outcome::Failed
        } else {
            Outcome::Flaky("violated in one response, and in none when the request was sent again".to_owned())
        };
    } else if !result.findings.is_empty() {
        result.outcome = Outcome::Warning;
    }
    result
}

//! The results of passive checks.

use crate::check::{Finding, Outcome, PassiveCheck, Probe, ProbeContext, Severity};
use crate::contract::Contract;
use crate::run::CheckResult;
use crate::target::Fact;

/// Repeats the requests whose responses a passive check objected to once, until it occurs again: a defect may show in every
/// second or third response only. A failure that does not occur again is in doubt, unless the check does not judge the new
/// responses.
pub(super) async fn look_again(context: &ProbeContext<'_>) {
    const MOST: usize = 20;
    const REPEATS: usize = 4;
    let checks = context.passive;
    for (check, key, request) in checks.seen_once().into_iter().take(MOST) {
        for _ in 0..REPEATS {
            let Some((looked_at, true)) = checks.standing(check, &key) else { break };
            // What can't be sent again, for instance because a ceiling is reached, stays as it is.
            if Probe::new(check, context).send(&request).await.is_err() {
                break;
            }
            match checks.standing(check, &key) {
                Some((looked_at_now, true)) if looked_at_now > looked_at => checks.doubt(check, &key, true),
                // It occurred again.
                Some((_, false)) => checks.doubt(check, &key, false),
                _ => {}
            }
        }
    }
}

/// Why a passive check of a run has no result.
pub(super) fn unseen(is_partial: bool) -> String {
    let advice = if is_partial { "; more checks may bring one" } else { "" };
    format!("no response of this run was of the kind that it judges{advice}")
}

/// What a passive check has come to at the end.
/// `unseen` is the reason of a check that no exchange applied to.
pub(crate) fn concluded(passive: PassiveCheck, contract: &Contract, unseen: &str) -> CheckResult {
    let PassiveCheck { check, seen, findings } = passive;
    if seen == 0 {
        return CheckResult::not_run(check, Outcome::Skipped(unseen.to_owned()));
    }
    let mut result = CheckResult::not_run(check, Outcome::Passed);
    let failing = || findings.values().filter(|noted| noted.finding.severity == Severity::Fail);
    let (failures, doubtful) = (failing().count(), failing().filter(|noted| noted.doubtful).count());
    for noted in findings.into_values() {
        let finding = noted.finding;
        if !check.clauses.contains(&finding.clause) {
            let reason = format!("the check cites {}, which it does not declare", finding.clause);
            result.outcome = Outcome::Error(reason);
            return result;
        }
        let times = if noted.times == 1 { String::new() } else { format!(" (in {} responses)", noted.times) };
        let inferred_from = finding.inferred_from(contract).map(str::to_owned);
        let mut exchange = noted.exchange;
        exchange.index = result.exchanges.len();
        result.findings.push(Finding {
            clause: finding.clause,
            requirement: contract.catalogue.clause(finding.clause).text.clone(),
            expected: finding.expected,
            actual: format!("{}{times}", finding.actual),
            severity: finding.severity,
            inferred_from,
            exchanges: vec![exchange.index],
            case: None,
            facts: check.needs.iter().copied().map(Fact::variable).collect(),
            seen_in: noted.seen_in.into_iter().map(|(check, label)| (check.to_owned(), label)).collect(),
        });
        result.exchanges.push(exchange);
    }
    if failures > 0 {
        result.outcome = if doubtful < failures {
            Outcome::Failed
        } else {
            Outcome::Flaky("violated in one response, and in none when the request was sent again".to_owned())
        };
    } else if !result.findings.is_empty() {
        result.outcome = Outcome::Warning;
    }
    result
}

use std::collections::BTreeSet;

use super::relation::{Extraction, ORDER, REPEATED, compare};
use super::traffic::Traffic;
use crate::check::{
    Check, Finding, Form, InferredClauses, ObservedExchange, Outcome, PassiveChecks, ResponseClass, Run,
    Severity,
};
use crate::checks::registry;
use crate::checks::relation::{Query, kinds};
use crate::contract::{Clause, Contract};
use crate::quantity::quantity;
use crate::run::{CheckResult, ClauseSummary, Coverage, NotJudged, Report, Verdict, concluded_passive};
use crate::target::{Canaries, Facts};
use crate::wire::{RecordedExchange, Usage};

const NOT_SHOWN: &str = "the recorded traffic does not show it";
const NOTHING_SHOWN: &str =
    "no response of the archive shows more than that it holds no secret; export responses with their headers";
const NEEDS_REQUESTS: &str = "it needs requests that only the suite sends; use `conformance run`";

/// Judges recorded traffic. The report counts a clause as judged only when an exchange can show it.
#[must_use]
pub fn observe(contract: &Contract, traffic: &Traffic, inferred: InferredClauses) -> Report {
    let checks: Vec<&'static Check> =
        registry().into_iter().filter(|check| check.is_passive()).chain([&*ORDER]).collect();
    let mut passive = PassiveChecks::new(&checks, inferred);
    passive.places = PLACES + 1;
    let (canaries, facts) = (Canaries::default(), Facts::default());
    let (mut seen, mut extractions, mut bytes) = (BTreeSet::new(), Vec::new(), 0);
    for (at, recorded) in traffic.exchanges.iter().enumerate() {
        let (operation, exchange) = (recorded.operation, recorded.exchange());
        let Ok(response) = &exchange.result else { continue };
        bytes += response.body().len() as u64;
        let form = Form::from_request(contract, operation, &exchange.request);
        let class = ResponseClass::classify(contract, operation, form, &exchange.result, &traffic.redactor);
        if class == ResponseClass::Accepted {
            extractions.extend(Extraction::read(contract, at, recorded, &exchange.request, response));
        }
        let observed = ObservedExchange {
            contract,
            facts: &facts,
            canaries: &canaries,
            operation,
            form,
            class: &class,
            request: &exchange.request,
            response,
        };
        for check in &checks {
            seen.extend(shown(check, &observed));
        }
        response.reveal_passwords(&traffic.redactor);
        passive.show(
            &observed,
            &exchange,
            Vec::new,
            (RECORDED, &recorded.entry.to_string()),
            &traffic.redactor,
        );
    }
    let concluded = passive.into_checks().map(|check| concluded_passive(check, contract, NOT_SHOWN));
    let mut results: Vec<CheckResult> = concluded.map(with_places).collect();
    let compared = compare(extractions);
    if !compared.is_empty() {
        seen.insert(Clause::ExtractIdempotent);
    }
    results.push(repeated(contract, traffic, &compared, inferred));
    results.sort_by_key(|result| result.id);
    report(contract, traffic, results, &seen, bytes, inferred)
}

/// What `seen_in` of a finding has in place of a check.
const RECORDED: &str = "recorded";

/// The clauses of a passive check that an exchange can show.
fn shown(check: &'static Check, observed: &ObservedExchange<'_>) -> Vec<Clause> {
    let concerns = check.operation.is_none_or(|operation| operation == observed.operation);
    let Run::Passive(judge) = check.run else { return Vec::new() };
    if !concerns || judge(observed).is_none() {
        return Vec::new();
    }
    check.clauses.iter().copied().filter(|clause| shows(*clause, observed)).collect()
}

/// Whether a request has what a clause is about, and the response something that may break it.
fn shows(clause: Clause, observed: &ObservedExchange<'_>) -> bool {
    let items = observed.response.at("/data/items").and_then(|items| items.as_array()).map_or(0, Vec::len);
    let sent = observed.request.body_members().unwrap_or_default();
    let query = Query::read(&sent);
    let has_port = |item: &String| item.parse::<std::net::IpAddr>().is_err();
    let is_asked = match clause {
        Clause::SearchIntersection => !query.filters.is_empty(),
        Clause::SearchMatchPort => query.items.iter().any(has_port),
        Clause::SearchMatchAnyPort => !query.items.iter().all(has_port),
        Clause::SearchInstance | Clause::SearchCapabilities => true,
        Clause::GroupsFields => return items > 0,
        // The schema has no order; the check of recorded listings judges it.
        Clause::GroupsOrder => return items > 1,
        clause if kinds().all(|kind| kind.clause != clause) => return true,
        clause => query.filters.iter().any(|filter| filter.kind.clause == clause),
    };
    is_asked && items > 0
}

/// Maximum number of places that a finding names.
const PLACES: usize = 3;

/// The findings of a passive check with the places of the exchanges that show them.
fn with_places(mut result: CheckResult) -> CheckResult {
    for finding in &mut result.findings {
        let mut places: Vec<usize> =
            finding.seen_in.iter().filter_map(|(_, entry)| entry.parse().ok()).collect();
        places.sort_unstable();
        let shown: Vec<String> = places.iter().take(PLACES).map(|entry| place(*entry)).collect();
        let first = if places.len() > PLACES { "first " } else { "" };
        finding.actual.push_str(&format!(", {first}at {}", shown.join(", ")));
        // These are no cases of checks.
        finding.seen_in.clear();
    }
    result
}

fn place(entry: usize) -> String {
    format!("log.entries[{entry}]")
}

/// The result of the check that compares two exchanges.
fn repeated(
    contract: &Contract,
    traffic: &Traffic,
    compared: &[([usize; 2], bool)],
    inferred: InferredClauses,
) -> CheckResult {
    const MAX_SHOWN: usize = 20;
    if compared.is_empty() {
        return CheckResult::not_run(&REPEATED, Outcome::Skipped(NOT_SHOWN.to_owned()));
    }
    let mut result = CheckResult::not_run(&REPEATED, Outcome::Passed);
    let entry = contract.catalogue.clause(Clause::ExtractIdempotent);
    let inferred_from = entry.inferred_from(false);
    let severity = inferred.severity(Severity::Fail, inferred_from);
    let mut differing = compared.iter().filter(|(_, is_different)| *is_different);
    for (pair, _) in differing.by_ref().take(MAX_SHOWN) {
        let pair = pair.map(|at| &traffic.exchanges[at]);
        let first = result.exchanges.len();
        result.exchanges.extend(pair.iter().enumerate().map(|(number, recorded)| RecordedExchange {
            index: first + number,
            ..RecordedExchange::new(&recorded.exchange(), &traffic.redactor)
        }));
        let expected = "the gateways of the first extraction with this request id".to_owned();
        let places = pair.map(|recorded| place(recorded.entry)).join(" and ");
        let texts = (expected, format!("other gateways, at {places}"));
        let exchanges = vec![first, first + 1];
        result.findings.push(Finding { exchanges, ..Finding::new(entry, inferred_from, severity, texts) });
    }
    if let Some(last) = result.findings.last_mut() {
        result.outcome = if severity == Severity::Fail { Outcome::Failed } else { Outcome::Warning };
        let more = differing.count();
        if more > 0 {
            last.actual.push_str(&format!("; {} like this", quantity(more as u64, "further pair")));
        }
    }
    result
}

/// The report of what was judged. A check that cites clauses which no exchange shows has no result about them.
fn report(
    contract: &Contract,
    traffic: &Traffic,
    checks: Vec<CheckResult>,
    seen: &BTreeSet<Clause>,
    bytes: u64,
    inferred: InferredClauses,
) -> Report {
    let mut clauses = ClauseSummary::from_results(&checks, &contract.catalogue, &BTreeSet::new());
    for clause in clauses.iter_mut().filter(|clause| !seen.contains(&clause.id) && clause.failures == 0) {
        clause.checked = 0;
    }
    let observable: Vec<Clause> = contract.catalogue.observable().map(|clause| clause.id).collect();
    let cited = |clause: &Clause| clauses.iter().find(|known| known.id == *clause);
    let is_judged = |clause: &Clause| cited(clause).is_some_and(|known| known.checked > 0);
    let open = observable.iter().copied().filter(|clause| !is_judged(clause));
    let (not_shown, unsent): (Vec<Clause>, _) = open.partition(|clause| cited(clause).is_some());
    let judged = observable.len() - not_shown.len() - unsent.len();
    let reasons = [(NEEDS_REQUESTS, unsent), (NOT_SHOWN, not_shown)].into_iter();
    let reasons = reasons.filter(|(_, clauses)| !clauses.is_empty()).map(|(reason, clauses)| NotJudged {
        reason: reason.to_owned(),
        clauses,
        checks: 0,
    });
    let coverage = Coverage { clauses: observable.len(), judged, not_judged: reasons.collect() };
    let target = traffic.redactor.redact(&traffic.base);
    let begun = traffic.exchanges.iter().filter_map(|place| place.begun).min().unwrap_or_default();
    let mut report = Report {
        begun: begun.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
        inferred,
        usage: Usage { bytes, ..Usage::default() },
        ..Report::recorded(contract, target, checks, clauses, coverage)
    };
    // Any text can be searched for secrets, also what stands in for an export without headers.
    let shows_nothing =
        report.totals.failed == 0 && seen.iter().all(|clause| *clause == Clause::AllNoSecrets);
    report.stopped = (shows_nothing && !traffic.exchanges.is_empty()).then(|| NOTHING_SHOWN.to_owned());
    let verdict = Verdict::from_totals(report.totals, shows_nothing);
    report.conclude(verdict);
    report
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checks_of_recorded_traffic_are_no_checks_of_a_run() {
        for check in [&*REPEATED, &*ORDER] {
            let is_known = registry().iter().any(|known| known.id == check.id);
            assert!(!is_known && !check.id.is_empty(), "{}", check.id);
        }
    }
}

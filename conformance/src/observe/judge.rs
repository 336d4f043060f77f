use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::relation::{self, BrokenRelation, Compared, RelationResults};
use super::traffic::{Traffic, TrafficExchange};
use crate::check::{
    Check, Finding, Form, InferredClauses, ObservedExchange, Outcome, PassiveChecks, ResponseClass, Run,
    Severity,
};
use crate::checks::registry;
use crate::contract::{Clause, Contract, Search};
use crate::detection::Detection;
use crate::quantity::quantity;
use crate::run::{
    CheckResult, ClauseSummary, Coverage, NotJudged, Report, Rerun, RunLog, Totals, Verdict,
    concluded_passive,
};
use crate::target::{Canaries, Facts};
use crate::wire::{Budget, RecordedExchange, Throttling, Usage};

const NOT_SHOWN: &str = "the recorded traffic does not show it";
const NEEDS_REQUESTS: &str = "it needs requests that only the suite sends; use `conformance run`";

/// Judges recorded traffic. The report counts a clause as judged only when an exchange can show it.
#[must_use]
pub fn observe(contract: &Contract, traffic: &Traffic, inferred: InferredClauses) -> Report {
    let checks: Vec<&'static Check> =
        registry().into_iter().filter(|check| check.is_passive()).chain([&relation::ORDER]).collect();
    let passive = PassiveChecks::new(&checks, inferred).with_places(PLACES + 1);
    let (canaries, facts) = (Canaries::default(), Facts::default());
    let (mut seen, mut compared, mut bytes) = (BTreeSet::new(), Compared::default(), 0);
    for (at, place) in traffic.exchanges.iter().enumerate() {
        let Some(recorded) = traffic.exchange(contract, place) else { continue };
        let TrafficExchange { operation, exchange, response } = &recorded;
        bytes += response.body().len() as u64;
        let form = Form::from_request(contract, *operation, &exchange.request);
        let class = ResponseClass::classify(contract, *operation, form, &exchange.result, &traffic.redactor);
        if class == ResponseClass::Accepted {
            compared.add(contract, at, place, &recorded);
        }
        let observed = ObservedExchange {
            contract,
            facts: &facts,
            canaries: &canaries,
            operation: *operation,
            form,
            class: &class,
            request: &exchange.request,
            response,
        };
        for check in &checks {
            seen.extend(shown(check, &observed));
        }
        response.reveal_passwords(&traffic.redactor);
        passive.show(&observed, exchange, Vec::new, (RECORDED, &place.entry.to_string()), &traffic.redactor);
    }
    let mut results: Vec<CheckResult> = passive
        .into_checks()
        .map(|check| concluded_passive(check, contract, NOT_SHOWN))
        .map(with_places)
        .collect();
    let compared = compared.results();
    for (check, clause) in [
        (&relation::PAGES, Clause::SearchPaging),
        (&relation::FILTERS, Clause::SearchIntersection),
        (&relation::REPEATED, Clause::ExtractIdempotent),
    ] {
        if compared.checks.contains(check.id) {
            seen.insert(clause);
        }
        results.push(of_relation(contract, traffic, check, &compared, inferred));
    }
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
    let search = &observed.contract.search;
    let items = observed.response.at("/data/items").and_then(|items| items.as_array()).map_or(0, Vec::len);
    let sent = observed.request.body_members().unwrap_or_default();
    let is_set = |names: &[&str]| names.iter().any(|name| relation::is_set(&sent, name));
    let has_port = |item: &str| item.parse::<std::net::IpAddr>().is_err();
    let asks = |with_port: bool| {
        let items = sent.get(&search.ips.name).and_then(|items| items.as_array());
        items.into_iter().flatten().filter_map(|item| item.as_str()).any(|item| has_port(item) == with_port)
    };
    let filters = Search::FILTERS.map(|filter| filter(search).name.as_str());
    let is_asked = match clause {
        Clause::SearchStatus => is_set(&[&search.status.name]),
        Clause::SearchCountry => is_set(&[&search.country_code.name]),
        Clause::SearchCity => is_set(&[&search.city_code.name]),
        Clause::SearchGroup => is_set(&[&search.group_id.name]),
        Clause::SearchActivatedRange => is_set(&[&search.activated_from.name, &search.activated_to.name]),
        Clause::SearchIntersection => is_set(&filters),
        Clause::SearchMatchPort => asks(true),
        Clause::SearchMatchAnyPort => asks(false),
        Clause::SearchInstance | Clause::SearchCapabilities => true,
        Clause::GroupsFields => return items > 0,
        // The schema has no order; the check of recorded listings judges it.
        Clause::GroupsOrder => return items > 1,
        _ => return true,
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

/// The result of a check that compares two exchanges.
fn of_relation(
    contract: &Contract,
    traffic: &Traffic,
    check: &'static Check,
    compared: &RelationResults,
    inferred: InferredClauses,
) -> CheckResult {
    if !compared.checks.contains(check.id) {
        return CheckResult::not_run(check, Outcome::Skipped(NOT_SHOWN.to_owned()));
    }
    let mut result = CheckResult::not_run(check, Outcome::Passed);
    let (broken, more) = compared.of(check);
    for BrokenRelation { clause, severity, expected, actual, exchanges } in broken {
        let entry = contract.catalogue.clause(*clause);
        let inferred_from = entry.inferred_from(false);
        let both = exchanges.iter().filter_map(|at| traffic.exchanges.get(*at));
        let mut places = Vec::new();
        let mut cited = Vec::new();
        for known in both {
            let Some(recorded) = traffic.exchange(contract, known) else { continue };
            let mut exchange = RecordedExchange::new(&recorded.exchange, &traffic.redactor);
            exchange.index = result.exchanges.len();
            cited.push(exchange.index);
            places.push(place(known.entry));
            result.exchanges.push(exchange);
        }
        result.findings.push(Finding {
            clause: *clause,
            requirement: entry.text.clone(),
            expected: expected.clone(),
            actual: traffic.redactor.redact(&format!("{actual}, at {}", places.join(" and "))),
            severity: inferred.severity(*severity, inferred_from),
            exchanges: cited,
            judged: Vec::new(),
            case: None,
            inferred_from: inferred_from.map(str::to_owned),
            facts: Vec::new(),
            seen_in: Vec::new(),
            excluded: Vec::new(),
        });
    }
    if let Some(last) = result.findings.last_mut().filter(|_| more > 0) {
        last.actual.push_str(&format!("; {} like this", quantity(more as u64, "further pair")));
    }
    if result.findings.iter().any(|finding| finding.severity == Severity::Fail) {
        result.outcome = Outcome::Failed;
    } else if !result.findings.is_empty() {
        result.outcome = Outcome::Warning;
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
    let cited: BTreeSet<Clause> = clauses.iter().map(|clause| clause.id).collect();
    let mut reasons: BTreeMap<&str, Vec<Clause>> = BTreeMap::new();
    let observable: Vec<Clause> = contract
        .catalogue
        .clauses()
        .iter()
        .filter(|clause| clause.observable)
        .map(|clause| clause.id)
        .collect();
    let is_judged = |clause: &Clause| clauses.iter().any(|known| known.id == *clause && known.checked > 0);
    for clause in observable.iter().copied().filter(|clause| !is_judged(clause)) {
        let reason = if cited.contains(&clause) { NOT_SHOWN } else { NEEDS_REQUESTS };
        reasons.entry(reason).or_default().push(clause);
    }
    let not_judged = reasons.into_iter().map(|(reason, clauses)| NotJudged {
        reason: reason.to_owned(),
        clauses,
        checks: 0,
    });
    let coverage = Coverage {
        clauses: observable.len(),
        judged: observable.iter().filter(|clause| is_judged(clause)).count(),
        not_judged: not_judged.collect(),
    };
    let totals = Totals::from_results(&checks);
    let verdict = Verdict::from_totals(totals, traffic.exchanges.is_empty());
    let begun = traffic.exchanges.iter().filter_map(|place| place.begun).min();
    let mut report = Report {
        schema_version: Report::VERSION,
        suite: concat!("sallyport-conformance ", env!("CARGO_PKG_VERSION")).to_owned(),
        target: traffic.redactor.redact(&traffic.base),
        implementation: None,
        contract: contract.version.clone(),
        contract_sha256: contract.sha256.clone(),
        begun: begun.unwrap_or_default().strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
        elapsed_ms: 0,
        busy_ms: 0,
        profile: Report::RECORDED,
        budget: Budget {
            requests: 0,
            gateways: 0,
            bytes: 0,
            wall: Duration::ZERO,
            rate: None,
            concurrency: 1,
        },
        inferred,
        verdict,
        conclusion: String::new(),
        stopped: None,
        totals,
        usage: Usage { requests: 0, gateways: 0, bytes },
        throttling: Throttling::default(),
        discovered: Vec::new(),
        run_again: Rerun::default(),
        explored: None,
        expectations: Vec::new(),
        coverage,
        detection: Detection { known: 0, noticed: 0, clauses: Vec::new(), unlocks: Vec::new() },
        diagnosis: Vec::new(),
        unmet: Vec::new(),
        checks,
        clauses,
        log: RunLog::default(),
    };
    report.conclude(verdict);
    report
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checks_of_relations_are_no_checks_of_a_run() {
        for check in [&relation::PAGES, &relation::FILTERS, &relation::REPEATED, &relation::ORDER] {
            assert!(registry().iter().all(|known| known.id != check.id), "{}", check.id);
        }
    }
}

use std::collections::BTreeSet;

use serde_json::Value;

use super::addresses;
use crate::check::{Case, Check, Cost, Probe, ResponseClass, Run, Stop};
use crate::checks::NOBODYS_ADDRESS;
use crate::checks::Requests;
use crate::checks::relation::{FilterKind, survey};
use crate::contract::{Clause, OperationId};
use crate::wire::{Answer, Exchange};

pub(super) static CHECK: Check = Check {
    id: "search.envelope.variety",
    title: "every kind of success has the envelope, the headers and whole instances",
    why: "",
    operation: Some(OperationId::Search),
    clauses: &[
        Clause::SearchEnvelope,
        Clause::SearchHeaders,
        Clause::SearchInstance,
        Clause::SearchCapabilities,
    ],
    needs: &[],
    run: Run::Cases(|_| Case::single(Cost::requests(31), |probe| Box::pin(run(probe)))),
};

/// Brings about successes of every kind, which the schema check looks at. What a schema can't say is judged here.
async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    let search = &probe.contract().search;
    let mut requests = vec![
        probe.any_search(),
        probe.search([NOBODYS_ADDRESS]),
        probe.search(addresses::nobodys(3)),
        probe.search(addresses::distinct(search.distinct_items)),
    ];
    let supplied = !probe.facts().own_addresses.is_empty();
    if let (true, Ok(survey)) = (supplied, survey(probe).await) {
        let size = survey.page_size(2);
        let paged = survey.request.clone().field(&search.page_size.name, size);
        requests.extend(survey.pages(search, size).map(|page| paged.clone().field(&search.page.name, page)));
        requests.push(survey.request.clone().field(&search.page_size.name, *search.page_sizes.end()));
        requests.push(survey.request.clone().field(&search.group_id.name, Value::Null));
        requests.extend(survey.batches(search).iter().map(|batch| probe.search(batch.items.clone())));
        for kind in FilterKind::ALL {
            let filters = survey.candidates(kind).into_iter().take(2);
            requests.extend(filters.map(|filter| filter.on(search, survey.request.clone())));
        }
    }
    let mut told = BTreeSet::new();
    for request in &requests {
        let (exchange, class) = probe.send(request).await?;
        match (&exchange.result, class) {
            (Ok(answer), ResponseClass::Accepted) => judge(probe, answer, &exchange, &mut told),
            (_, ResponseClass::Ambiguous(what)) => {
                let expected = "the HTTP status and the code of a success together";
                probe.finding(Clause::SearchEnvelope, expected, &what, &[&exchange]);
            }
            (_, class) => {
                return Err(probe.inconclusive(&format!("a search was refused: {}", class.description())));
            }
        }
    }
    Ok(())
}

/// A constraint that is broken in many answers is one finding.
fn judge(probe: &Probe<'_>, answer: &Answer, exchange: &Exchange, told: &mut BTreeSet<String>) {
    for violation in probe
        .contract()
        .search
        .operation
        .success
        .violations(answer.json().unwrap_or(&Value::Null), |name| answer.header_values(name))
    {
        let clause = violation.clause;
        if CHECK.clauses.contains(&clause) && told.insert(violation.schema_path.clone()) {
            let expected = format!("an answer that fits the document at {}", violation.schema_path);
            let actual = format!("at {}: {}", violation.instance_path, violation.message);
            probe.finding(clause, &expected, &actual, &[exchange]);
        }
    }
    if answer.header("x-request-id").is_some_and(|id| id.is_empty()) {
        probe.finding(Clause::SearchHeaders, "X-Request-Id with a value", "an empty one", &[exchange]);
    }
    if answer.at("/requestId").and_then(Value::as_str).is_some_and(str::is_empty) {
        probe.finding(
            Clause::SearchEnvelope,
            "a requestId to trace the request by",
            "an empty one",
            &[exchange],
        );
    }
}

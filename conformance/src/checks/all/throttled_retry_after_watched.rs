use crate::check::{Check, Complaint, Cost, Run, Severity, Sighting};
use crate::contract::Clause;
use crate::wire::RetryAfter;

pub(super) static CHECK: Check = Check {
    id: "all.throttled-retry-after.watched",
    title: "an answer with status 429 says how long to wait",
    operation: None,
    clauses: &[Clause::AllThrottledRetryAfter],
    needs: &[],
    cost: Cost::requests(0),
    run: Run::Watch(watch),
};

fn watch(sighting: &Sighting<'_>) -> Option<Vec<Complaint>> {
    if sighting.answer.status != 429 {
        return None;
    }
    let actual = match sighting.answer.header("Retry-After") {
        None => "429 without Retry-After".to_owned(),
        Some(value) if RetryAfter::parse(&value).is_err() => format!("Retry-After: {value}"),
        Some(_) => return Some(Vec::new()),
    };
    Some(vec![Complaint {
        clause: Clause::AllThrottledRetryAfter,
        key: sighting.operation.to_string(),
        severity: Severity::Fail,
        expected: format!("{}: Retry-After with seconds or an HTTP date", sighting.operation),
        actual,
    }])
}

use crate::check::{Check, Observed, PassiveFinding, Run, Severity};
use crate::contract::Clause;
use crate::wire::RetryAfter;

pub(super) static CHECK: Check = Check {
    id: "all.throttled-retry-after.watched",
    title: "an answer with status 429 says how long to wait",
    why: "",
    operation: None,
    clauses: &[Clause::AllThrottledRetryAfter],
    needs: &[],
    run: Run::Passive(judge),
};

fn judge(observed: &Observed<'_>) -> Option<Vec<PassiveFinding>> {
    if observed.answer.status != 429 {
        return None;
    }
    let actual = match observed.answer.header("Retry-After") {
        None => "429 without Retry-After".to_owned(),
        Some(value) if RetryAfter::parse(&value).is_err() => format!("Retry-After: {value}"),
        Some(_) => return Some(Vec::new()),
    };
    Some(vec![PassiveFinding {
        clause: Clause::AllThrottledRetryAfter,
        key: observed.operation.to_string(),
        severity: Severity::Fail,
        expected: format!("{}: Retry-After with seconds or an HTTP date", observed.operation),
        actual,
    }])
}

use crate::check::{Case, Check, Cost, Probe, Run, Stop};
use crate::checks::Requests;
use crate::contract::{Clause, OperationId};

pub(super) static CHECK: Check = Check {
    id: "search.activated-order.reversed",
    title: "an upper bound before the lower one is refused, by the instant and not by the text",
    why: "",
    operation: Some(OperationId::Search),
    clauses: &[Clause::SearchActivatedOrder],
    needs: &[],
    run: Run::Cases(|_| Case::single(Cost::requests(8), |probe| Box::pin(run(probe)))),
};

async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    let search = &probe.contract().search;
    let (from, to) = (&search.activated_from.name, &search.activated_to.name);
    let good = probe.any_search();
    let between = |lower: &str, upper: &str| good.clone().field(from, lower).field(to, upper);
    let base = between("2026-01-01T00:00:00Z", "2026-06-30T00:00:00Z");
    probe.control_once(&base).await?;
    for (lower, upper) in IN_ORDER {
        let why = format!("from {lower} to {upper}, which is not earlier");
        probe.accepts(Clause::SearchActivatedOrder, &why, &between(lower, upper)).await?;
    }
    for (lower, upper) in REVERSED {
        let why = format!("from {lower} to {upper}, which is earlier");
        probe
            .rejects_after_control(Clause::SearchActivatedOrder, &why, &base, &between(lower, upper))
            .await?;
    }
    Ok(())
}

/// Equal instants, and such as compare the other way round as texts.
const IN_ORDER: [(&str, &str); 3] = [
    ("2026-03-01T12:00:00Z", "2026-03-01T12:00:00Z"),
    ("2026-03-01T12:00:00Z", "2026-03-01T13:00:00+01:00"),
    ("2026-03-01T12:00:00+05:30", "2026-03-01T07:00:00Z"),
];

const REVERSED: [(&str, &str); 4] = [
    ("2026-06-30T00:00:00Z", "2026-01-01T00:00:00Z"),
    ("2026-03-01T12:00:01Z", "2026-03-01T12:00:00Z"),
    ("2026-03-01T12:00:00Z", "2026-03-01T12:30:00+01:00"),
    ("2025-12-31T23:30:00-01:00", "2026-01-01T00:00:00Z"),
];

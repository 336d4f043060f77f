use super::addresses;
use crate::check::{Case, Check, Cost, Probe, Run, Stop};
use crate::checks::Requests;
use crate::contract::{Clause, OperationId};

pub(super) static CHECK: Check = Check {
    id: "search.ips-all-or-nothing.position",
    title: "one bad item, an empty set or one over the limit refuses the whole batch",
    why: "",
    operation: Some(OperationId::Search),
    clauses: &[Clause::SearchIpsAllOrNothing],
    needs: &[],
    run: Run::Cases(|_| Case::single(Cost::requests(9), |probe| Box::pin(run(probe)))),
};

async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    const CLAUSE: Clause = Clause::SearchIpsAllOrNothing;
    let most = probe.contract().search.distinct_items;
    let items = addresses::distinct(most - 1);
    let good = probe.search(items.clone());
    for position in [0, most / 2, most - 1] {
        for bad_item in ["203.0.113.0/24", "203.0.113.250:0"] {
            let mut items = items.clone();
            items.insert(position, bad_item.to_owned());
            let why = format!("{bad_item} stands at position {position} among {} good items", most - 1);
            probe.rejects_after_control(CLAUSE, &why, &good, &probe.search(items)).await?;
        }
    }
    let over = probe.search(addresses::distinct(most + 1));
    probe.rejects_after_control(CLAUSE, &format!("{} distinct items", most + 1), &good, &over).await?;
    probe.rejects_after_control(CLAUSE, "an empty set", &good, &probe.search::<&str>([])).await
}

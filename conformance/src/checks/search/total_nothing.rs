use super::addresses;
use crate::check::{Case, Check, Cost, Probe, Run, Stop};
use crate::checks::Requests;
use crate::checks::relation::read;
use crate::contract::{Clause, OperationId};

pub(super) static CHECK: Check = Check {
    id: "search.total.nothing",
    title: "total is 0 when nothing matches",
    why: "",
    operation: Some(OperationId::Search),
    clauses: &[Clause::SearchTotal],
    needs: &[],
    run: Run::Cases(|_| Case::single(Cost::requests(2), |probe| Box::pin(run(probe)))),
};

async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    for items in [addresses::nobodys(1), addresses::nobodys(7)] {
        let found = read(probe, &probe.search(items)).await?;
        if !found.instances.is_empty() {
            return Err(probe.skip("an address that is kept for documentation holds an instance"));
        }
        if found.total() != 0 {
            let actual = found.total().to_string();
            probe.finding(
                Clause::SearchTotal,
                "total 0 for addresses that nobody has",
                &actual,
                &found.evidence(),
            );
        }
    }
    Ok(())
}

use super::values;
use crate::check::{Case, Check, Cost, Probe, Run, Stop};
use crate::checks::relation::{Filter, read_unless_rejected, survey};
use crate::contract::{Clause, OperationId};
use crate::target::Fact;

pub(super) static CHECK: Check = Check {
    id: "search.order-number.near",
    title: "a number that only resembles that of an order finds none of its instances",
    why: "",
    operation: Some(OperationId::Search),
    clauses: &[Clause::SearchOrderNumber],
    needs: &[Fact::OwnAddresses, Fact::Orders],
    run: Run::Cases(|_| Case::single(Cost::requests(11), |probe| Box::pin(run(probe)))),
};

async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    let search = &probe.contract().search;
    let survey = survey(probe).await?;
    let orders = &probe.facts().orders;
    let Some((number, held)) = survey.orders.iter().find(|(_, held)| !held.is_empty()) else {
        return Err(probe.skip("none of the orders holds an instance at its addresses: supply some that do"));
    };
    let lower = number.to_lowercase();
    let resembling =
        values::resembling(number).into_iter().chain(Some(lower).filter(|lower| lower != number));
    for near in resembling.filter(|near| orders.iter().all(|order| order.number != *near)) {
        let what = format!("orderNo {near}, where {number} is one,");
        let request = Filter::Order(near).on(search, survey.request.clone());
        // An unknown order may be refused.
        let found = read_unless_rejected(probe, Clause::SearchOrderNumber, &what, &request).await?;
        let Some(found) = found else { continue };
        let shared = found.ids().intersection(held).count();
        if shared > 0 {
            let expected = format!("{what} finds no instance of {number}");
            probe.finding(
                Clause::SearchOrderNumber,
                &expected,
                &format!("{shared} of them"),
                &found.evidence(),
            );
        }
    }
    Ok(())
}

use crate::check::{Case, Check, Cost, Probe, Run, Stop};
use crate::checks::Requests;
use crate::checks::relation::{Filter, ResultSet, address_of, read, read_accepted};
use crate::contract::{Clause, OperationId};
use crate::target::Fact;

pub(super) static CHECK: Check = Check {
    id: "search.order-number.held",
    title: "an order number finds instances at each address that the order holds",
    why: "",
    operation: Some(OperationId::Search),
    clauses: &[Clause::SearchOrderNumber],
    needs: &[Fact::Orders],
    run: Run::Cases(|_| Case::single(Cost::requests(10), |probe| Box::pin(run(probe)))),
};

async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    let search = &probe.contract().search;
    for order in probe.facts().orders.iter().take(MOST_ORDERS) {
        let items: Vec<_> = order.addresses.iter().take(search.distinct_items).collect();
        let everything = probe.search(items.iter().map(|item| item.as_str()));
        let what = format!("the addresses of order {}", order.number);
        let asked = Filter::Order(order.number.clone()).on(search, everything.clone());
        let Some(found) = read_accepted(probe, Clause::SearchOrderNumber, &what, &asked).await? else {
            continue;
        };
        let missing: Vec<_> = items.iter().filter(|item| !holds(&found, item)).collect();
        let whole = read(probe, &everything).await?;
        if let Some(item) = missing.first().filter(|item| holds(&whole, item)) {
            let expected = format!("{what} find an instance at each of them");
            let actual = format!("none at {} of {}, {item} among them", missing.len(), items.len());
            probe.finding(Clause::SearchOrderNumber, &expected, &actual, &found.evidence());
        }
        let strangers = found.ids().difference(&whole.ids()).count();
        if strangers > 0 {
            let expected = format!("{what} find with the order some of what they find without");
            let actual = format!("{strangers} other instances");
            probe.finding(Clause::SearchOrderNumber, &expected, &actual, &found.evidence());
        }
    }
    Ok(())
}

fn holds(found: &ResultSet, item: &str) -> bool {
    let Some((ip, port)) = address_of(item) else { return true };
    found
        .instances
        .values()
        .any(|instance| instance.ip == ip && port.is_none_or(|port| instance.port == port))
}

/// Orders that are tried.
const MOST_ORDERS: usize = 5;

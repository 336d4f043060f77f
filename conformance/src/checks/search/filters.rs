//! The instances of the account's orders.

use super::*;

pub(super) static PROGRAMS: &[Program] = &[active("search.order-number.held", |_| {
    let case =
        |index: usize| Case::for_data(format!("order {}", index + 1), Cost::requests(3), index, order_held);
    (0..MAX_ORDERS).map(case).collect()
})];

const MAX_ORDERS: usize = 5;

async fn order_held(probe: &Probe<'_>, index: usize) -> Result<(), Stop> {
    let search = &probe.contract().search;
    let Some(order) = probe.facts().orders.get(index) else {
        return Err(probe.skip_lacking("fewer orders were supplied", "more orders", Fact::Orders));
    };
    let items: Vec<_> = order.addresses.iter().take(search.distinct_items).collect();
    let everything = probe.search(items.iter().map(|item| item.as_str()));
    let what = format!("the addresses of order {}", order.number);
    let asked = everything.clone().field(ORDER_NO, order.number.as_str());
    let Some(found) = read_accepted(probe, SearchOrderNumber, &what, &asked).await? else {
        return Ok(());
    };
    let missing: Vec<_> = items.iter().filter(|item| !holds(&found, item)).collect();
    let whole = read(probe, &everything).await?;
    let (judged, references) = (found.evidence(), whole.evidence());
    if let Some(item) = missing.first().filter(|item| holds(&whole, item)) {
        let expected = format!("{what} find an instance at each of them");
        let actual = format!("none at {} of {}, {item} among them", missing.len(), items.len());
        probe.finding_beside(SearchOrderNumber, &expected, &actual, &judged, &references);
    }
    let others = found.ids().difference(&whole.ids()).count();
    if others > 0 {
        let expected = format!(
            "a search for {what} with `{ORDER_NO}` finds no instance that the search without it does not find"
        );
        let actual = quantity(others, "other instance");
        probe.finding_beside(SearchOrderNumber, &expected, &actual, &judged, &references);
    }
    Ok(())
}

fn holds(found: &ResultSet, item: &str) -> bool {
    let Some((ip, port)) = address_of(item) else { return true };
    let is_there = |port: Option<i64>, held: i64| port.is_none_or(|port| port == held);
    found.instances.values().any(|instance| instance.ip == ip && is_there(port, instance.port))
}

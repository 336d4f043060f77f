use std::collections::BTreeSet;
use std::net::IpAddr;

use serde_json::Value;

use crate::check::{Case, Check, Cost, Probe, ResponseClass, Run, Stop};
use crate::checks::Requests;
use crate::contract::Clause;
use crate::target::Fact;
use crate::wire::Answer;

pub(super) static CHECK: Check = Check {
    id: "all.own-account.foreign-addresses",
    title: "a search finds nothing at addresses of other accounts",
    why: "",
    operation: None,
    clauses: &[Clause::AllOwnAccount],
    needs: &[Fact::ForeignAddresses],
    run: Run::Cases(|_| Case::single(Cost::requests(3), |probe| Box::pin(run(probe)))),
};

async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    const MOST: usize = 100;
    let foreign = probe.facts().foreign_addresses.iter().take(MOST).map(String::as_str);
    let found = probe.control(&probe.search(foreign)).await?;
    let items = found.answer.at("/data/items").and_then(Value::as_array).map_or(0, Vec::len);
    let total = found.answer.at("/data/total").and_then(Value::as_u64).unwrap_or(0);
    if items > 0 || total > 0 {
        let actual = format!("{items} instances and a total of {total}");
        probe.finding(Clause::AllOwnAccount, "no instances and a total of 0", &actual, &[&found.exchange]);
    }
    let search = &probe.contract().search;
    let foreign = probe.facts().foreign_addresses.iter().take(MOST).map(String::as_str);
    let both = probe.search(probe.own_addresses(MOST).into_iter().chain(foreign));
    let filters = [
        probe.facts().foreign_group.map(|group| both.clone().field(&search.group_id.name, group)),
        probe.facts().foreign_order.as_deref().map(|order| both.clone().field(&search.order_no.name, order)),
    ];
    for request in filters.into_iter().flatten() {
        // It may be refused as well, and an order number or a group of another account may be one of this account too.
        let (exchange, class) = probe.send(&request).await?;
        let Ok(answer) = &exchange.result else { continue };
        if class == ResponseClass::Accepted && reveals_foreign(probe, answer) {
            let actual = "instances at the foreign addresses";
            let expected = "no instance of another account, though its group or order is filtered by";
            probe.finding(Clause::AllOwnAccount, expected, actual, &[&exchange]);
        }
    }
    Ok(())
}

/// Whether an instance has an address that only other accounts hold.
fn reveals_foreign(probe: &Probe<'_>, answer: &Answer) -> bool {
    let address = |text: &str| text.parse::<IpAddr>().ok();
    let foreign: BTreeSet<IpAddr> =
        probe.facts().foreign_addresses.iter().filter_map(|text| address(text)).collect();
    let items = answer.at("/data/items").and_then(Value::as_array);
    let shown = items.into_iter().flatten().filter_map(|item| address(item.get("ip")?.as_str()?));
    shown.into_iter().any(|ip| foreign.contains(&ip))
}

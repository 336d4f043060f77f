use std::collections::BTreeSet;
use std::net::{IpAddr, SocketAddr};

use crate::check::{Case, Check, Cost, Probe, Run, Stop};
use crate::checks::Requests;
use crate::checks::relation::{address_of, read_accepted, survey};
use crate::contract::{Clause, OperationId};
use crate::target::Fact;

pub(super) static CHECK: Check = Check {
    id: "search.no-reveal.nothing-found",
    title: "addresses of other accounts find nothing, alone, with ports and among own ones",
    why: "",
    operation: Some(OperationId::Search),
    clauses: &[Clause::SearchNoReveal, Clause::AllOwnAccount],
    needs: &[Fact::ForeignAddresses],
    run: Run::Cases(|_| Case::single(Cost::requests(8), |probe| Box::pin(run(probe)))),
};

async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    let search = &probe.contract().search;
    let most = search.distinct_items / 2;
    let foreign: BTreeSet<IpAddr> = probe
        .facts()
        .foreign_addresses
        .iter()
        .take(most)
        .filter_map(|item| Some(address_of(item)?.0))
        .collect();
    let ports = survey(probe).await.map(|survey| survey.values(|instance| Some(instance.port)));
    let ports =
        ports.unwrap_or_default().into_iter().filter(|port| search.ports.contains(port)).take(MOST_PORTS);
    let ported = ports.flat_map(|port| {
        let port = u16::try_from(port).unwrap_or(u16::MAX);
        foreign.iter().take(MOST_WITH_PORTS).map(move |ip| SocketAddr::new(*ip, port).to_string())
    });
    let bare = || foreign.iter().map(ToString::to_string);
    let own = probe.own_addresses(most).into_iter().map(str::to_owned);
    let batches: [(&str, Vec<String>); 3] = [
        ("foreign addresses", bare().collect()),
        ("foreign addresses with ports", ported.take(search.distinct_items).collect()),
        ("foreign addresses among own ones", bare().chain(own).collect()),
    ];
    for (what, items) in batches.into_iter().filter(|(_, items)| !items.is_empty()) {
        let Some(found) = read_accepted(probe, Clause::SearchNoReveal, what, &probe.search(items)).await?
        else {
            continue;
        };
        let seen: Vec<_> =
            found.instances.values().filter(|instance| foreign.contains(&instance.ip)).collect();
        if let Some(instance) = seen.first() {
            let actual = format!("{} instances, one at {}", seen.len(), instance.ip);
            probe.finding(
                Clause::SearchNoReveal,
                &format!("{what} find none of theirs"),
                &actual,
                &found.evidence(),
            );
        }
        let counted = u64::try_from(found.order.len()).unwrap_or(u64::MAX);
        if found.total() != counted {
            let expected = format!("{what}: total {counted}, which counts own instances only");
            probe.finding(
                Clause::SearchNoReveal,
                &expected,
                &format!("total {}", found.total()),
                &found.evidence(),
            );
        }
    }
    Ok(())
}

/// Ports, from those that own instances have, and addresses that are tried with each of them.
const MOST_PORTS: usize = 4;
const MOST_WITH_PORTS: usize = 50;

use super::addresses;
use crate::check::{Case, Check, Cost, Probe, Run, Stop};
use crate::checks::NOBODYS_ADDRESS;
use crate::checks::Requests;
use crate::contract::{Clause, OperationId};

pub(super) static CHECK: Check = Check {
    id: "search.ips-dedup-limit.boundaries",
    title: "distinct addresses are counted by address and port, after duplicates are taken out",
    why: "",
    operation: Some(OperationId::Search),
    clauses: &[Clause::SearchIpsDedupLimit],
    needs: &[],
    run: Run::Cases(|_| Case::single(Cost::requests(9), |probe| Box::pin(run(probe)))),
};

async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    let most = probe.contract().search.distinct_items;
    let good = probe.any_search();
    probe.control_once(&good).await?;

    let full = addresses::distinct(most);
    let full_ports = addresses::ports(most);
    let twice: Vec<_> = full.iter().chain(&full).cloned().collect();
    let respelled: Vec<_> =
        full.iter().cloned().chain(full.iter().filter_map(|item| addresses::respell(item))).collect();
    let allowed = [
        ("addresses", full.clone()),
        ("ports of two addresses", full_ports.clone()),
        ("addresses, each of them twice", twice),
        ("addresses, those of IPv6 respelled as well", respelled),
    ];
    for (why, items) in allowed {
        let why = format!("{most} distinct {why}");
        probe.accepts(Clause::SearchIpsDedupLimit, &why, &probe.search(items)).await?;
    }

    let one_more: Vec<_> = full.iter().cloned().chain([NOBODYS_ADDRESS.to_owned()]).collect();
    let with_port: Vec<_> = full.iter().cloned().chain([format!("{}:1", full[0])]).collect();
    let last: Vec<_> = full.iter().chain(&full).cloned().chain([NOBODYS_ADDRESS.to_owned()]).collect();
    let refused = [
        ("addresses", one_more),
        ("ports of two addresses", addresses::ports(most + 1)),
        ("items, one of them an address with and without a port", with_port),
        ("addresses, after all others came twice", last),
    ];
    for (why, items) in refused {
        let why = format!("{} distinct {why}", most + 1);
        probe.rejects_after_control(Clause::SearchIpsDedupLimit, &why, &good, &probe.search(items)).await?;
    }
    Ok(())
}

use std::collections::BTreeSet;
use std::net::IpAddr;

use crate::check::{Case, Check, Cost, Probe, Run, Stop};
use crate::checks::Requests;
use crate::checks::relation::{Comparison, Survey, read_accepted, survey};
use crate::contract::{Clause, OperationId, Search};
use crate::target::Fact;

pub(super) static CHECK: Check = Check {
    id: "search.match-port.other-port",
    title: "an item with a port that the address does not have finds nothing",
    why: "",
    operation: Some(OperationId::Search),
    clauses: &[Clause::SearchMatchPort],
    needs: &[Fact::OwnAddresses],
    run: Run::Cases(|_| Case::single(Cost::requests(18), |probe| Box::pin(run(probe)))),
};

async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    let search = &probe.contract().search;
    let survey = survey(probe).await?;
    let mut comparison = Comparison::with(survey);
    let mut all = Vec::new();
    for wanted in [false, true] {
        let addresses = survey.values(|instance| (instance.ip.is_ipv6() == wanted).then_some(instance.ip));
        for address in addresses.into_iter().take(MOST_OF_A_FAMILY) {
            for port in absent(survey, search, address) {
                let item = survey.spelt_with(address, port);
                let request = probe.search([item.as_str()]);
                let found = read_accepted(probe, Clause::SearchMatchPort, &item, &request).await?;
                if let Some(found) = found {
                    comparison.same(Clause::SearchMatchPort, &item, &BTreeSet::new(), &found);
                }
                all.push(item);
            }
        }
    }
    if let Some(found) =
        read_accepted(probe, Clause::SearchMatchPort, "ports that are not held", &probe.search(all)).await?
    {
        comparison.same(
            Clause::SearchMatchPort,
            "a batch of ports that are not held",
            &BTreeSet::new(),
            &found,
        );
    }
    comparison.conclude(probe).await
}

/// Ports that the address does not have: next to one that it has, one that another address has, and the last.
fn absent(survey: &Survey, search: &Search, address: IpAddr) -> Vec<u16> {
    let held: BTreeSet<i64> = survey
        .instances
        .values()
        .filter(|instance| instance.ip == address)
        .map(|instance| instance.port)
        .collect();
    let beside = held.iter().flat_map(|port| [port + 1, port - 1]);
    let elsewhere = survey.values(|instance| Some(instance.port));
    let wanted = |port: &i64| search.ports.contains(port) && !held.contains(port);
    let first = beside.clone().find(wanted);
    let other = elsewhere.into_iter().find(wanted);
    let ports: BTreeSet<i64> = first.into_iter().chain(other).collect();
    ports.into_iter().filter_map(|port| u16::try_from(port).ok()).collect()
}

/// Addresses of each family that are tried.
const MOST_OF_A_FAMILY: usize = 3;

use std::net::IpAddr;

use super::{addresses, likeness};
use crate::check::{Case, Check, Cost, Probe, Run, Stop};
use crate::checks::Requests;
use crate::checks::relation::address_of;
use crate::contract::{Clause, OperationId, Search};
use crate::target::Fact;
use crate::wire::Request;

pub(super) static CHECK: Check = Check {
    id: "search.no-reveal.foreign-addresses",
    title: "addresses of other accounts are answered exactly like addresses that nobody has",
    why: "",
    operation: Some(OperationId::Search),
    clauses: &[Clause::SearchNoReveal],
    needs: &[Fact::ForeignAddresses],
    run: Run::Cases(|_| Case::single(Cost::requests(24), |probe| Box::pin(run(probe)))),
};

async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    let search = &probe.contract().search;
    let foreign = &probe.facts().foreign_addresses;
    let addresses = foreign.iter().filter_map(|item| address_of(item)).map(|(ip, _)| ip);
    let (v6, v4): (Vec<IpAddr>, Vec<IpAddr>) = addresses.partition(IpAddr::is_ipv6);
    let status = &search.statuses[0];
    let dress: [fn(&Search, Request, &str) -> Request; 4] = [
        |_, request, _| request,
        |search, request, _| request.field(&search.page_size.name, *search.page_sizes.start()),
        |search, request, _| request.field(&search.group_id.name, 0),
        |search, request, status| request.field(&search.status.name, status),
    ];
    for address in v4.first().into_iter().chain(v6.first()) {
        let known = address.to_string();
        let unknown = addresses::unknown(*address).to_string();
        for dress in dress {
            let asked = |item: &str| dress(search, probe.search([item]), status);
            let foreign = ("the foreign address", known.as_str(), &asked(&known));
            likeness::judge(probe, Clause::SearchNoReveal, foreign, (&unknown, &asked(&unknown))).await?;
        }
    }
    Ok(())
}

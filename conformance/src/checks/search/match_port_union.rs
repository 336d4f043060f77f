use crate::check::{Case, Check, Cost, Probe, Run, Stop};
use crate::checks::Requests;
use crate::checks::relation::{Comparison, Instance, read_accepted, survey};
use crate::contract::{Clause, OperationId};
use crate::target::Fact;

pub(super) static CHECK: Check = Check {
    id: "search.match-port.union",
    title: "items with and without ports of one address find together what each finds",
    why: "",
    operation: Some(OperationId::Search),
    clauses: &[Clause::SearchMatchPort, Clause::SearchMatchAnyPort],
    needs: &[Fact::OwnAddresses],
    run: Run::Cases(|_| Case::single(Cost::requests(16), |probe| Box::pin(run(probe)))),
};

/// An address with all of its ports, with some of them, with one twice, and beside itself without a port.
async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    let search = &probe.contract().search;
    let survey = survey(probe).await?;
    let mut comparison = Comparison::with(survey);
    for wanted in [false, true] {
        let address = survey.values(|instance| {
            (instance.ip.is_ipv6() == wanted && survey.item(search, instance).is_some())
                .then_some(instance.ip)
        });
        let Some(address) = address.first().copied() else { continue };
        let of_address = |instance: &Instance| instance.ip == address;
        let all = survey.where_(of_address);
        let ported = survey.with_ports(search, "ports", of_address);
        let Some((first, rest)) = ported.items.split_first() else { continue };
        let bare = survey.spelt(address);
        let without_first = survey.where_(|instance| {
            of_address(instance) && survey.item(search, instance).is_some_and(|i| i != *first)
        });
        let cases = [
            (Clause::SearchMatchPort, ported.items.clone(), ported.ids.clone()),
            (Clause::SearchMatchPort, rest.to_vec(), without_first),
            (Clause::SearchMatchAnyPort, vec![first.clone(), bare.clone()], all.clone()),
            (Clause::SearchMatchAnyPort, vec![bare.clone(), first.clone()], all.clone()),
            (Clause::SearchMatchAnyPort, [&[bare], ported.items.as_slice()].concat(), all),
        ];
        for (clause, items, expected) in cases.into_iter().filter(|(_, items, _)| !items.is_empty()) {
            let what = items.join(" and ");
            if let Some(found) = read_accepted(probe, clause, &what, &probe.search(items)).await? {
                comparison.same(clause, &what, &expected, &found);
            }
        }
    }
    comparison.conclude(probe).await
}

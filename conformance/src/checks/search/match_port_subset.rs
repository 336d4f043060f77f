use crate::check::{Case, Check, Cost, Probe, Run, Stop};
use crate::checks::Requests;
use crate::checks::relation::{Comparison, read_accepted, survey};
use crate::contract::{Clause, OperationId};
use crate::target::Fact;

pub(super) static CHECK: Check = Check {
    id: "search.match-port.subset",
    title: "an item with a port finds exactly that address and port",
    why: "",
    operation: Some(OperationId::Search),
    clauses: &[Clause::SearchMatchPort],
    needs: &[Fact::OwnAddresses],
    run: Run::Cases(|_| Case::single(Cost::requests(22), |probe| Box::pin(run(probe)))),
};

/// S(ip:port) is the part of S(ip) with that port.
async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    let search = &probe.contract().search;
    let survey = survey(probe).await?;
    let mut comparison = Comparison::with(survey);
    let usable = survey
        .values(|instance| survey.item(search, instance).map(|item| (instance.ip, item, instance.port)));
    let (v6, v4): (Vec<_>, Vec<_>) = usable.into_iter().partition(|(ip, ..)| ip.is_ipv6());
    let chosen: Vec<_> = spread(v4).chain(spread(v6)).collect();
    if chosen.is_empty() {
        return Err(probe.skip("none of the account's addresses holds an instance with a port"));
    }
    for (ip, item, port) in chosen {
        let found =
            read_accepted(probe, Clause::SearchMatchPort, &item, &probe.search([item.as_str()])).await?;
        if let Some(found) = found {
            let expected = survey.where_(|instance| (instance.ip, instance.port) == (ip, port));
            comparison.same(Clause::SearchMatchPort, &item, &expected, &found);
        }
    }
    comparison.conclude(probe).await
}

/// A few, from the most frequent to the rarest.
fn spread<T>(items: Vec<T>) -> impl Iterator<Item = T> {
    const MOST: usize = 8;
    let step = items.len().div_ceil(MOST).max(1);
    items.into_iter().step_by(step)
}

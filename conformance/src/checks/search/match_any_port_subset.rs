use std::net::IpAddr;

use crate::check::{Case, Check, Cost, Probe, Run, Stop};
use crate::checks::Requests;
use crate::checks::relation::{Comparison, Survey, read_accepted, survey};
use crate::contract::{Clause, OperationId};
use crate::target::Fact;

pub(super) static CHECK: Check = Check {
    id: "search.match-any-port.subset",
    title: "an item without a port finds every instance of that address and no other",
    why: "",
    operation: Some(OperationId::Search),
    clauses: &[Clause::SearchMatchAnyPort],
    needs: &[Fact::OwnAddresses],
    run: Run::Cases(|_| Case::single(Cost::requests(15), |probe| Box::pin(run(probe)))),
};

async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    let survey = survey(probe).await?;
    let mut comparison = Comparison::with(survey);
    let (v6, v4): (Vec<_>, Vec<_>) = busiest(survey).into_iter().partition(|address| address.is_ipv6());
    for address in v4.into_iter().take(MOST_OF_A_FAMILY).chain(v6.into_iter().take(MOST_OF_A_FAMILY)) {
        let item = survey.spelt(address);
        let found =
            read_accepted(probe, Clause::SearchMatchAnyPort, &item, &probe.search([item.as_str()])).await?;
        if let Some(found) = found {
            let expected = survey.where_(|instance| instance.ip == address);
            comparison.same(Clause::SearchMatchAnyPort, &item, &expected, &found);
        }
    }
    comparison.conclude(probe).await
}

/// The surveyed addresses, those with most ports first.
fn busiest(survey: &Survey) -> Vec<IpAddr> {
    survey.values(|instance| Some(instance.ip))
}

/// Addresses of each family that are tried.
const MOST_OF_A_FAMILY: usize = 5;

use std::collections::BTreeSet;

use crate::check::{Case, Check, Cost, Probe, Run, Stop};
use crate::checks::Requests;
use crate::checks::relation::{Comparison, read, survey};
use crate::contract::{Clause, OperationId};
use crate::target::Fact;

pub(super) static CHECK: Check = Check {
    id: "search.match-any-port.ports",
    title: "an item without a port finds all that its ports find one by one",
    why: "",
    operation: Some(OperationId::Search),
    clauses: &[Clause::SearchMatchAnyPort],
    needs: &[Fact::OwnAddresses],
    run: Run::Cases(|_| Case::single(Cost::requests(8), |probe| Box::pin(run(probe)))),
};

/// Ports that the service hides from items without a port can only be guessed: those that other addresses show, those next to
/// them, and the first and the last.
async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    let search = &probe.contract().search;
    let survey = survey(probe).await?;
    let mut comparison = Comparison::with(survey);
    let known = survey.values(|instance| Some(instance.port)).into_iter().take(MOST_KNOWN);
    let near = known.flat_map(|port| [port, port + 1, port + 2]);
    let ends = [*search.ports.start(), *search.ports.end()];
    let ports: BTreeSet<u16> = near
        .chain(ends)
        .filter(|port| search.ports.contains(port))
        .filter_map(|port| u16::try_from(port).ok())
        .collect();
    let items = survey.addresses.iter().flat_map(|ip| ports.iter().map(|port| survey.spelt_with(*ip, *port)));
    let items: Vec<String> = items.collect();
    for chunk in items.chunks(search.distinct_items) {
        let found = read(probe, &probe.search(chunk.to_vec())).await?;
        let hidden: Vec<_> = found
            .instances
            .values()
            .filter(|instance| !survey.instances.contains_key(&instance.id))
            .collect();
        if let Some(instance) = hidden.first() {
            let expected = format!("{} without a port finds its port {}", instance.ip, instance.port);
            let actual =
                format!("it does not, and {} instances in all are found by their ports only", hidden.len());
            comparison.differs(Clause::SearchMatchAnyPort, expected, actual, &found.evidence());
        }
    }
    comparison.conclude(probe).await
}

/// Ports that are known from other addresses and tried.
const MOST_KNOWN: usize = 6;

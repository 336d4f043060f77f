use std::collections::BTreeSet;

use super::combination;
use crate::check::{Case, Check, Cost, Probe, Run, Stop};
use crate::checks::Requests;
use crate::checks::relation::{Comparison, apply, combinations, excluding, read_unless_rejected, survey};
use crate::contract::{Clause, OperationId};
use crate::target::Fact;

pub(super) static CHECK: Check = Check {
    id: "search.intersection.excluding",
    title: "two filters of which each finds something, but nothing in common, find nothing",
    why: "",
    operation: Some(OperationId::Search),
    clauses: &[Clause::SearchIntersection],
    needs: &[Fact::OwnAddresses],
    run: Run::Cases(|_| Case::single(Cost::requests(27), |probe| Box::pin(run(probe)))),
};

async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    let search = &probe.contract().search;
    let survey = survey(probe).await?;
    let mut comparison = Comparison::with(survey);
    for kinds in combinations(2) {
        let &[one, other] = kinds.as_slice() else { continue };
        let Some((filters, addresses)) = excluding(survey, [one, other]) else { continue };
        let request = apply(search, probe.search(addresses.map(|ip| survey.spelt(ip))), &filters);
        let what = combination::describe(&filters);
        // A city outside the country may be refused: the contract does not say.
        let found = read_unless_rejected(probe, Clause::SearchIntersection, &what, &request).await?;
        if let Some(found) = found {
            comparison.same(Clause::SearchIntersection, &what, &BTreeSet::new(), &found);
        }
    }
    comparison.conclude(probe).await
}

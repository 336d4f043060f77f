use super::values;
use crate::check::{Case, Check, Cost, Probe, Run, Stop};
use crate::checks::relation::{Filter, read_unless_rejected, survey};
use crate::contract::{Clause, OperationId};
use crate::target::Fact;

pub(super) static CHECK: Check = Check {
    id: "search.city.near",
    title: "a code that only resembles that of a city finds none of its instances",
    why: "",
    operation: Some(OperationId::Search),
    clauses: &[Clause::SearchCity],
    needs: &[Fact::OwnAddresses],
    run: Run::Cases(|_| Case::single(Cost::requests(15), |probe| Box::pin(run(probe)))),
};

async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    let search = &probe.contract().search;
    let survey = survey(probe).await?;
    for code in survey.values(|instance| Some(instance.city.clone())).into_iter().take(MOST_CODES) {
        for code in values::resembling(&code) {
            let request = Filter::City(code.clone()).on(search, survey.request.clone());
            let what = format!("city {code}");
            // An unknown code may be refused.
            let found = read_unless_rejected(probe, Clause::SearchCity, &what, &request).await?;
            let Some(found) = found else { continue };
            let others = found.instances.values().filter(|instance| instance.city != code).count();
            if others > 0 {
                let expected = format!("{what} finds no instance of another code");
                probe.finding(Clause::SearchCity, &expected, &format!("{others} of them"), &found.evidence());
            }
        }
    }
    Ok(())
}

/// Codes that others are made from.
const MOST_CODES: usize = 2;

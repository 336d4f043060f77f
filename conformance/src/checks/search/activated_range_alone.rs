use jiff::SignedDuration;

use super::instants;
use crate::check::{Case, Check, Cost, Probe, Run, Stop};
use crate::checks::relation::{Comparison, Filter, survey};
use crate::contract::{Clause, OperationId};
use crate::target::Fact;

pub(super) static CHECK: Check = Check {
    id: "search.activated-range.alone",
    title: "each bound stands alone, and an instance that was never activated matches none",
    why: "",
    operation: Some(OperationId::Search),
    clauses: &[Clause::SearchActivatedRange],
    needs: &[Fact::OwnAddresses],
    run: Run::Cases(|_| Case::single(Cost::requests(20), |probe| Box::pin(run(probe)))),
};

async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    let survey = survey(probe).await?;
    let mut comparison = Comparison::with(survey);
    let times = survey.activations();
    let day = SignedDuration::from_hours(24);
    let (Some(first), Some(last)) = (times.first(), times.last()) else {
        return Err(probe.skip("no instance at the surveyed addresses was activated: supply others"));
    };
    let wide = [first.checked_sub(day).ok(), last.checked_add(day).ok()];
    let quarters = [1, 2, 3].into_iter().filter_map(|part| times.get(times.len() * part / 4).copied());
    for time in wide.into_iter().flatten().chain(quarters) {
        for filters in [[Filter::From(time)], [Filter::To(time)]] {
            instants::judge(probe, &mut comparison, &filters, ToString::to_string).await?;
        }
    }
    if let [Some(from), Some(to)] = wide {
        instants::judge(probe, &mut comparison, &[Filter::From(from), Filter::To(to)], ToString::to_string)
            .await?;
    }
    comparison.conclude(probe).await
}

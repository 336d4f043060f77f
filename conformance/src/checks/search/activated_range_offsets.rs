use jiff::Timestamp;
use jiff::tz::Offset;

use super::instants;
use crate::check::{Case, Check, Cost, Probe, Run, Stop};
use crate::checks::relation::{Comparison, Filter, survey};
use crate::contract::{Clause, OperationId};
use crate::target::Fact;

pub(super) static CHECK: Check = Check {
    id: "search.activated-range.offsets",
    title: "a bound means the same instant in whatever offset it is written",
    why: "",
    operation: Some(OperationId::Search),
    clauses: &[Clause::SearchActivatedRange],
    needs: &[Fact::OwnAddresses],
    run: Run::Cases(|_| Case::single(Cost::requests(45), |probe| Box::pin(run(probe)))),
};

/// Negative offsets and such of half an hour, across midnight and across the end of the year.
async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    let survey = survey(probe).await?;
    let mut comparison = Comparison::with(survey);
    let own = instants::chosen(probe, survey)?;
    let middle = own.get(own.len() / 2).copied();
    let times = own.iter().copied().step_by(3).chain(middle.and_then(new_year));
    for time in times {
        for minutes in OFFSETS {
            let Ok(offset) = Offset::from_seconds(minutes * 60) else { continue };
            let write = |time: &Timestamp| time.display_with_offset(offset).to_string();
            for filters in [[Filter::From(time)], [Filter::To(time)]] {
                instants::judge(probe, &mut comparison, &filters, write).await?;
            }
        }
    }
    comparison.conclude(probe).await
}

/// In minutes.
const OFFSETS: [i32; 5] = [-11 * 60, -(3 * 60 + 30), 5 * 60 + 30, 14 * 60, 0];

/// The beginning of a year, which offsets push to either side.
fn new_year(near: Timestamp) -> Option<Timestamp> {
    let year = Offset::UTC.to_datetime(near).year();
    Offset::UTC.to_timestamp(jiff::civil::DateTime::new(year, 1, 1, 0, 0, 0, 0).ok()?).ok()
}

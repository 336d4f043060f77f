//! Bounds on the activation time, held against the activations that the survey shows.

use jiff::Timestamp;

use crate::check::{Probe, Stop};
use crate::checks::relation::{Comparison, Filter, FilterKind, Survey, read_accepted};
use crate::contract::Clause;

/// Some instants at which instances were activated: the first, the last, the one shown with the most digits, and some between.
pub(super) fn chosen(probe: &Probe<'_>, survey: &Survey) -> Result<Vec<Timestamp>, Stop> {
    const BETWEEN: usize = 6;
    let times = survey.activations();
    if times.is_empty() {
        return Err(probe.skip("no instance at the surveyed addresses was activated: supply others"));
    }
    let finest = survey.instances.values().filter(|instance| instance.activated.is_some());
    let finest = finest.max_by_key(|instance| instance.digits).and_then(|instance| instance.activated);
    let between = (0..=BETWEEN).filter_map(|part| times.get((times.len() - 1) * part / BETWEEN).copied());
    let mut chosen: Vec<_> = between.chain(finest).collect();
    chosen.sort_unstable();
    chosen.dedup();
    Ok(chosen)
}

/// Bounds, written as `write` does, must find what the survey says that they admit.
pub(super) async fn judge(
    probe: &Probe<'_>,
    comparison: &mut Comparison<'_>,
    bounds: &[Filter],
    write: impl Fn(&Timestamp) -> String,
) -> Result<(), Stop> {
    const CLAUSE: Clause = Clause::SearchActivatedRange;
    let search = &probe.contract().search;
    let survey = comparison.survey();
    let mut request = survey.request.clone();
    let mut words = Vec::new();
    for bound in bounds {
        let (Filter::From(time) | Filter::To(time)) = bound else { continue };
        let from = bound.kind() == FilterKind::From;
        let name = if from { &search.activated_from.name } else { &search.activated_to.name };
        let text = write(time);
        words.push(format!("{name}={text}"));
        request = request.field(name, text);
    }
    let what = words.join(" & ");
    if let Some(found) = read_accepted(probe, CLAUSE, &what, &request).await? {
        comparison.same(CLAUSE, &what, &survey.admitted(bounds), &found);
    }
    Ok(())
}

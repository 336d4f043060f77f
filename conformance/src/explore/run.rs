use std::collections::BTreeSet;
use std::sync::atomic::Ordering;
use std::time::Instant;

use fastrand::Rng;

use super::explorer::Explorer;
use super::query::Query;
use super::relation::{BrokenRelation, Relation};
use super::{Exploration, Progress};
use crate::check::{Probe, Stop};
use crate::checks::relation::{Comparison, Survey, survey};
use crate::contract::Clause;
use crate::wire::BudgetError;

/// Findings after which an exploration ends: those that follow say less each.
const MOST_FINDINGS: usize = 6;

/// Simpler queries that are tried for one finding.
const MOST_SIMPLER: usize = 150;

/// Draws queries and tries relations on them until time or requests are used up.
pub(super) async fn explore(
    probe: &Probe<'_>,
    exploration: Exploration,
    progress: &Progress,
) -> Result<(), Stop> {
    let Exploration { time, requests, seed } = exploration;
    let until = Instant::now() + time;
    let survey = survey(probe).await?;
    let mut explorer = Explorer { probe, survey, progress, most: requests, until };
    let mut rng = Rng::with_seed(seed);
    let mut reported: BTreeSet<(Relation, Clause)> = BTreeSet::new();
    while explorer.may_go_on() && reported.len() < MOST_FINDINGS {
        let query = Query::draw(&mut rng, survey, &probe.contract().search);
        let relation = Relation::ALL[rng.usize(..Relation::ALL.len())];
        let step = progress.steps.fetch_add(1, Ordering::Relaxed) + 1;
        let broken = match relation.broken(&mut explorer, &query).await {
            Err(stop) => return ended(stop),
            Ok(None) => continue,
            Ok(Some(broken)) => broken,
        };
        let clause = broken.clause;
        if !reported.insert((relation, clause)) {
            continue;
        }
        let (query, broken) = match shrink(&mut explorer, relation, query, broken).await {
            Err(stop) => return ended(stop),
            Ok(shrunk) => shrunk,
        };
        // A simpler query may break another clause, which may be known.
        if broken.clause != clause && !reported.insert((relation, broken.clause)) {
            continue;
        }
        let replay = format!("seed {seed}, step {step}");
        report(probe, survey, &query, broken, &replay).await?;
    }
    Ok(())
}

/// A ceiling of requests ends an exploration as its own bound does.
fn ended(stop: Stop) -> Result<(), Stop> {
    match stop {
        Stop::Budget(BudgetError::Requests(_)) => Ok(()),
        stop => Err(stop),
    }
}

/// Takes away what the relation is broken without, until nothing more can be taken.
async fn shrink(
    explorer: &mut Explorer<'_, '_>,
    relation: Relation,
    mut query: Query,
    mut broken: BrokenRelation,
) -> Result<(Query, BrokenRelation), Stop> {
    let mut left = MOST_SIMPLER;
    'simpler: loop {
        for simpler in query.simpler() {
            // What a shrunk reproduction costs is not counted: it is what the exploration is for.
            if left == 0 || Instant::now() >= explorer.until {
                break 'simpler;
            }
            left -= 1;
            if let Some(still) = relation.broken(explorer, &simpler).await? {
                (query, broken) = (simpler, still);
                continue 'simpler;
            }
        }
        break;
    }
    Ok((query, broken))
}

/// Reports what is broken, unless the data has moved meanwhile.
async fn report(
    probe: &Probe<'_>,
    survey: &Survey,
    query: &Query,
    broken: BrokenRelation,
    replay: &str,
) -> Result<(), Stop> {
    let BrokenRelation { clause, expected, actual, exchanges } = broken;
    let expected = format!("{expected}, for {} ({replay})", query.describe(survey));
    let mut comparison = Comparison::with(survey);
    comparison.differs(clause, expected, actual, &exchanges.iter().collect::<Vec<_>>());
    comparison.conclude(probe).await
}

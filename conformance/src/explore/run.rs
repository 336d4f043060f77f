// A report that is replayed may name any time and any number of requests.
#![warn(clippy::arithmetic_side_effects)]

use std::collections::BTreeSet;
use std::sync::atomic::Ordering;
use std::time::Instant;

use fastrand::Rng;

use super::explorer::Explorer;
use super::query::Query;
use super::relation::{BrokenRelation, Relation};
use super::{Exploration, Progress};
use crate::check::{Probe, Stop};
use crate::checks::relation::{CHANGED_MEANWHILE, Survey, survey};
use crate::contract::Clause;
use crate::wire::BudgetError;

/// Maximum number of findings of an exploration; further ones add little.
const MAX_FINDINGS: usize = 6;

/// Maximum number of simpler queries to try for one finding.
const MAX_SIMPLER: usize = 150;

/// Draws random queries and tests relations on them until time or requests are used up.
pub(super) async fn explore(
    probe: &Probe<'_>,
    exploration: Exploration,
    progress: &Progress,
) -> Result<(), Stop> {
    let Exploration { time, requests, seed } = exploration;
    let begun = Instant::now();
    let survey = survey(probe).await?;
    let mut explorer = Explorer { probe, survey, progress, max_requests: requests, begun, time };
    let mut rng = Rng::with_seed(seed);
    let mut reported: BTreeSet<(Relation, Clause)> = BTreeSet::new();
    while explorer.may_continue() && reported.len() < MAX_FINDINGS {
        let query = Query::draw(&mut rng, survey, &probe.contract().search);
        let relation = Relation::ALL[rng.usize(..Relation::ALL.len())];
        let step = progress.steps.fetch_add(1, Ordering::Relaxed).saturating_add(1);
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
            Err(Stop::Budget(limit @ BudgetError::Requests(_))) => {
                return Err(probe.inconclusive(&format!("{limit} before a violated relation was confirmed")));
            }
            Err(stop) => return Err(stop),
            Ok(shrunk) => shrunk,
        };
        // A simpler query may violate another clause, which may be reported already.
        if broken.clause != clause && !reported.insert((relation, broken.clause)) {
            continue;
        }
        let replay = format!("seed {seed}, step {step}");
        report(probe, survey, &query, broken, &replay).await?;
    }
    Ok(())
}

/// The limit of requests of the run ends an exploration like its own.
fn ended(stop: Stop) -> Result<(), Stop> {
    match stop {
        Stop::Budget(BudgetError::Requests(_)) => Ok(()),
        stop => Err(stop),
    }
}

/// Reduces the query to the simplest one that still violates the relation.
async fn shrink(
    explorer: &mut Explorer<'_, '_>,
    relation: Relation,
    mut query: Query,
    mut broken: BrokenRelation,
) -> Result<(Query, BrokenRelation), Stop> {
    let mut tried = 0..MAX_SIMPLER;
    'simpler: loop {
        for simpler in query.simpler() {
            // Not limited by the requests of the exploration, because a small reproduction is its purpose.
            if explorer.is_over() || tried.next().is_none() {
                break 'simpler;
            }
            if let Some(still) = relation.broken(explorer, &simpler).await? {
                (query, broken) = (simpler, still);
                continue 'simpler;
            }
        }
        break;
    }
    Ok((query, broken))
}

/// Reports a violated relation, unless the data has changed meanwhile.
async fn report(
    probe: &Probe<'_>,
    survey: &Survey,
    query: &Query,
    broken: BrokenRelation,
    replay: &str,
) -> Result<(), Stop> {
    let BrokenRelation { clause, expected, actual, exchanges } = broken;
    let expected = format!("{expected}, for {} ({replay})", query.describe(survey));
    // The survey is not shown: its request is larger than all of these together.
    if survey.confirm(probe).await?.is_none() {
        return Err(probe.inconclusive(CHANGED_MEANWHILE));
    }
    probe.finding(clause, &expected, &actual, &exchanges.iter().collect::<Vec<_>>());
    Ok(())
}

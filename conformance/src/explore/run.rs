use std::collections::BTreeSet;
use std::sync::atomic::Ordering;
use std::time::Instant;

use fastrand::Rng;

use super::query::Query;
use super::relation::{Broken, Relation};
use super::{Exploration, Progress};
use crate::check::{Probe, Stop};
use crate::checks::relation::{Comparison, Page, ResultSet, Survey, page, read, survey};
use crate::contract::Clause;
use crate::wire::{Exhausted, Request};

/// Findings after which an exploration ends: those that follow say less each.
const MOST_FINDINGS: usize = 6;

/// Simpler queries that are tried for one finding.
const MOST_SIMPLER: usize = 150;

/// Sends the searches of an exploration, as many as it may.
pub(super) struct Explorer<'a, 'p> {
    pub(super) probe: &'a Probe<'p>,
    pub(super) survey: &'a Survey,
    progress: &'a Progress,
    most: u64,
    until: Instant,
}

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
        Stop::Budget(Exhausted::Requests(_)) => Ok(()),
        stop => Err(stop),
    }
}

/// Takes away what the relation is broken without, until nothing more can be taken.
async fn shrink(
    explorer: &mut Explorer<'_, '_>,
    relation: Relation,
    mut query: Query,
    mut broken: Broken,
) -> Result<(Query, Broken), Stop> {
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
    broken: Broken,
    replay: &str,
) -> Result<(), Stop> {
    let Broken { clause, expected, actual, exchanges } = broken;
    let expected = format!("{expected}, for {} ({replay})", query.describe(survey));
    let mut comparison = Comparison::with(survey);
    comparison.differs(clause, expected, actual, &exchanges.iter().collect::<Vec<_>>());
    comparison.conclude(probe).await
}

impl Explorer<'_, '_> {
    fn may_go_on(&self) -> bool {
        self.progress.sent.load(Ordering::Relaxed) < self.most && Instant::now() < self.until
    }

    /// The result of a query; none when it is not accepted, and so can't be judged.
    pub(super) async fn read(&mut self, query: &Query) -> Result<Option<ResultSet>, Stop> {
        self.send(&query.request(self.probe, self.survey, false)).await
    }

    /// The same for a request.
    pub(super) async fn send(&mut self, request: &Request) -> Result<Option<ResultSet>, Stop> {
        let found = judged(read(self.probe, request).await)?;
        self.count(found.as_ref().map_or(1, |found| found.exchanges.len()));
        Ok(found)
    }

    /// One page of a request.
    pub(super) async fn page(
        &mut self,
        request: &Request,
        number: usize,
        size: usize,
    ) -> Result<Option<Page>, Stop> {
        let [number, size] = [number, size].map(|count| i64::try_from(count).unwrap_or(i64::MAX));
        let page = judged(page(self.probe, request, number, size).await)?;
        self.count(1);
        Ok(page)
    }

    fn count(&self, requests: usize) {
        let requests = u64::try_from(requests).unwrap_or(u64::MAX);
        self.progress.sent.fetch_add(requests, Ordering::Relaxed);
    }
}

/// A rejection, throttling and a response that can't be read end no relation as broken.
fn judged<T>(read: Result<T, Stop>) -> Result<Option<T>, Stop> {
    match read {
        Ok(read) => Ok(Some(read)),
        Err(Stop::Inconclusive(_) | Stop::Skip(_)) => Ok(None),
        Err(stop @ (Stop::Error(_) | Stop::Budget(_))) => Err(stop),
    }
}

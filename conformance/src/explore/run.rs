// A report that is replayed may name any time and any number of requests.
#![warn(clippy::arithmetic_side_effects)]

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use fastrand::Rng;

use super::draw::{draw, simpler};
use super::{Exploration, ExplorationResult};
use crate::check::{Probe, Stop};
use crate::checks::relation::{Difference, Query, Reader, Relation, report, survey};
use crate::contract::Clause;
use crate::lock;
use crate::wire::BudgetError;

/// Maximum number of findings of an exploration; further ones add little.
const MAX_FINDINGS: usize = 6;

/// Maximum number of simpler queries to try for one finding.
const MAX_SIMPLER: usize = 150;

/// Draws random queries and tests relations on them until time or requests are used up.
pub(super) async fn explore(
    probe: &Probe<'_>,
    exploration: Exploration,
    result: &Mutex<ExplorationResult>,
) -> Result<(), Stop> {
    let Exploration { time, requests, seed } = exploration;
    let (begun, survey) = (Instant::now(), survey(probe).await?);
    let mut explorer = Explorer { reader: Reader::new(probe, survey, true), begun, time };
    let mut rng = Rng::with_seed(seed);
    let mut reported: BTreeSet<(Relation, Clause)> = BTreeSet::new();
    while explorer.reader.pages < requests && !explorer.is_over() && reported.len() < MAX_FINDINGS {
        let mut query = draw(&mut rng, survey, &probe.contract().search);
        let relation = Relation::EXPLORED[rng.usize(..Relation::EXPLORED.len())];
        // The other relations read each result in the largest pages.
        query.size = query.size.filter(|_| relation == Relation::Pages);
        let step = lock(result).steps.saturating_add(1);
        lock(result).steps = step;
        let broken = explorer.broken(relation, &query).await;
        lock(result).sent = explorer.reader.pages;
        let broken = match broken {
            // The limit of requests of the run ends an exploration like its own.
            Err(Stop::Budget(BudgetError::Requests(_))) => return Ok(()),
            broken => broken?,
        };
        let Some(broken) = broken else { continue };
        let clause = broken.clause;
        if !reported.insert((relation, clause)) {
            continue;
        }
        let shrunk = explorer.shrink(relation, &query, broken).await;
        lock(result).sent = explorer.reader.pages;
        let broken = match shrunk {
            Err(Stop::Budget(limit @ BudgetError::Requests(_))) => {
                return Err(probe.inconclusive(&format!("{limit} before a violated relation was confirmed")));
            }
            shrunk => shrunk?,
        };
        // A simpler query may violate another clause, which may be reported already.
        if broken.clause != clause && !reported.insert((relation, broken.clause)) {
            continue;
        }
        // The survey is not shown: its request is larger than all of these together.
        let references = broken.references.or(Some(Vec::new()));
        let expected = format!("{} (seed {seed}, step {step})", broken.expected);
        report(probe, survey, vec![Difference { expected, references, ..broken }]).await?;
    }
    Ok(())
}

struct Explorer<'a, 'p> {
    reader: Reader<'a, 'p>,
    begun: Instant,
    time: Duration,
}

impl Explorer<'_, '_> {
    fn is_over(&self) -> bool {
        self.begun.elapsed() >= self.time
    }

    async fn broken(&mut self, relation: Relation, query: &Query) -> Result<Option<Difference>, Stop> {
        Ok(relation.judge(&mut self.reader, query).await?.into_iter().next())
    }

    async fn shrink(
        &mut self,
        relation: Relation,
        query: &Query,
        mut broken: Difference,
    ) -> Result<Difference, Stop> {
        let mut untried = simpler(query).into_iter();
        for _ in 0..MAX_SIMPLER {
            // Not limited by the requests of the exploration, because a small reproduction is its purpose.
            let Some(query) = untried.next().filter(|_| !self.is_over()) else { break };
            if let Some(still) = self.broken(relation, &query).await? {
                (untried, broken) = (simpler(&query).into_iter(), still);
            }
        }
        Ok(broken)
    }
}

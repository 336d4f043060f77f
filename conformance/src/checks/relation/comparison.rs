use std::collections::BTreeSet;

use super::{CHANGED_MEANWHILE, Query, Reader, Relation, ResultSet, Survey, read_accepted};
use crate::check::{Probe, Stop};
use crate::contract::Clause;
use crate::quantity::quantity;
use crate::wire::{Exchange, Request};

/// Compares results with a survey, and reports differences only when the surveyed data has not changed meanwhile.
#[derive(Debug)]
pub(crate) struct Comparison<'a> {
    survey: &'a Survey,
    differences: Vec<Difference>,
}

/// What a result should have been, and was.
#[derive(Debug)]
pub(crate) struct Difference {
    pub(crate) clause: Clause,
    pub(crate) expected: String,
    pub(crate) actual: String,
    pub(crate) exchanges: Vec<Exchange>,
}

/// Judges queries by a relation, and reports differences as findings on those clauses that the check declares: a result also shows
/// `total` and the echo, which are the question of other checks.
///
/// # Errors
/// When the check does not declare the clause of a query, whose differences would be lost.
pub(crate) async fn relate(
    probe: &Probe<'_>,
    survey: &Survey,
    relation: Relation,
    queries: &[Query],
) -> Result<(), Stop> {
    let mut comparison = Comparison::with(survey);
    let mut reader = Reader::new(probe, false);
    for query in queries {
        if let Some(clause) = relation.clause(query).filter(|clause| !probe.cites(*clause)) {
            return Err(Stop::Error(format!(
                "the check does not declare {clause}; this is a bug of the suite"
            )));
        }
        comparison.differences.extend(relation.judge(&mut reader, survey, query).await?);
    }
    comparison.differences.retain(|difference| probe.cites(difference.clause));
    comparison.conclude(probe).await
}

/// Judges a relation between results alone, without the survey.
///
/// # Errors
/// Inconclusive when there is a difference and the whole has changed meanwhile.
pub(crate) async fn relate_alone(probe: &Probe<'_>, relation: Relation, query: &Query) -> Result<(), Stop> {
    let mut reader = Reader::new(probe, false);
    let Some((whole, before, Some(difference))) = relation.combine(&mut reader, query).await? else {
        return Ok(());
    };
    if reader.read(&whole, false).await?.is_none_or(|again| again.instances != before.instances) {
        return Err(probe.inconclusive(CHANGED_MEANWHILE));
    }
    let Difference { clause, expected, actual, exchanges } = difference;
    probe.finding(clause, &expected, &actual, &exchanges.iter().collect::<Vec<_>>());
    Ok(())
}

impl<'a> Comparison<'a> {
    pub(crate) fn with(survey: &'a Survey) -> Self {
        Self { survey, differences: Vec::new() }
    }

    pub(crate) fn survey(&self) -> &'a Survey {
        self.survey
    }

    /// Sends a search that must be accepted and find exactly these instances. `what` names it.
    pub(crate) async fn finds(
        &mut self,
        probe: &Probe<'_>,
        clause: Clause,
        what: &str,
        request: &Request,
        expected: &BTreeSet<i64>,
    ) -> Result<(), Stop> {
        if let Some(found) = read_accepted(probe, clause, what, request).await? {
            self.same(clause, what, expected, &found);
        }
        Ok(())
    }

    /// The result must contain exactly these instances, each once. `what` names the request.
    pub(crate) fn same(&mut self, clause: Clause, what: &str, expected: &BTreeSet<i64>, found: &ResultSet) {
        self.differences.extend(same(clause, what, expected, found));
    }

    /// Every page must have this `total`.
    pub(crate) fn total(&mut self, clause: Clause, what: &str, expected: usize, found: &ResultSet) {
        let expected = u64::try_from(expected).unwrap_or(u64::MAX);
        if found.totals.iter().any(|total| *total != expected) {
            let actual = format!("{:?} on its pages", found.totals);
            self.differs(clause, format!("total {expected}: {what}"), actual, &found.evidence());
        }
    }

    /// Any other difference between the result and the survey.
    pub(crate) fn differs(
        &mut self,
        clause: Clause,
        expected: String,
        actual: String,
        exchanges: &[&Exchange],
    ) {
        let exchanges = exchanges.iter().map(|exchange| (*exchange).clone()).collect();
        self.differences.push(Difference { clause, expected, actual, exchanges });
    }

    /// Reports the differences as findings, each with the search that shows what was expected.
    ///
    /// # Errors
    /// Inconclusive when there are differences and the surveyed data has changed meanwhile.
    pub(crate) async fn conclude(self, probe: &Probe<'_>) -> Result<(), Stop> {
        if self.differences.is_empty() {
            return Ok(());
        }
        let Some(surveyed) = self.survey.confirm(probe).await? else {
            return Err(probe.inconclusive(CHANGED_MEANWHILE));
        };
        for difference in self.differences {
            let exchanges: Vec<_> = difference.exchanges.iter().chain(&surveyed).collect();
            probe.finding(difference.clause, &difference.expected, &difference.actual, &exchanges);
        }
        Ok(())
    }
}

/// The result must contain exactly these instances, each once. `what` names the request.
pub(super) fn same(
    clause: Clause,
    what: &str,
    expected: &BTreeSet<i64>,
    found: &ResultSet,
) -> Option<Difference> {
    let ids = found.ids();
    let (expected, actual) = if ids != *expected {
        let missing: Vec<_> = expected.difference(&ids).collect();
        let added: Vec<_> = ids.difference(expected).collect();
        let actual = quantity(ids.len(), "instance");
        let actual = format!("{actual}; missing {}, too many {}", few(&missing), few(&added));
        (format!("{what} finds {}", quantity(expected.len(), "instance")), actual)
    } else if found.order.len() != ids.len() {
        let actual =
            format!("{} for {}", quantity(found.order.len(), "item"), quantity(ids.len(), "instance"));
        (format!("{what} finds each instance once"), actual)
    } else {
        return None;
    };
    Some(Difference { clause, expected, actual, exchanges: found.exchanges.clone() })
}

/// The number of ids, and the first few of them.
fn few(ids: &[&i64]) -> String {
    const MAX: usize = 5;
    match ids {
        [] => "none".to_owned(),
        ids if ids.len() <= MAX => format!("{ids:?}"),
        ids => format!("{} ({:?} …)", ids.len(), &ids[..MAX]),
    }
}

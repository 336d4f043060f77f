use std::collections::BTreeSet;

use super::{CHANGED_MEANWHILE, ResultSet, Survey, read_accepted};
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

#[derive(Debug)]
struct Difference {
    clause: Clause,
    expected: String,
    actual: String,
    exchanges: Vec<Exchange>,
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
        let actual = found.ids();
        if *expected != actual {
            let missing: Vec<_> = expected.difference(&actual).collect();
            let added: Vec<_> = actual.difference(expected).collect();
            let actual = format!(
                "{}; missing {}, too many {}",
                quantity(actual.len(), "instance"),
                few(&missing),
                few(&added)
            );
            self.differ(
                clause,
                format!("{what} finds {}", quantity(expected.len(), "instance")),
                actual,
                found,
            );
        } else if found.order.len() != actual.len() {
            let actual =
                format!("{} for {}", quantity(found.order.len(), "item"), quantity(actual.len(), "instance"));
            self.differ(clause, format!("{what} finds each instance once"), actual, found);
        }
    }

    /// Every page must have this `total`.
    pub(crate) fn total(&mut self, clause: Clause, what: &str, expected: usize, found: &ResultSet) {
        let expected = u64::try_from(expected).unwrap_or(u64::MAX);
        if found.totals.iter().any(|total| *total != expected) {
            let actual = format!("{:?} on its pages", found.totals);
            self.differ(clause, format!("total {expected}: {what}"), actual, found);
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

    fn differ(&mut self, clause: Clause, expected: String, actual: String, found: &ResultSet) {
        self.differs(clause, expected, actual, &found.evidence());
    }
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

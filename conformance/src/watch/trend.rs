use super::{Rate, RunRecord};
use crate::contract::Clause;

/// How a clause stands over the runs of a history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClauseTrend<'a> {
    /// The clause.
    pub clause: Clause,
    /// In how many of the runs that judged it it was broken.
    pub broken: Rate,
    /// Whether it was broken in the latest run that judged it.
    pub is_broken_now: bool,
    /// The last day on which that is accepted, if it is.
    pub accepted_until: Option<&'a str>,
}

/// What differs between two runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// The verdict, by its names.
    Verdict {
        /// Of the earlier run.
        from: String,
        /// Of the later run.
        to: String,
    },
    /// A clause is broken that was not.
    Broken(Clause),
    /// A clause is kept that was broken.
    Fixed(Clause),
    /// The suite or the document is another one, so that runs before and after may differ for that reason.
    Suite {
        /// Name and version of the suite now.
        to: String,
    },
}

/// Every clause that some run has judged, sorted by id.
#[must_use]
pub fn trends(records: &[RunRecord]) -> Vec<ClauseTrend<'_>> {
    let trend = |clause: Clause| {
        let mut trend =
            ClauseTrend { clause, broken: Rate::default(), is_broken_now: false, accepted_until: None };
        for record in records {
            let Some(is_broken) = record.is_broken(clause) else { continue };
            trend.broken.runs += 1;
            trend.broken.seen += u64::from(is_broken);
            trend.is_broken_now = is_broken;
            trend.accepted_until = record.accepted.get(clause.id()).map(String::as_str);
        }
        trend
    };
    Clause::ALL.iter().copied().map(trend).filter(|trend| trend.broken.runs > 0).collect()
}

/// What differs between the latest run and those before it: the verdict against that of the run before, each clause against
/// the latest run that judged it.
#[must_use]
pub fn changes(before: &[RunRecord], now: &RunRecord) -> Vec<Change> {
    let mut changes = Vec::new();
    if let Some(last) = before.last() {
        if last.suite != now.suite || last.contract_sha256 != now.contract_sha256 {
            changes.push(Change::Suite { to: now.suite.clone() });
        }
        if last.verdict != now.verdict {
            changes.push(Change::Verdict { from: last.verdict.clone(), to: now.verdict.clone() });
        }
    }
    for clause in Clause::ALL.iter().copied() {
        let Some(is_broken) = now.is_broken(clause) else { continue };
        let was_broken = before.iter().rev().find_map(|record| record.is_broken(clause));
        match (was_broken, is_broken) {
            (Some(false) | None, true) => changes.push(Change::Broken(clause)),
            (Some(true), false) => changes.push(Change::Fixed(clause)),
            (Some(true), true) | (Some(false) | None, false) => {}
        }
    }
    changes
}

#[cfg(test)]
pub(super) mod tests {
    use std::collections::BTreeMap;

    use super::*;

    /// A run in which these clauses were judged, and these of them were broken.
    pub(in crate::watch) fn run(verdict: &str, judged: &[Clause], broken: &[Clause]) -> RunRecord {
        RunRecord {
            begun: jiff::Timestamp::UNIX_EPOCH,
            elapsed_ms: 1,
            target: "https://a.invalid/".to_owned(),
            suite: "suite 1".to_owned(),
            contract_sha256: "0".to_owned(),
            verdict: verdict.to_owned(),
            conclusion: None,
            stopped: None,
            requests: 1,
            gateways: 0,
            judged: judged.iter().map(|clause| clause.id().to_owned()).collect(),
            broken: broken.iter().map(|clause| (clause.id().to_owned(), 1)).collect(),
            accepted: BTreeMap::new(),
            report: None,
        }
    }

    #[test]
    fn rates_count_the_runs_that_judged_the_clause() {
        let (order, total) = (Clause::GroupsOrder, Clause::SearchTotal);
        let runs = [
            run("conforms", &[order, total], &[]),
            run("findings", &[order, total], &[order]),
            run("conforms", &[total], &[]),
        ];
        let trend = |clause, seen, runs, is_broken_now| {
            let broken = Rate { seen, runs };
            ClauseTrend { clause, broken, is_broken_now, accepted_until: None }
        };
        let before = [trend(order, 1, 2, true), trend(total, 0, 3, false)];
        assert_eq!(trends(&runs), before);
        // An accepted violation is still one.
        let accepted = [("search.total".to_owned(), "2030-01-31".to_owned())].into();
        let [one, two, three] = runs;
        let runs = [one, two, three, RunRecord { accepted, ..run("accepted", &[total], &[]) }];
        let total = ClauseTrend { accepted_until: Some("2030-01-31"), ..trend(total, 1, 4, true) };
        assert_eq!(trends(&runs), [before[0], total]);
        assert!(trends(&[]).is_empty());
    }

    #[test]
    fn a_clause_is_compared_with_the_latest_run_that_judged_it() {
        let order = Clause::GroupsOrder;
        let first = run("findings", &[order], &[order]);
        let without = run("conforms", &[], &[]);
        let verdict = |from: &str, to: &str| Change::Verdict { from: from.to_owned(), to: to.to_owned() };
        assert_eq!(changes(&[], &first), [Change::Broken(order)]);
        assert_eq!(changes(std::slice::from_ref(&first), &without), [verdict("findings", "conforms")]);
        let mended = run("conforms", &[order], &[]);
        assert_eq!(changes(&[first, without], &mended), [Change::Fixed(order)]);
        let newer = RunRecord { suite: "suite 2".to_owned(), ..mended.clone() };
        assert_eq!(changes(&[mended], &newer), [Change::Suite { to: "suite 2".to_owned() }]);
    }
}

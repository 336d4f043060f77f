use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::{Check, Form, Judgement, Run, Severity};
use crate::contract::{Clause, Contract, OperationId};
use crate::target::Canaries;
use crate::wire::{Answer, Exchange, Recorded, Redactor, Request};

/// One answer that any check received, for a watching check to look at.
#[derive(Debug)]
pub struct Sighting<'a> {
    /// The contract.
    pub contract: &'a Contract,
    /// The texts that must never appear in an answer.
    pub canaries: &'a Canaries,
    /// The operation that was called.
    pub operation: OperationId,
    /// The form that was asked for.
    pub form: Form,
    /// What the answer means.
    pub judgement: &'a Judgement,
    /// What was sent.
    pub request: &'a Request,
    /// The answer.
    pub answer: &'a Answer,
}

/// What a watching check has to say of an answer. Complaints of one clause and key are reported once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Complaint {
    /// The clause.
    pub clause: Clause,
    /// What makes two complaints the same.
    pub key: String,
    /// Whether it fails the check.
    pub severity: Severity,
    /// What a conforming service would have done.
    pub expected: String,
    /// What this one did.
    pub actual: String,
}

/// Shows every exchange of a run to its watching checks, and keeps what they say.
#[derive(Debug)]
pub(crate) struct Watchtower {
    watchers: Vec<Mutex<Watcher>>,
}

/// A watching check and what it has seen.
#[derive(Debug)]
pub(crate) struct Watcher {
    pub(crate) check: &'static Check,
    pub(crate) seen: u64,
    pub(crate) complaints: BTreeMap<ComplaintKey, Noted>,
}

/// Clause and key of a complaint.
pub(crate) type ComplaintKey = (Clause, String);

/// A complaint, with the first exchange that gave rise to it.
#[derive(Debug)]
pub(crate) struct Noted {
    pub(crate) complaint: Complaint,
    pub(crate) times: u64,
    pub(crate) exchange: Recorded,
    /// What was sent.
    request: Request,
    /// It did not come again when the request was sent again.
    pub(crate) doubtful: bool,
}

impl Watchtower {
    /// A tower for those of the checks that watch.
    pub(crate) fn new(checks: &[&'static Check]) -> Self {
        let watching = checks.iter().filter(|check| matches!(check.run, Run::Watch(_)));
        let watcher = |check: &&'static Check| Watcher { check, seen: 0, complaints: BTreeMap::new() };
        Self { watchers: watching.map(watcher).map(Mutex::new).collect() }
    }

    /// Shows one exchange. What is kept of it goes through the redactor.
    pub(crate) fn show(&self, sighting: &Sighting<'_>, exchange: &Exchange, redactor: &Redactor) {
        for watcher in &self.watchers {
            let mut watcher = lock(watcher);
            let concerns = watcher.check.operation.is_none_or(|operation| operation == sighting.operation);
            let Run::Watch(look) = watcher.check.run else { continue };
            let Some(complaints) = concerns.then(|| look(sighting)).flatten() else { continue };
            watcher.seen += 1;
            for complaint in complaints {
                let key = (complaint.clause, complaint.key.clone());
                let noted = watcher.complaints.entry(key).or_insert_with(|| Noted {
                    complaint: complaint.redacted(redactor),
                    times: 0,
                    exchange: Recorded::new(exchange, redactor),
                    request: sighting.request.clone(),
                    doubtful: false,
                });
                noted.times += 1;
            }
        }
    }

    /// The failures that came once, each with its check and its request.
    pub(crate) fn seen_once(&self) -> Vec<(&'static Check, ComplaintKey, Request)> {
        let of_watcher = |watcher: &Mutex<Watcher>| {
            let watcher = lock(watcher);
            let once = watcher.complaints.iter().filter(|(_, noted)| noted.came_once());
            once.map(|(key, noted)| (watcher.check, key.clone(), noted.request.clone())).collect::<Vec<_>>()
        };
        self.watchers.iter().flat_map(of_watcher).collect()
    }

    /// How many answers a watching check has looked at, and whether a failure of it still came once only.
    pub(crate) fn standing(&self, check: &Check, key: &ComplaintKey) -> Option<(u64, bool)> {
        let watcher = self.watchers.iter().map(lock).find(|watcher| watcher.check.id == check.id)?;
        Some((watcher.seen, watcher.complaints.get(key).is_some_and(Noted::came_once)))
    }

    /// Marks a failure that did not come again.
    pub(crate) fn doubt(&self, check: &Check, key: &ComplaintKey) {
        for mut watcher in self.watchers.iter().map(lock).filter(|watcher| watcher.check.id == check.id) {
            if let Some(noted) = watcher.complaints.get_mut(key) {
                noted.doubtful = true;
            }
        }
    }

    /// What each watching check has seen.
    pub(crate) fn into_watchers(self) -> impl Iterator<Item = Watcher> {
        self.watchers.into_iter().map(|watcher| watcher.into_inner().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Noted {
    fn came_once(&self) -> bool {
        self.times == 1 && self.complaint.severity == Severity::Fail
    }
}

impl Complaint {
    fn redacted(self, redactor: &Redactor) -> Self {
        const LONGEST: usize = 1_000;
        let shown = |text: &str| redactor.excerpt(text, LONGEST);
        Self { expected: shown(&self.expected), actual: shown(&self.actual), ..self }
    }
}

/// A watcher that panicked leaves counters and complaints as they were, so the lock's poison says nothing.
fn lock(watcher: &Mutex<Watcher>) -> MutexGuard<'_, Watcher> {
    watcher.lock().unwrap_or_else(PoisonError::into_inner)
}

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::judgement::excerpt;
use super::{Check, Form, Judgement, Run, Severity};
use crate::contract::{Contract, OperationId};
use crate::target::Facts;
use crate::wire::{Answer, Exchange, Recorded, Redactor, Request};

/// One answer that any check received, for a watching check to look at.
#[derive(Debug)]
pub struct Sighting<'a> {
    /// The contract.
    pub contract: &'a Contract,
    /// What the tester knows.
    pub facts: &'a Facts,
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
    pub clause: String,
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
    pub(crate) complaints: BTreeMap<(String, String), Noted>,
}

/// A complaint, with the first exchange that gave rise to it.
#[derive(Debug)]
pub(crate) struct Noted {
    pub(crate) complaint: Complaint,
    pub(crate) times: u64,
    pub(crate) exchange: Recorded,
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
                let key = (complaint.clause.clone(), complaint.key.clone());
                let noted = watcher.complaints.entry(key).or_insert_with(|| Noted {
                    complaint: complaint.redacted(redactor),
                    times: 0,
                    exchange: Recorded::new(exchange, redactor),
                });
                noted.times += 1;
            }
        }
    }

    /// What each watching check has seen.
    pub(crate) fn into_watchers(self) -> impl Iterator<Item = Watcher> {
        self.watchers.into_iter().map(|watcher| watcher.into_inner().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Complaint {
    fn redacted(self, redactor: &Redactor) -> Self {
        const LONGEST: usize = 1_000;
        let shown = |text: &str| excerpt(&redactor.redact(text), LONGEST);
        Self { expected: shown(&self.expected), actual: shown(&self.actual), ..self }
    }
}

/// A watcher that panicked leaves counters and complaints as they were, so the lock's poison says nothing.
fn lock(watcher: &Mutex<Watcher>) -> MutexGuard<'_, Watcher> {
    watcher.lock().unwrap_or_else(PoisonError::into_inner)
}

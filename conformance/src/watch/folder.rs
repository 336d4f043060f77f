use std::collections::BTreeMap;
use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use jiff::fmt::strtime;
use serde::{Deserialize, Serialize};

use super::Extraction;
use super::allowance::DAY;
use crate::contract::Clause;
use crate::files::{self, named};
use crate::run::Report;

const STATE: &str = "state.json";
/// The name of a report, which sorts as the times of the runs do.
const REPORT: &str = "report-%Y-%m-%dT%H-%M-%SZ.json";

/// The folder of a watch: the state that the next run is compared with, and reports of runs that did not pass, without secrets.
#[derive(Debug)]
pub struct WatchFolder {
    path: PathBuf,
    state: State,
    /// Held as long as the folder is in use, so that two programs do not write it.
    _lock: File,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct State {
    target: String,
    verdict: String,
    /// By the id of a clause, whether the latest run that judged it found a violation, even an accepted one.
    clauses: BTreeMap<String, bool>,
    /// Runs of the last 24 hours that were given gateways.
    extractions: Vec<Extraction>,
}

/// What changed with a run. Each clause is compared with the latest run that judged it.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// The verdict before, if it was another one.
    pub verdict_before: Option<String>,
    /// Clauses that are violated, and were not before.
    pub new: Vec<Clause>,
    /// Clauses that are no longer violated.
    pub fixed: Vec<Clause>,
    /// Clauses that are violated as before. They are no change.
    pub unchanged: Vec<Clause>,
}

impl Changes {
    /// Whether nothing changed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.verdict_before.is_none() && self.new.is_empty() && self.fixed.is_empty()
    }
}

impl WatchFolder {
    /// Opens a folder for the runs of a target. It is made if it is missing.
    ///
    /// # Errors
    /// When it can't be read or written, another program has it open, or the runs before are of another target.
    pub fn open(path: &Path, target: &str) -> io::Result<Self> {
        std::fs::create_dir_all(path).map_err(named(path))?;
        let lock_path = path.join("lock");
        let lock =
            OpenOptions::new().create(true).append(true).open(&lock_path).map_err(named(&lock_path))?;
        lock.try_lock().map_err(|error| match error {
            TryLockError::WouldBlock => named(path)(io::Error::other(
                "another program writes this folder; choose another one, or end that program",
            )),
            TryLockError::Error(error) => named(&lock_path)(error),
        })?;
        let state_path = path.join(STATE);
        let state: State = if state_path.exists() {
            let text = files::read_text(&state_path, files::MAX_BYTES).map_err(io::Error::other);
            let state = text.and_then(|text| Ok(serde_json::from_str(&text)?));
            state.map_err(named(&state_path))?
        } else {
            State::default()
        };
        let found = &state.target;
        if !found.is_empty() && found != target {
            let message =
                format!("expected the runs of {target}, found those of {found}; choose another folder");
            return Err(named(path)(io::Error::other(message)));
        }
        Ok(Self { path: path.to_owned(), state, _lock: lock })
    }

    /// Runs of the last 24 hours that were given gateways.
    #[must_use]
    pub fn extractions(&self) -> &[Extraction] {
        &self.state.extractions
    }

    /// Takes in a run, and says what changed with it.
    pub fn add(&mut self, report: &Report, target: &str, begun: Timestamp) -> Changes {
        let State { target: of_state, verdict, clauses, .. } = &mut self.state;
        target.clone_into(of_state);
        let mut changes = Changes::default();
        let now = report.verdict.name();
        if !verdict.is_empty() && verdict != now {
            changes.verdict_before = Some(verdict.clone());
        }
        now.clone_into(verdict);
        for clause in &report.clauses {
            let is_accepted = || report.accepted().any(|entry| entry.expected.clause == clause.id);
            let is_violated = clause.failures > 0 || is_accepted();
            if !is_violated && clause.checked == 0 {
                continue;
            }
            let was_violated = clauses.insert(clause.id.id().to_owned(), is_violated).unwrap_or(false);
            match (was_violated, is_violated) {
                (false, true) => changes.new.push(clause.id),
                (true, false) => changes.fixed.push(clause.id),
                (true, true) => changes.unchanged.push(clause.id),
                (false, false) => {}
            }
        }
        self.note_extraction(begun, report.usage.gateways);
        changes
    }

    /// Takes in what the run that began then took, or may take, in place of what was noted of it before.
    pub fn note_extraction(&mut self, begun: Timestamp, gateways: u64) {
        let extractions = &mut self.state.extractions;
        extractions.retain(|run| run.begun != begun && begun.duration_since(run.begun) < DAY);
        if gateways > 0 {
            extractions.push(Extraction { begun, gateways });
        }
    }

    /// Writes the state.
    ///
    /// # Errors
    /// When it can't be written; what was written before stays.
    pub fn save(&self) -> io::Result<()> {
        let path = self.path.join(STATE);
        let text = serde_json::to_vec(&self.state).map_err(io::Error::from).map_err(named(&path))?;
        files::replace(&path, |file| file.write_all(&text)).map_err(named(&path))
    }

    /// Keeps the report of a run, in JSON. Returns its path.
    ///
    /// # Errors
    /// When it can't be written.
    pub fn keep_report(&self, begun: Timestamp, json: &str) -> io::Result<PathBuf> {
        let path = self.path.join(begun.strftime(REPORT).to_string());
        files::replace(&path, |file| file.write_all(json.as_bytes())).map_err(named(&path))?;
        Ok(path)
    }

    /// Removes the oldest reports beyond the latest `most`.
    ///
    /// # Errors
    /// When the folder can't be read, or a report can't be removed.
    pub fn prune_reports(&self, most: usize) -> io::Result<()> {
        let mut names = Vec::new();
        for entry in std::fs::read_dir(&self.path).map_err(named(&self.path))? {
            let name = entry.map_err(named(&self.path))?.file_name();
            names.extend(name.into_string().ok().filter(|name| strtime::parse(REPORT, name).is_ok()));
        }
        names.sort();
        for name in &names[..names.len().saturating_sub(most)] {
            let old = self.path.join(name);
            std::fs::remove_file(&old).map_err(named(&old))?;
        }
        Ok(())
    }
}

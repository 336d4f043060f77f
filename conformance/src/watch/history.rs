use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

use super::{RunRecord, reports};
use crate::files;
use crate::run::Verdict;

/// The runs of a folder, one file for each day (`2026-01-31.jsonl`) with a line for each run. Lines are only added. One that was
/// not written to its end, since the process was killed, is removed before the next one.
#[derive(Debug)]
pub struct History {
    folder: PathBuf,
    keep: SignedDuration,
    records: Vec<RunRecord>,
    skipped: usize,
    /// Maximum number of reports that are kept.
    reports: usize,
    /// Held as long as the history is open, so that two programs do not write it.
    _lock: File,
}

/// Why a history can't be used.
#[derive(Debug, thiserror::Error)]
pub enum HistoryError {
    /// A file or the folder.
    #[error("{path}: {error}")]
    File {
        /// Which one.
        path: String,
        /// What went wrong.
        error: io::Error,
    },
    /// Another program has it open.
    #[error("{0}: another program writes this history; choose another folder, or end that program")]
    Locked(String),
    /// It is of another target.
    #[error("{folder}: expected the history of {expected}, found that of {found}; choose another folder")]
    OtherTarget {
        /// The folder.
        folder: String,
        /// The target of this run.
        expected: String,
        /// The target of the history.
        found: String,
    },
}

impl History {
    /// Maximum number of bytes that are read of the file of a day. A run every second would write less.
    const MAX_DAY_BYTES: u64 = 256 << 20;
    const ENDING: &'static str = ".jsonl";

    /// Opens the history of a folder, which is made if it is missing. Runs of more than `keep` days ago are removed, and reports
    /// beyond the latest `reports`.
    ///
    /// # Errors
    /// When the folder can't be read or written, or another program has it open.
    pub fn open(folder: &Path, keep: u16, reports: u16, now: Timestamp) -> Result<Self, HistoryError> {
        std::fs::create_dir_all(folder).map_err(wrong(folder))?;
        let path = folder.join("lock");
        let lock = OpenOptions::new().create(true).append(true).open(&path).map_err(wrong(&path))?;
        lock.try_lock().map_err(|error| match error {
            TryLockError::WouldBlock => HistoryError::Locked(folder.display().to_string()),
            TryLockError::Error(error) => wrong(&path)(error),
        })?;
        let keep = SignedDuration::from_hours(24 * i64::from(keep.max(1)));
        let mut history = Self {
            folder: folder.to_owned(),
            keep,
            records: Vec::new(),
            skipped: 0,
            reports: reports.into(),
            _lock: lock,
        };
        history.remove_old(now)?;
        for (_, path) in history.days()? {
            history.read(&path).map_err(wrong(&path))?;
        }
        history.records.sort_by_key(|record| record.begun);
        history.remove_reports(now)?;
        Ok(history)
    }

    /// Keeps the report of a run, in JSON, under a name that the record takes. When there are too many, those go first that show
    /// no violation, and of these the oldest.
    ///
    /// # Errors
    /// When it can't be written, or an old one can't be removed.
    pub fn keep_report(&mut self, record: &mut RunRecord, json: &str) -> Result<(), HistoryError> {
        if self.reports == 0 {
            return Ok(());
        }
        let name = reports::name(record.begun);
        let path = self.folder.join(&name);
        files::replace(&path, |file| file.write_all(json.as_bytes())).map_err(wrong(&path))?;
        record.report = Some(name.clone());
        self.records.push(record.clone());
        let removed = self.remove_reports(record.begun);
        // `add` takes it in when it is written.
        if let Some(own) = self.records.pop() {
            record.report = own.report;
        }
        removed
    }

    /// Removes reports of runs that are too old, and those beyond the number that is kept, and their names from the records.
    fn remove_reports(&mut self, now: Timestamp) -> Result<(), HistoryError> {
        let oldest = now.checked_sub(self.keep).unwrap_or(Timestamp::MIN);
        let shows_violation = |name: &str| {
            let record = self.records.iter().find(|record| record.report.as_deref() == Some(name));
            record.is_some_and(|record| record.verdict() == Some(Verdict::Findings))
        };
        let kept = reports::remove_old(&self.folder, self.reports, oldest, shows_violation);
        let kept = kept.map_err(wrong(&self.folder.join("")))?;
        for record in &mut self.records {
            record.report = record.report.take().filter(|name| kept.contains(name));
        }
        Ok(())
    }

    /// The runs, the oldest first.
    #[must_use]
    pub fn records(&self) -> &[RunRecord] {
        &self.records
    }

    /// Lines that could not be read. They are left where they are.
    #[must_use]
    pub fn skipped(&self) -> usize {
        self.skipped
    }

    /// The folder.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Ensures that the runs are of one target, because rates over two services are meaningless.
    ///
    /// # Errors
    /// When the latest run is of another target.
    pub fn expect_target(&self, target: &str) -> Result<(), HistoryError> {
        match self.records.last().filter(|record| record.target != target) {
            None => Ok(()),
            Some(record) => Err(HistoryError::OtherTarget {
                folder: self.folder.display().to_string(),
                expected: target.to_owned(),
                found: record.target.clone(),
            }),
        }
    }

    /// Adds a run, and removes those that are too old. It is on the disk when this returns.
    ///
    /// # Errors
    /// When it can't be written; the runs before it stay as they are.
    pub fn add(&mut self, record: RunRecord) -> Result<(), HistoryError> {
        let path = self.folder.join(format!("{}{}", day(record.begun), Self::ENDING));
        append(&path, &record).map_err(wrong(&path))?;
        let now = record.begun;
        self.records.push(record);
        let oldest = now.checked_sub(self.keep).unwrap_or(Timestamp::MIN);
        self.records.retain(|record| record.begun >= oldest);
        self.remove_old(now)
    }

    fn read(&mut self, path: &Path) -> io::Result<()> {
        let mut text = Vec::new();
        File::open(path)?.take(Self::MAX_DAY_BYTES).read_to_end(&mut text)?;
        for line in text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            match serde_json::from_slice(line) {
                Ok(record) => self.records.push(record),
                Err(_) => self.skipped += 1,
            }
        }
        Ok(())
    }

    /// The files of days, the earliest first. Other files are ignored.
    fn days(&self) -> Result<Vec<(Date, PathBuf)>, HistoryError> {
        let mut days = Vec::new();
        for entry in std::fs::read_dir(&self.folder).map_err(wrong(&self.folder))? {
            let path = entry.map_err(wrong(&self.folder))?.path();
            let name = path
                .file_name()
                .and_then(|name| name.to_str())
                .and_then(|name| name.strip_suffix(Self::ENDING));
            if let Some(date) = name.and_then(|name| name.parse().ok()) {
                days.push((date, path));
            }
        }
        days.sort();
        Ok(days)
    }

    fn remove_old(&self, now: Timestamp) -> Result<(), HistoryError> {
        let oldest = day(now.checked_sub(self.keep).unwrap_or(Timestamp::MIN));
        for (_, path) in self.days()?.into_iter().filter(|(date, _)| *date < oldest) {
            std::fs::remove_file(&path).map_err(wrong(&path))?;
        }
        Ok(())
    }
}

/// The error of a file or folder.
fn wrong(path: &Path) -> impl FnOnce(io::Error) -> HistoryError + use<> {
    let path = path.display().to_string();
    move |error| HistoryError::File { path, error }
}

fn day(at: Timestamp) -> Date {
    at.to_zoned_datetime(TimeZone::UTC).date()
}

/// Adds a line, in place of an incomplete one that a killed process may have left at the end.
fn append(path: &Path, record: &RunRecord) -> io::Result<()> {
    let mut line = serde_json::to_vec(record)?;
    line.push(b'\n');
    let mut file = OpenOptions::new().create(true).read(true).write(true).truncate(false).open(path)?;
    let end = end_of_lines(&mut file)?;
    file.set_len(end)?;
    file.seek(SeekFrom::Start(end))?;
    file.write_all(&line)?;
    file.sync_data()
}

/// The offset behind the last line feed, searched from the end.
fn end_of_lines(file: &mut File) -> io::Result<u64> {
    const BLOCK: u64 = 4096;
    let mut end = file.seek(SeekFrom::End(0))?;
    while end > 0 {
        let begin = end.saturating_sub(BLOCK);
        file.seek(SeekFrom::Start(begin))?;
        let mut block = vec![0; usize::try_from(end - begin).unwrap_or_default()];
        file.read_exact(&mut block)?;
        if let Some(at) = block.iter().rposition(|byte| *byte == b'\n') {
            return Ok(begin + at as u64 + 1);
        }
        end = begin;
    }
    Ok(0)
}

#[cfg(test)]
mod tests {
    use super::super::trend::tests::run;
    use super::*;

    fn at(text: &str) -> Timestamp {
        text.parse().expect("a time")
    }

    fn record(begun: &str) -> RunRecord {
        RunRecord { begun: at(begun), ..run("conforms", &[], &[]) }
    }

    #[test]
    fn runs_come_back_after_a_restart_and_old_ones_go() {
        let folder = tempfile::tempdir().expect("a folder");
        let place = folder.path().join("a/b");
        let now = at("2026-03-10T12:00:00Z");
        let mut history = History::open(&place, 2, 9, now).expect("a history");
        for begun in ["2026-03-08T11:00:00Z", "2026-03-08T13:00:00Z", "2026-03-10T12:00:00Z"] {
            history.add(record(begun)).expect("written");
        }
        let begun = |history: &History| -> Vec<String> {
            history.records().iter().map(|record| record.begun.to_string()).collect()
        };
        assert_eq!(begun(&history), ["2026-03-08T13:00:00Z", "2026-03-10T12:00:00Z"]);
        assert!(matches!(History::open(&place, 2, 9, now), Err(HistoryError::Locked(_))));
        drop(history);
        std::fs::write(place.join("notes.jsonl"), "not ours").expect("written");
        let history = History::open(&place, 1, 9, at("2026-03-11T12:00:00Z")).expect("a history");
        assert_eq!(begun(&history), ["2026-03-10T12:00:00Z"]);
        assert!(!place.join("2026-03-08.jsonl").exists() && place.join("notes.jsonl").exists());
        assert!(history.expect_target("https://a.invalid/").is_ok());
        let other = history.expect_target("https://b.invalid/").expect_err("another target").to_string();
        assert!(
            other.contains("expected the history of https://b.invalid/, found that of https://a.invalid/"),
            "{other}"
        );
    }

    #[test]
    fn a_line_that_was_cut_off_is_lost_alone() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("2026-03-10.jsonl");
        let now = at("2026-03-10T12:00:00Z");
        let line = serde_json::to_string(&record("2026-03-10T10:00:00Z")).expect("JSON");
        // Killed after any byte of the second line.
        for cut in (0..line.len()).step_by(7) {
            std::fs::write(&file, format!("{line}\n{}", &line[..cut])).expect("written");
            let mut history = History::open(folder.path(), 9, 9, now).expect("a history");
            assert_eq!((history.records().len(), history.skipped()), (1, usize::from(cut > 0)));
            history.add(record("2026-03-10T11:00:00Z")).expect("written");
            drop(history);
            let history = History::open(folder.path(), 9, 9, now).expect("a history");
            assert_eq!((history.records().len(), history.skipped()), (2, 0), "cut after {cut}");
        }
        std::fs::write(&file, "x".repeat(10_000)).expect("written");
        let mut history = History::open(folder.path(), 9, 9, now).expect("a history");
        history.add(record("2026-03-10T11:00:00Z")).expect("written");
        assert_eq!(std::fs::read_to_string(&file).expect("a file").lines().count(), 1);
    }

    #[test]
    fn the_latest_reports_are_kept_and_the_records_name_no_others() {
        let folder = tempfile::tempdir().expect("a folder");
        let now = at("2026-03-10T12:00:00Z");
        let mut history = History::open(folder.path(), 9, 2, now).expect("a history");
        for hour in 10..14 {
            let mut record = record(&format!("2026-03-10T{hour}:00:00Z"));
            history.keep_report(&mut record, &format!("{{\"hour\": {hour}}}")).expect("kept");
            history.add(record).expect("written");
        }
        let named = |history: &History| -> Vec<Option<String>> {
            history.records().iter().map(|record| record.report.clone()).collect()
        };
        let name = |hour: u8| Some(format!("report-2026-03-10T{hour}-00-00Z.json"));
        assert_eq!(named(&history), [None, None, name(12), name(13)]);
        let text = std::fs::read_to_string(folder.path().join(name(13).expect("a name")));
        assert_eq!(text.expect("a report"), "{\"hour\": 13}");
        std::fs::write(folder.path().join("report-of-mine.json"), "{}").expect("written");
        drop(history);
        let history = History::open(folder.path(), 9, 1, now).expect("a history");
        assert_eq!(named(&history), [None, None, None, name(13)]);
        assert!(folder.path().join("report-of-mine.json").exists());
        drop(history);
        let mut history = History::open(folder.path(), 9, 0, now).expect("a history");
        let mut record = record("2026-03-10T14:00:00Z");
        history.keep_report(&mut record, "{}").expect("nothing to keep");
        assert_eq!((record.report, named(&history)), (None, vec![None; 4]));
    }

    #[test]
    fn reports_of_violations_are_kept_longest_and_none_that_is_too_old() {
        let folder = tempfile::tempdir().expect("a folder");
        let old = "report-2026-02-01T10-00-00Z.json";
        std::fs::write(folder.path().join(old), "{}").expect("written");
        let now = at("2026-03-10T12:00:00Z");
        let mut history = History::open(folder.path(), 9, 2, now).expect("a history");
        assert!(!folder.path().join(old).exists());
        for (hour, verdict) in [(10, Verdict::Findings), (11, Verdict::Incomplete), (12, Verdict::Incomplete)]
        {
            let mut record = record(&format!("2026-03-10T{hour}:00:00Z"));
            verdict.name().clone_into(&mut record.verdict);
            history.keep_report(&mut record, "{}").expect("kept");
            history.add(record).expect("written");
        }
        let kept: Vec<_> = history.records().iter().map(|record| record.report.is_some()).collect();
        assert_eq!(kept, [true, false, true]);
    }
}

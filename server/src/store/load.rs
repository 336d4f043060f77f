//! Loading records, all or none, and exporting them. Lines are read in the background while earlier ones are stored, and records of one kind that follow
//! each other are stored together.

use std::{
    collections::HashMap,
    io, iter,
    ops::ControlFlow,
    slice,
    sync::mpsc::{self, Receiver},
    thread,
};

use super::{
    BadLines, Conflict, ExportError, LoadError, Store, StoreError,
    record::{Line, Record, RecordCounts, shown_name},
    record_kind::RecordKind,
    session::{Access, Session},
    value::Value,
};
use crate::printable::write_json;

/// Maximum number of lines in a batch.
const BATCH: usize = 4096;

/// Number of bytes at which a batch ends, because a line may be long and its record takes several times its length in memory.
const BATCH_BYTES: usize = 2 << 20;

impl Store {
    /// Adds the records of these lines, all or none.
    pub async fn load(&self, lines: impl Lines) -> Result<RecordCounts, LoadError> {
        let loaded = self.run(Access::Change, |session| load(session, lines)).await?;
        self.wait_until_in_force().await;
        Ok(loaded)
    }

    /// Writes every record as a line of JSON, in the format that imports read: from one snapshot, in an order in which they can be
    /// loaded, and on a thread that may block. Tokens are written as hashes, proxy passwords in clear text. Extractions that are stored
    /// under a request id are not included.
    ///
    /// # Errors
    /// The store cannot be read, or the output cannot be written; what has been written by then is incomplete.
    pub async fn export(&self, output: impl io::Write + Send + 'static) -> Result<RecordCounts, ExportError> {
        let mut output = io::BufWriter::new(output);
        let export = move |session: &mut dyn Session| {
            let mut exported = RecordCounts::default();
            for kind in RecordKind::ALL {
                session.each::<ExportError>(&kind.select_all(), &[], &mut |row| {
                    write_json(&mut output, &Record::from_row(kind, row)?).map_err(|error| {
                        match error.kind() {
                            // JSON shows what is no value of its field.
                            io::ErrorKind::InvalidData => StoreError::Corrupt(error.to_string()).into(),
                            _ => ExportError::Output(error),
                        }
                    })?;
                    exported[kind as usize] += 1;
                    Ok(ControlFlow::Continue(()))
                })?;
            }
            io::Write::flush(&mut output)?;
            Ok(exported)
        };
        self.run(Access::Snapshot, export).await
    }
}

/// The lines to load, in order.
pub trait Lines: Iterator<Item = io::Result<Line>> + Send + 'static {}

impl<I: Iterator<Item = io::Result<Line>> + Send + 'static> Lines for I {}

/// Adds every record, or collects the invalid lines; the caller undoes the changes if this fails.
fn load(session: &mut dyn Session, lines: impl Lines) -> Result<RecordCounts, LoadError> {
    let dialect = session.dialect();
    session.batch(dialect.lock_numbers)?;
    let [begin, end] = dialect.import;
    session.batch(begin)?;
    let loaded = load_unindexed(session, lines);
    let ended = session.batch(end);
    loaded.and_then(|loaded| Ok(ended.map(|()| loaded)?))
}

/// Loads the first instances of a database without their index, because adding addresses to it in random order would take most of the
/// time.
fn load_unindexed(session: &mut dyn Session, lines: impl Lines) -> Result<RecordCounts, LoadError> {
    let postponed: Option<String> = session.first(session.dialect().postponed_index, &[])?;
    if postponed.is_some() {
        session.batch("DROP INDEX instances_by_address")?;
    }
    let loaded = load_lines(session, lines)?;
    postponed.map_or(Ok(()), |index| session.batch(&index))?;
    Ok(loaded)
}

fn load_lines(session: &mut dyn Session, lines: impl Lines) -> Result<RecordCounts, LoadError> {
    let gateways = session.number("SELECT coalesce(max(id), 0) FROM gateways", &[])?;
    let mut loader = Loader { session, accounts: HashMap::new(), gateways, loaded: RecordCounts::default() };
    let mut bad = BadLines::default();
    let batches = read_ahead(lines)?;
    let stopped = |_| io::Error::other("the reader stopped before the end; this is a bug, please report it");
    'reading: while let Some(batch) = batches.recv().map_err(stopped)? {
        let mut rest = batch.into_iter().peekable();
        while let Some(line) = rest.next() {
            let Line { number, record, .. } = line?;
            match record {
                Err(reason) => bad.lines.push((number, reason)),
                Ok(record) => {
                    let kind = record.kind;
                    let is_same = |line: &io::Result<Line>| matches!(line, Ok(Line { record: Ok(record), .. }) if record.kind == kind);
                    let mut records = vec![(number, record)];
                    while let Some(Ok(Line { number, record: Ok(record), .. })) = rest.next_if(is_same) {
                        records.push((number, record));
                    }
                    loader.add(kind, &records, &mut bad)?;
                }
            }
            if bad.lines.len() >= BadLines::MAX {
                bad.lines.truncate(BadLines::MAX);
                bad.cut_short = true;
                break 'reading;
            }
        }
    }
    if bad.lines.is_empty() { Ok(loader.loaded) } else { Err(LoadError::Rejected(bad)) }
}

/// Reads batches of lines on a thread of its own, one batch ahead. The end is sent as `None`, because a reader that panics only closes
/// the channel, and half of an input must not pass for all of it.
fn read_ahead(mut lines: impl Lines) -> io::Result<Receiver<Option<Vec<io::Result<Line>>>>> {
    let (batches, receiver) = mpsc::sync_channel(1);
    let mut next_batch = move || {
        let mut bytes = 0;
        let batch: Vec<_> = iter::from_fn(|| {
            let line = if bytes < BATCH_BYTES { lines.next() } else { None };
            bytes += line.as_ref().map_or(0, |line| line.as_ref().map_or(0, |line| line.bytes));
            line
        })
        .take(BATCH)
        .collect();
        (!batch.is_empty()).then_some(batch)
    };
    thread::Builder::new().name("import-reader".to_owned()).spawn(move || {
        loop {
            let batch = next_batch();
            let is_end = batch.is_none();
            // The receiver is dropped when loading ends early.
            if batches.send(batch).is_err() || is_end {
                break;
            }
        }
    })?;
    Ok(receiver)
}

struct Loader<'a> {
    session: &'a mut dyn Session,
    /// Numbers of the accounts met so far, by name.
    accounts: HashMap<String, i64>,
    /// Number of the gateway that was added last.
    gateways: i64,
    loaded: RecordCounts,
}

impl Loader<'_> {
    /// Adds records of one kind, with their line numbers.
    fn add(
        &mut self,
        kind: RecordKind,
        records: &[(u64, Record)],
        bad: &mut BadLines,
    ) -> Result<(), StoreError> {
        let (mut rows, mut of_rows) = (Vec::with_capacity(records.len()), Vec::with_capacity(records.len()));
        let mut rejected = Vec::new();
        for (number, record) in records {
            match self.values(record)? {
                Ok(values) => {
                    rows.push(values);
                    of_rows.push((*number, record));
                }
                Err(reason) => rejected.push((*number, reason)),
            }
            // Counted even if it is rejected, because nothing is loaded then.
            self.loaded[kind as usize] += 1;
        }
        if self.attempt(kind, &rows)?.is_some() {
            // One by one, to find the bad ones.
            for (row, (number, record)) in iter::zip(&rows, of_rows) {
                let conflict = self.attempt(kind, slice::from_ref(row))?;
                rejected.extend(conflict.map(|conflict| (number, rejection(record, conflict))));
            }
        }
        rejected.sort();
        bad.lines.append(&mut rejected);
        Ok(())
    }

    /// Adds rows, or none of them. Returns what keeps one of them from being stored.
    fn attempt(&mut self, kind: RecordKind, rows: &[Vec<Value<'_>>]) -> Result<Option<Conflict>, StoreError> {
        self.session.batch("SAVEPOINT attempt")?;
        let conflict = match self.session.insert(kind, rows) {
            Ok(()) => None,
            Err(StoreError::Conflict(Some(conflict), _)) => Some(conflict),
            Err(error) => return Err(error),
        };
        let undo = if conflict.is_some() { "ROLLBACK TO attempt; " } else { "" };
        self.session.batch(&format!("{undo}RELEASE attempt"))?;
        Ok(conflict)
    }

    /// The values of the record's columns, or why it cannot be added.
    fn values<'a>(&mut self, record: &'a Record) -> Result<Result<Vec<Value<'a>>, String>, StoreError> {
        let owner = match record.owner() {
            None => 0,
            Some(name) => match self.account(name)? {
                Some(id) => id,
                None => {
                    return Ok(Err(format!(
                        "unknown account {}; its record must come first",
                        shown_name(name)
                    )));
                }
            },
        };
        self.gateways += i64::from(record.kind == RecordKind::Gateway);
        Ok(Ok(record.row(owner, self.gateways)))
    }

    fn account(&mut self, name: &str) -> Result<Option<i64>, StoreError> {
        if let Some(id) = self.accounts.get(name) {
            return Ok(Some(*id));
        }
        if !self.session.dialect().can_store(name) {
            return Ok(None);
        }
        let id = self.session.first("SELECT id FROM accounts WHERE name = $1", &[name.into()])?;
        if let Some(id) = id {
            self.accounts.insert(name.to_owned(), id);
        }
        Ok(id)
    }
}

/// Why the database did not accept a record.
fn rejection(record: &Record, conflict: Conflict) -> String {
    let what = record.shown();
    match conflict {
        Conflict::AlreadyExists => format!("{what} already exists"),
        // It is the group, because accounts are looked up before.
        Conflict::UnknownReference => {
            format!("the group of {what} is not a group of its account; its record must come first")
        }
        Conflict::NulCharacter => {
            format!("{what} has a text with a NUL character, which PostgreSQL cannot store")
        }
    }
}

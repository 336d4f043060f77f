use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use similar::{ChangeTag, TextDiff};

use crate::files::{self, named};

/// Cases with what was seen, one file each in the format of insta's snapshots.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Recording {
    /// By `operation.case`, which is also the name of the file.
    pub entries: BTreeMap<String, Entry>,
}

/// What was seen in one case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The clause or the unspecified behaviour that it shows.
    pub subject: String,
    /// What was seen; for a difference, the removed lines, with `-`, and the added lines, with `+`.
    pub text: String,
}

/// How the file of a case ends.
const ENDING: &str = "snap";

impl Recording {
    /// Writes one file a case. Files of cases that are no more are removed; others are left alone.
    ///
    /// # Errors
    /// When the folder or a file can't be written.
    pub fn write(&self, folder: &Path) -> io::Result<()> {
        std::fs::create_dir_all(folder).map_err(named(folder))?;
        for path in files(folder)? {
            let known = path.file_stem().and_then(|stem| stem.to_str());
            let stale = known.is_some_and(|case| !self.entries.contains_key(case));
            // Only what is a recording is removed.
            if stale && read(&path).is_ok() {
                std::fs::remove_file(&path).map_err(named(&path))?;
            }
        }
        for (case, Entry { subject, text }) in &self.entries {
            let path = folder.join(format!("{case}.{ENDING}"));
            let text = format!("---\nsource: conformance record\nexpression: {subject}\n---\n{text}");
            files::replace(&path, |file| file.write_all(text.as_bytes())).map_err(named(&path))?;
        }
        Ok(())
    }

    /// Reads a folder.
    ///
    /// # Errors
    /// When it can't be read, or holds no recording.
    pub fn read(folder: &Path) -> io::Result<Self> {
        let entries: BTreeMap<_, _> =
            files(folder)?.iter().map(|path| read(path)).collect::<io::Result<_>>()?;
        if entries.is_empty() {
            let message = "expected a folder with a recording, found none; `conformance record` creates one";
            return Err(named(folder)(io::Error::other(message)));
        }
        Ok(Self { entries })
    }

    /// Cases in which `after` differs, sorted by the clause or unspecified behaviour that they show.
    #[must_use]
    pub fn differences(&self, after: &Self) -> Vec<(String, Entry)> {
        let cases: BTreeSet<&String> = self.entries.keys().chain(after.entries.keys()).collect();
        let mut differences: Vec<(String, Entry)> = cases
            .into_iter()
            .filter_map(|case| {
                let (old, new) = (self.entries.get(case), after.entries.get(case));
                let subject = new.or(old)?.subject.clone();
                let [old, new] = [old, new].map(|entry| entry.map_or("", |entry| &entry.text));
                (old != new).then(|| (case.clone(), Entry { subject, text: diff(old, new) }))
            })
            .collect();
        differences.sort_by(|(_, one), (_, other)| one.subject.cmp(&other.subject));
        differences
    }
}

fn files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let paths = || std::fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>();
    let mut files = paths().map_err(named(folder))?;
    files.retain(|path| path.extension().is_some_and(|ending| ending == ENDING));
    files.sort();
    Ok(files)
}

fn read(path: &Path) -> io::Result<(String, Entry)> {
    let text = files::read_text(path, files::MAX_BYTES).map_err(named(path))?;
    let expected = "expected a snapshot with `source`, `expression` and a text between lines of ---";
    let wrong = || named(path)(io::Error::other(expected));
    let rest = text.strip_prefix("---\nsource: conformance record\nexpression: ").ok_or_else(wrong)?;
    let (subject, text) = rest.split_once("\n---\n").ok_or_else(wrong)?;
    let case = path.file_stem().and_then(|stem| stem.to_str()).ok_or_else(wrong)?;
    Ok((case.to_owned(), Entry { subject: subject.to_owned(), text: text.to_owned() }))
}

fn diff(old: &str, new: &str) -> String {
    // Files may hold anything, and a difference that is not the smallest one is one as well.
    let diff = TextDiff::configure().timeout(Duration::from_secs(1)).diff_lines(old, new);
    let changes = diff.iter_all_changes().filter(|change| change.tag() != ChangeTag::Equal);
    changes.map(|change| format!("{} {}\n", change.tag(), change.value().trim_end_matches('\n'))).collect()
}

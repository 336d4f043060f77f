use std::io;
use std::path::Path;

use jiff::Timestamp;
use jiff::fmt::strtime;

const BEGINNING: &str = "report-";
const ENDING: &str = ".json";
/// The time of a run in a file name, which sorts as the time does.
const TIME: &str = "%Y-%m-%dT%H-%M-%SZ";

/// The name of the report of a run.
pub(super) fn name(begun: Timestamp) -> String {
    format!("{BEGINNING}{}{ENDING}", begun.strftime(TIME))
}

/// Removes reports of runs before `oldest`, and others until `most` are left: the oldest first, those with evidence
/// after them, and the newest last.
/// Returns the names of those that are left.
pub(super) fn remove_old(
    folder: &Path,
    most: usize,
    oldest: Timestamp,
    has_evidence: impl Fn(&str) -> bool,
) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        if let Ok(name) = entry?.file_name().into_string()
            && is_ours(&name)
        {
            names.push(name);
        }
    }
    let oldest = name(oldest);
    // The last run stays, or reports full of evidence would leave no trace of what came after it.
    let newest = names.iter().max().cloned();
    names.sort_by_cached_key(|name| {
        (*name >= oldest, Some(name) == newest.as_ref(), has_evidence(name), name.clone())
    });
    let expired = names.iter().filter(|name| **name < oldest).count();
    let kept = names.split_off(names.len().saturating_sub(most).max(expired));
    for name in names {
        std::fs::remove_file(folder.join(name))?;
    }
    Ok(kept)
}

fn is_ours(name: &str) -> bool {
    let time = name.strip_prefix(BEGINNING).and_then(|name| name.strip_suffix(ENDING));
    time.is_some_and(|time| strtime::parse(TIME, time).is_ok())
}

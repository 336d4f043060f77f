//! Reads the documents of a comparison, and the file of accepted changes.

use std::path::Path;

use jiff::{Timestamp, civil::Date, tz::TimeZone};

use crate::{
    diff::{
        self, Diff,
        accepted::{self, Note},
    },
    document::Document,
    problem::Problem,
};

/// The file of accepted changes.
pub(super) const ACCEPTED: &str = "openapi/accepted-changes.yaml";

/// Compares two documents that were read; their names stand before the problems of each.
pub(super) fn compare(old: (&str, &Document), new: (&str, &Document)) -> Result<Diff, String> {
    diff::compare(old.1, new.1).map_err(|[of_old, of_new]| in_file(old.0, &of_old) + &in_file(new.0, &of_new))
}

/// Marks the changes that the file accepts; a file that does not exist accepts none.
pub(super) fn accept(root: &Path, file: &Path, diff: &mut Diff, today: Date) -> Result<Vec<Note>, String> {
    let path = root.join(file);
    if !path.exists() {
        return Ok(Vec::new());
    }
    let name = file.display().to_string();
    let document = read(&name, &text(&name, &path)?)?;
    let entries = accepted::read(&document).map_err(|problems| in_file(&name, &problems))?;
    Ok(accepted::apply(diff, &entries, today))
}

/// The date in UTC.
pub(super) fn today() -> Date {
    Timestamp::now().to_zoned_datetime(TimeZone::UTC).date()
}

pub(super) fn text(name: &str, path: &Path) -> Result<String, String> {
    std::fs::read_to_string(path).map_err(|error| format!("error: cannot read {name}: {error}\n"))
}

/// Parses a document; its problems carry its name.
pub(super) fn read(name: &str, text: &str) -> Result<Document, String> {
    Document::parse(text).map_err(|problems| in_file(name, &problems))
}

fn in_file(name: &str, problems: &[Problem]) -> String {
    problems.iter().map(|problem| format!("error: {}\n", problem.in_file(name))).collect()
}

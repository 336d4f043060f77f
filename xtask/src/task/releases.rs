//! The released documents in `openapi/released/`, the changes since the newest one, and what `check` requires because of them.

use std::path::{Path, PathBuf};

use jiff::{Timestamp, civil::Date, tz::TimeZone};

use crate::{
    diff::{
        self, Diff, Verdict,
        accepted::{self, Note},
        version::{self, Version},
    },
    document::Document,
    problem::{DOCUMENT, Problem},
};

/// The folder of released documents, one file `VERSION.yaml` each.
pub(super) const FOLDER: &str = "openapi/released";

const ACCEPTED: &str = "openapi/accepted-changes.yaml";

/// The newest released document: its version and its file.
///
/// Fails without one, and when a file of the folder is not named after a version.
pub(super) fn newest(root: &Path) -> Result<(Version, PathBuf), String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(root.join(FOLDER)).into_iter().flatten() {
        let path = entry.map_err(|error| format!("error: cannot read {FOLDER}: {error}\n"))?.path();
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let version = name.strip_suffix(".yaml").and_then(version::parse);
        let Some(version) = version else {
            return Err(format!("error: {FOLDER}/{name} is not named after a version, such as 1.0.0.yaml\n"));
        };
        found.push((version, path));
    }
    found.into_iter().max_by(|(one, _), (other, _)| one.cmp(other)).ok_or_else(|| {
        format!("error: no released document in {FOLDER}; copy {DOCUMENT} to {FOLDER}/VERSION.yaml, or name a file or a revision of git\n")
    })
}

/// Reads a document; `name` stands before its problems.
pub(super) fn read(name: &str, path: &Path) -> Result<Document, String> {
    parse(name, &super::read(path)?)
}

pub(super) fn parse(name: &str, text: &str) -> Result<Document, String> {
    Document::parse(text).map_err(|problems| in_file(name, &problems))
}

/// Compares the document with an older one, whose name stands before its problems, and marks the accepted changes. A file that does
/// not exist accepts none.
pub(super) fn compare(
    root: &Path,
    (old_name, old): (&str, &Document),
    new: &Document,
    today: Date,
) -> Result<(Diff, Vec<Note>), String> {
    let mut diff = diff::compare(old, new)
        .map_err(|[of_old, of_new]| in_file(old_name, &of_old) + &in_file(DOCUMENT, &of_new))?;
    let path = root.join(ACCEPTED);
    if !path.exists() {
        return Ok((diff, Vec::new()));
    }
    let entries =
        accepted::read(&super::read(&path)?).map_err(|error| format!("error: {ACCEPTED}: {error}\n"))?;
    let notes = accepted::apply(&mut diff, &entries, today);
    Ok((diff, notes))
}

/// The date of today, in UTC.
pub(super) fn today() -> Date {
    Timestamp::now().to_zoned_datetime(TimeZone::UTC).date()
}

fn in_file(name: &str, problems: &[Problem]) -> String {
    problems.iter().map(|problem| format!("error: {}\n", problem.in_file(name))).collect()
}

/// What is wrong with the document, given the newest release; empty when nothing is.
///
/// A breaking change needs a new major version, and a change that needs a decision a new minor one or an entry in the
/// file of accepted changes.
pub(super) fn problems(root: &Path, document: &Document, today: Date) -> Result<String, String> {
    let (released, path) = match newest(root) {
        Ok(newest) => newest,
        Err(problem) => return Ok(problem),
    };
    let name = format!("{FOLDER}/{released}.yaml");
    let old = read(&name, &path)?;
    let (diff, notes) = compare(root, (&name, &old), document, today)?;
    let mut report: String = notes.iter().map(|note| format!("error: {ACCEPTED}: {}\n", note.text)).collect();
    let (of_old, found) = &diff.versions;
    if version::parse(of_old).as_ref() != Some(&released) {
        report
            .push_str(&format!("error: {name} has the `info.version` {of_old}; a release does not change\n"));
    }
    let advice = version::advise(&diff);
    if version::parse(found) < Some(released.clone()) {
        report.push_str(&format!(
            "error: {DOCUMENT}: `info.version` {found} is below the released {released}; raise it\n"
        ));
    } else if !advice.is_met && diff.worst() >= Some(Verdict::Decision) {
        let open = diff.changes.iter().filter(|change| change.accepted.is_none());
        for change in open.filter(|change| change.rule.verdict >= Verdict::Decision) {
            let operation = change.operation.as_ref().map(|id| format!("{id}, ")).unwrap_or_default();
            let (verdict, at, summary) = (change.rule.verdict.name(), &change.at, change.summary());
            let (direction, id, fingerprint) = (change.direction, &change.rule.id, change.fingerprint());
            report.push_str(&format!(
                "{verdict}: {operation}{direction}, {at}: {summary} [{id}, {fingerprint}]\n"
            ));
        }
        let wanted = advice.document.map(|version| version.to_string()).unwrap_or_default();
        report.push_str(&format!(
            "error: {DOCUMENT} has changes since {name} that require `info.version` {wanted} or higher, found {found}; raise it, \
             or accept them in {ACCEPTED}; `cargo xtask diff` explains each\n"
        ));
    }
    Ok(report)
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeMap, fs};

    use serde::Deserialize;

    use super::*;
    use crate::{
        fixture::{CONTRACT, contract, edited_text},
        lint,
    };

    /// A document in a repository, and what is said of it.
    #[derive(Deserialize)]
    #[serde(default, deny_unknown_fields)]
    #[derive(Default)]
    struct Row {
        document: Option<String>,
        edits: Vec<String>,
        releases: Option<BTreeMap<String, String>>,
        accepted: String,
        /// Parts of the only problem of the lint.
        lint: Option<Vec<String>>,
        /// A part of what `check` says of the version; empty where that is nothing.
        check: Option<String>,
    }

    #[test]
    fn each_document_is_judged_as_its_row_says() {
        let rows: Vec<Row> = serde_saphyr::from_str(include_str!("../../fixtures/judged.yaml")).unwrap();
        for Row { document, edits, releases, accepted, lint, check } in rows {
            assert!(lint.is_some() || check.is_some(), "{edits:?} expects nothing");
            let text = document.unwrap_or_else(|| CONTRACT.to_owned());
            let text = edits.iter().fold(text, |text, edit| edited_text(&text, edit));
            let document = Document::parse(&text).unwrap();
            if let Some(parts) = lint {
                let problems = lint::run(&document);
                let [problem] = &problems[..] else { panic!("{edits:?}: {}", Problem::list(&problems)) };
                let said = problem.to_string();
                assert!(parts.iter().all(|part| said.contains(part)), "{parts:?} in {said}");
            }
            let Some(expected) = check else { continue };
            let root = tempfile::tempdir().unwrap();
            fs::create_dir_all(root.path().join(FOLDER)).unwrap();
            let usual =
                || ["0.9.0", "1.0.0"].map(|version| (version.to_owned(), "contract".to_owned())).into();
            for (version, text) in releases.unwrap_or_else(usual) {
                let text = if text == "contract" { CONTRACT } else { &text };
                fs::write(root.path().join(FOLDER).join(format!("{version}.yaml")), text).unwrap();
            }
            let diff = diff::compare(&contract(), &document).ok();
            let first = diff.and_then(|diff| Some(diff.changes.first()?.fingerprint())).unwrap_or_default();
            let today = today();
            let names = [
                ("{fingerprint}", first),
                ("{today}", today.to_string()),
                ("{yesterday}", today.yesterday().unwrap().to_string()),
            ];
            let accepted = names.iter().fold(accepted, |text, (name, value)| text.replace(name, value));
            fs::write(root.path().join(ACCEPTED), accepted).unwrap();
            let said = problems(root.path(), &document, today).unwrap_or_else(|error| error);
            let is_said = said.contains(&expected) && said.is_empty() == expected.is_empty();
            assert!(is_said, "{edits:?}: {expected:?} in {said:?}");
        }
    }
}

//! The released documents in `openapi/released/`, the changes since the newest one, and what `check` requires because of them.

use std::path::{Path, PathBuf};

use jiff::{Timestamp, tz::TimeZone};

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

/// The file of accepted changes.
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
) -> Result<(Diff, Vec<Note>), String> {
    let mut diff = diff::compare(old, new)
        .map_err(|[of_old, of_new]| in_file(old_name, &of_old) + &in_file(DOCUMENT, &of_new))?;
    let path = root.join(ACCEPTED);
    if !path.exists() {
        return Ok((diff, Vec::new()));
    }
    let entries =
        accepted::read(&super::read(&path)?).map_err(|error| format!("error: {ACCEPTED}: {error}\n"))?;
    let today = Timestamp::now().to_zoned_datetime(TimeZone::UTC).date();
    let notes = accepted::apply(&mut diff, &entries, today);
    Ok((diff, notes))
}

fn in_file(name: &str, problems: &[Problem]) -> String {
    problems.iter().map(|problem| format!("error: {}\n", problem.in_file(name))).collect()
}

/// What is wrong with the document, given the newest release; empty when nothing is.
///
/// A breaking change needs a new major version, and a change that needs a decision a new minor one or an entry in the
/// file of accepted changes.
pub(super) fn problems(root: &Path, document: &Document) -> Result<String, String> {
    let (released, path) = match newest(root) {
        Ok(newest) => newest,
        Err(problem) => return Ok(problem),
    };
    let name = format!("{FOLDER}/{released}.yaml");
    let old = read(&name, &path)?;
    let (diff, notes) = compare(root, (&name, &old), document)?;
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
    use std::fs;

    use super::*;
    use crate::fixture::{CONTRACT, edited_text};

    /// What `check` says of a document in a repository with these releases and accepted changes.
    fn said(document: &str, releases: &[(&str, &str)], accepted: &str) -> String {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir_all(root.path().join(FOLDER)).unwrap();
        for (version, text) in releases {
            fs::write(root.path().join(FOLDER).join(format!("{version}.yaml")), text).unwrap();
        }
        fs::write(root.path().join(ACCEPTED), accepted).unwrap();
        problems(root.path(), &Document::parse(document).unwrap()).unwrap_or_else(|error| error)
    }

    #[test]
    fn check_requires_a_version_that_fits_the_changes_since_the_newest_release() {
        let released = [("0.9.0", "other: file"), ("1.0.0", CONTRACT)];
        let narrower = edited_text(CONTRACT, "minimum: 1, maximum: «100→50» }");
        let version =
            |text: &str, version: &str| text.replacen("version: 1.0.0", &format!("version: {version}"), 1);
        let reworded =
            edited_text(CONTRACT, "description: «How many gateways to extract→Number of gateways».");
        let entry = |text: &str, print: &str| {
            let diff =
                diff::compare(&Document::parse(CONTRACT).unwrap(), &Document::parse(text).unwrap()).unwrap();
            let print = if print.is_empty() { diff.changes[0].fingerprint() } else { print.to_owned() };
            format!("- {{ fingerprint: \"{print}\", reason: agreed, expires: 9999-01-01 }}\n")
        };
        for (document, releases, accepted, expected) in [
            (CONTRACT, &released[..], "", ""),
            (CONTRACT, &[], "", "no released document in openapi/released; copy"),
            (&narrower, &released, "", "require `info.version` 2.0.0 or higher, found 1.0.0; raise it"),
            (&version(&narrower, "1.9.0"), &released, "", "require `info.version` 2.0.0"),
            (&version(&narrower, "2.0.0"), &released, "", ""),
            (&narrower, &released, &entry(&narrower, ""), ""),
            (CONTRACT, &released, &entry(&narrower, ""), "no change has the fingerprint"),
            (&reworded, &released, &entry(&reworded, ""), "needs no acceptance; remove the entry"),
            (&version(CONTRACT, "0.8.0"), &released, "", "`info.version` 0.8.0 is below the released 1.0.0"),
            (CONTRACT, &[("1.1.0", CONTRACT)], "", "1.1.0.yaml has the `info.version` 1.0.0"),
            (CONTRACT, &[("latest", CONTRACT)], "", "latest.yaml is not named after a version"),
        ] {
            let said = said(document, releases, accepted);
            assert!(
                said.contains(expected) && said.is_empty() == expected.is_empty(),
                "{expected:?} in {said:?}"
            );
        }
    }
}

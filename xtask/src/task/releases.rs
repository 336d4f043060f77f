//! The released documents in `openapi/released/`, and what `check` requires of the document because of them.

use std::path::{Path, PathBuf};

use super::documents;
use crate::{
    diff::{
        Verdict,
        version::{self, Version},
    },
    document::Document,
    problem::DOCUMENT,
};

/// The folder of released documents, one file `VERSION.yaml` each.
pub(crate) const FOLDER: &str = "openapi/released";

/// The newest released document; `None` without one.
///
/// Fails when a file of the folder is not named after a version.
pub(super) fn newest(root: &Path) -> Result<Option<(Version, PathBuf)>, String> {
    let entries = match std::fs::read_dir(root.join(FOLDER)) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(format!("error: cannot read {FOLDER}: {error}\n")),
    };
    let mut found = Vec::new();
    for entry in entries {
        let path = entry.map_err(|error| format!("error: cannot read {FOLDER}: {error}\n"))?.path();
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let version = name.strip_suffix(".yaml").and_then(Version::parse);
        let Some(version) = version else {
            return Err(format!("error: {FOLDER}/{name} is not named after a version, such as 1.0.0.yaml\n"));
        };
        found.push((version, path));
    }
    Ok(found.into_iter().max_by_key(|(version, _)| *version))
}

/// What is wrong with the document's version, given the newest release; empty when nothing is.
///
/// A breaking change needs a new major version, and a change that needs a decision a new minor one or an entry in the
/// file of accepted changes.
pub(super) fn problems(root: &Path, document: &Document) -> Result<String, String> {
    let Some((released, path)) = newest(root)? else { return Ok(String::new()) };
    let name = format!("{FOLDER}/{released}.yaml");
    let text =
        std::fs::read_to_string(&path).map_err(|error| format!("error: cannot read {name}: {error}\n"))?;
    let old = documents::read(&name, &text)?;
    let today = documents::today();
    let mut changes = documents::compare((&name, &old), (DOCUMENT, document))?;
    if Version::parse(&changes.versions.0) != Some(released) {
        return Ok(format!(
            "error: {name} has the `info.version` {}; a release does not change\n",
            changes.versions.0
        ));
    }
    let found = &changes.versions.1.clone();
    match Version::parse(found) {
        None => {
            return Ok(format!(
                "error: {DOCUMENT}: `info.version`: expected three numbers, found `{found}`\n"
            ));
        }
        Some(version) if version < released => {
            return Ok(format!(
                "error: {DOCUMENT}: `info.version` {found} is below the released {released}; raise it\n"
            ));
        }
        Some(_) => {}
    }
    let notes = documents::accept(root, Path::new(documents::ACCEPTED), &mut changes, today)?;
    let mut report: String =
        notes.iter().map(|note| format!("error: {}: {note}\n", documents::ACCEPTED)).collect();
    let advice = version::advise(&changes, env!("CARGO_PKG_VERSION"));
    let worst = changes.worst();
    if advice.is_met || worst < Some(Verdict::Decision) {
        return Ok(report);
    }
    for change in changes.changes.iter().filter(|change| change.accepted.is_none()) {
        if change.rule.verdict >= Verdict::Decision {
            let operation = change.operation.as_ref().map(|id| format!("{id}, ")).unwrap_or_default();
            report.push_str(&format!(
                "{}: {operation}{}, {}: {} [{}, {}]\n",
                change.rule.verdict.name(),
                change.direction,
                change.at,
                change.summary(),
                change.rule.id,
                change.fingerprint()
            ));
        }
    }
    let wanted = advice.document.map(|version| version.to_string()).unwrap_or_default();
    report.push_str(&format!(
        "error: {DOCUMENT} has changes since {name} that require `info.version` {wanted} or higher, found {found}; raise it, \
         or accept them in {}; `cargo xtask diff` explains each\n",
        documents::ACCEPTED
    ));
    Ok(report)
}

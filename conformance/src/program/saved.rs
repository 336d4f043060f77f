//! What is made of a report in JSON.

use std::collections::BTreeSet;
use std::path::Path;

use sallyport_conformance::check::Severity;
use sallyport_conformance::config::quoted;
use sallyport_conformance::contract::Clause;
use sallyport_conformance::report::{self, Format, plain};
use sallyport_conformance::run::{SavedCheck, SavedReport};
use sallyport_conformance::{Contract, Outcome, files};
use sha2::{Digest as _, Sha256};

use super::UsageError;
use super::replay::{MAX_REPORT_BYTES, read_report};

/// Days for which a broken clause is put up with unless the user says otherwise.
const DAYS: i64 = 90;

/// `conformance baseline`: the clauses that a report found broken, as expected failures for the configuration.
pub(crate) fn baseline(
    path: &Path,
    reason: &str,
    until: Option<jiff::civil::Date>,
) -> Result<String, UsageError> {
    let report = read_report(path)?;
    let until = match until {
        Some(until) => until,
        None => {
            let today = jiff::Timestamp::now().to_zoned_datetime(jiff::tz::TimeZone::UTC).date();
            today.checked_add(jiff::Span::new().days(DAYS))?
        }
    };
    let is_failed =
        |check: &SavedCheck| matches!(check.outcome, Outcome::Failed | Outcome::ExpectedFailure(_));
    let findings = report.findings();
    let failures =
        findings.filter(|(_, check, finding)| is_failed(check) && finding.severity == Severity::Fail);
    let broken: BTreeSet<Clause> = failures.map(|(.., finding)| finding.clause).collect();
    if broken.is_empty() {
        return Ok("# The report has no violated clause.\n".to_owned());
    }
    let reason = quoted(reason);
    let entry = |clause| {
        format!("[[expected-failure]]\nclause = \"{clause}\"\nreason = {reason}\nuntil = {until}\n\n")
    };
    Ok(broken.into_iter().map(entry).collect())
}

/// `conformance evidence`: one finding of a report as one file.
pub(crate) fn evidence(path: &Path, id: &str, output: &Path) -> Result<String, UsageError> {
    let wrong = |message: String| UsageError::from(format!("{}: {message}", path.display()));
    let format = match output.extension().and_then(|extension| extension.to_str()) {
        Some("html") => Format::Html,
        Some("md") => Format::Markdown,
        _ => return Err(format!("-o {}: expected a file named *.html or *.md", output.display()).into()),
    };
    let report = read_report(path)?;
    let (id, check, finding) =
        report.findings().find(|(known, ..)| known == id).ok_or_else(|| wrong(unknown(&report, id)))?;
    let file = files::read(path, MAX_REPORT_BYTES).map_err(files::named(path))?;
    let sha256: String = Sha256::digest(file).iter().map(|byte| format!("{byte:02x}")).collect();
    let contract = Contract::embedded()?;
    let text = report::evidence(contract, &report, (&id, check, finding), format, &sha256)?;
    files::replace(output, |file| file.write_all(text.as_bytes())).map_err(files::named(output))?;
    Ok(format!("{:>16} {}\n", "evidence", plain(&output.display().to_string())))
}

/// A check with several findings has a number behind each, as in `search.total#2`. The name of a clause or the beginning of an id names
/// several as well.
fn unknown(report: &SavedReport, id: &str) -> String {
    let (check, prefix) = (id.split('#').next().unwrap_or_default(), format!("{id}."));
    let matching = report.findings().filter(|(_, known, finding)| {
        known.id == check || known.id.starts_with(&prefix) || finding.clause.id() == id
    });
    let matching: Vec<String> = matching.map(|(id, ..)| id).collect();
    if !matching.is_empty() {
        return format!("`{id}` names no single finding; choose one of {}", matching.join(", "));
    }
    let known: Vec<String> = report.findings().map(|(id, ..)| id).collect();
    let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
    format!("`{id}` is no finding of this report; its findings: {known}")
}

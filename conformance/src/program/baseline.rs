use std::collections::BTreeSet;
use std::path::Path;

use sallyport_conformance::check::Severity;
use sallyport_conformance::config::quoted;
use sallyport_conformance::contract::Clause;
use sallyport_conformance::run::SavedCheck;
use sallyport_conformance::{Outcome, Verdict};

use super::UsageError;
use super::output::print;
use super::replay::read_report;

/// Days for which a broken clause is put up with unless the user says otherwise.
const DAYS: i64 = 90;

/// `conformance baseline`: the clauses that a report found broken, as expected failures for the configuration.
pub(crate) fn baseline(
    path: &Path,
    reason: &str,
    until: Option<jiff::civil::Date>,
) -> Result<Verdict, UsageError> {
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
        print("# The report has no violated clause.\n");
    }
    let reason = quoted(reason);
    for clause in broken {
        print(&format!(
            "[[expected-failure]]\nclause = \"{clause}\"\nreason = {reason}\nuntil = {until}\n\n"
        ));
    }
    Ok(Verdict::Conforms)
}

//! `cargo xtask diff --run`: shows breaking changes with the programs of both documents.
//!
//! The old suite judges the new server, the new suite the old server, and the old client calls the new server with the
//! witness of each change. Sources and builds are outside of the repository, and every step has a timeout.

mod calls;
mod process;
mod side;

use std::{
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use serde::Deserialize;
use sha2::{Digest, Sha256};

use self::{
    process::bounded,
    side::{SampleServer, Side},
};
use crate::diff::{Change, Diff, Verdict};

pub(super) use side::Source;

/// Timeout of one run of the suite; the suite itself stops earlier.
const SUITE: Duration = Duration::from_secs(300);

/// Timeout of a call of the client.
const CALL: Duration = Duration::from_secs(60);

/// Where sources and builds lie, and how long a build may take.
#[derive(Clone, Debug)]
pub(super) struct Settings {
    pub(super) work: Option<PathBuf>,
    pub(super) build_limit: Duration,
}

/// Builds both sides, runs them against each other, and reports the outcome.
///
/// Fails when a side does not build, a server does not start, or something takes too long.
pub(super) fn run(
    root: &Path,
    (old, new): (&Source<'_>, &Source<'_>),
    diff: &Diff,
    settings: &Settings,
) -> Result<String, String> {
    let breaking: Vec<&Change> = diff
        .changes
        .iter()
        .filter(|change| change.rule.verdict == Verdict::Breaking && change.accepted.is_none())
        .collect();
    if breaking.is_empty() {
        return Ok("\nRuns: none, because no change is breaking.\n".to_owned());
    }
    let work = settings.work.clone().unwrap_or_else(|| default_work(root));
    fs::create_dir_all(&work)
        .map_err(|error| format!("error: cannot create {}: {error}\n", work.display()))?;
    let old = Side::build(root, &work, "old", old, settings.build_limit)?;
    let new = Side::build(root, &work, "new", new, settings.build_limit)?;
    let mut report = format!("\nRuns in {}:\n  {}\n  {}\n", work.display(), old.built, new.built);
    let (old_server, new_server) = (old.serve()?, new.serve()?);
    let pairs = [("old suite, new server", &old, &new_server), ("new suite, old server", &new, &old_server)];
    let mut judged = Vec::new();
    for (name, suite, server) in pairs {
        let findings = judge(suite, server, &breaking)?;
        let shown = findings.iter().map(|finding| format!("{} ({})", finding.check, finding.clause));
        let mut shown: Vec<String> = shown.collect();
        shown.dedup();
        let shown = if shown.is_empty() { "no finding".to_owned() } else { shown.join(", ") };
        let _ = writeln!(report, "  {name}: {shown}");
        judged.push((name, findings));
    }
    for change in breaking {
        let mut shows: Vec<String> = judged
            .iter()
            .flat_map(|(name, findings)| {
                let about = findings.iter().filter(|finding| change.clauses.contains(&finding.clause));
                about.map(|finding| format!("{name}: {}", finding.check)).collect::<Vec<_>>()
            })
            .collect();
        shows.dedup();
        shows.extend(call(&old, &new_server, change)?);
        let place = format!("{} {}", change.operation.as_deref().unwrap_or("document"), change.at);
        let _ = writeln!(report, "  {} {place} ({}):", change.rule.id, change.fingerprint());
        if shows.is_empty() {
            report.push_str("    no run showed this change; the witness says what would\n");
        }
        for line in shows {
            let _ = writeln!(report, "    {line}");
        }
    }
    Ok(report)
}

/// A folder of the machine's temporary files, one for each clone, which later runs build on.
fn default_work(root: &Path) -> PathBuf {
    let digest = Sha256::digest(root.to_string_lossy().as_bytes());
    let name: String = digest.iter().take(6).map(|byte| format!("{byte:02x}")).collect();
    std::env::temp_dir().join(format!("sallyport-diff-{name}"))
}

/// A finding of the suite.
#[derive(Debug, PartialEq, Eq)]
struct Finding {
    check: String,
    clause: String,
}

/// The part of the suite's report that is read here.
#[derive(Deserialize)]
struct SuiteReport {
    checks: Vec<CheckReport>,
}

#[derive(Deserialize)]
struct CheckReport {
    id: String,
    #[serde(default)]
    findings: Vec<FindingReport>,
}

#[derive(Deserialize)]
struct FindingReport {
    clause: String,
    severity: String,
}

fn findings(report: &str) -> Result<Vec<Finding>, String> {
    let report: SuiteReport = serde_json::from_str(report)
        .map_err(|error| format!("error: unexpected report of the suite: {error}\n"))?;
    let of_check = |check: CheckReport| {
        let failures = check.findings.into_iter().filter(|finding| finding.severity == "fail");
        failures.map(move |finding| Finding { check: check.id.clone(), clause: finding.clause })
    };
    Ok(report.checks.into_iter().flat_map(of_check).collect())
}

/// Runs the checks of the clauses that the changes touch, or all of them where a change touches none.
fn judge(suite: &Side, server: &SampleServer, breaking: &[&Change]) -> Result<Vec<Finding>, String> {
    let mut command = suite.command("conformance");
    command.arg("run").arg("--config").arg(server.facts.join("conformance.toml"));
    command.args(["--base-url", &server.url, "--profile", "full", "--quiet", "--report", "json=report.json"]);
    command.args(["--max-seconds", &(SUITE.as_secs() - 30).to_string()]);
    if breaking.iter().all(|change| !change.clauses.is_empty()) {
        let mut clauses: Vec<&String> = breaking.iter().flat_map(|change| &change.clauses).collect();
        clauses.sort_unstable();
        clauses.dedup();
        for clause in clauses {
            command.args(["--only", clause]);
        }
    }
    let file = suite.report();
    let ended = bounded(&mut command, SUITE)?;
    let text = fs::read_to_string(&file).map_err(|_| {
        format!("{}{}error: the suite made no report ({})\n", ended.stdout, ended.stderr, ended.status)
    })?;
    // The other pair must not read it.
    let _ = fs::remove_file(file);
    findings(&text)
}

/// What the old client says when it sends the witness of a change to the new server; nothing where it has no such argument.
fn call(client: &Side, server: &SampleServer, change: &Change) -> Result<Option<String>, String> {
    let Some(arguments) = calls::arguments(change) else { return Ok(None) };
    let shown = format!("sallyport {}", arguments.join(" "));
    let mut command = client.command("sallyport");
    command.args(&arguments).args(["--base-url", &server.url, "--retries", "0"]);
    command.arg("--api-key-file").arg(server.facts.join("api-key.txt"));
    let ended = bounded(&mut command, CALL)?;
    let said = ended.stderr.lines().next().unwrap_or_default().trim();
    Ok(Some(match ended.status.code() {
        Some(0) => format!("old client, new server: `{shown}` succeeded"),
        code => {
            let code = code.map_or_else(|| "a signal".to_owned(), |code| format!("exit code {code}"));
            format!("old client, new server: `{shown}` failed with {code}: {said}")
        }
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_of_a_report_are_findings_and_warnings_are_not() {
        let report = r#"{"checks": [
            {"id": "a.b.c", "findings": [{"clause": "a.b", "severity": "fail"}, {"clause": "a.c", "severity": "warn"}]},
            {"id": "d.e.f", "outcome": {"kind": "passed"}}
        ]}"#;
        let expected = Finding { check: "a.b.c".to_owned(), clause: "a.b".to_owned() };
        assert_eq!(findings(report), Ok(vec![expected]));
        assert!(findings("{}").unwrap_err().contains("unexpected report"));
    }

    #[test]
    fn each_clone_has_a_folder_of_its_own() {
        let folder = |root: &str| default_work(Path::new(root));
        assert_eq!(folder("/a"), folder("/a"));
        assert_ne!(folder("/a"), folder("/b"));
        assert!(!folder("/a").starts_with("/a"));
    }
}

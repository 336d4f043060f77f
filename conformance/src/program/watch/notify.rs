use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use sallyport_conformance::process::{Group, command};
use sallyport_conformance::watch::{Change, RunRecord};
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt as _;

use crate::program::warn;

/// How long the command of a change may run before it is killed, with everything that it has started.
const TIME: Duration = Duration::from_secs(30);

/// What changed with a run, for a program. It holds no secret, because a report holds none.
fn event(record: &RunRecord, changes: &[Change], folder: &Path) -> Value {
    let clauses = |wanted: fn(&Change) -> Option<&str>| changes.iter().filter_map(wanted).collect::<Vec<_>>();
    let new = clauses(|change| if let Change::Broken(clause) = change { Some(clause.id()) } else { None });
    let is_unchanged = |clause: &&String| !new.contains(&clause.as_str());
    json!({
        "target": record.target,
        "begun": record.begun,
        "suite": record.suite,
        "verdict": record.verdict,
        "verdict_before": clauses(|change| if let Change::Verdict { from, .. } = change { Some(from) } else { None }).first(),
        "conclusion": record.words(),
        "fixed": clauses(|change| if let Change::Fixed(clause) = change { Some(clause.id()) } else { None }),
        "unchanged": record.broken.keys().filter(is_unchanged).collect::<Vec<_>>(),
        "new": new,
        "report": record.report.as_ref().map(|name| folder.join(name)),
    })
}

/// Runs the command of `--on-change`, without a shell. What goes wrong with it is a warning: the next run begins all the same.
pub(super) async fn notify(program: &PathBuf, record: &RunRecord, changes: &[Change], folder: &Path) {
    let event = event(record, changes, folder).to_string();
    let failed = match tokio::time::timeout(TIME, run(program, &event)).await {
        Ok(Ok(None)) => return,
        Ok(Ok(Some(status))) => status,
        Ok(Err(error)) => error.to_string(),
        Err(_) => format!("killed after {} s", TIME.as_secs()),
    };
    warn(&format!("--on-change {}: {failed}", program.display()));
}

/// Returns how it ended, if that is no success.
async fn run(program: &PathBuf, event: &str) -> std::io::Result<Option<String>> {
    let mut child = command(program).stdin(Stdio::piped()).spawn()?;
    let group = Group::new(&child);
    if let Some(mut stdin) = child.stdin.take() {
        // A command that does not read its input is judged by its exit.
        let _ = stdin.write_all(event.as_bytes()).await;
    }
    let status = child.wait().await?;
    group.leave();
    Ok((!status.success()).then(|| status.to_string()))
}

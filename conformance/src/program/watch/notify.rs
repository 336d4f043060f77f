use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use sallyport_conformance::Report;
use sallyport_conformance::process::{Group, command};
use sallyport_conformance::watch::Changes;
use serde_json::json;
use tokio::io::AsyncWriteExt as _;

use crate::program::warn;

/// How long the command of a change may run before it is killed, with everything that it has started.
const TIME: Duration = Duration::from_secs(30);

/// Runs the command of `--on-change`, without a shell, with what changed as JSON. What goes wrong with it is a warning.
pub(super) async fn notify(program: &PathBuf, report: &Report, changes: &Changes, kept: Option<&Path>) {
    let Changes { verdict_before, new, fixed, unchanged } = changes;
    // It holds no secret, because a report holds none.
    let event = json!({
        "target": report.target, "begun": report.begun, "suite": report.suite, "conclusion": report.conclusion,
        "verdict": report.verdict.name(), "verdict_before": verdict_before,
        "new": new, "fixed": fixed, "unchanged": unchanged, "report": kept,
    })
    .to_string();
    let failed = match tokio::time::timeout(TIME, run(program, &event)).await {
        Ok(Ok(status)) if status.success() => return,
        Ok(Ok(status)) => status.to_string(),
        Ok(Err(error)) => error.to_string(),
        Err(_) => format!("killed after {} s", TIME.as_secs()),
    };
    warn(&format!("--on-change {}: {failed}", program.display()));
}

async fn run(program: &PathBuf, event: &str) -> std::io::Result<ExitStatus> {
    let mut child = command(program).stdin(Stdio::piped()).spawn()?;
    let group = Group::new(&child);
    if let Some(mut stdin) = child.stdin.take() {
        // A command that does not read its input is judged by its exit.
        let _ = stdin.write_all(event.as_bytes()).await;
    }
    let status = child.wait().await?;
    group.leave();
    Ok(status)
}

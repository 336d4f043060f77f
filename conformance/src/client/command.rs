//! One execution of the command: its input, its output and its exit.

use std::ffi::OsString;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};

use super::case::ClientCase;
use super::error::ClientSuiteError;
use super::evidence::{Execution, Exit};
use super::protocol::{Answer, Input, MAX_OUTPUT};
use crate::process::{self, Group};
use crate::target::Secret;
use crate::wire::shows_any;

/// How much longer than its call a command may run, counted from its first request, before it is killed.
const KILLED_AFTER: Duration = Duration::from_secs(4);

/// How long a command may take until its first request beside the time of its call: an interpreter or a container has to start.
const START: Duration = Duration::from_secs(10);

/// How long processes that the command started may keep its output open after its exit.
const PIPES_AFTER: Duration = Duration::from_millis(500);

/// Runs the command once, without the tester's own `secrets`. `first_request` is when its first request arrived, if one did.
pub(super) async fn execute(
    command: &[OsString],
    case: &ClientCase,
    base_url: &str,
    (token, secrets): (&Secret, &[Secret]),
    first_request: impl Fn() -> Option<Instant>,
) -> Result<Execution, ClientSuiteError> {
    let (program, arguments) = command.split_first().ok_or(ClientSuiteError::NoCommand)?;
    let mut command = process::command(program);
    command
        .args(arguments)
        .env("SALLYPORT_BASE_URL", base_url)
        .env("SALLYPORT_API_KEY", token.expose())
        // A proxy of the environment cannot reach the lab.
        .env("NO_PROXY", "*")
        .env("no_proxy", "*")
        // A date that is read as local time lies in the past, so that a wait for it shows.
        .env("TZ", time_zone())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let begun = Instant::now();
    let not_started = |error| ClientSuiteError::Command(program.display().to_string(), error);
    let mut child = command.spawn().map_err(not_started)?;
    let group = Group::new(&child);
    let input = serde_json::to_vec(&Input::new(case.call.clone(), case.limit)).unwrap_or_default();
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let (mut answered, mut logged) = (Vec::new(), Vec::new());
    let work = async {
        let write = async {
            if let Some(mut stdin) = stdin {
                // A command that does not read its input fails by its answer.
                let _ = stdin.write_all(&input).await;
                let _ = stdin.write_all(b"\n").await;
            }
        };
        let pipes = async { tokio::join!(write, answer(stdout, &mut answered), log(stderr, &mut logged)) };
        let mut pipes = std::pin::pin!(pipes);
        tokio::select! {
            _ = &mut pipes => (child.wait().await, begun.elapsed()),
            status = child.wait() => {
                let elapsed = begun.elapsed();
                // Processes that it left running may keep its output open.
                let _ = tokio::time::timeout(PIPES_AFTER, pipes).await;
                (status, elapsed)
            }
        }
    };
    let is_over = async {
        let due = || match first_request() {
            Some(first) => first + case.limit + KILLED_AFTER,
            None => begun + START + case.limit,
        };
        while let Some(left) = due().checked_duration_since(Instant::now()) {
            tokio::time::sleep(left.min(Duration::from_millis(100))).await;
        }
    };
    let ended = tokio::select! {
        ended = work => Some(ended),
        () = is_over => None,
    };
    let (exit, elapsed) = match ended {
        Some((status, elapsed)) => {
            (status.ok().and_then(|status| status.code()).map_or(Exit::Signal, Exit::Code), elapsed)
        }
        None => {
            let elapsed = begun.elapsed();
            drop(group);
            let _ = child.kill().await;
            (Exit::Killed, elapsed)
        }
    };
    let output = match Answer::parse(&answered, case.call.operation) {
        _ if exit == Exit::Killed => Err("none: killed".to_owned()),
        // The error of a malformed answer may quote it.
        Err(reason) if shows_any(reason.as_bytes(), secrets.iter().chain([token])) => {
            Err("not as expected".to_owned())
        }
        output => output,
    };
    // The output of one that was killed may show the token, too.
    Ok(Execution { exit, stdout: answered, stderr: logged, elapsed, output })
}

/// A time zone east of Greenwich, by its name where the system knows names, because some languages know nothing else.
fn time_zone() -> &'static str {
    match Path::new("/usr/share/zoneinfo/Asia/Kolkata").exists() {
        true => "Asia/Kolkata",
        false => "IST-5:30",
    }
}

/// Reads standard output up to one byte beyond its maximum and closes it, which ends a command that continues to write.
async fn answer(source: Option<impl AsyncRead + Unpin>, text: &mut Vec<u8>) {
    if let Some(source) = source {
        // Output before a read error is still judged.
        let _ = source.take(MAX_OUTPUT as u64 + 1).read_to_end(text).await;
    }
}

/// Reads standard error to its end and keeps the beginning.
async fn log(source: Option<impl AsyncRead + Unpin>, kept: &mut Vec<u8>) {
    let Some(mut source) = source else { return };
    let _ = (&mut source).take(MAX_OUTPUT as u64).read_to_end(kept).await;
    let _ = tokio::io::copy(&mut source, &mut tokio::io::sink()).await;
}

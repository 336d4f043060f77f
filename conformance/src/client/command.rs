//! One execution of the command: what it is told, what it writes, and its end.

use std::ffi::OsString;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::Command;

use super::case::ClientCase;
use super::evidence::{Execution, Exit};
use super::outcome;
use super::protocol::{Input, Output};
use super::run::ClientSuiteError;
use crate::target::Secret;

/// A command that takes so much longer than the time of its call is killed: it has to start, too.
const KILLED_AFTER: Duration = Duration::from_secs(4);

/// What standard output may have, and what is kept of standard error, in bytes (1 MiB).
pub(super) const MAX_OUTPUT: usize = 1 << 20;

/// Runs the command once.
pub(super) async fn execute(
    command: &[OsString],
    case: &ClientCase,
    base_url: &str,
    token: &Secret,
) -> Result<Execution, ClientSuiteError> {
    let (program, arguments) = command.split_first().ok_or(ClientSuiteError::NoCommand)?;
    let mut command = Command::new(program);
    command
        .args(arguments)
        .env("SALLYPORT_BASE_URL", base_url)
        .env("SALLYPORT_API_KEY", token.expose())
        // A proxy of the environment cannot reach the lab.
        .env("NO_PROXY", "*")
        .env("no_proxy", "*")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    // A group of its own, so that what the command starts ends with it.
    #[cfg(unix)]
    command.process_group(0);
    let begun = Instant::now();
    let mut child = command.spawn().map_err(|error| ClientSuiteError::Command {
        program: Path::new(program).display().to_string(),
        reason: error.to_string(),
    })?;
    let group = Group(child.id());
    let input = serde_json::to_vec(&Input::new(case.call.clone(), case.limit)).unwrap_or_default();
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let work = async {
        let write = async {
            if let Some(mut stdin) = stdin {
                // Who does not read its input fails by its answer.
                let _ = stdin.write_all(&input).await;
                let _ = stdin.write_all(b"\n").await;
            }
        };
        let ((), stdout, stderr, status) = tokio::join!(write, answer(stdout), log(stderr), child.wait());
        (stdout, stderr, status)
    };
    let ended = tokio::time::timeout(case.limit + KILLED_AFTER, work).await;
    let elapsed = begun.elapsed();
    let Ok((stdout, stderr, status)) = ended else {
        drop(group);
        let _ = child.kill().await;
        return Ok(Execution {
            exit: Exit::Killed,
            stdout: Vec::new(),
            stderr: Vec::new(),
            elapsed,
            output: Err("none: killed".to_owned()),
        });
    };
    let exit = status.ok().and_then(|status| status.code()).map_or(Exit::Signal, Exit::Code);
    // What is wrong with an answer may quote it.
    let output = match Output::parse(&stdout) {
        Err(reason) if outcome::shows(reason.as_bytes(), token) => Err("not as expected".to_owned()),
        output => output,
    };
    Ok(Execution { exit, stdout, stderr, elapsed, output })
}

/// A command and what it starts in its process group. Killed when this is dropped: when the call has ended, when its time is
/// over, and when the run is interrupted.
struct Group(Option<u32>);

impl Drop for Group {
    fn drop(&mut self) {
        #[cfg(unix)]
        if let Some(group) = self.0.and_then(|group| i32::try_from(group).ok()) {
            let group = nix::unistd::Pid::from_raw(group);
            let _ = nix::sys::signal::killpg(group, nix::sys::signal::Signal::SIGKILL);
        }
    }
}

/// Reads standard output up to one byte more than it may have, and closes it then: a command that writes on is ended by its
/// pipe.
async fn answer(source: Option<impl AsyncRead + Unpin>) -> Vec<u8> {
    let mut text = Vec::new();
    if let Some(source) = source {
        // What was read before an error is judged.
        let _ = source.take(MAX_OUTPUT as u64 + 1).read_to_end(&mut text).await;
    }
    text
}

/// Reads standard error to its end and keeps the beginning.
async fn log(source: Option<impl AsyncRead + Unpin>) -> Vec<u8> {
    let (mut kept, mut buffer) = (Vec::new(), vec![0; 16 << 10]);
    let Some(mut source) = source else { return kept };
    while let Ok(count @ 1..) = source.read(&mut buffer).await {
        let room = MAX_OUTPUT.saturating_sub(kept.len()).min(count);
        kept.extend_from_slice(buffer.get(..room).unwrap_or_default());
    }
    kept
}

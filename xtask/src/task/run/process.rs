//! Processes with a timeout.

use std::{
    io::{BufRead, BufReader, Read},
    process::{Child, Command, ExitStatus, Stdio},
    thread,
    time::{Duration, Instant},
};

/// Interval between two checks whether a process has ended.
const INTERVAL: Duration = Duration::from_millis(50);

/// Exit status and output of a process.
#[derive(Debug)]
pub(super) struct ProcessResult {
    pub(super) status: ExitStatus,
    pub(super) stdout: String,
    pub(super) stderr: String,
}

/// Runs a command to its end. After `limit` the command and the processes that it started are killed.
pub(super) fn bounded(command: &mut Command, limit: Duration) -> Result<ProcessResult, String> {
    let shown = shown(command);
    let mut child = start(command, &shown)?;
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let texts = [reader(stdout), reader(stderr)];
    let begun = Instant::now();
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break status,
            Ok(None) if begun.elapsed() < limit => thread::sleep(INTERVAL),
            Ok(None) => {
                stop(&mut child);
                return Err(format!("error: `{shown}` did not end within {} s\n", limit.as_secs()));
            }
            Err(error) => return Err(format!("error: cannot wait for `{shown}`: {error}\n")),
        }
    };
    // A thread ends with the process whose output it reads.
    let [stdout, stderr] = texts.map(|text| text.join().unwrap_or_default());
    Ok(ProcessResult { status, stdout, stderr })
}

/// A process in the background, which is killed when this value is dropped.
#[derive(Debug)]
pub(super) struct Background {
    child: Child,
}

impl Background {
    /// Starts a command, and waits for the first line of its output that begins with `head`; returns the rest of it.
    pub(super) fn start(
        command: &mut Command,
        head: &str,
        limit: Duration,
    ) -> Result<(Self, String), String> {
        let shown = shown(command);
        let mut child = start(command, &shown)?;
        let stdout = child.stdout.take();
        reader(child.stderr.take());
        let (sender, lines) = std::sync::mpsc::channel();
        thread::spawn(move || {
            for line in stdout.map(BufReader::new).into_iter().flat_map(BufRead::lines).map_while(Result::ok)
            {
                // Nobody listens once the line was found; the output is read on, so that the process does not block.
                let _ = sender.send(line);
            }
        });
        let background = Self { child };
        let end = Instant::now() + limit;
        while let Ok(line) = lines.recv_timeout(end.saturating_duration_since(Instant::now())) {
            if let Some(rest) = line.strip_prefix(head) {
                return Ok((background, rest.trim().to_owned()));
            }
        }
        Err(format!("error: `{shown}` did not print `{head}…` within {} s\n", limit.as_secs()))
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        stop(&mut self.child);
    }
}

fn start(command: &mut Command, shown: &str) -> Result<Child, String> {
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(command, 0);
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| format!("error: cannot start `{shown}`: {error}\n"))
}

/// Ends a process and those that it started: cargo leaves its compilers behind otherwise.
fn stop(child: &mut Child) {
    #[cfg(unix)]
    let _ = Command::new("kill")
        .args(["-KILL", "--", &format!("-{}", child.id())])
        .stderr(Stdio::null())
        .status();
    // It may have ended already.
    let _ = child.kill();
    let _ = child.wait();
}

fn reader(from: Option<impl Read + Send + 'static>) -> thread::JoinHandle<String> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut from) = from {
            // What was read until an error is shown.
            let _ = from.read_to_end(&mut bytes);
        }
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

/// The program and its arguments, for messages; a token is never among them.
fn shown(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn output_and_status_are_returned() {
        let ended = bounded(&mut shell("echo out; echo err >&2; exit 3"), Duration::from_secs(20)).unwrap();
        assert_eq!((ended.status.code(), ended.stdout.trim(), ended.stderr.trim()), (Some(3), "out", "err"));
    }

    #[test]
    fn what_does_not_end_is_stopped_with_its_children() {
        let begun = Instant::now();
        let error = bounded(&mut shell("sleep 60 & sleep 60"), Duration::from_millis(100)).unwrap_err();
        assert!(error.contains("did not end within 0 s"), "{error}");
        assert!(begun.elapsed() < Duration::from_secs(30));
    }

    #[test]
    fn a_process_in_the_background_tells_its_address() {
        let mut command = shell("echo starting; echo listening on http://127.0.0.1:1; sleep 60");
        let (_background, address) =
            Background::start(&mut command, "listening on ", Duration::from_secs(20)).unwrap();
        assert_eq!(address, "http://127.0.0.1:1");
        let error =
            Background::start(&mut shell("echo no"), "listening on ", Duration::from_secs(20)).unwrap_err();
        assert!(error.contains("did not print"), "{error}");
    }
}

//! The output of a command that prints a secret, for both programs.

use std::io::Read as _;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// Time for a command to end.
pub const TIME: Duration = Duration::from_secs(30);

/// Maximum length of its output, in bytes: no server takes a header as long.
const MAX_LENGTH: u64 = 64 << 10;

/// What a command prints on standard output, without a shell. Its standard error is shown nowhere.
///
/// # Errors
/// It cannot be started, fails, takes longer than `time`, or prints something else than text, or too much. The reason is a predicate,
/// such as `failed (exit status: 1)`, and repeats nothing of the output.
pub fn output(program: &str, arguments: &[String], time: Duration) -> Result<String, String> {
    let deadline = Instant::now() + time;
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().map_err(|error| format!("cannot be started: {error}"))?;
    let (sender, printed) = mpsc::channel();
    if let Some(output) = child.stdout.take() {
        // A thread, because what the command has started may keep its output open for ever.
        std::thread::spawn(move || {
            let mut text = String::new();
            let read = output.take(MAX_LENGTH + 1).read_to_string(&mut text);
            // Nobody waits any more once the time is over.
            let _ = sender.send(read.map(|_| text));
        });
    }
    let printed = printed.recv_timeout(time).ok();
    // It may have closed its output and still run.
    let ended = ended_by(deadline, &mut child).map_err(|error| error.to_string())?;
    match (printed, ended) {
        (Some(_), Some(ended)) if !ended.success() => Err(format!("failed ({ended})")),
        (Some(Err(_)), Some(_)) => Err("printed something else than text".to_owned()),
        (Some(Ok(text)), Some(_)) if text.len() as u64 > MAX_LENGTH => {
            Err(format!("printed more than {MAX_LENGTH} bytes"))
        }
        (Some(Ok(text)), Some(_)) => Ok(text),
        _ => Err(format!("took more than {} s", time.as_secs())),
    }
}

/// How a command ended. One that still runs at the deadline is killed, and has no status.
fn ended_by(deadline: Instant, child: &mut Child) -> std::io::Result<Option<ExitStatus>> {
    const PAUSE: Duration = Duration::from_millis(5);
    loop {
        let ended = child.try_wait()?;
        if ended.is_some() {
            return Ok(ended);
        }
        if Instant::now() >= deadline {
            child.kill()?;
            return child.wait().map(|_| None);
        }
        std::thread::sleep(PAUSE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_the_output_is_shown_and_nothing_goes_on() {
        let run = |words: &[&str]| {
            let arguments: Vec<String> = words[1..].iter().map(|word| (*word).to_owned()).collect();
            output(words[0], &arguments, Duration::from_secs(1))
        };
        assert_eq!(run(&["printf", "hunter2-$HOME\n"]).as_deref(), Ok("hunter2-$HOME\n"));
        for (words, reason) in [
            (&["printf", "\\377hunter2"][..], "printed something else than text"),
            (&["head", "-c", "70000", "/dev/zero"], "printed more than 65536 bytes"),
            (&["cat", "/no/such/hunter2"], "failed (exit status: 1)"),
            (&["/no/such/program"], "cannot be started"),
            // One that goes on without its output.
            (&["sh", "-c", "echo hunter2; exec >&-; exec sleep 300"], "took more than 1 s"),
        ] {
            let error = run(words).expect_err("no output");
            assert!(error.contains(reason) && !error.contains("hunter2"), "{error}");
        }
    }
}

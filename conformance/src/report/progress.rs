use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::Write;
use std::sync::Mutex;
use std::time::Duration;

use super::terminal::check_text;
use super::words::is_trouble;
use super::{Detail, Screen, plain, quantity};
use crate::check::{Check, Outcome};
use crate::lock;
use crate::run::{CheckResult, Observer};

/// Writes a line for each finished check, and on a terminal a status line with the running checks.
#[derive(Debug)]
pub struct Progress<W> {
    writer: Mutex<W>,
    state: Mutex<State>,
    screen: Screen,
    live: bool,
}

#[derive(Debug, Default)]
struct State {
    all: usize,
    /// The checks that have ended, and their outcomes.
    ended: BTreeMap<&'static str, &'static str>,
    reasons: BTreeSet<String>,
    running: Vec<&'static str>,
}

impl<W: Write + Send> Progress<W> {
    /// Progress on a writer; `live` when the writer is a terminal, where the status line can be overwritten.
    pub fn new(writer: W, screen: Screen, live: bool) -> Self {
        Self { writer: Mutex::new(writer), state: Mutex::default(), screen, live }
    }

    /// Ignores errors: a closed pipe does not end the run.
    fn write(&self, state: &State, text: &str) {
        const BACK_AND_CLEAR: &str = "\r\u{1b}[K";
        let whole = match self.live {
            true => format!("{BACK_AND_CLEAR}{text}{}", self.status(state)),
            false => text.to_owned(),
        };
        let mut writer = lock(&self.writer);
        let _ = writer.write_all(whole.as_bytes()).and_then(|()| writer.flush());
    }

    fn status(&self, state: &State) -> String {
        if state.ended.len() >= state.all && state.running.is_empty() {
            return String::new();
        }
        let mut status = format!("{:>16} {}/{}", "running", state.ended.len(), state.all);
        let failed = state.ended.values().filter(|outcome| **outcome == Outcome::Failed.name()).count();
        if failed > 0 {
            let _ = write!(status, ", {failed} failed");
        }
        let _ = write!(status, ": {}", state.running.join(", "));
        self.screen.clipped(&status)
    }
}

impl<W: Write + Send> Observer for Progress<W> {
    fn waiting(&self, reason: &str, left: Duration) {
        let mut state = lock(&self.state);
        let line = format!("{:>16} {} s left: {}", "waiting", left.as_secs(), plain(reason));
        if self.live {
            let text = self.screen.clipped(&line);
            self.write(&state, &text);
        } else if self.screen.detail > Detail::Quiet && state.reasons.insert(reason.to_owned()) {
            // A log gets each reason once.
            self.write(&state, &(line + "\n"));
        }
    }

    fn begun(&self, checks: &[&'static Check]) {
        let mut state = lock(&self.state);
        state.all = checks.len();
        let passive = checks.iter().filter(|check| check.is_passive()).count();
        let text =
            format!("{:>16} {}, {passive} of them passive\n", "running", quantity(checks.len(), "check"));
        self.write(&state, if self.screen.detail > Detail::Quiet { &text } else { "" });
    }

    fn check_begun(&self, check: &'static Check) {
        let mut state = lock(&self.state);
        state.running.push(check.id);
        if self.live {
            self.write(&state, "");
        }
    }

    fn check_ended(&self, result: &CheckResult) {
        let mut state = lock(&self.state);
        state.running.retain(|id| *id != result.id);
        // The summary folds skipped checks by their reason.
        let is_shown = match self.screen.detail {
            Detail::Quiet => is_trouble(&result.outcome),
            Detail::Normal => !matches!(result.outcome, Outcome::Passed | Outcome::Skipped(_)),
            Detail::Verbose => true,
        };
        // A check that ran again with more cases has a second line only for other trouble.
        let before = state.ended.insert(result.id, result.outcome.name());
        let is_other =
            before.is_none_or(|before| is_trouble(&result.outcome) && before != result.outcome.name());
        // The summary folds checks without a result by their reason, of which one line is an example.
        let reasons = result.reasons();
        let is_known = !reasons.is_empty() && reasons.iter().all(|reason| state.reasons.contains(*reason));
        state.reasons.extend(reasons.into_iter().map(str::to_owned));
        let is_shown = is_shown && is_other && (!is_known || self.screen.detail == Detail::Verbose);
        let text = if !is_shown { String::new() } else { check_text(result, &self.screen) };
        if self.live || !text.is_empty() {
            self.write(&state, &text);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checks::registry;

    #[test]
    fn a_terminal_sees_what_runs_now_and_ends_with_a_clean_line() {
        let [first, second] = [0, 1].map(|number| registry()[number]);
        let mut written = Vec::new();
        let progress = Progress::new(&mut written, Screen { width: Some(60), ..Screen::PLAIN }, true);
        progress.begun(&[first, second]);
        for (check, outcome) in [(first, Outcome::Passed), (second, Outcome::Failed)] {
            progress.check_begun(check);
            progress.check_ended(&CheckResult::not_run(check, outcome));
        }
        drop(progress);
        let text = String::from_utf8(written).expect("text");
        assert!(text.contains(&format!("0/2: {}", first.id)[..12]), "{text}");
        assert!(text.ends_with('\n'), "{text:?}");
    }
}

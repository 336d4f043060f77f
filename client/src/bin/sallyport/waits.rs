//! Reports waits before retries on standard error.

use std::{fmt, io::IsTerminal, time::Duration};

use tracing::{
    Event, Metadata, Subscriber,
    field::{Field, Visit},
    span::{Attributes, Id, Record},
};

use crate::print_error;

/// The fields of the client's event before a retry.
const WAIT: &str = "wait_ms";
const COUNT: &str = "http.request.resend_count";
const ERROR: &str = "error";

/// Writes a line for each wait with `--verbose`, and on a terminal.
pub(crate) fn report(is_verbose: bool, max_retries: u32) {
    if is_verbose || std::io::stderr().is_terminal() {
        // It fails only when there is a subscriber already, and this is the only one.
        let _ = tracing::subscriber::set_global_default(WaitReporter { max_retries });
    }
}

struct WaitReporter {
    max_retries: u32,
}

impl Subscriber for WaitReporter {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.is_event()
            && metadata.target().starts_with("sallyport_client")
            && metadata.fields().field(WAIT).is_some()
    }

    fn event(&self, event: &Event<'_>) {
        let mut wait = Wait::default();
        event.record(&mut wait);
        let Wait { error, count, wait } = wait;
        let (seconds, max_retries) = (wait.as_secs_f64(), self.max_retries);
        print_error(&format!("sallyport: {error}; retry {count} of {max_retries} in {seconds:.1} s"));
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        // No span is enabled.
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

#[derive(Default)]
struct Wait {
    error: String,
    count: u64,
    wait: Duration,
}

impl Visit for Wait {
    fn record_u64(&mut self, field: &Field, value: u64) {
        match field.name() {
            WAIT => self.wait = Duration::from_millis(value),
            COUNT => self.count = value,
            _ => {}
        }
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        if field.name() == ERROR {
            self.error = format!("{value:?}");
        }
    }
}

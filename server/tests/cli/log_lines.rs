//! What the log makes of other crates. To the server, this test is one of them.

use std::{cell::Cell, env, fmt, io, panic, process::Command};

use sallyport_server::log::{self, Format};
use serde_json::Value;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::EnvFilter;

use super::shared_buffer::SharedBuffer;

const SECRET: &str = "sally_api_secret";

/// The lines that are logged while `work` is done.
fn logged(filter: &str, format: Format, work: impl FnOnce()) -> Vec<String> {
    let buffer = SharedBuffer::default();
    let writer = buffer.clone();
    let log = log::to(EnvFilter::new(filter), format, move || writer.clone());
    tracing::dispatcher::with_default(&log, work);
    buffer.text().lines().map(str::to_owned).collect()
}

/// Every way in which a text gets into an event, in a span with texts.
fn say() {
    let span = tracing::error_span!("span", text = SECRET, later = tracing::field::Empty);
    span.record("later", SECRET);
    let _inside = span.entered();
    let error: &(dyn std::error::Error + 'static) = &io::Error::other(SECRET);
    tracing::trace!(target: "elsewhere", text = SECRET, shown = %SECRET, debug = ?SECRET, error, "{SECRET}\nforged");
    tracing::error!(count = 7_u64, less = -7_i64, yes = true, "{SECRET}");
}

#[test]
fn an_event_of_another_crate_shows_its_place_and_numbers() {
    let lines = logged("trace", Format::Text, say);
    let [trace, error] = lines.as_slice() else { panic!("{lines:?}") };
    assert!(trace.contains(" TRACE elsewhere: log_lines.rs:"), "{trace}");
    assert!(error.contains(" ERROR integration::cli::log_lines: log_lines.rs:"), "{error}");
    assert!(error.ends_with(" count=7 less=-7 yes=true"), "{error}");
    assert!(!lines.concat().contains(SECRET), "{lines:?}");
}

#[test]
fn in_json_as_well() {
    let lines = logged("trace", Format::Json, say);
    let events: Vec<Value> = lines.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    let [trace, error] = events.as_slice() else { panic!("{lines:?}") };
    assert_eq!((&trace["level"], &trace["target"]), (&"TRACE".into(), &"elsewhere".into()));
    assert!(trace["message"].as_str().unwrap().starts_with("log_lines.rs:"), "{trace}");
    assert_eq!((&error["count"], &error["less"], &error["yes"]), (&7.into(), &(-7).into(), &true.into()));
    assert!(!lines.concat().contains(SECRET), "{lines:?}");
}

/// What the filter leaves out costs nothing: its values are not even looked at.
#[test]
fn an_event_below_the_filter_is_not_formatted() {
    struct CountingDisplay<'a>(&'a Cell<u32>);
    impl fmt::Display for CountingDisplay<'_> {
        fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
            self.0.set(self.0.get() + 1);
            Ok(())
        }
    }
    let asked = Cell::new(0);
    let lines = logged("info", Format::Text, || {
        tracing::debug!("{}", CountingDisplay(&asked));
        tracing::info!("{}", CountingDisplay(&asked));
    });
    assert_eq!((lines.len(), asked.get()), (1, 0), "{lines:?}");
}

#[test]
fn a_panic_shows_its_place_and_constant_words() {
    const CHILD: &str = "SALLYPORT_TEST_PANIC";
    if env::var_os(CHILD).is_some() {
        log::start(EnvFilter::new("info"), Format::Text);
        // Events below it are left out before a subscriber is asked.
        assert_eq!(LevelFilter::current(), LevelFilter::INFO);
        for work in [|| panic!("a constant"), || panic!("the value is {}", env::var(CHILD).unwrap())] {
            assert!(panic::catch_unwind(work).is_err());
        }
        return;
    }
    let child = Command::new(env::current_exe().unwrap())
        .args(["--exact", "cli::log_lines::a_panic_shows_its_place_and_constant_words", "--nocapture"])
        .env(CHILD, SECRET)
        .env("RUST_BACKTRACE", "0")
        .output()
        .unwrap();
    let log = String::from_utf8(child.stderr).unwrap();
    assert!(child.status.success(), "{log}");
    assert_eq!(log.matches("panicked: ").count(), 2, "{log}");
    assert!(log.contains("panicked: a constant place=\"server/tests/cli/log_lines.rs:"), "{log}");
    assert!(!log.contains(SECRET), "{log}");
}

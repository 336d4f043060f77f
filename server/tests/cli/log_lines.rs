//! What the log makes of other crates. To the server, this test is one of them.

use std::{env, panic, process::Command};

use sallyport_server::log::{self, Format};
use tracing::level_filters::LevelFilter;
use tracing_subscriber::EnvFilter;

use super::shared_buffer::SharedBuffer;

const SECRET: &str = "sally_api_secret";

#[test]
fn an_event_of_another_crate_is_not_logged() {
    for format in [Format::Text, Format::Json] {
        let buffer = SharedBuffer::default();
        let writer = buffer.clone();
        let log = log::to(EnvFilter::new("trace"), format, false, move || writer.clone());
        tracing::dispatcher::with_default(&log, || {
            let _inside = tracing::error_span!("span", text = SECRET).entered();
            tracing::error!(text = SECRET, "{SECRET}");
        });
        assert_eq!(buffer.text(), "");
    }
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

//! Logs panics in the log's format. The standard library would print their messages, which can hold a value.

use std::{
    backtrace::{Backtrace, BacktraceStatus},
    panic,
};

/// Logs every panic from now on: its position, its message if that is constant in the source, and the backtrace if
/// `RUST_BACKTRACE` is set.
pub(super) fn log() {
    panic::set_hook(Box::new(|info| {
        let words = info.payload().downcast_ref::<&'static str>();
        let words = words.copied().unwrap_or("message not shown, because it can hold a value");
        let place = info.location().map(ToString::to_string).unwrap_or_default();
        tracing::error!(place, "panicked: {words}");
        let backtrace = Backtrace::capture();
        if backtrace.status() == BacktraceStatus::Captured {
            backtrace.to_string().lines().for_each(|line| tracing::error!("{line}"));
        }
    }));
}

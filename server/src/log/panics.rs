//! Panics in the log, in its format. The standard library would print their words, which can hold a value.

use std::{
    backtrace::{Backtrace, BacktraceStatus},
    panic,
};

/// Logs every panic from now on: its place, its words where they stand in the source, and the backtrace that
/// `RUST_BACKTRACE` asks for.
pub(super) fn log() {
    panic::set_hook(Box::new(|info| {
        let words = info.payload().downcast_ref::<&'static str>();
        let words = words.copied().unwrap_or("its words are not shown: they can hold a value");
        let place = info.location().map(ToString::to_string).unwrap_or_default();
        tracing::error!(place, "panicked: {words}");
        let backtrace = Backtrace::capture();
        if backtrace.status() == BacktraceStatus::Captured {
            backtrace.to_string().lines().for_each(|line| tracing::error!("{line}"));
        }
    }));
}

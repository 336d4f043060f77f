//! The forms of a report. Only these and the program write.

mod cause;
mod curl;
mod evidence;
mod format;
mod har;
mod junit;
mod markdown;
mod panics;
mod progress;
mod prometheus;
mod screen;
mod template;
mod terminal;
mod view;
mod words;

pub use crate::plain::{plain, plain_lines};
pub use crate::quantity::quantity;
pub use curl::command as curl;
pub use evidence::evidence;
pub(crate) use format::pretty as pretty_json;
pub use format::{Format, schema};
pub use har::CUT as HAR_CUT;
pub(crate) use har::entry as har_entry;
#[cfg(feature = "embedded")]
pub(crate) use junit::{Suite as JunitSuite, Test as JunitTest, document as junit_document};
pub use markdown::{job_summary, without_commands};
pub use panics::hush_panics;
pub use progress::Progress;
pub use screen::{Detail, Screen};
#[cfg(feature = "embedded")]
pub(crate) use template::render_lines;
pub(crate) use template::{Template, render, template};
pub use terminal::{check_text, failures, summary};
#[cfg(feature = "embedded")]
pub(crate) use words::counted;
pub use words::{detected, first_evidence};

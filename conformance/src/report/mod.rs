//! The forms of a report. Only these and the program write.

mod curl;
mod json;
mod terminal;

pub use json::json;
pub use terminal::{Style, Terminal, check_line, failures, summary};

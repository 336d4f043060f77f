//! Chooses, orders and runs checks. Prints nothing: an observer is told what happens, and a report comes out.

mod observer;
mod outcome;
mod select;
mod suite;

pub use observer::{Observer, Silent};
pub use outcome::{CheckResult, ClauseSummary, Report, Totals, Verdict};
pub use select::{Glob, Selection};
pub use suite::{Options, SetupError, Suite};

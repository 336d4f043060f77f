//! The faults, by the operation and the rule that they break.

mod all;
pub mod edit;
mod groups;

use crate::fault::Fault;

/// Every fault.
pub fn all() -> Vec<Fault> {
    [all::faults(), groups::faults()].into_iter().flatten().collect()
}

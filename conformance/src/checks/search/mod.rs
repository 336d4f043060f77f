//! Checks of the static instance search, by topic.

pub(super) mod account;
mod activated;
mod addresses;
mod batch;
mod body;
mod consistent;
pub(super) mod discovery;
mod envelope;
mod filters;
mod input;
mod intersection;
mod known;
mod likeness;
mod matching;
mod members;
mod paging;
mod read_only;
mod rules;
mod surveyed;
mod watched;

pub(super) use read_only::FirstSearches;

use crate::check::Check;
use crate::contract::OperationId;

/// What the checks of this operation have in common.
const SEARCH: Check = Check { operation: Some(OperationId::Search), ..Check::TEMPLATE };

pub(super) static TABLES: &[&[Check]] = &[
    account::CHECKS,
    activated::CHECKS,
    batch::CHECKS,
    body::CHECKS,
    consistent::CHECKS,
    envelope::CHECKS,
    filters::CHECKS,
    input::CHECKS,
    intersection::CHECKS,
    known::CHECKS,
    matching::CHECKS,
    members::CHECKS,
    paging::CHECKS,
    read_only::CHECKS,
    watched::CHECKS,
];

//! Searches as values ([`Query`]), and what holds between their results ([`Relation`]).
//!
//! The suite does not know the data of a service. It surveys the supplied addresses once, and compares other results with that
//! survey. When something differs, it reads the survey again, so that data that changed meanwhile is not reported.

mod combination;
mod comparison;
mod filter;
mod instance;
mod query;
mod relations;
mod response;
mod result;
mod survey;
pub(crate) mod values;

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use crate::check::{Probe, ResponseClass, Stop, accepted};
use crate::contract::Clause::{self, *};
use crate::contract::{Match, Search, SearchFilter};
use crate::quantity::quantity;
use crate::target::Fact;
use crate::wire::{Exchange, Request, Response};

use query::Items;

pub(crate) use combination::{combinations, excluding, meeting, shown_by_all_but};
pub(crate) use comparison::{Difference, relate, report};
pub(crate) use filter::{FieldValue, Filter, FilterKind, kind_of, kinds, shown_kinds};
pub(crate) use instance::{Instance, address_of, respell, without_port};
pub(crate) use query::{Query, Writing};
pub(crate) use relations::{Reader, Relation};
pub(crate) use response::{counts, echo, is_of_filter, misfits};
pub(crate) use result::{Page, ResultSet, page, read, read_accepted, read_if_accepted, read_unless_rejected};
pub(crate) use survey::{BATCHES, Survey, Surveys, survey};

/// Ends the case as skipped: the supplied addresses lack something. `add` says what to add, such as "more addresses".
pub(crate) fn lacks_addresses(probe: &Probe<'_>, lacks: &str, add: &str) -> Stop {
    probe.skip_lacking(lacks, add, Fact::OwnAddresses)
}

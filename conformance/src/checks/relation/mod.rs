//! Results of searches as sets of instances, and how they are compared with each other.
//!
//! The suite does not know the data of a service. It surveys the supplied addresses once, and every relation is compared with that
//! survey; when something differs, the survey is read again, so that data that moved meanwhile is no finding.

mod batch;
mod combination;
mod comparison;
mod filter;
mod instance;
mod result;
mod survey;
pub(crate) mod values;

pub(crate) use batch::Batch;
pub(crate) use combination::{combinations, excluding, meeting};
pub(crate) use comparison::Comparison;
pub(crate) use filter::{Filter, FilterKind, apply};
pub(crate) use instance::{Instance, address_of, without_port};
pub(crate) use result::{
    Page, ResultSet, accepts_search, page, read, read_accepted, read_accepted_in, read_unless_rejected,
};
pub(crate) use survey::{Survey, Surveys, survey};

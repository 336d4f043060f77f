//! The checks of the extraction, by topic. The topics share the words that are imported here.

pub(super) mod access;
pub(super) mod discovery;
pub(super) mod envelope;
mod link;
mod region;
mod request_id;
mod supply;

use crate::check::{
    Case, Check, Cost, Decision, ObservedExchange, PassiveFinding, Probe, ResponseClass, Severity, Stop,
    accepted,
};
use crate::checks::State;
use crate::checks::extraction::content::{self, Served, THROTTLED, gives_gateways};
use crate::checks::extraction::{Extraction, Place, Transport, named_region, shortage};
use crate::checks::row::{Edit, SEPARATOR, flow, with};
use crate::checks::rule::{Program, active, first, passive};
use crate::contract::Clause::*;
use crate::contract::part::*;
use crate::contract::{Extract, OperationId, Unspecified};
use crate::quantity::quantity;
use crate::response::request_ids;
use crate::target::{Fact, Facts, GatewayPool};
use crate::wire::{Exchange, Request, Response};

/// The forms with this name in rows.
fn forms(extract: &Extract, name: &str) -> impl Iterator<Item = Extraction> {
    Extraction::named(extract, name).into_iter().flatten()
}

pub(super) static PROGRAMS: &[&[Program]] = &[
    access::PROGRAMS,
    envelope::PROGRAMS,
    link::PROGRAMS,
    region::PROGRAMS,
    request_id::PROGRAMS,
    supply::PROGRAMS,
];

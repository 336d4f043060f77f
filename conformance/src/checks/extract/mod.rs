//! The checks of the extraction, by topic. The topics share the words that are imported here.

pub(super) mod access;
pub(super) mod discovery;
pub(super) mod envelope;
mod link;
pub(super) mod region;
mod request_id;
mod supply;

use std::sync::Arc;

use crate::check::{
    Case, Check, Cost, Decision, ObservedExchange, PassiveFinding, Probe, ResponseClass, Severity, Stop,
    accepted,
};
use crate::checks::State;
use crate::checks::extraction::content::{self, Served, THROTTLED, gives_gateways};
use crate::checks::extraction::{Extraction, Transport, shortage};
use crate::checks::row::{Flow, Row};
use crate::checks::rule::{Program, active, first, passive};
use crate::contract::Clause::*;
use crate::contract::part::*;
use crate::contract::{OperationId, Unspecified};
use crate::quantity::quantity;
use crate::response::request_ids;
use crate::target::{Fact, Facts, GatewayPool};
use crate::wire::{Exchange, Request, Response};

pub(super) static PROGRAMS: &[&[Program]] =
    &[envelope::PROGRAMS, region::PROGRAMS, request_id::PROGRAMS, supply::PROGRAMS];

/// What judges the cases of rows that begin with these words.
pub(super) const FLOWS: [(&str, Flow); 13] = [
    ("after-another", |probe, row| Box::pin(region::after_another(probe, row))),
    ("after-empty", |probe, row| Box::pin(region::after_empty(probe, row))),
    ("as-many", |probe, row| Box::pin(region::as_many(probe, row))),
    ("concurrent", |probe, row| Box::pin(request_id::concurrent(probe, row))),
    ("each-protocol", |probe, row| Box::pin(access::other_protocol(probe, row))),
    ("empty", |probe, row| Box::pin(region::empty(probe, row))),
    ("error", |probe, row| Box::pin(envelope::judge_post(probe, row))),
    ("forged", |probe, row| Box::pin(envelope::forged(probe, row))),
    ("link", |probe, row| Box::pin(link::accepted(probe, row))),
    ("link-short", |probe, row| Box::pin(link::in_empty_region(probe, row))),
    ("per-account", |probe, row| Box::pin(request_id::per_account(probe, row))),
    ("separator-alone", |probe, row| Box::pin(envelope::separator_alone(probe, row))),
    ("shortage", |probe, row| Box::pin(supply::shortage(probe, row))),
];

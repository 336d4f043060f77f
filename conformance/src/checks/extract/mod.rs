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
use crate::checks::row::{Edit, Flow, Reads, Row};
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

/// What judges the cases of rows that begin with these words, and what it reads of them.
pub(super) const FLOWS: [(&str, Reads, Flow); 13] = [
    ("after-another", Reads::Form, |probe, row| Box::pin(region::after_another(probe, row))),
    ("after-empty", Reads::Form, |probe, row| Box::pin(region::after_empty(probe, row))),
    ("as-many", Reads::Request, |probe, row| Box::pin(region::as_many(probe, row))),
    ("concurrent", Reads::Requests(1), |probe, row| Box::pin(request_id::concurrent(probe, row))),
    ("each-protocol", Reads::Form, |probe, row| Box::pin(access::other_protocol(probe, row))),
    ("empty", Reads::Request, |probe, row| Box::pin(region::empty(probe, row))),
    ("error", Reads::Requests(1), |probe, row| Box::pin(envelope::judge_post(probe, row))),
    ("forged", Reads::Requests(2), |probe, row| Box::pin(envelope::forged(probe, row))),
    ("link", Reads::Form, |probe, row| Box::pin(link::accepted(probe, row))),
    ("link-short", Reads::Form, |probe, row| Box::pin(link::in_empty_region(probe, row))),
    ("per-account", Reads::Requests(3), |probe, row| Box::pin(request_id::per_account(probe, row))),
    ("separator-alone", Reads::Request, |probe, row| Box::pin(envelope::separator_alone(probe, row))),
    ("shortage", Reads::Request, |probe, row| Box::pin(supply::shortage(probe, row))),
];

//! The checks of the extraction, by topic. The topics share the words that are imported here.

mod access;
mod combinations;
pub(super) mod discovery;
mod empty_region;
mod envelope;
mod gateways;
mod limits;
mod link;
mod num;
mod post;
mod protocol;
mod region;
mod replay;
mod request_id;
mod separator_input;
mod supply;
mod text;
mod token;

use crate::check::{
    Case, Check, Cost, Decision, ObservedExchange, PassiveFinding, Probe, ResponseClass, Scope, Severity,
    Stop, accepted,
};
use crate::checks::State;
use crate::checks::extraction::content::{self, Judge, Served, THROTTLED, gives_gateways};
use crate::checks::extraction::{Asked, Extraction, Place, Transport, named_region, shortage};
use crate::checks::near::near;
use crate::checks::requests::protocol_to_name;
use crate::checks::row::{
    self, Credential, Drop, Edit, Max, Min, Row, SEPARATOR, Then, Unless, accept, alike, cases, each, flow,
    in_three, in_two, of_bytes, reject, set, values, with,
};
use crate::checks::rule::{Program, active, first, passive, stated};
use crate::checks::token::WrongToken;
use crate::contract::Clause::{self, *};
use crate::contract::part::*;
use crate::contract::{Extract, OperationId, Separator, Unspecified, boundaries};
use crate::grammar::{Spelling, integer_texts};
use crate::quantity::quantity;
use crate::response::request_ids;
use crate::target::{Fact, Facts, GatewayPool};
use crate::wire::{Exchange, Request, Response};

pub(super) static PROGRAMS: &[&[Program]] = &[
    access::PROGRAMS,
    combinations::PROGRAMS,
    empty_region::PROGRAMS,
    envelope::PROGRAMS,
    gateways::PROGRAMS,
    limits::PROGRAMS,
    link::PROGRAMS,
    num::PROGRAMS,
    post::PROGRAMS,
    protocol::PROGRAMS,
    region::PROGRAMS,
    replay::PROGRAMS,
    request_id::PROGRAMS,
    separator_input::PROGRAMS,
    supply::PROGRAMS,
    text::PROGRAMS,
    token::PROGRAMS,
];

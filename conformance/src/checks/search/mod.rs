//! Checks of the static instance search, by topic. The topics share the words that are imported here.

pub(super) mod account;
pub(super) mod addresses;
mod consistent;
pub(super) mod discovery;
mod known;
mod likeness;
mod read_only;
mod results;
mod rules;
pub(super) mod searches;
mod surveyed;
mod watched;
mod words;

pub(super) use read_only::FirstSearches;
pub(super) use rules::rules;

use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use serde_json::Value as Json;

use crate::check::{Case, Check, Cost, ObservedExchange, PassiveFinding, Probe, Scope, Stop};
use crate::checks::near::near;
use crate::checks::relation::values::instant;
use crate::checks::relation::{
    BATCHES, FieldValue, Filter, FilterKind, Instance, Query, Relation, ResultSet, Survey, Writing,
    address_of, combinations, kind_of, kinds, lacks_addresses, read, read_accepted, read_unless_rejected,
    relate, respell, shown_kinds, survey,
};
use crate::checks::row::edited;
use crate::checks::rule::{Program, active, first, passive};
use crate::checks::token::other_spellings;
use crate::contract::Clause::{self, *};
use crate::contract::part::*;
use crate::contract::{OperationId, Search, SearchFilter};
use crate::quantity::quantity;
use crate::target::Fact;
use crate::wire::{Exchange, Request, Response};

use surveyed::{Account, surveyed};

pub(super) static PROGRAMS: &[&[Program]] = &[
    account::PROGRAMS,
    consistent::PROGRAMS,
    known::PROGRAMS,
    read_only::PROGRAMS,
    results::PROGRAMS,
    watched::PROGRAMS,
    &[active("search.token.single", |scope| other_spellings(&scope.contract.search.operation))],
];

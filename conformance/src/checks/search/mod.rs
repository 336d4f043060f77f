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
mod watched;
mod words;

pub(super) use read_only::FirstSearches;
pub(super) use rules::rules;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use serde_json::Value as Json;

use crate::check::{Case, CaseFn, Check, Cost, ObservedExchange, PassiveFinding, Probe, Scope, Stop};
use crate::checks::near::near;
use crate::checks::relation::values::instant;
use crate::checks::relation::*;
use crate::checks::row::edited;
use crate::checks::rule::{Program, active, first, passive};
use crate::checks::token::other_spellings;
use crate::contract::Clause::{self, *};
use crate::contract::part::*;
use crate::contract::{OperationId, Search};
use crate::quantity::quantity;
use crate::target::Fact;
use crate::wire::{Exchange, Request, Response};

pub(super) static PROGRAMS: &[&[Program]] = &[
    account::PROGRAMS,
    consistent::PROGRAMS,
    known::PROGRAMS,
    read_only::PROGRAMS,
    results::PROGRAMS,
    watched::PROGRAMS,
    &[active("search.token.single", |scope| other_spellings(&scope.contract.search.operation))],
];

/// What searches are chosen from: the instances at the supplied addresses, and the contract.
#[derive(Debug, Clone, Copy)]
struct Account<'a> {
    probe: &'a Probe<'a>,
    survey: &'a Survey,
    search: &'a Search,
}

/// Cases that compare results with the survey, each with its label, its own requests and its data.
fn surveyed<L: Into<Cow<'static, str>>, T: Clone + Send + Sync + 'static>(
    cases: impl IntoIterator<Item = (L, u32, T)>,
    run: impl for<'p> CaseFn<'p, (T,)> + Copy,
) -> Vec<Case> {
    const SURVEY_AND_ORDERS: u32 = 4;
    // A run reads the survey once. Each case reserves a request for the reading that follows a difference.
    let case = |(label, requests, data)| {
        let case = Case::for_data(label, Cost::requests(requests + 1), data, run);
        case.sharing_in_run(Survey::CONTROL, Cost::requests(SURVEY_AND_ORDERS))
    };
    cases.into_iter().map(case).collect()
}

impl<'a> Account<'a> {
    async fn read(probe: &'a Probe<'a>) -> Result<Self, Stop> {
        Ok(Self { probe, survey: survey(probe).await?, search: &probe.contract().search })
    }

    /// Ends the case as skipped, since the supplied addresses lack something.
    fn lacks(self, lacks: &str, add: &str) -> Stop {
        lacks_addresses(self.probe, lacks, add)
    }

    /// What was chosen; skips the case when that is nothing.
    fn some<T>(self, chosen: Vec<T>) -> Result<Vec<T>, Stop> {
        let lacks = || self.lacks("no suitable one of the searched addresses has an instance", "one");
        if chosen.is_empty() { Err(lacks()) } else { Ok(chosen) }
    }
}

//! Cases that compare results with the survey.

use std::borrow::Cow;

use super::*;
use crate::check::CaseFn;
use crate::checks::relation::meeting;

/// What searches are chosen from: the instances at the supplied addresses, and the contract.
#[derive(Debug, Clone, Copy)]
pub(super) struct Account<'a> {
    pub(super) probe: &'a Probe<'a>,
    pub(super) survey: &'a Survey,
    pub(super) search: &'a Search,
}

/// Cases that compare results with the survey, each with its label, its own requests and its data.
pub(super) fn surveyed<L: Into<Cow<'static, str>>, T: Clone + Send + Sync + 'static>(
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
    pub(super) async fn read(probe: &'a Probe<'a>) -> Result<Self, Stop> {
        Ok(Self { probe, survey: survey(probe).await?, search: &probe.contract().search })
    }

    /// Ends the case as skipped, since the supplied addresses lack something.
    pub(super) fn lacks(self, lacks: &str, add: &str) -> Stop {
        lacks_addresses(self.probe, lacks, add)
    }

    /// What was chosen; skips the case when that is nothing.
    pub(super) fn some<T>(self, chosen: Vec<T>) -> Result<Vec<T>, Stop> {
        let lacks = || self.lacks("no suitable one of the searched addresses has an instance", "one");
        if chosen.is_empty() { Err(lacks()) } else { Ok(chosen) }
    }

    pub(super) fn batch(self, name: &str) -> Result<Query, Stop> {
        let batch = self.survey.batches(self.search).iter().find(|batch| batch.name == Some(name));
        let lacks = || self.lacks(&format!("the searched addresses have no {name}"), "more addresses");
        batch.cloned().ok_or_else(lacks)
    }

    /// Filters of these kinds that some instance passes together.
    pub(super) fn meeting(self, kinds: &[FilterKind]) -> Result<Vec<Filter>, Stop> {
        let lacks = "no instance at the searched addresses has values for all of these filters";
        meeting(self.survey, kinds).ok_or_else(|| self.lacks(lacks, "more addresses"))
    }
}

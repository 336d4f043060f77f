//! Cases that judge searches by a relation: a row says which searches, the relation what must come back.

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

/// Chooses the searches of a case, made from the data of its row.
pub(super) type Choose<T> = fn(Account<'_>, T) -> Result<Vec<Query>, Stop>;

pub(super) const BATCHES: [&str; 5] = [
    "addresses",
    "addresses with ports",
    "IPv6 addresses with ports",
    "addresses with and without ports",
    "IPv4 addresses with ports",
];

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

/// A case for each row: its label, the number of its own requests, and the data from which its searches are chosen.
pub(super) fn rows<L: Into<Cow<'static, str>>, T: Clone + Send + Sync + 'static>(
    relation: Relation,
    rows: impl IntoIterator<Item = (L, u32, T)>,
    choose: Choose<T>,
) -> Vec<Case> {
    let rows = rows.into_iter().map(|(label, requests, data)| (label, requests, (relation, choose, data)));
    surveyed(rows, judge)
}

pub(super) fn row(
    relation: Relation,
    label: &'static str,
    requests: u32,
    choose: fn(Account<'_>, ()) -> Result<Vec<Query>, Stop>,
) -> Vec<Case> {
    rows(relation, [(label, requests, ())], choose)
}

/// A case that is planned as if it read the survey by itself.
pub(super) fn alone(
    relation: Relation,
    label: &'static str,
    requests: u32,
    choose: fn(Account<'_>, ()) -> Result<Vec<Query>, Stop>,
) -> Case {
    Case::for_data(label, Cost::requests(requests), (relation, choose, ()), judge)
}

async fn judge<T>(probe: &Probe<'_>, (relation, choose, data): (Relation, Choose<T>, T)) -> Result<(), Stop> {
    let account = Account::read(probe).await?;
    relate(probe, account.survey, relation, &choose(account, data)?).await
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

    /// The surveyed addresses of a family that have instances, those with the most first.
    pub(super) fn held(self, is_v6: impl Into<Option<bool>>) -> Result<Vec<IpAddr>, Stop> {
        let is_v6 = is_v6.into();
        let is_wanted = |ip: &IpAddr| is_v6.is_none_or(|is_v6| ip.is_ipv6() == is_v6);
        self.some(self.survey.values(|instance| Some(instance.ip).filter(is_wanted)))
    }

    pub(super) fn at(self, addresses: impl IntoIterator<Item = IpAddr>) -> Query {
        Query::new(addresses.into_iter().map(|ip| self.survey.spelt(ip)))
    }

    pub(super) fn batch(self, name: &str) -> Result<Query, Stop> {
        let batch = self.survey.batches(self.search).iter().find(|batch| batch.name == Some(name));
        let lacks = || self.lacks(&format!("the searched addresses have no {name}"), "more addresses");
        batch.cloned().ok_or_else(lacks)
    }

    /// Filters of these kinds that some instance passes together.
    pub(super) fn meeting(self, kinds: &[FilterKind]) -> Result<Vec<Filter>, Stop> {
        self.passing(meeting(self.survey, kinds))
    }

    pub(super) fn passing(self, filters: Option<Vec<Filter>>) -> Result<Vec<Filter>, Stop> {
        let lacks = "no instance at the searched addresses has values for all of these filters";
        filters.ok_or_else(|| self.lacks(lacks, "more addresses"))
    }

    /// Filters of one kind that some instance passes.
    pub(super) fn candidates(self, kind: FilterKind) -> Result<Vec<Filter>, Stop> {
        let candidates = self.survey.candidates(kind);
        // Countries in two spellings are not among them, since whether one spelling finds the other is unspecified.
        let lacks = "no instance at the searched addresses has a value with an unambiguous meaning";
        if candidates.is_empty() { Err(self.lacks(lacks, "more addresses")) } else { Ok(candidates) }
    }

    /// A search for all of it with a value that no instance is known to have, which a service may reject.
    pub(super) fn unknown(self, filter: Filter) -> Query {
        Query { is_open: true, ..self.survey.query() }.filtered([filter])
    }

    /// A query for each page of this size that contains surveyed instances.
    pub(super) fn pages(self, query: Query, size: i64) -> Vec<Query> {
        self.survey.pages(self.search, size).map(|number| query.clone().on_page(number, size)).collect()
    }

    /// Unused addresses that fill a batch of so many items.
    pub(super) fn fill(self, taken: &[String]) -> Vec<String> {
        let max = self.search.distinct_items;
        let free = addresses::distinct(max).into_iter().filter(|item| !taken.contains(item));
        free.take(max.saturating_sub(taken.len())).collect()
    }
}

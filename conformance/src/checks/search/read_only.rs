//! Searches must not change anything.

use super::*;
use crate::checks::State as RunState;

pub(super) static PROGRAMS: &[Program] = &[
    first("search.read-only.first", |_| {
        Case::single(Cost::requests(4 * FirstSearches::BATCHES as u32), first_searches)
    }),
    active("search.read-only.repeat", |_| {
        let rounds: [(_, _, Rounds); 2] =
            [("groups, by each of them", 2 + 3 * GROUPS, of_each_group), ("rounds", 12, alike)];
        let mut cases = surveyed(rounds, unchanged);
        cases.push(Case::new("two searches with one request id", Cost::requests(4), one_request_id));
        cases
    }),
];

/// What a run sees when it searches for some instances for the first time and at once again. A search that changes what it finds
/// does so only once, so a retry of the case has the same result.
#[derive(Debug, Default)]
pub(crate) struct FirstSearches {
    /// Batches whose instances or fields were others at the second search, and at the third the same as at the second.
    changed: usize,
    evidence: Vec<Exchange>,
}

impl FirstSearches {
    const BATCHES: usize = 4;
    const ADDRESSES: usize = 16;
    /// Something else may have changed a single batch.
    const ENOUGH: usize = 2;

    async fn read(probe: &Probe<'_>) -> Result<Self, Stop> {
        let mut seen = Self::default();
        let own: Vec<&str> = probe.own_addresses(Self::BATCHES * Self::ADDRESSES);
        let batches = own.chunks(own.len().div_ceil(Self::BATCHES).max(1));
        for (batch, status) in batches.zip(probe.contract().search.statuses.iter().cycle()) {
            let request = probe.search(batch.iter().copied());
            // One that shows the new state at once finds what does not have the old status, which a passive check judges.
            let filtered = read(probe, &request.clone().field(STATUS, status.as_str())).await?;
            let (before, after) = (read(probe, &request).await?, read(probe, &request).await?);
            let differs = |(id, shown): (&i64, &Instance)| after.instances.get(id) != Some(shown);
            let is_changed = before.instances != after.instances || filtered.instances.iter().any(differs);
            // Data that continues to change is not changed by a first search.
            if is_changed && read(probe, &request).await?.instances == after.instances {
                seen.changed += 1;
                let searches = [filtered, before, after].into_iter();
                seen.evidence.extend(searches.flat_map(|found| found.exchanges));
            }
        }
        Ok(seen)
    }
}

async fn first_searches(probe: &Probe<'_>) -> Result<(), Stop> {
    let known = &probe.state::<RunState>()?.first_searches;
    let FirstSearches { changed, evidence } = known.get_or_try_init(|| FirstSearches::read(probe)).await?;
    if *changed >= FirstSearches::ENOUGH {
        let expected = "the same instances when a search is repeated";
        let actual = format!("fields or instances of {changed} batches changed right after the first search");
        probe.finding(SearchReadOnly, expected, &actual, &evidence.iter().collect::<Vec<_>>());
    }
    Ok(())
}

/// The request id of a search is only a trace id: a second search with the same id has its own result.
async fn one_request_id(probe: &Probe<'_>) -> Result<(), Stop> {
    let own = probe.own_addresses(2);
    let [one, other] = own[..] else {
        return Err(lacks_addresses(probe, "it takes two addresses", "a second one"));
    };
    let (one, other) = (probe.search([one]), probe.search([other]));
    let (plain, own) = (read(probe, &one).await?, read(probe, &other).await?);
    if plain.instances == own.instances {
        return Err(probe.skip("searches for two addresses find the same"));
    }
    let id = probe.fresh_request_id();
    let before = read(probe, &one.header(REQUEST_ID_HEADER, &id)).await?;
    let found = read(probe, &other.header(REQUEST_ID_HEADER, &id)).await?;
    if found.instances == plain.instances {
        let expected = "the instances of its own address, whatever request id it carries";
        let actual = "those of an earlier search with the same X-Request-Id";
        let judged = [before.evidence(), found.evidence()].concat();
        probe.finding_beside(SearchEnvelope, expected, actual, &judged, &own.evidence());
    }
    Ok(())
}

/// The group that searches are about, if they are about one, and the searches.
type Round = (Option<i64>, Vec<Query>);

type Rounds = fn(Account<'_>) -> Result<Vec<Round>, Stop>;

const GROUPS: u32 = 4;

/// If several groups change at their first search, the search changes them.
fn of_each_group(account: Account<'_>) -> Result<Vec<Round>, Stop> {
    let held = account.survey.numbers(GROUP_ID).into_iter().take(GROUPS as usize);
    let round = |group| {
        let filter = kind_of(GROUP_ID).map(|kind| kind.with(FieldValue::Number(group)));
        (Some(group), vec![account.survey.query().filtered(filter)])
    };
    account.some(held.map(round).collect())
}

fn alike(account: Account<'_>) -> Result<Vec<Round>, Stop> {
    let candidates = |kind| account.survey.candidates(kind).into_iter().take(1);
    let kinds = [STATUS, GROUP_ID, ACTIVATED_FROM].into_iter().filter_map(kind_of);
    let round = kinds.map(|kind| account.survey.query().filtered(candidates(kind))).collect();
    Ok(vec![(None, round); 2])
}

/// Data that changes in two rounds of searches is changed by them. A single change may have another cause, and so may one of other
/// data than the group that is searched for.
async fn unchanged(probe: &Probe<'_>, rounds: Rounds) -> Result<(), Stop> {
    let account = Account::read(probe).await?;
    let rounds = rounds(account)?;
    let mut states = vec![State::read(account).await?];
    for (_, round) in &rounds {
        for query in round {
            read(probe, &query.request(probe)).await?;
        }
        states.push(State::read(account).await?);
    }
    let changed = |((group, _), pair): (&Round, &[State])| match group {
        Some(group) => (pair[0].group(*group) != pair[1].group(*group)).then_some("the searched group"),
        None if pair[0].instances != pair[1].instances => Some("instances"),
        None => (pair[0].groups != pair[1].groups).then_some("groups"),
    };
    let changed: Vec<_> = rounds.iter().zip(states.windows(2)).filter_map(changed).collect();
    match changed[..] {
        [] => Ok(()),
        [_] => Err(probe.inconclusive("the data changed once while it was read; run it again")),
        [what, ..] => {
            let evidence: Vec<_> = states.iter().flat_map(|state| &state.exchanges).collect();
            let expected = "the same instances and groups before and after searches";
            let actual =
                format!("{what} changed in {} of {} rounds of searches", changed.len(), rounds.len());
            probe.finding(SearchReadOnly, expected, &actual, &evidence);
            Ok(())
        }
    }
}

struct State {
    instances: BTreeMap<i64, Instance>,
    groups: Option<Json>,
    exchanges: Vec<Exchange>,
}

impl State {
    fn group(&self, id: i64) -> Option<&Json> {
        self.groups.as_ref()?.as_array()?.iter().find(|group| group[GROUP_ID] == id)
    }

    async fn read(Account { probe, survey, .. }: Account<'_>) -> Result<Self, Stop> {
        let ResultSet { instances, mut exchanges, .. } = read(probe, &survey.request).await?;
        let listing = probe.control(&probe.groups()).await?;
        exchanges.push(listing.exchange);
        Ok(Self { instances, groups: listing.response.at("/data/items").cloned(), exchanges })
    }
}

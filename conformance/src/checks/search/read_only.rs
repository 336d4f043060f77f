//! Searches must not change anything.

use serde_json::Value;

use super::SEARCH;
use crate::check::{Case, Check, Cost, Probe, Run, Stop};
use crate::checks::relation::{Instance, ResultSet, Survey, kinds_of, lacks_addresses, read, survey};
use crate::checks::{Requests, State as RunState};
use crate::contract::Clause;
use crate::contract::part::{ACTIVATED_FROM, GROUP_ID, REQUEST_ID_HEADER, STATUS};
use crate::quantity::quantity;
use crate::target::Fact;
use crate::wire::{Exchange, Request, Response};

pub(super) static CHECKS: &[Check] = &[
    Check {
        id: "search.read-only.first",
        title: "the first search for an instance does not change it",
        why: "A search that moves instances to another group, or renews them, does so once, and nobody finds the cause.",
        clauses: &[Clause::SearchReadOnly],
        needs: &[Fact::OwnAddresses],
        run: Run::FirstCases(|_| {
            let requests = u32::try_from(4 * FirstSearches::BATCHES).unwrap_or(u32::MAX);
            Case::single(Cost::requests(requests), first)
        }),
        ..SEARCH
    },
    Check {
        id: "search.read-only.repeat",
        title: "searches change neither the instances nor the groups",
        why: "Searches run often and unattended. If they change groups or instances, nobody finds the cause.",
        clauses: &[Clause::SearchReadOnly, Clause::SearchEnvelope],
        needs: &[Fact::OwnAddresses],
        run: Run::Cases(|_| {
            vec![
                Case::new("groups, by each of them", Cost::requests(2 + 3 * GROUPS), each_group),
                Case::new("rounds", Cost::requests(17), rounds),
                Case::new("two searches with one request id", Cost::requests(4), one_request_id),
            ]
        }),
        ..SEARCH
    },
];

/// What a run sees when it searches for some instances for the first time and at once again. A search that changes what it finds
/// does so only once, so a retry of the case has the same result.
#[derive(Debug, Default)]
pub(in crate::checks) struct FirstSearches {
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
            // A search that changes what it shows may show the new state at once. Then one by the old status finds what does not
            // have it, which a passive check judges.
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

async fn first(probe: &Probe<'_>) -> Result<(), Stop> {
    let known = &RunState::from_probe(probe)?.first_searches;
    let FirstSearches { changed, evidence } = known.get_or_try_init(|| FirstSearches::read(probe)).await?;
    if *changed >= FirstSearches::ENOUGH {
        let expected = "the same instances when a search is repeated";
        let actual = format!("fields or instances of {changed} batches changed right after the first search");
        probe.finding(Clause::SearchReadOnly, expected, &actual, &evidence.iter().collect::<Vec<_>>());
    }
    Ok(())
}

const GROUPS: u32 = 4;

/// If several groups change at their first search, the search changes them.
async fn each_group(probe: &Probe<'_>) -> Result<(), Stop> {
    let survey = survey(probe).await?;
    let held = survey.numbers(GROUP_ID);
    if held.is_empty() {
        return Err(lacks_addresses(
            probe,
            "no instance at the searched addresses is in a group",
            "addresses of such instances",
        ));
    }
    let mut evidence = Vec::new();
    for group in held.into_iter().take(usize::try_from(GROUPS).unwrap_or(1)) {
        let before = probe.control(&probe.groups()).await?;
        read(probe, &survey.request.clone().field(GROUP_ID, group)).await?;
        let after = probe.control(&probe.groups()).await?;
        let shown = |response: &Response| {
            let items = response.at("/data/items").and_then(Value::as_array);
            items.into_iter().flatten().find(|item| item[GROUP_ID] == group).cloned()
        };
        if shown(&before.response) != shown(&after.response) {
            evidence.extend([before.exchange, after.exchange]);
        }
    }
    if evidence.len() > 2 {
        let expected = "the same group before and after a search by it";
        let actual = format!("{} changed at the first search", quantity(evidence.len() / 2, "group"));
        probe.finding(Clause::SearchReadOnly, expected, &actual, &evidence.iter().collect::<Vec<_>>());
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
        probe.finding_beside(Clause::SearchEnvelope, expected, actual, &judged, &own.evidence());
    }
    Ok(())
}

/// Data that changes in each of several rounds of searches is changed by them. A single change may have another cause.
async fn rounds(probe: &Probe<'_>) -> Result<(), Stop> {
    let survey = survey(probe).await?;
    let groups = probe.groups();
    let mut states = vec![State::read(probe, survey, &groups).await?];
    for _ in 0..ROUNDS {
        for kind in kinds_of(&[STATUS, GROUP_ID, ACTIVATED_FROM]) {
            let filter = survey.candidates(kind).into_iter().take(1);
            read(probe, &survey.query().filtered(filter).request(probe)).await?;
        }
        states.push(State::read(probe, survey, &groups).await?);
    }
    let changed = |pair: &&[State]| {
        pair[0].instances.instances != pair[1].instances.instances || pair[0].groups != pair[1].groups
    };
    let changes = states.windows(2).filter(changed).count();
    if changes == 0 {
        return Ok(());
    }
    if changes < ROUNDS {
        return Err(probe.inconclusive("the data changed once while it was read; run it again"));
    }
    let evidence: Vec<_> = states.iter().flat_map(|state| state.instances.evidence()).collect();
    let expected = "the same instances and groups before and after searches";
    let instances = states.windows(2).any(|pair| pair[0].instances.instances != pair[1].instances.instances);
    let what = if instances { "instances" } else { "groups" };
    probe.finding(
        Clause::SearchReadOnly,
        expected,
        &format!("{what} changed after each round of searches"),
        &evidence,
    );
    Ok(())
}

const ROUNDS: usize = 2;

struct State {
    instances: ResultSet,
    groups: Option<Value>,
}

impl State {
    async fn read(probe: &Probe<'_>, survey: &Survey, groups: &Request) -> Result<Self, Stop> {
        let instances = read(probe, &survey.request).await?;
        Ok(Self { instances, groups: probe.control(groups).await?.response.at("/data/items").cloned() })
    }
}

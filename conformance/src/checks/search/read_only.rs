//! Searches that change nothing.

use serde_json::Value;

use crate::check::{Case, Check, Cost, Probe, Run, Stop};
use crate::checks::Requests;
use crate::checks::relation::{Filter, FilterKind, ResultSet, Survey, apply, read, survey};
use crate::contract::{Clause, OperationId};
use crate::quantity::quantity;
use crate::target::Fact;
use crate::wire::{Request, Response};

pub(super) static REPEAT: Check = Check {
    id: "search.read-only.repeat",
    title: "searches change neither the instances nor the groups",
    why: "A search runs often and unattended. If it changed groups or instances, nobody would know who did.",
    operation: Some(OperationId::Search),
    clauses: &[Clause::SearchReadOnly, Clause::SearchEnvelope],
    needs: &[Fact::OwnAddresses],
    run: Run::Cases(|_| {
        vec![
            Case::new("first and second search", Cost::requests(3 * BATCHES), |probe| Box::pin(first(probe))),
            Case::new("groups, by each of them", Cost::requests(2 + 3 * GROUPS), |probe| {
                Box::pin(each_group(probe))
            }),
            Case::new("rounds", Cost::requests(17), |probe| Box::pin(run(probe))),
            Case::new("two searches with one request id", Cost::requests(4), |probe| {
                Box::pin(one_request_id(probe))
            }),
        ]
    }),
};

/// Batches of addresses that are searched twice.
const BATCHES: u32 = 6;

/// What the first search of an instance changes shows at the second, for each instance once. Data that moves by itself hardly
/// does so between the two searches of several batches.
async fn first(probe: &Probe<'_>) -> Result<(), Stop> {
    const EACH: usize = 4;
    const ENOUGH: usize = 2;
    // From the end: most checks begin at the front.
    let own: Vec<&str> = probe.facts().own_addresses.iter().rev().map(String::as_str).collect();
    let batches = own.chunks(EACH).take(usize::try_from(BATCHES).unwrap_or(1));
    let mut evidence = Vec::new();
    let mut changes = 0;
    for batch in batches {
        let request = probe.search(batch.iter().copied());
        let before = read(probe, &request).await?;
        let after = read(probe, &request).await?;
        if before.instances != after.instances {
            // Data that goes on changing does not do so by a search.
            if read(probe, &request).await?.instances != after.instances {
                return Err(probe.inconclusive("the data changed while it was read; run it again"));
            }
            changes += 1;
            evidence.extend(before.exchanges.into_iter().chain(after.exchanges));
        }
    }
    if changes >= ENOUGH {
        let expected = "the same instances when a search is repeated";
        let actual = format!("fields or instances of {changes} batches changed right after the first search");
        probe.finding(Clause::SearchReadOnly, expected, &actual, &evidence.iter().collect::<Vec<_>>());
    }
    Ok(())
}

/// Groups that are searched one by one.
const GROUPS: u32 = 4;

/// A group that changes right when it is searched first does so by the search, when others do the same.
async fn each_group(probe: &Probe<'_>) -> Result<(), Stop> {
    let survey = survey(probe).await?;
    let held = survey.values(|instance| instance.group);
    if held.is_empty() {
        return Err(probe.skip_lacking(
            "no surveyed instance is in a group",
            "addresses of such instances",
            Fact::OwnAddresses,
        ));
    }
    let mut evidence = Vec::new();
    for group in held.into_iter().take(usize::try_from(GROUPS).unwrap_or(1)) {
        let before = probe.control(&probe.groups()).await?;
        let filter = Filter::Group(Some(group)).on(&probe.contract().search, survey.request.clone());
        read(probe, &filter).await?;
        let after = probe.control(&probe.groups()).await?;
        let shown = |response: &Response| {
            let items = response.at("/data/items").and_then(Value::as_array);
            items.into_iter().flatten().find(|item| item["groupId"] == group).cloned()
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

/// The request id of a search is a trace id: a second search with the id of the first has a result of its own.
async fn one_request_id(probe: &Probe<'_>) -> Result<(), Stop> {
    let header = &probe.contract().extract.request_id_header.name;
    let own = probe.own_addresses(2);
    let [one, other] = own[..] else {
        return Err(probe.skip_lacking("it takes two addresses", "a second one", Fact::OwnAddresses));
    };
    let (one, other) = (probe.search([one]), probe.search([other]));
    let (plain, expected) = (read(probe, &one).await?, read(probe, &other).await?);
    if plain.instances == expected.instances {
        return Err(probe.skip("searches for two addresses find the same"));
    }
    let id = probe.fresh_request_id();
    read(probe, &one.header(header, &id)).await?;
    let found = read(probe, &other.header(header, &id)).await?;
    if found.instances == plain.instances {
        let expected = "the instances of its own address, whatever request id it carries";
        let actual = "those of an earlier search with the same X-Request-Id";
        probe.finding(Clause::SearchEnvelope, expected, actual, &found.evidence());
    }
    Ok(())
}

/// What changes around each of several rounds of searches does so by them; what changes once may be an accident.
async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    let survey = survey(probe).await?;
    let groups = probe.groups();
    let mut states = vec![State::read(probe, survey, &groups).await?];
    for _ in 0..ROUNDS {
        for kind in [FilterKind::Status, FilterKind::Group, FilterKind::ActivatedFrom] {
            let filter = survey.candidates(kind).into_iter().take(1);
            let request =
                apply(&probe.contract().search, survey.request.clone(), &filter.collect::<Vec<_>>());
            read(probe, &request).await?;
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

/// Rounds of searches.
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

//! The checks of the listing of groups.

use serde_json::Value;

use crate::check::{AcceptedResponse, Case, Cost, Probe, Stop};
use crate::checks::relation::{lacks_addresses, survey};
use crate::checks::rule::{Program, active};
use crate::checks::token::{UNKNOWN, by, rejected_alike};
use crate::contract::Clause;
use crate::contract::part::GROUP_ID;
use crate::quantity::quantity;
use crate::target::Fact;
use crate::wire::Request;

pub(super) static PROGRAMS: &[Program] = &[
    active("groups.empty.account", |_| Case::single(Cost::requests(5), empty)),
    active("groups.envelope.complete", |_| Case::single(Cost::requests(7), complete)),
    active("groups.envelope.listed", |_| Case::single(Cost::requests(1), known)),
    active("groups.order.ascending", |_| {
        // More listings than a service has replicas that may disagree.
        let case = |(label, times): (&'static str, u32)| {
            Case::for_data(label, Cost::requests(times + 1), times, order)
        };
        [("repeated", 2), ("many times", 12)].map(case).into()
    }),
];

async fn empty(probe: &Probe<'_>) -> Result<(), Stop> {
    let request = by(probe, Fact::EmptyToken, &probe.groups())?;
    probe.control_once(&probe.groups()).await?;
    if is_unknown(probe, &request).await? {
        let reason = format!(
            "list groups and search reject the token like an unknown one, so it may be invalid: expected {}",
            Fact::EmptyToken
        );
        return Err(probe.inconclusive(&reason));
    }
    let Some(accepted) = probe.accepts(Clause::GroupsEmpty, "an account without groups", &request).await?
    else {
        return Ok(());
    };
    let items = accepted.response.at("/data/items").and_then(Value::as_array);
    if items.is_none_or(|items| !items.is_empty()) {
        let expected = format!("an empty array, as supplied by {}", Fact::EmptyToken.variable());
        let actual = items.map_or_else(|| "no array".to_owned(), |items| quantity(items.len(), "group"));
        probe.finding(Clause::GroupsEmpty, &expected, &actual, &[&accepted.exchange]);
    }
    Ok(())
}

/// Whether both static operations reject the token of an account without groups like an unknown one.
async fn is_unknown(probe: &Probe<'_>, listing: &Request) -> Result<bool, Stop> {
    if probe.is_accepted(listing).await?.1 {
        return Ok(false);
    }
    let search = probe.any_search();
    let supplied = by(probe, Fact::EmptyToken, &search)?;
    let (supplied, is_accepted) = probe.is_accepted(&supplied).await?;
    let unknown = search.query(&probe.contract().search.operation.api_key.name, UNKNOWN);
    let (unknown, _) = probe.is_accepted(&unknown).await?;
    Ok(!is_accepted && rejected_alike(&supplied, &unknown))
}

async fn complete(probe: &Probe<'_>) -> Result<(), Stop> {
    let survey = survey(probe).await?;
    let held = survey.numbers(GROUP_ID);
    if held.is_empty() {
        let lacks = "no instance at the searched addresses is in a group";
        return Err(lacks_addresses(probe, lacks, "addresses of such instances"));
    }
    let missing = |listing: &AcceptedResponse| {
        let listed = ids(listing);
        held.iter().filter(|group| !listed.contains(group)).collect::<Vec<_>>()
    };
    let listing = probe.control(&probe.groups()).await?;
    // A group may have been deleted, or its instances moved, since the survey.
    let first = missing(&listing);
    if first.is_empty() {
        return Ok(());
    }
    let Some(surveyed) = survey.confirm(probe).await? else { return Ok(()) };
    let again = probe.control(&probe.groups()).await?;
    let missing: Vec<_> = missing(&again).into_iter().filter(|group| first.contains(group)).collect();
    if let Some(example) = missing.first() {
        let count = quantity(held.len(), "group");
        let actual = format!("{} of {count} missing, such as {example}", missing.len());
        let expected = "every group that has an instance of the account";
        let references: Vec<_> = surveyed.iter().collect();
        probe.finding_beside(Clause::GroupsEnvelope, expected, &actual, &[&again.exchange], &references);
    }
    Ok(())
}

async fn known(probe: &Probe<'_>) -> Result<(), Stop> {
    let known = &probe.facts().own_groups;
    let listing = probe.control(&probe.groups()).await?;
    let listed = ids(&listing);
    let missing: Vec<_> = known.iter().filter(|group| !listed.contains(group)).collect();
    let others: Vec<_> = listed.iter().filter(|group| !known.contains(group)).collect();
    let report = |clause, groups: &[&i64], what: &str| {
        const SHOWN: usize = 5;
        if groups.is_empty() {
            return;
        }
        let expected = format!("exactly the groups supplied by {}", Fact::OwnGroups.variable());
        let shown: Vec<_> = groups.iter().take(SHOWN).map(ToString::to_string).collect();
        let more = if groups.len() > SHOWN { ", …" } else { "" };
        let actual = format!("{} {what}: {}{more}", groups.len(), shown.join(", "));
        probe.finding(clause, &expected, &actual, &[&listing.exchange]);
    };
    report(Clause::GroupsEnvelope, &missing, "missing");
    report(Clause::AllOwnAccount, &others, "listed that are not among them");
    Ok(())
}

/// The ids of a listing, in its order.
pub(crate) fn ids_of(items: &Value) -> Vec<i64> {
    let items = items.as_array().into_iter().flatten();
    items.filter_map(|item| item.get("groupId")?.as_i64()).collect()
}

fn ids(listing: &AcceptedResponse) -> Vec<i64> {
    listing.response.at("/data/items").map(ids_of).unwrap_or_default()
}

/// Every listing is ordered, not only the first, and that of a second account.
async fn order(probe: &Probe<'_>, times: u32) -> Result<(), Stop> {
    if probe.facts().second_token.is_some() {
        let listing = probe.control(&by(probe, Fact::SecondToken, &probe.groups())?).await?;
        judge(probe, &listing)?;
    }
    for _ in 0..times {
        let (count, is_ascending) = judge(probe, &probe.control(&probe.groups()).await?)?;
        if count < 2 {
            return Err(probe.skip("the account has fewer than two groups: use one with several"));
        }
        if !is_ascending {
            break;
        }
    }
    Ok(())
}

/// What is out of order in a listing: expected, and actual.
pub(crate) fn disorder(ids: &[i64]) -> Option<(&'static str, String)> {
    let pair = ids.windows(2).find(|pair| pair[0] >= pair[1])?;
    Some(("each groupId above the one before", format!("{} stands before {}", pair[0], pair[1])))
}

/// Reports a group whose id is not above the one before. Returns the number of groups, and whether they ascend.
fn judge(probe: &Probe<'_>, listing: &AcceptedResponse) -> Result<(usize, bool), Stop> {
    let items = listing.response.at("/data/items").filter(|items| items.is_array());
    let ids = items.map(ids_of);
    let ids =
        ids.ok_or_else(|| probe.inconclusive("the listing has no items; see groups.envelope.schema"))?;
    let disorder = disorder(&ids);
    if let Some((expected, actual)) = &disorder {
        probe.finding(Clause::GroupsOrder, expected, actual, &[&listing.exchange]);
    }
    Ok((ids.len(), disorder.is_none()))
}

//! The filter by status: listed and unlisted values.

use super::SEARCH;
use super::cases::{FILTERS, SECOND_PAGE, control, control_or_skip};
use super::filters::exact_cases;
use crate::check::{Case, Check, Cost, Probe, Run, Stop};
use crate::checks::relation::FilterKind;
use crate::checks::{Requests, UNKNOWN_ADDRESS, boundary};
use crate::contract::Clause;
use crate::target::Fact;
use crate::wire::Request;

pub(super) static STATUS_BOUNDARIES: Check = Check {
    id: "search.status.boundaries",
    title: "each listed `status` is accepted and any other text is rejected",
    why: "If a misspelled status is ignored, a caller who wants active instances gets expired ones too.",
    clauses: &[Clause::SearchStatus],
    run: Run::Cases(|scope| {
        let mut cases = boundary::cases(scope, |search| &search.status, |_| true);
        cases.extend(UNLISTED.into_iter().map(unlisted_case));
        cases.extend(OTHER_STATUSES.map(other_status));
        let two = Case::new("two of them with a comma", Cost::requests(4), two_statuses);
        cases.push(control(two));
        let beside = FILTERS.into_iter().filter(|(label, _)| *label != "a status");
        cases.extend(beside.chain([SECOND_PAGE]).map(|(label, change)| {
            let label = format!("unlisted, beside {label}");
            Case::for_data(label, Cost::requests(2), change, unlisted_beside)
        }));
        let bounded = Case::new("listed, beside an activation time", Cost::requests(6), listed_beside_bound);
        cases.push(bounded);
        cases
    }),
    ..SEARCH
};

pub(super) static STATUS_SUM: Check = Check {
    id: "search.status.sum",
    title: "each `status` finds exactly the instances that show it",
    why: "Renewal jobs search by status: an expired instance that is reported as active is not renewed in time.",
    clauses: &[Clause::SearchStatus],
    needs: &[Fact::OwnAddresses],
    run: Run::Cases(|_| exact_cases(FilterKind::Status)),
    ..SEARCH
};

/// Derives an unlisted text from a listed status.
type Change = fn(&str) -> String;

const UNLISTED: [(&str, Change); 11] = [
    ("twice with a comma", |status| format!("{status},{status}")),
    ("twice with a bar", |status| format!("{status}|{status}")),
    ("with a comma behind it", |status| format!("{status},")),
    ("in capitals", |status| status.to_uppercase()),
    ("with a capital", |status| status[..1].to_uppercase() + &status[1..]),
    ("after a space", |status| format!(" {status}")),
    ("before a space", |status| format!("{status} ")),
    ("in plural", |status| format!("{status}s")),
    ("without its last letter", |status| status[..status.len() - 1].to_owned()),
    ("unknown", |status| format!("un{status}")),
    ("its first three letters", |status| status.chars().take(3).collect()),
];

/// Statuses of other services, and values with other meanings.
const OTHER_STATUSES: [&str; 16] = [
    "canceled",
    "all",
    "any",
    "*",
    "none",
    "null",
    "suspended",
    "pending",
    "paused",
    "inactive",
    "running",
    "deleted",
    "disabled",
    "0",
    "1",
    "true",
];

fn other_status(status: &'static str) -> Case {
    Case::for_data(status, Cost::requests(1), status, judge_other_status)
        .sharing("nothing found", Cost::requests(1))
}

async fn judge_other_status(probe: &Probe<'_>, status: &str) -> Result<(), Stop> {
    let search = &probe.contract().search;
    if search.statuses.iter().any(|listed| listed == status) {
        return Err(probe.skip("this status is listed"));
    }
    // A service may forget to validate when nothing is found.
    rejects_status(probe, &probe.search([UNKNOWN_ADDRESS]), status).await
}

async fn rejects_status(probe: &Probe<'_>, good: &Request, status: &str) -> Result<(), Stop> {
    let why = format!("status is {status:?}, which is not listed");
    let bad = good.clone().field(&probe.contract().search.status.name, status);
    probe.rejects_after_control(Clause::SearchStatus, &why, good, &bad).await
}

async fn two_statuses(probe: &Probe<'_>) -> Result<(), Stop> {
    let good = probe.any_search();
    for pair in probe.contract().search.statuses.windows(2) {
        rejects_status(probe, &good, &pair.join(",")).await?;
    }
    Ok(())
}

/// An unlisted status is rejected beside other members, too.
async fn unlisted_beside(probe: &Probe<'_>, change: super::cases::Change) -> Result<(), Stop> {
    let search = &probe.contract().search;
    let good = change(search, probe.any_search());
    control_or_skip(probe, &good).await?;
    let unlisted = format!("un{}", search.statuses[0]);
    let why = format!("status is {unlisted:?}, which is not listed");
    probe.rejects(Clause::SearchStatus, &why, &good.field(&search.status.name, unlisted)).await
}

async fn listed_beside_bound(probe: &Probe<'_>) -> Result<(), Stop> {
    let search = &probe.contract().search;
    let good = probe.any_search().field(&search.activated_from.name, "2020-01-01T00:00:00Z");
    probe.control_once(&good).await?;
    for status in &search.statuses {
        let why = format!("status {status} beside {}", search.activated_from.name);
        let request = good.clone().field(&search.status.name, status.as_str());
        probe.accepts(Clause::SearchStatus, &why, &request).await?;
    }
    Ok(())
}

fn unlisted_case((label, change): (&'static str, Change)) -> Case {
    // The control request, and one request for each status of the document.
    control(Case::for_data(label, Cost::requests(5), change, judge_unlisted))
}

async fn judge_unlisted(probe: &Probe<'_>, change: Change) -> Result<(), Stop> {
    let statuses = &probe.contract().search.statuses;
    let unlisted = statuses.iter().map(|status| change(status)).filter(|status| !statuses.contains(status));
    for status in unlisted.collect::<Vec<_>>() {
        rejects_status(probe, &probe.any_search(), &status).await?;
    }
    Ok(())
}

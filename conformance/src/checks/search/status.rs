//! The filter by status: listed and unlisted values.

use super::SEARCH;
use super::cases::{FILTERS, SECOND_PAGE, boundary_cases};
use super::filters::exact_cases;
use super::row::{self, Row};
use crate::check::{Check, Run};
use crate::contract::Clause;
use crate::contract::part::{ACTIVATED_FROM, STATUS};
use crate::target::Fact;

pub(super) static CHECKS: &[Check] = &[
    Check {
        id: "search.status.boundaries",
        title: "each listed `status` is accepted and any other text is rejected",
        why: "If a misspelled status is ignored, a caller who wants active instances gets expired ones too.",
        clauses: &[Clause::SearchStatus],
        run: Run::Cases(|scope| {
            let statuses = &scope.contract.search.statuses;
            let mut cases = boundary_cases(scope, STATUS, |_| true);
            // One request for each status of the document.
            let near = UNLISTED.map(|(label, change)| {
                let values = statuses.iter().map(|status| change(status));
                values.filter(|status| !statuses.contains(status)).fold(reject(label), unlisted)
            });
            cases.extend(near.map(Row::case));
            // A service may forget to validate when nothing is found.
            let others =
                OTHER_STATUSES.iter().filter(|status| !statuses.iter().any(|listed| listed == *status));
            let others = others.map(|status| unlisted(reject(status), (*status).to_owned()));
            let two = statuses
                .windows(2)
                .map(|pair| pair.join(","))
                .fold(reject("two of them with a comma"), unlisted);
            let beside = FILTERS.into_iter().filter(|(label, _)| *label != "a status").chain([SECOND_PAGE]);
            let beside = beside.map(|(label, change)| {
                let row = reject(&format!("unlisted, beside {label}"));
                unlisted(row, format!("un{}", statuses[0]))
                    .changing_doubtful(None, move |probe, good| change(&probe.contract().search, good))
            });
            let bounded = Row::accepts(Clause::SearchStatus, "listed, beside an activation time");
            let bounded = statuses.iter().fold(bounded, |row, status| {
                row.with(format!("status {status} beside {ACTIVATED_FROM}"), STATUS, status.as_str())
            });
            let bounded = bounded.changing("", |_, good| good.field(ACTIVATED_FROM, "2020-01-01T00:00:00Z"));
            let rows =
                others.map(|row| row.changing_nothing_found("nothing found")).chain([two]).chain(beside);
            cases.extend(row::cases(rows.chain([bounded.unshared()])));
            cases
        }),
        ..SEARCH
    },
    Check {
        id: "search.status.sum",
        title: "each `status` finds exactly the instances that show it",
        why: "Renewal jobs search by status: an expired instance that is reported as active is not renewed in time.",
        clauses: &[Clause::SearchStatus],
        needs: &[Fact::OwnAddresses],
        run: Run::Cases(|_| exact_cases(Clause::SearchStatus)),
        ..SEARCH
    },
];

fn reject(label: &str) -> Row {
    Row::rejects(Clause::SearchStatus, label)
}

fn unlisted(row: Row, status: String) -> Row {
    row.with(format!("status is {status:?}, which is not listed"), STATUS, status)
}

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

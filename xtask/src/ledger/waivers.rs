//! Constraints of responses that the client does not enforce, each with its reason.

use super::{Enforcement, Entry};
use crate::model::{Constraint, Side};

/// Why the suite does not check a constraint that is a decision of this repository.
pub(super) const OPEN: &str = "the contract leaves it open, so no service may fail on it";

/// A waiver. It covers every constraint that matches both fields, and must cover at least one for each keyword.
#[derive(Debug)]
pub(super) struct Waiver {
    keywords: &'static [&'static str],
    /// The beginning of [`Constraint::at`]; `2xx` stands for any status of a success.
    pub(super) at: &'static str,
    reason: &'static str,
}

const fn waiver(keywords: &'static [&'static str], at: &'static str, reason: &'static str) -> Waiver {
    Waiver { keywords, at, reason }
}

const ANY_FORM: &str =
    "a rejection may have any form; its code and message are shown when they can be parsed";

const WAIVERS: &[Waiver] = &[
    waiver(
        &["minimum"],
        "2xx ",
        "responses are read leniently, so that one invalid number does not lose a page; the suite checks it",
    ),
    waiver(&["enum"], "2xx ", "the client returns an unknown value as text; the suite checks the list"),
    waiver(
        &["required"],
        "2xx body ",
        "a missing text beside the data does not make the data useless: the client returns `None`",
    ),
    waiver(
        &["format"],
        "2xx body request_ip",
        "an invalid address does not lose the response: the client returns `None`",
    ),
    waiver(
        &["required"],
        "2xx header ",
        "a missing header does not make the response useless: the client returns `None`",
    ),
    waiver(&["content", "required", "type"], "429 body", ANY_FORM),
    waiver(&["content", "required", "type"], "default body", ANY_FORM),
];

/// Why the client does not enforce `constraint`; `None` without a waiver.
pub(super) fn reason(constraint: &Constraint) -> Option<&'static str> {
    WAIVERS.iter().find(|waiver| waiver.covers(constraint)).map(|waiver| waiver.reason)
}

/// Waivers with the keywords for which they cover no constraint.
pub(super) fn unused(entries: &[Entry]) -> Vec<(&'static Waiver, &'static str)> {
    let uses = |entry: &Entry, waiver: &Waiver, keyword: &str| {
        entry.constraint.keyword == keyword
            && waiver.covers(&entry.constraint)
            && entry.client == Enforcement::Waived(waiver.reason)
    };
    let pairs =
        WAIVERS.iter().flat_map(|waiver| waiver.keywords.iter().map(move |keyword| (waiver, *keyword)));
    pairs.filter(|(waiver, keyword)| !entries.iter().any(|entry| uses(entry, waiver, keyword))).collect()
}

impl Waiver {
    fn covers(&self, constraint: &Constraint) -> bool {
        constraint.side == Side::Response
            && self.keywords.contains(&constraint.keyword)
            && match (self.at.strip_prefix("2xx"), constraint.at.strip_prefix('2')) {
                (Some(rest), Some(at)) => at.get(2..).is_some_and(|at| at.starts_with(rest)),
                (Some(_), None) => false,
                (None, _) => constraint.at.starts_with(self.at),
            }
    }
}

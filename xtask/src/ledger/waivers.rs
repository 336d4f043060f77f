//! Constraints that one side does not enforce, each with its reason.

use super::{Enforcement, Entry};
use crate::model::{Constraint, Side};

/// Why the suite does not check a constraint that is a decision of this repository.
pub(super) const OPEN: &str = "the contract leaves it open, so no service may fail on it";

/// The side that a waiver exempts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WaivedSide {
    Server,
    Client,
}

/// A waiver. It covers every constraint that matches all of its fields, and must cover at least one for each keyword.
#[derive(Debug)]
pub(super) struct Waiver {
    pub(super) who: WaivedSide,
    pub(super) side: Side,
    pub(super) keywords: &'static [&'static str],
    /// The beginning of [`Constraint::at`]; `2xx` stands for any status of a success.
    pub(super) at: &'static str,
    pub(super) reason: &'static str,
}

const WAIVERS: &[Waiver] = &[
    Waiver {
        who: WaivedSide::Client,
        side: Side::Response,
        keywords: &["minimum"],
        at: "2xx ",
        reason: "responses are read leniently, so that one invalid number does not lose a page; the suite checks it",
    },
    Waiver {
        who: WaivedSide::Client,
        side: Side::Response,
        keywords: &["enum"],
        at: "2xx ",
        reason: "the client returns an unknown value as text; the suite checks the list",
    },
    Waiver {
        who: WaivedSide::Client,
        side: Side::Response,
        keywords: &["required"],
        at: "2xx body ",
        reason: "a missing text beside the data does not make the data useless: the client returns `None`",
    },
    Waiver {
        who: WaivedSide::Client,
        side: Side::Response,
        keywords: &["format"],
        at: "2xx body request_ip",
        reason: "an invalid address does not lose the response: the client returns `None`",
    },
    Waiver {
        who: WaivedSide::Client,
        side: Side::Response,
        keywords: &["required"],
        at: "2xx header ",
        reason: "a missing header does not make the response useless: the client returns `None`",
    },
    Waiver {
        who: WaivedSide::Client,
        side: Side::Response,
        keywords: &["content", "required", "type"],
        at: "429 body",
        reason: "a rejection may have any form; its code and message are shown when they can be parsed",
    },
    Waiver {
        who: WaivedSide::Client,
        side: Side::Response,
        keywords: &["content", "required", "type"],
        at: "default body",
        reason: "a rejection may have any form; its code and message are shown when they can be parsed",
    },
];

/// Why `who` does not enforce `constraint`; `None` without a waiver.
pub(super) fn reason(constraint: &Constraint, who: WaivedSide) -> Option<&'static str> {
    WAIVERS.iter().find(|waiver| waiver.who == who && waiver.covers(constraint)).map(|waiver| waiver.reason)
}

/// Waivers with the keywords for which they cover no constraint.
pub(super) fn unused(entries: &[Entry]) -> Vec<(&'static Waiver, &'static str)> {
    let used = |waiver: &Waiver, keyword: &str, entry: &Entry| {
        let keeper = match waiver.who {
            WaivedSide::Server => &entry.server,
            WaivedSide::Client => &entry.client,
        };
        let constraint = &entry.constraint;
        constraint.keyword == keyword
            && waiver.covers(constraint)
            && *keeper == Enforcement::Waived(waiver.reason)
    };
    let pairs =
        WAIVERS.iter().flat_map(|waiver| waiver.keywords.iter().map(move |keyword| (waiver, *keyword)));
    pairs.filter(|(waiver, keyword)| !entries.iter().any(|entry| used(waiver, keyword, entry))).collect()
}

impl Waiver {
    fn covers(&self, constraint: &Constraint) -> bool {
        self.side == constraint.side
            && self.keywords.contains(&constraint.keyword)
            && match (self.at.strip_prefix("2xx"), constraint.at.strip_prefix('2')) {
                (Some(rest), Some(at)) => at.get(2..).is_some_and(|at| at.starts_with(rest)),
                (Some(_), None) => false,
                (None, _) => constraint.at.starts_with(self.at),
            }
    }
}

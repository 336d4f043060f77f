//! Constraints that one side does not keep, each with its reason.

use super::{Entry, Keeper};
use crate::model::{Constraint, Side};

/// Why the suite has no check of a constraint that is a decision of this repository.
pub(super) const OPEN: &str = "the contract leaves it open, so no environment may fail on it";

/// Who is excused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Keeping {
    Server,
    Client,
}

/// One excuse. It covers every constraint that fits all of its fields, and must excuse at least one for each keyword.
#[derive(Debug)]
pub(super) struct Waiver {
    pub(super) who: Keeping,
    pub(super) side: Side,
    pub(super) keywords: &'static [&'static str],
    /// The beginning of [`Constraint::at`].
    pub(super) at: &'static str,
    pub(super) reason: &'static str,
}

const WAIVERS: &[Waiver] = &[
    Waiver {
        who: Keeping::Client,
        side: Side::Response,
        keywords: &["minimum"],
        at: "200 ",
        reason: "answers are read leniently, so that one odd number fails no page; the suite holds services to it",
    },
    Waiver {
        who: Keeping::Client,
        side: Side::Response,
        keywords: &["enum"],
        at: "200 ",
        reason: "a value that is new to the client is handed on as text; the suite holds services to the list",
    },
    Waiver {
        who: Keeping::Client,
        side: Side::Response,
        keywords: &["format"],
        at: "200 body request_ip",
        reason: "an odd spelling fails no answer: the client gives `None`",
    },
    Waiver {
        who: Keeping::Client,
        side: Side::Response,
        keywords: &["required"],
        at: "200 header ",
        reason: "a missing header makes no answer useless: the client gives `None`",
    },
    Waiver {
        who: Keeping::Client,
        side: Side::Response,
        keywords: &["content", "required", "type"],
        at: "429 body",
        reason: "a rejection is one in any form; its code and message are shown where they can be read",
    },
    Waiver {
        who: Keeping::Client,
        side: Side::Response,
        keywords: &["content", "required", "type"],
        at: "default body",
        reason: "a rejection is one in any form; its code and message are shown where they can be read",
    },
];

/// Why `who` does not keep `constraint`, if that is excused.
pub(super) fn reason(constraint: &Constraint, who: Keeping) -> Option<&'static str> {
    WAIVERS.iter().find(|waiver| waiver.who == who && waiver.covers(constraint)).map(|waiver| waiver.reason)
}

/// Keywords of waivers that excuse nobody.
pub(super) fn idle(entries: &[Entry]) -> Vec<(&'static Waiver, &'static str)> {
    let used = |waiver: &Waiver, keyword: &str, entry: &Entry| {
        let keeper = match waiver.who {
            Keeping::Server => &entry.server,
            Keeping::Client => &entry.client,
        };
        let constraint = &entry.constraint;
        constraint.keyword == keyword && waiver.covers(constraint) && *keeper == Keeper::Waived(waiver.reason)
    };
    let pairs =
        WAIVERS.iter().flat_map(|waiver| waiver.keywords.iter().map(move |keyword| (waiver, *keyword)));
    pairs.filter(|(waiver, keyword)| !entries.iter().any(|entry| used(waiver, keyword, entry))).collect()
}

impl Waiver {
    fn covers(&self, constraint: &Constraint) -> bool {
        self.side == constraint.side
            && self.keywords.contains(&constraint.keyword)
            && constraint.at.starts_with(self.at)
    }
}

//! Constraints that one side does not keep, each with its reason.

use super::{Entry, Keeper};
use crate::model::{Constraint, Side};

/// Who is excused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Keeping {
    Server,
    Client,
}

/// One excuse. It covers every constraint that fits all of its fields, and must cover at least one.
#[derive(Debug)]
pub(super) struct Waiver {
    pub(super) who: Keeping,
    pub(super) side: Side,
    pub(super) keyword: &'static str,
    /// The beginning of [`Constraint::at`].
    pub(super) at: &'static str,
    pub(super) reason: &'static str,
}

const WAIVERS: &[Waiver] = &[];

/// Why `who` does not keep `constraint`, if that is excused.
pub(super) fn reason(constraint: &Constraint, who: Keeping) -> Option<&'static str> {
    WAIVERS.iter().find(|waiver| waiver.who == who && waiver.covers(constraint)).map(|waiver| waiver.reason)
}

/// Waivers that excuse nobody.
pub(super) fn idle(entries: &[Entry]) -> Vec<&'static Waiver> {
    let used = |waiver: &Waiver, entry: &Entry| {
        let keeper = match waiver.who {
            Keeping::Server => &entry.server,
            Keeping::Client => &entry.client,
        };
        waiver.covers(&entry.constraint) && *keeper == Keeper::Waived(waiver.reason)
    };
    WAIVERS.iter().filter(|waiver| !entries.iter().any(|entry| used(waiver, entry))).collect()
}

impl Waiver {
    fn covers(&self, constraint: &Constraint) -> bool {
        self.side == constraint.side
            && self.keyword == constraint.keyword
            && constraint.at.starts_with(self.at)
    }
}

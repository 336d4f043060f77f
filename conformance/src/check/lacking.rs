//! Reasons to skip a case that name the fact to supply.

use super::{Probe, Stop};
use crate::target::{Fact, Facts};

impl<'a> Probe<'a> {
    /// The value of a fact; a check that declares the fact in its `needs` always has it.
    ///
    /// # Errors
    /// Skip when it was not supplied.
    pub(crate) fn required<T>(
        &self,
        fact: Fact,
        value: impl FnOnce(&'a Facts) -> Option<T>,
    ) -> Result<T, Stop> {
        value(self.facts()).ok_or_else(|| self.skip(&format!("supply {fact} to run this")))
    }

    /// Ends the case as skipped, because the supplied data does not contain what it needs: `lacks` says what that is, and
    /// `add` what to add to the fact, such as "addresses of such instances".
    #[must_use]
    pub(crate) fn skip_lacking(&self, lacks: &str, add: &str, fact: Fact) -> Stop {
        self.skip(&format!("{lacks}; add {add} to {}", fact.variable()))
    }
}

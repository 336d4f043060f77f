//! Why a side does not move although the ledger names it.

use super::{Side, mutants::Mutant};

pub(super) fn reason(_mutant: &Mutant, _side: Side) -> Option<&'static str> {
    None
}

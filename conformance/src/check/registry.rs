use super::Check;
use crate::checks;

/// Clauses that answers over HTTP can show and that no check cites yet. It may only shrink: a test keeps it exact, and what
/// can't be observed says so, with its reason, in the document.

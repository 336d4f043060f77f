//! Which known faults a run would have noticed: ways in which a server can break a clause. The proof of the suite (`tests/proof`) runs
//! the checks against each, in the lab and in a server of its own, and the matrix records which case of which check noticed it.

mod matrix;
mod power;
mod table;

pub use matrix::{CaseName, Detector, KnownFault, MAX_DETECTORS, Matrix};
pub use power::{Cases, ClauseDetection, Detection, Unlock, UnnoticedFault};

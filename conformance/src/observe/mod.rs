//! Judges traffic that was recorded by others, in an HTTP Archive (HAR): with the passive checks, and with the relations between
//! requests that such traffic allows. Nothing is sent.

mod archive;
mod command;
mod credentials;
mod exchange;
mod judge;
mod relation;
mod traffic;

pub use archive::Archive;
pub use exchange::Judgement;
pub use judge::observe;
pub use traffic::Traffic;

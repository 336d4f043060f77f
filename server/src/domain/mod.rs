//! The rules of the service: addresses, access policy, extraction and search. No HTTP, no SQL, no generated types, and
//! nothing of the store: [`ports`] says what the domain needs of one.

pub mod access;
pub(crate) mod clock;
pub mod extraction;
pub mod instance;
mod named;
pub mod ports;
pub mod protocol;
pub mod rejection;
pub mod search;
pub mod service;
pub mod token;

pub use sallyport_contract::{address, date_time::DateTime};

//! The rules of the service: addresses, access policy, extraction and search. No HTTP, no SQL, and nothing of the
//! store: [`ports`] says what the domain needs of one. Of what is generated it knows the plain types.

pub mod access;
pub(crate) mod clock;
pub mod extraction;
pub mod instance;
mod named;
pub mod ports;
pub mod rejection;
pub mod search;
pub mod service;
pub mod token;

pub use sallyport_contract::{address, date_time::DateTime};
pub use smol_str::SmolStr;

/// What is stored as the contract shows it.
pub use crate::api::generated::{
    Capabilities, InstanceStatus as Status, ProxyProtocol as Protocol, StaticGroup, StaticInstance,
};

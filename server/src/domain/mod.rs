//! What the service knows and decides: addresses, access, extraction and search. No HTTP, no SQL, no generated types.

pub mod access;
pub mod address;
pub mod extraction;
pub mod instance;
pub mod refusal;
pub mod search;
pub mod service;
pub mod token;

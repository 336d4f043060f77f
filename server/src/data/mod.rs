//! Data in and out: sample data, imports.

pub mod facts;
#[cfg(feature = "admin")]
pub mod import;
mod sample;
pub mod seed;

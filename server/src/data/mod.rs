//! Data in and out: sample data, imports.

#[cfg(feature = "admin")]
pub mod facts;
#[cfg(feature = "admin")]
pub mod import;
mod sample;
pub mod seed;

//! Data in and out: sample data, imports, tokens.

pub mod import;
mod sample;
pub mod seed;
pub mod tokens;

//! Data in and out: sample data, exports, imports, tokens.

pub mod export;
pub mod import;
mod sample;
pub mod seed;
pub mod tokens;

//! The words that rows are made of.

pub(crate) mod condition;
pub(crate) mod edit;
pub(crate) mod part;
pub(crate) mod search;
pub(crate) mod token;

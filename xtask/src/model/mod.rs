//! The contract as types.

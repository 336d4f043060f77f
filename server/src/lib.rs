
pub mod data;
pub mod domain;
pub mod store;

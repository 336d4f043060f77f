//! The edge: everything between a socket and the domain. It parses requests strictly, so that only valid values reach the domain,
//! and puts every response into its envelope. It decides nothing about data.
//!
//! [`serve`] passes a request through these modules. Each uses only those after it: [`admission`], [`reading`],
//! [`responding`].

pub mod admission;
pub mod operation;
pub mod reading;
pub(crate) mod registration;
pub mod responding;
pub mod serve;
pub mod tls;

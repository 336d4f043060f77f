//! The edge: everything between a socket and the domain. It reads requests strictly, so that only valid values get
//! past it, and gives every answer its envelope. It decides nothing about data.

pub mod address;
pub mod answer;
pub mod body;
pub mod call;
pub mod caller;
mod caller_states;
pub mod catalogue;
pub mod credential;
pub mod fault;
mod forwarded;
pub mod gate;
pub mod headers;
pub mod integer;
pub mod json;
pub mod limit;
pub mod list;
pub mod method;
pub mod query;
pub mod received;
pub mod refused;
pub mod rules;
pub mod schema;
pub mod text;
pub mod time;
pub mod tls;
pub mod value;

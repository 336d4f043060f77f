//! The contract as types, shared by the emitters.
//!
//! `$ref`s are followed, and every part has the pointer of its definition. What the types below cannot represent is a
//! [`Problem`](crate::problem::Problem); nothing is dropped.

pub(crate) mod field;
mod operation;
mod read;
mod schema;
mod search;

use serde::{Deserialize, Serialize};

pub(crate) use operation::{Body, Operation, Parameter, Response};
pub(crate) use sallyport_contract::{
    citation::Citation,
    table::{Limit, Type as Kind},
};
pub(crate) use schema::{Format, Property, Schema};
pub(crate) use search::{Filter, Page};

/// The contract, in the order of the document. Templates know it as it is written as JSON.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Contract {
    /// The operations, in the document's order.
    pub(crate) operations: Vec<Operation>,
    /// Named schemas, in the document's order.
    pub(crate) schemas: Vec<Schema>,
    /// The rules of the contract (`x-clauses`).
    pub(crate) clauses: Vec<Clause>,
    /// What the contract leaves open (`x-unspecified`).
    pub(crate) unspecified: Vec<Clause>,
}

/// A rule of the contract, or behaviour that it leaves open.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub(crate) struct Clause {
    /// For example `extract.num-range`, or `open.search.order`.
    pub(crate) id: String,
    pub(crate) text: String,
    /// Whether responses can show that a server follows the rule; `None` for what is left open.
    pub(crate) observable: Option<bool>,
    #[serde(rename(deserialize = "$at"))]
    pub(crate) pointer: String,
}

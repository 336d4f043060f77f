//! The contract as types, shared by the emitters.
//!
//! `$ref`s are followed, and every part has the pointer of its definition. What the types below cannot represent is a
//! [`Problem`](crate::problem::Problem); nothing is dropped.

mod constraint;
mod operation;
mod read;
mod schema;
mod search;

use serde::Deserialize;

pub(crate) use constraint::{Constraint, LIMITS, Side};
pub(crate) use operation::{
    Body, Condition, Credential, Header, Media, Method, Operation, Parameter, Response, Retry, Rule,
};
pub(crate) use sallyport_contract::citation::Citation;
pub(crate) use schema::{Format, Kind, Property, Schema};
pub(crate) use search::{Filter, Match, Page};

/// The contract, in the order of the document.
#[derive(Clone, Debug)]
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
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub(crate) struct Clause {
    /// For example `extract.num-range`, or `open.search.order`.
    pub(crate) id: String,
    pub(crate) text: String,
    /// Whether responses can show that a server follows the rule; `None` for what is left open.
    pub(crate) observable: Option<bool>,
    #[serde(rename = "$at")]
    pub(crate) pointer: String,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        document::Document,
        fixture::{LIBRARY, edited, edited_text},
    };

    #[test]
    fn what_is_inside_a_list_or_an_object_inherits_its_clause() {
        let inline = edited_text(
            LIBRARY,
            "maxItems: 2, items: { «type: string, minLength: 1, maxLength: 20→type: array, items: { type: string, minLength: 1 }» }",
        );
        let contract = Contract::read(&Document::parse(&inline).unwrap()).unwrap();
        let constraints = contract.constraints();
        let inner =
            constraints.iter().find(|one| one.at == "body copies[].tags[][]" && one.keyword == "minLength");
        assert_eq!(inner.unwrap().clauses, ["books.body"]);
    }

    #[test]
    fn what_the_types_cannot_hold_is_a_problem_with_its_place() {
        let problems = Contract::read(&edited("minimum: 1, maximum: «100→1.5» }")).unwrap_err();
        assert_eq!(problems.len(), 1);
        assert!(problems[0].pointer.ends_with("/schema/maximum"), "{}", problems[0]);
        assert!(problems[0].place.is_some());
    }
}

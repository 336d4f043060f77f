//! The contract as the suite reads it: operations, limits, schemas and clauses, all taken from the generated
//! `contract.json`. No path, limit or enum is written in this crate a second time.

mod boundary;
mod catalogue;
#[path = "generated/clause.rs"]
mod clause;
mod deprecation;
mod extract;
mod groups;
mod ids;
mod operation;
mod other;
mod schema;
mod search;
mod source;
mod validate;

use std::sync::LazyLock;

pub use boundary::{Boundary, boundaries};
pub use catalogue::{Catalogue, ClauseEntry, UnspecifiedEntry};
pub use clause::{Clause, Unspecified};
pub use deprecation::{DeprecatedPart, Deprecation};
pub use extract::{Extract, Separator};
pub use groups::Groups;
pub use operation::{Operation, OperationId, OtherId, Parameter, Place, Success};
pub use other::{Credential, OtherOperation};
pub use schema::{Citations, Kind, Property, Schema};
pub use search::Search;
pub use source::ContractError;
pub use validate::Violation;

use source::Source;

/// Everything that the suite knows about the service.
#[derive(Debug)]
pub struct Contract {
    /// The document's own version.
    pub version: String,
    /// SHA-256 of `openapi/openapi.yaml`, in hexadecimal digits.
    pub sha256: String,
    /// The clauses and the unspecified behaviour.
    pub catalogue: Catalogue,
    /// `GET …/proxy/extract`.
    pub extract: Extract,
    /// `GET …/static/groups`.
    pub groups: Groups,
    /// `POST …/static/instances/search`.
    pub search: Search,
    /// Every further operation, which the generic checks judge.
    pub others: Vec<OtherOperation>,
}

impl Contract {
    /// The contract that is built in.
    ///
    /// # Errors
    /// The generated file lacks something that a check needs; the tests of this crate prove that it does not.
    pub fn embedded() -> Result<&'static Self, &'static ContractError> {
        static CONTRACT: LazyLock<Result<Contract, ContractError>> =
            LazyLock::new(|| Contract::from_json(include_str!("generated/contract.json")));
        CONTRACT.as_ref()
    }

    /// Reads a contract in the shape of `generated/contract.json`.
    ///
    /// # Errors
    /// Names the JSON pointer that is missing, of the wrong type, or unknown to the suite.
    pub fn from_json(text: &str) -> Result<Self, ContractError> {
        let source = Source::parse(text)?;
        let info = source.root().get("document")?.get("info")?;
        let version = info.get("version")?.string()?.to_owned();
        let sha256 = source.root().get("sha256")?.string()?.to_owned();
        let catalogue = Catalogue::read(&source)?;
        let extract = Extract::read(&source)?;
        let groups = Groups::read(&source)?;
        let search = Search::read(&source)?;
        let others = OtherOperation::read_all(&source)?;
        Ok(Self { version, sha256, catalogue, extract, groups, search, others })
    }

    /// The operation with that id.
    #[must_use]
    pub fn operation(&self, id: OperationId) -> &Operation {
        match id {
            OperationId::Extract => &self.extract.operation,
            OperationId::Groups => &self.groups.operation,
            OperationId::Search => &self.search.operation,
            OperationId::Other(id) => &self.other(id).operation,
        }
    }

    /// The further operation with that id, which must be one of this contract.
    #[must_use]
    pub fn other(&self, id: OtherId) -> &OtherOperation {
        &self.others[id.index()]
    }

    /// Every operation, those with checks of their own first.
    pub fn operations(&self) -> impl Iterator<Item = &Operation> {
        let known = OperationId::ALL.into_iter().map(|id| self.operation(id));
        known.chain(self.others.iter().map(|other| &other.operation))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_embedded_contract_holds_all_that_the_suite_relies_on() {
        let contract = Contract::embedded().expect("generated/contract.json");
        for id in OperationId::ALL {
            assert!(contract.operation(id).path.starts_with('/'));
        }
    }

    #[test]
    fn limits_move_with_the_document() {
        let text = include_str!("generated/contract.json");
        let mut document: serde_json::Value = serde_json::from_str(text).expect("JSON");
        let maximum = document
            .pointer_mut("/document/paths/~1openapi~1v1~1proxy~1extract/get/parameters/0/schema/maximum")
            .expect("maximum of num");
        *maximum = 50.into();
        let contract = Contract::from_json(&document.to_string()).expect("still readable");
        assert_eq!(contract.extract.num_range, 1..=50);
    }

    #[test]
    fn a_parameter_that_no_check_knows_stops_the_suite() {
        let text = include_str!("generated/contract.json");
        let mut document: serde_json::Value = serde_json::from_str(text).expect("JSON");
        document
            .pointer_mut("/document/paths/~1openapi~1v1~1static~1groups/get/parameters")
            .and_then(serde_json::Value::as_array_mut)
            .expect("parameters")
            .push(serde_json::json!({"name": "tag", "in": "query", "schema": {"type": "string"}}));
        let error = Contract::from_json(&document.to_string()).expect_err("tag is unknown");
        assert!(error.to_string().contains("`tag`"), "{error}");
    }

    #[test]
    fn a_missing_limit_is_named_by_its_pointer() {
        let text = include_str!("generated/contract.json").replace("\"x-max-distinct\"", "\"x-max-distant\"");
        let error = Contract::from_json(&text).expect_err("no distinct limit");
        assert!(error.to_string().contains("x-max-distinct"), "{error}");
    }
}

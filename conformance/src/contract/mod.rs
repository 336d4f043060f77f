//! Operations, limits, schemas and clauses of the contract, read from the JSON of `sallyport-contract`. No path, limit or enum is
//! written in this crate a second time.

mod boundary;
mod catalogue;
#[path = "generated/clause.rs"]
mod clause;
mod extract;
mod ids;
mod input;
mod operation;
pub(crate) mod part;
mod schema;
mod search;
mod source;
mod validate;

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde_json::Value;

pub use boundary::{Boundary, boundaries};
pub use catalogue::{Catalogue, ClauseEntry, UnspecifiedEntry};
pub use clause::{Clause, OperationId, Unspecified};
pub use extract::{Extract, Separator};
pub use input::{Input, Place};
pub use operation::{Operation, Success};
pub use schema::{Citations, Kind, Schema};
pub use search::{Echo, Match, Paging, Search, SearchFilter};
pub use source::ContractError;
pub use validate::Violation;

use source::{Node, inline};

/// The contract of the service.
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
    /// `POST …/static/instances/search`.
    pub search: Search,
    /// The other operations, about which the document says all that their checks need.
    pub plain: BTreeMap<OperationId, Operation>,
}

impl Contract {
    /// The embedded contract.
    ///
    /// # Errors
    /// The generated file lacks something that a check needs, which the tests of this crate rule out.
    pub fn embedded() -> Result<&'static Self, &'static ContractError> {
        static CONTRACT: LazyLock<Result<Contract, ContractError>> =
            LazyLock::new(|| Contract::from_json(sallyport_contract::JSON));
        CONTRACT.as_ref()
    }

    /// Parses a contract in the format of [`sallyport_contract::JSON`].
    ///
    /// # Errors
    /// Names the JSON pointer that is missing, of the wrong type, or unknown to the suite.
    pub fn from_json(text: &str) -> Result<Self, ContractError> {
        let mut file: Value = serde_json::from_str(text)
            .map_err(|error| ContractError::new("", format!("expected JSON: {error}")))?;
        let document = file["document"].clone();
        let schemas =
            sallyport_contract::json_schema::definitions(document.pointer("/components/schemas")).into();
        inline(&mut file, &document);
        let root = Node { pointer: String::new(), value: &file };
        let mut operations = BTreeMap::new();
        for (one, node) in Operation::read_all(&root, &schemas)? {
            let id = one.id;
            if operations.insert(id, (one, node)).is_some() {
                return Err(root.wrong(&format!("two operations have clauses of `{id}`")));
            }
        }
        let mut take = |id| {
            let found = operations.remove(&id);
            found.ok_or_else(|| root.wrong(&format!("expected an operation with clauses of `{id}`")))
        };
        Ok(Self {
            version: root.read("/document/info/version")?,
            sha256: root.read("/sha256")?,
            catalogue: Catalogue::read(&root)?,
            extract: Extract::read(
                take(OperationId::Extract)?,
                &root.get("/document/components/securitySchemes")?,
            )?,
            search: Search::read(take(OperationId::Search)?)?,
            plain: operations.into_iter().map(|(id, (operation, _))| (id, operation)).collect(),
        })
    }

    /// The operation with that id.
    pub fn operation(&self, id: OperationId) -> &Operation {
        match id {
            OperationId::Extract => &self.extract.operation,
            OperationId::Search => &self.search.operation,
            plain => &self.plain[&plain],
        }
    }

    /// The listing of groups.
    pub fn groups(&self) -> &Operation {
        self.operation(OperationId::Groups)
    }

    /// Every operation, in the order of their ids.
    pub fn operations(&self) -> impl Iterator<Item = &Operation> {
        OperationId::ALL.iter().map(|id| self.operation(*id))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// The embedded contract with a changed value below the paths of the document.
    fn changed(pointer: &str, change: impl FnOnce(&mut Value)) -> Result<Contract, ContractError> {
        let mut file: Value = serde_json::from_str(sallyport_contract::JSON).expect("JSON");
        change(file.pointer_mut(&format!("/document/paths/{pointer}")).expect("a value"));
        Contract::from_json(&file.to_string())
    }

    #[test]
    fn limits_follow_the_document() {
        let pointer = "~1openapi~1v1~1proxy~1extract/get/parameters/0/schema/maximum";
        let contract = changed(pointer, |maximum| *maximum = 50.into()).expect("a valid contract");
        assert_eq!(contract.extract.num_range, 1..=50);
    }

    #[test]
    fn operations_that_share_the_clauses_of_one_are_an_error() {
        let error = changed("~1openapi~1v1~1static~1groups", |path| path["put"] = path["get"].clone());
        let error = error.expect_err("two are of groups").to_string();
        assert!(error.contains("two operations") && error.contains("`groups`"), "{error}");
    }

    #[test]
    fn an_unknown_clause_is_an_error() {
        let read = |id| serde_json::from_value::<Citations>(json!(id)).map(drop);
        assert!(read("groups.nice").expect_err("nobody knows it").to_string().contains("`groups.nice`"));
        assert!(read("groups.order").is_ok());
    }

    #[test]
    fn a_filter_follows_the_document_and_one_without_a_meaning_is_an_error() {
        let mut file: Value = serde_json::from_str(sallyport_contract::JSON).expect("JSON");
        let properties = &mut file["document"]["components"]["schemas"]["SearchRequest"]["properties"];
        properties["madeUp"] = json!({"type": "integer", "x-clause": "search.city"});
        let error = Contract::from_json(&file.to_string()).expect_err("nothing says what madeUp finds");
        assert!(error.to_string().contains("x-filter") && error.to_string().contains("`madeUp`"), "{error}");
        let search = &mut file["document"]["paths"]["/openapi/v1/static/instances/search"]["post"];
        search["x-filter"]["madeUp"] = json!({"match": "equal", "field": "ispType"});
        let search = Contract::from_json(&file.to_string()).expect("a valid contract").search;
        let filter = search.filters.last().expect("a filter");
        assert_eq!((filter.property.name.as_str(), filter.field.as_deref()), ("madeUp", Some("ispType")));
        assert_eq!((filter.matching, filter.clause), (Match::Equal, Clause::SearchCity));
    }

    #[test]
    fn a_missing_limit_is_named_by_its_pointer() {
        let text = sallyport_contract::JSON.replace("\"x-max-distinct\"", "\"x-max-distant\"");
        let error = Contract::from_json(&text).expect_err("no distinct limit");
        assert!(error.to_string().contains("x-max-distinct"), "{error}");
    }
}

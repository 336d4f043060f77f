//! The contract, read from the JSON of `sallyport-contract`. This crate writes no path, limit or enum a second time.

mod boundary;
mod catalogue;
#[path = "generated/clause.rs"]
mod clause;
mod extract;
mod ids;
mod input;
mod operation;
pub mod part;
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

    /// The embedded contract with a changed document.
    fn changed(change: impl FnOnce(&mut Value)) -> Result<Contract, ContractError> {
        let mut file: Value = serde_json::from_str(sallyport_contract::JSON).expect("JSON");
        change(&mut file["document"]);
        Contract::from_json(&file.to_string())
    }

    fn add_property(document: &mut Value) {
        let properties = &mut document["components"]["schemas"]["SearchRequest"]["properties"];
        properties["madeUp"] = json!({"type": "integer", "x-clause": "search.city"});
    }

    #[test]
    fn limits_and_filters_follow_the_document() {
        let contract = changed(|document| {
            add_property(document);
            let paths = &mut document["paths"];
            let search = &mut paths["/openapi/v1/static/instances/search"]["post"];
            search["x-filter"]["madeUp"] = json!({"match": "equal", "field": "ispType"});
            paths["/openapi/v1/proxy/extract"]["get"]["parameters"][0]["schema"]["maximum"] = 50.into();
        });
        let Contract { extract, search, .. } = contract.expect("a valid contract");
        assert_eq!(extract.num_range, 1..=50);
        let filter = search.filters.last().expect("a filter");
        assert_eq!((filter.property.name.as_str(), filter.field.as_deref()), ("madeUp", Some("ispType")));
        assert_eq!((filter.matching, filter.clause), (Match::Equal, Clause::SearchCity));
    }

    #[test]
    fn what_the_suite_cannot_use_is_an_error() {
        fn groups(document: &mut Value) -> &mut Value {
            &mut document["paths"]["/openapi/v1/static/groups"]
        }
        fn ips(document: &mut Value) -> &mut Value {
            &mut document["components"]["schemas"]["SearchRequest"]["properties"]["ips"]
        }
        type Change = fn(&mut Value);
        let changes: [(Change, [&str; 2]); 4] = [
            (add_property, ["x-filter", "`madeUp`"]),
            (
                |document| groups(document)["put"] = groups(document)["get"].clone(),
                ["two operations", "`groups`"],
            ),
            (|document| ips(document)["x-clause"] = "groups.nice".into(), ["x-clause", "`groups.nice`"]),
            (
                |document| drop(ips(document).as_object_mut().expect("a schema").remove("x-max-distinct")),
                ["x-max-distinct", "found none"],
            ),
        ];
        for (change, words) in changes {
            let error = changed(change).expect_err(words[0]).to_string();
            assert!(words.iter().all(|word| error.contains(word)), "{error}");
        }
    }
}

//! The contract, for programs that read it when they run: the server and the client check requests by it, the server prints it, and
//! the suite judges by it.

pub mod address;
pub mod check;
pub mod citation;
pub mod date_time;
pub mod json_schema;
pub mod printable;
pub mod request;
pub mod table;

use std::sync::LazyLock;

/// `openapi.yaml` as JSON, and what JSON cannot say of that file.
///
/// ```text
/// sha256    of openapi.yaml
/// lines     { ID: line of the clause or unspecified behaviour in openapi.yaml }
/// document  the document
/// ```
pub const JSON: &str = include_str!("generated/contract.json");

/// The operations of the document, with the table of constraints of their requests.
///
/// ```
/// let extract = sallyport_contract::operation("extractProxies").expect("an operation of the document");
/// let num = extract.part("num").expect("a parameter");
/// let violation = num.check(Some(&101.into())).expect_err("above the maximum");
/// assert_eq!(
///     violation.to_string(),
///     "query parameter `num`: expected an integer from 1 to 100, found `101` (extract.num-range)"
/// );
/// ```
#[expect(clippy::expect_used, reason = "the example above reads the same text")]
pub fn operations() -> &'static [table::Operation] {
    static OPERATIONS: LazyLock<Vec<table::Operation>> = LazyLock::new(|| {
        serde_json::from_str(include_str!("generated/table.json"))
            .expect("the table that the generator writes")
    });
    &OPERATIONS
}

/// The operation with an id.
#[must_use]
pub fn operation(id: &str) -> Option<&'static table::Operation> {
    operations().iter().find(|operation| operation.id == id)
}

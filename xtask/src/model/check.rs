use serde::Deserialize;

/// A check of the suite, as `conformance list --format json` prints it.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Check {
    pub(crate) id: String,
    pub(crate) title: String,
    /// Ids of the clauses that it proves.
    pub(crate) clauses: Vec<String>,
    /// The `operationId` of the one operation that it runs for; none when it runs for all.
    #[serde(default, rename = "operationId")]
    pub(crate) operation: Option<String>,
}

use super::Clause;
use super::parameter::{Parameter, Place};
use super::schema::Citations;
use super::source::{ContractError, Node};

/// A deprecated operation, parameter, field or value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Deprecation {
    /// What is deprecated.
    pub part: DeprecatedPart,
    /// The deprecated value; none when the whole part is deprecated.
    pub value: Option<String>,
    /// The first day of the deprecation, and the last day of the support: `YYYY-MM-DD`.
    pub dates: (String, String),
    /// What replaces it.
    pub replaced_by: Option<String>,
    /// A clause that the part cites.
    pub clause: Clause,
}

/// A part of the document that can be deprecated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DeprecatedPart {
    /// The operation.
    Operation,
    /// A parameter of the query or a header.
    Parameter(String, Place),
    /// A field of the body, by its path of names.
    Field(Vec<String>),
}

impl Deprecation {
    /// Every deprecation of an operation, without parts that cite no clause.
    pub(super) fn read_all(operation: &Node<'_>) -> Result<Vec<Self>, ContractError> {
        let own = Citations::read(operation)?.all().next();
        let mut found = Vec::new();
        if is_deprecated(operation) {
            found.extend(Self::new(operation, DeprecatedPart::Operation, None, own)?);
        }
        for node in operation.optional("parameters", Node::items)?.unwrap_or_default() {
            let Parameter { name, place, citations, .. } = Parameter::read(&node)?;
            let clause = citations.all().next().or(own);
            let part = DeprecatedPart::Parameter(name, place);
            if is_deprecated(&node) {
                found.extend(Self::new(&node, part.clone(), None, clause)?);
            }
            Self::read_values(&node.get("schema")?, &part, clause, &mut found)?;
        }
        if let Some(body) = operation.find("requestBody") {
            let schema = body.get("content")?.get("application/json")?.get("schema")?;
            Self::read_fields(&schema, &[], own, &mut found)?;
        }
        Ok(found)
    }

    fn read_fields(
        schema: &Node<'_>,
        path: &[String],
        outer: Option<Clause>,
        found: &mut Vec<Self>,
    ) -> Result<(), ContractError> {
        // The generator rejects recursive schemas.
        const MAX_DEPTH: usize = 32;
        let own = Citations::read(schema)?.all().next().or(outer);
        if let Some(items) = schema.find("items") {
            return Self::read_fields(&items, path, own, found);
        }
        let Some(properties) = schema.find("properties").filter(|_| path.len() < MAX_DEPTH) else {
            return Ok(());
        };
        for (name, property) in properties.members()? {
            let path = [path, &[name.to_owned()]].concat();
            let part = DeprecatedPart::Field(path.clone());
            let clause = Citations::read(&property)?.all().next().or(own);
            if is_deprecated(&property) {
                found.extend(Self::new(&property, part.clone(), None, clause)?);
            }
            Self::read_values(&property, &part, clause, found)?;
            Self::read_fields(&property, &path, clause, found)?;
        }
        Ok(())
    }

    /// The deprecated values of an enum, or of the items of a list of one.
    fn read_values(
        schema: &Node<'_>,
        part: &DeprecatedPart,
        clause: Option<Clause>,
        found: &mut Vec<Self>,
    ) -> Result<(), ContractError> {
        let schema = schema.find("items").unwrap_or_else(|| schema.clone());
        let Some(values) = schema.find("x-deprecated-values") else { return Ok(()) };
        for (value, entry) in values.members()? {
            found.extend(Self::new(&entry, part.clone(), Some(value.to_owned()), clause)?);
        }
        Ok(())
    }

    fn new(
        node: &Node<'_>,
        part: DeprecatedPart,
        value: Option<String>,
        clause: Option<Clause>,
    ) -> Result<Option<Self>, ContractError> {
        let Some(clause) = clause else { return Ok(None) };
        let dates = (node.get("x-deprecated-since")?.text()?, node.get("x-sunset")?.text()?);
        let replaced_by = node.optional("x-replaced-by", Node::text)?;
        Ok(Some(Self { part, value, dates, replaced_by, clause }))
    }

    /// Describes the part and its dates.
    pub fn description(&self) -> String {
        let part = match &self.part {
            DeprecatedPart::Operation => "the operation".to_owned(),
            DeprecatedPart::Parameter(name, _) => name.clone(),
            DeprecatedPart::Field(path) => path.join("."),
        };
        let value = self.value.as_ref().map(|value| format!("{value} of ")).unwrap_or_default();
        let (since, sunset) = &self.dates;
        let instead =
            self.replaced_by.as_ref().map(|other| format!("; use {other} instead")).unwrap_or_default();
        format!("{value}{part} is deprecated since {since} and ends on {sunset}{instead}")
    }
}

fn is_deprecated(node: &Node<'_>) -> bool {
    node.find("deprecated").is_some_and(|flag| flag.value == true)
}

//! Reads the contract from a document.

use serde_json::Value;

use super::{
    Body, Citation, Clause, Contract, Credential, Header, Media, Method, Operation, Parameter, Response, Rule,
};
use crate::{
    document::{Document, join},
    problem::Problem,
};

impl Contract {
    /// Reads the contract out of a document. All problems are reported, sorted by position.
    pub(crate) fn read(document: &Document) -> Result<Contract, Vec<Problem>> {
        let mut reader = Reader { document, problems: Vec::new(), operation: None, open: Vec::new() };
        let operations = reader.operations();
        reader.operation = None;
        let schemas = document.members("/components/schemas").into_iter();
        let schemas = schemas.filter_map(|(_, pointer, _)| reader.schema(&pointer)).collect();
        let [clauses, unspecified] = ["/x-clauses", "/x-unspecified"].map(|list| {
            let entries = document.items(list).into_iter();
            entries.filter_map(|(at, _)| reader.clause(at, list == "/x-clauses")).collect()
        });
        if reader.problems.is_empty() {
            return Ok(Contract { operations, schemas, clauses, unspecified });
        }
        Problem::sort(&mut reader.problems);
        // A definition that several operations use is read once for each of them.
        reader.problems.dedup_by(|one, other| one.pointer == other.pointer && one.message == other.message);
        Err(reader.problems)
    }
}

pub(super) struct Reader<'a> {
    pub(super) document: &'a Document,
    problems: Vec<Problem>,
    operation: Option<String>,
    /// Definitions that are being read, to detect a recursive schema.
    pub(super) open: Vec<String>,
}

impl Reader<'_> {
    /// Records a problem and returns `None`, so that the rest of the document is read.
    pub(super) fn report<T>(&mut self, pointer: &str, message: impl Into<String>, help: &str) -> Option<T> {
        let mut problem = self.document.problem(pointer, message, help);
        problem.operation.clone_from(&self.operation);
        self.problems.push(problem);
        None
    }

    /// The text under `key`, or a problem.
    fn text(&mut self, pointer: &str, key: &str) -> Option<String> {
        self.optional_text(pointer, key).or_else(|| {
            let help = "write a string, quoted where YAML needs it";
            self.report(&join(pointer, key), "expected a string here", help)
        })
    }

    pub(super) fn optional_text(&self, pointer: &str, key: &str) -> Option<String> {
        self.document.text(pointer, key).map(str::to_owned)
    }

    fn flag(&self, pointer: &str, key: &str) -> bool {
        self.document.get(&join(pointer, key)).and_then(Value::as_bool).unwrap_or(false)
    }

    pub(super) fn citation(&mut self, pointer: &str) -> Citation {
        let read = self.document.get(pointer).map_or_else(|| Some(Citation::default()), Citation::read);
        read.unwrap_or_else(|| {
            let help = "write one clause id, a list of ids, or a map from keyword to either";
            self.report::<()>(&join(pointer, "x-clause"), "invalid `x-clause`", help);
            Citation::default()
        })
    }

    fn operations(&mut self) -> Vec<Operation> {
        let mut operations = Vec::new();
        for (path, at, _) in self.document.members("/paths") {
            for (key, pointer, _) in self.document.members(&at) {
                let Ok(method) = key.parse() else { continue };
                self.operation = self.optional_text(&pointer, "operationId");
                operations.extend(self.operation(path, method, pointer));
            }
        }
        operations
    }

    fn operation(&mut self, path: &str, method: Method, pointer: String) -> Option<Operation> {
        let id = self.text(&pointer, "operationId")?;
        let citation = self.citation(&pointer);
        let credentials = self.credentials(&pointer);
        let items = |key: &str| self.document.items(&join(&pointer, key)).into_iter();
        let (rules, parameters, tags) = (items("x-rules"), items("parameters"), items("tags"));
        let rules = rules.filter_map(|(at, _)| self.rule(at)).collect();
        let parameters = parameters.filter_map(|(at, _)| self.parameter(&at)).collect();
        let body_pointer = join(&pointer, "requestBody");
        let body = match self.document.get(&body_pointer) {
            Some(_) => Some(self.body(&body_pointer)?),
            None => None,
        };
        let mut success = None;
        let mut errors = Vec::new();
        for (status, at, _) in self.document.members(&join(&pointer, "responses")) {
            let response = self.response(status, &at)?;
            if status.starts_with('2') { success = Some(response) } else { errors.push(response) }
        }
        let Some(success) = success else {
            return self.report(&pointer, "missing 2xx response", "add one success response");
        };
        Some(Operation {
            tags: tags.filter_map(|(_, tag)| Some(tag.as_str()?.to_owned())).collect(),
            summary: self.optional_text(&pointer, "summary"),
            description: self.optional_text(&pointer, "description"),
            retry: self.optional_text(&pointer, "x-retry").and_then(|class| class.parse().ok()),
            credentials_agree: self.optional_text(&pointer, "x-credentials-agree"),
            path: path.to_owned(),
            id,
            method,
            pointer,
            citation,
            credentials,
            rules,
            parameters,
            body,
            success,
            errors,
        })
    }

    fn credentials(&mut self, operation: &str) -> Vec<Credential> {
        let mut credentials = Vec::new();
        for (at, requirement) in self.document.items(&join(operation, "security")) {
            for name in requirement.as_object().into_iter().flatten().map(|(name, _)| name) {
                let scheme = join("/components/securitySchemes", name);
                credentials.extend(self.credential(&at, &scheme));
            }
        }
        credentials
    }

    fn credential(&mut self, at: &str, scheme: &str) -> Option<Credential> {
        let field = |key| self.optional_text(scheme, key);
        match (field("type").as_deref(), field("in").as_deref(), field("scheme").as_deref(), field("name")) {
            (Some("apiKey"), Some("query"), _, Some(name)) => Some(Credential::Query { name }),
            (Some("apiKey"), Some("header"), _, Some(name)) => Some(Credential::Header { name }),
            (Some("http"), _, Some("bearer"), _) => Some(Credential::Bearer),
            _ => self.report(
                at,
                format!("unsupported security scheme {scheme}"),
                "use an apiKey in query or header, or http bearer, under components/securitySchemes",
            ),
        }
    }

    fn rule(&mut self, pointer: String) -> Option<Rule> {
        let clause = self.text(&pointer, "clause")?;
        match self.text(&pointer, "rule")?.as_str() {
            "required-when" => Some(Rule::RequiredWhen {
                parameter: self.text(&pointer, "parameter")?,
                condition: self.text(&join(&pointer, "when"), "parameter")?,
                equals: self.text(&join(&pointer, "when"), "equals")?,
                clause,
                pointer,
            }),
            "not-before" => Some(Rule::NotBefore {
                property: self.text(&pointer, "property")?,
                bound: self.text(&pointer, "bound")?,
                clause,
                pointer,
            }),
            other => {
                let message = format!("unknown rule `{other}`");
                let help = "expected one of: required-when, not-before (openapi/README.md)";
                self.report(&pointer, message, help)
            }
        }
    }

    fn parameter(&mut self, at: &str) -> Option<Parameter> {
        let pointer = self.document.definition(at).to_owned();
        let citation = self.citation(&pointer);
        let other = self.text(&pointer, "in")?;
        let Ok(location) = other.parse() else {
            let message = format!("unsupported parameter location `{other}`");
            return self.report(&pointer, message, "write `in: path`, `in: query` or `in: header`");
        };
        let mut schema = self.schema(&join(&pointer, "schema"))?;
        schema.citation = schema.citation.or(&citation);
        schema.inherit(&Citation::default());
        Some(Parameter {
            name: self.text(&pointer, "name")?,
            location,
            required: self.flag(&pointer, "required"),
            description: self.optional_text(&pointer, "description"),
            credential: self.flag(&pointer, "x-credential"),
            alias_of: self.optional_text(&pointer, "x-alias-of"),
            aliases_agree: self.optional_text(&pointer, "x-aliases-agree"),
            falls_back_to: self.optional_text(&pointer, "x-falls-back-to"),
            schema,
            example: self.document.get(&join(&pointer, "example")).cloned(),
            citation,
            pointer,
        })
    }

    fn body(&mut self, at: &str) -> Option<Body> {
        let pointer = self.document.definition(at).to_owned();
        let citation = self.citation(&pointer);
        let mut schema = self.schema(&format!("{pointer}/content/application~1json/schema"))?;
        schema.inherit(&citation);
        Some(Body {
            required: self.flag(&pointer, "required"),
            description: self.optional_text(&pointer, "description"),
            pointer,
            schema,
            citation,
        })
    }

    fn response(&mut self, status: &str, at: &str) -> Option<Response> {
        let pointer = self.document.definition(at).to_owned();
        let citation = self.citation(&pointer);
        let around = Citation { any: citation.clauses_for("headers").to_vec(), ..Citation::default() };
        let mut headers = Vec::new();
        for (name, at, _) in self.document.members(&join(&pointer, "headers")) {
            headers.push(self.header(name, &at, &around)?);
        }
        let mut content = Vec::new();
        for (name, at, _) in self.document.members(&join(&pointer, "content")) {
            let mut schema = self.schema(&join(&at, "schema"))?;
            schema.inherit(&citation);
            content.push(Media { name: name.to_owned(), schema });
        }
        let description = self.optional_text(&pointer, "description");
        Some(Response { status: status.to_owned(), pointer, description, headers, content, citation })
    }

    fn header(&mut self, name: &str, at: &str, around: &Citation) -> Option<Header> {
        let pointer = self.document.definition(at).to_owned();
        let citation = self.citation(&pointer).or_any(around);
        let mut schema = self.schema(&join(&pointer, "schema"))?;
        schema.citation = schema.citation.or(&citation);
        schema.inherit(&Citation::default());
        Some(Header {
            name: name.to_owned(),
            required: self.flag(&pointer, "required"),
            description: self.optional_text(&pointer, "description"),
            pointer,
            schema,
            citation,
        })
    }

    fn clause(&mut self, pointer: String, is_rule: bool) -> Option<Clause> {
        let (id, text) = (self.text(&pointer, "id"), self.text(&pointer, "text"));
        let observable = is_rule.then(|| self.flag(&pointer, "observable"));
        if observable == Some(false) && self.optional_text(&pointer, "reason").is_none() {
            self.report::<()>(&pointer, "missing `reason` of an unobservable clause", "add `reason: …`");
        }
        let section = if is_rule { self.text(&pointer, "section").map(drop) } else { Some(()) };
        section.and(Some(Clause { id: id?, text: text?, observable, pointer }))
    }
}

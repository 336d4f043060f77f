//! What a document says, as a table: by operation, direction, place and keyword. References are followed, so that a definition which
//! several places share stands at each of them.

use serde_json::{Value, json};

use crate::{
    document::{Document, join},
    model::Citation,
};

/// Whom something concerns on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::Display)]
#[strum(serialize_all = "lowercase")]
pub(crate) enum Direction {
    /// What callers may send.
    Request,
    /// What services may respond.
    Response,
    /// The operation as a whole, a clause or a text.
    Contract,
}

/// A value of a document, and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SourceValue {
    pub(crate) value: Value,
    pub(crate) line: u64,
    pub(crate) pointer: String,
}

/// What a document says under one keyword at one place.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) keyword: String,
    /// What tells it from others of the same keyword, such as a way to send the token; empty where there is one.
    pub(crate) entry: String,
    pub(crate) said: SourceValue,
    pub(crate) clauses: Vec<String>,
}

/// One place with its rows.
#[derive(Debug)]
pub(crate) struct Part {
    pub(crate) direction: Direction,
    /// The place, for display: `query num`, `header X-Request-Id`, `body ips[]`, `200 header Cache-Control`,
    /// `200 body data.items[].groupId`, `200 text`, `operation`, or the id of a clause.
    pub(crate) at: String,
    /// The place, for matching: names of headers have no letter case.
    key: String,
    pointer: String,
    pub(crate) rows: Vec<Row>,
}

/// An operation with what it is as a whole, what callers may send, and what services may respond.
#[derive(Debug)]
pub(crate) struct Operation {
    pub(crate) id: String,
    /// Method and path.
    pub(crate) way: SourceValue,
    /// The same, for matching.
    pub(crate) call: String,
    pub(crate) clauses: Vec<String>,
    pub(crate) parts: Vec<Part>,
}

/// The place of what binds an operation as a whole.
pub(crate) const OPERATION: &str = "operation";

/// The keywords of which a description, an example or the like is said, and nothing that is checked.
const TEXTS: [&str; 11] = [
    "$ref",
    "clause",
    "description",
    "example",
    "inferred",
    "inferred-null",
    "pattern",
    "reason",
    "section",
    "summary",
    "x-clause",
];

/// The table of each operation, in the order of the document.
pub(crate) fn operations(document: &Document) -> Vec<Operation> {
    let paths = document.members("/paths").into_iter();
    let operations = paths.flat_map(|(path, at, _)| {
        document.members(&at).into_iter().filter_map(move |(method, pointer, operation)| {
            let (id, method) = (operation["operationId"].as_str()?.to_owned(), method.to_uppercase());
            let call = format!("{method} {path}");
            let way = SourceValue::new(document, pointer.clone(), json!(call));
            let clauses: Vec<String> = Citation::read(operation).all().map(str::to_owned).collect();
            let mut table = Table { document, parts: Vec::new() };
            table.operation(&pointer, &way, &clauses);
            Some(Operation { id, way, call, clauses, parts: table.parts })
        })
    });
    operations.collect()
}

/// The table of what is said of no operation: the document as a whole, and by what a suite judges services.
pub(crate) fn of_document(document: &Document) -> Vec<Part> {
    let mut table = Table { document, parts: Vec::new() };
    let whole = table.part(Direction::Contract, "document".to_owned(), "");
    for (keyword, pointer, value) in document.members("") {
        match keyword {
            "paths" | "components" => {}
            "info" => table.keywords(whole, &pointer, &Citation::default(), keyword),
            "x-clauses" | "x-unspecified" => {
                for (at, _) in document.items(&pointer) {
                    let id = document.text(&at, "id").unwrap_or_default().to_owned();
                    let own = Citation { any: vec![id.clone()], ..Citation::default() };
                    let part = table.part(Direction::Contract, id, &at);
                    table.keywords(part, &at, &own, "");
                }
            }
            _ => table.row(whole, (keyword, ""), &pointer, value.clone(), &[]),
        }
    }
    for (name, at, _) in document.members("/components/securitySchemes") {
        let pointer = join(&at, "description");
        if let Some(text) = document.get(&pointer) {
            table.row(whole, ("description", name), &pointer, text.clone(), &[]);
        }
    }
    table.parts
}

struct Table<'a> {
    document: &'a Document,
    parts: Vec<Part>,
}

impl Table<'_> {
    fn part(&mut self, direction: Direction, at: String, pointer: &str) -> usize {
        let is_header = at.starts_with("header ") || at.contains(" header ");
        let key = if is_header { at.to_ascii_lowercase() } else { at.clone() };
        self.parts.push(Part { direction, at, key, pointer: pointer.to_owned(), rows: Vec::new() });
        self.parts.len() - 1
    }

    fn row(
        &mut self,
        part: usize,
        (keyword, entry): (&str, &str),
        pointer: &str,
        value: Value,
        clauses: &[String],
    ) {
        let said = SourceValue::new(self.document, pointer.to_owned(), value);
        let (keyword, entry) = (keyword.to_owned(), entry.to_owned());
        self.parts[part].rows.push(Row { keyword, entry, said, clauses: clauses.to_vec() });
    }

    /// A row for each keyword of what stands at `pointer` itself, except those that hold other parts. `owner` is the name of what has a
    /// schema, and empty for a schema, so that texts of both can be told apart.
    fn keywords(&mut self, part: usize, pointer: &str, citation: &Citation, owner: &str) {
        let document = self.document;
        let at = document.definition(pointer);
        if at != pointer {
            self.row(
                part,
                ("$ref", if owner.is_empty() { "" } else { "owner" }),
                &join(pointer, "$ref"),
                json!(at),
                &[],
            );
        }
        for (keyword, here, value) in document.members(at) {
            let clauses = citation.clauses_for(keyword);
            match (keyword, value) {
                ("content" | "headers" | "id" | "in" | "items" | "parameters" | "properties", _)
                | ("requestBody" | "responses" | "schema" | "version" | "x-credentials-agree", _) => {}
                // Each entry has a row of its own.
                ("security" | "x-rules", _) | ("required", Value::Array(_)) => {
                    self.row(part, ("order", keyword), &here, value.clone(), &[]);
                }
                ("required", Value::Bool(true)) => {
                    self.row(part, (keyword, ""), &here, json!(owner), clauses);
                }
                ("x-port" | "x-separators", Value::Object(members)) => {
                    for (name, value) in members {
                        let keyword = format!("{keyword} {name}");
                        self.row(part, (&keyword, ""), &join(&here, name), value.clone(), clauses);
                    }
                }
                ("x-aliases-agree", Value::String(clause)) => {
                    self.row(part, (keyword, ""), &here, value.clone(), std::slice::from_ref(clause));
                }
                _ => {
                    let entry = match owner {
                        "info" => "info",
                        _ if owner.is_empty() || !TEXTS.contains(&keyword) => "",
                        _ => "owner",
                    };
                    self.row(part, (keyword, entry), &here, value.clone(), clauses);
                }
            }
        }
    }

    fn operation(&mut self, pointer: &str, way: &SourceValue, clauses: &[String]) {
        let document = self.document;
        let whole = self.part(Direction::Contract, OPERATION.to_owned(), pointer);
        self.row(whole, ("", ""), pointer, way.value.clone(), clauses);
        self.keywords(whole, pointer, &Citation::default(), "");
        let parameters = document.items(&join(pointer, "parameters"));
        let binding = self.part(Direction::Request, OPERATION.to_owned(), pointer);
        // The operation cites clauses of every kind; the parameter that carries the token cites those of the token.
        let mut carriers = parameters.iter().map(|(_, parameter)| document.resolve(parameter));
        let carrier = carriers.find(|parameter| parameter["x-credential"] == true);
        let carrier = carrier.map(Citation::read).unwrap_or_default();
        let security = join(pointer, "security");
        for (_, requirement) in document.items(&security) {
            for name in requirement.as_object().into_iter().flatten().map(|(name, _)| name) {
                let scheme = join("/components/securitySchemes", name);
                let sent = document.text(&scheme, "in").zip(document.text(&scheme, "name"));
                let sent = sent.map_or("bearer token".to_owned(), |(place, name)| format!("{place} {name}"));
                let entry = sent.to_lowercase();
                let clauses = carrier.clauses_for("x-credential");
                self.row(binding, ("security", &entry), &security, json!(sent), clauses);
            }
        }
        if let Some(clause) = document.text(pointer, "x-credentials-agree") {
            let (keyword, clauses) = ("x-credentials-agree", [clause.to_owned()]);
            self.row(binding, (keyword, ""), &join(pointer, keyword), json!(clause), &clauses);
        }
        for (at, rule) in document.items(&join(pointer, "x-rules")) {
            let text = |pointer: &str| rule.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
            let said = match text("/rule") {
                "required-when" => {
                    let [one, when, equals] = ["/parameter", "/when/parameter", "/when/equals"].map(text);
                    format!("{one} is required when {when} is {equals}")
                }
                _ => format!("{} is not before {}", text("/property"), text("/bound")),
            };
            let clauses = [text("/clause").to_owned()];
            self.row(binding, ("clause", &said), &join(&at, "clause"), json!(clauses[0]), &[]);
            self.row(binding, ("x-rules", &said.to_lowercase()), &at, json!(said), &clauses);
        }
        for (at, parameter) in &parameters {
            let parameter = document.resolve(parameter);
            let text = |key: &str| parameter[key].as_str().unwrap_or_default();
            let part = self.part(Direction::Request, format!("{} {}", text("in"), text("name")), at);
            self.value(part, at, &Citation::read(parameter), text("name"));
        }
        let body = join(pointer, "requestBody");
        if document.get(&body).is_some() {
            let part = self.part(Direction::Request, "body".to_owned(), &body);
            let citation = self.cited(&body);
            self.keywords(part, &body, &citation, "body");
            for (name, at, _) in document.members(&join(document.definition(&body), "content")) {
                self.content(part, "body", (name, &at), &citation);
            }
        }
        for (status, at, _) in document.members(&join(pointer, "responses")) {
            self.response(status, &at);
        }
    }

    fn response(&mut self, status: &str, pointer: &str) {
        let document = self.document;
        let (at, citation) = (document.definition(pointer), self.cited(pointer));
        let all: Vec<String> = citation.all().map(str::to_owned).collect();
        let part = self.part(Direction::Response, status.to_owned(), pointer);
        self.row(part, ("", ""), at, json!(status), &all);
        self.keywords(part, pointer, &citation, status);
        let around = Citation { any: citation.clauses_for("headers").to_vec(), ..Citation::default() };
        for (name, at, _) in document.members(&join(at, "headers")) {
            let part = self.part(Direction::Response, format!("{status} header {name}"), &at);
            self.row(part, ("name", ""), &at, json!(name), &[]);
            self.value(part, &at, &self.cited(&at).or_any(&around), name);
        }
        for (name, here, _) in document.members(&join(at, "content")) {
            let root = format!("{status} {}", if name == "application/json" { "body" } else { "text" });
            let part = self.part(Direction::Response, root.clone(), &here);
            self.content(part, &root, (name, &here), &citation);
        }
    }

    /// A parameter or a header with its schema.
    fn value(&mut self, part: usize, pointer: &str, citation: &Citation, name: &str) {
        self.keywords(part, pointer, citation, name);
        let schema = join(self.document.definition(pointer), "schema");
        let (root, own) = (self.parts[part].at.clone(), self.cited(&schema).or(citation));
        self.schema(part, (&root, ""), &schema, &own);
    }

    fn content(&mut self, part: usize, root: &str, (name, pointer): (&str, &str), citation: &Citation) {
        self.row(part, ("content", ""), pointer, json!(name), citation.clauses_for("content"));
        self.keywords(part, pointer, citation, name);
        let schema = join(pointer, "schema");
        let own = self.cited(&schema).or_any(citation);
        self.schema(part, (root, ""), &schema, &own);
    }

    /// A schema at `root` followed by the path inside of it, such as `data.items[]`.
    fn schema(&mut self, part: usize, (root, path): (&str, &str), pointer: &str, citation: &Citation) {
        let (document, direction) = (self.document, self.parts[part].direction);
        let at = document.definition(pointer);
        self.keywords(part, pointer, citation, "");
        let items = join(at, "items");
        if document.get(&items).is_some() {
            let path = format!("{path}[]");
            let part = self.part(direction, format!("{root} {path}"), &items);
            let own = self.cited(&items).or_any(citation);
            self.schema(part, (root, &path), &items, &own);
        }
        let list = join(at, "required");
        let required = document.items(&list);
        for (name, pointer, _) in document.members(&join(at, "properties")) {
            let path = if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
            let part = self.part(direction, format!("{root} {path}"), &pointer);
            let own = self.cited(&pointer).or_any(citation);
            if let Some((at, _)) = required.iter().find(|(_, one)| *one == name) {
                self.row(part, ("required", ""), at, json!(name), own.clauses_for("required"));
            }
            self.schema(part, (root, &path), &pointer, &own);
        }
    }

    /// The clauses that the definition of what stands at `pointer` cites itself.
    fn cited(&self, pointer: &str) -> Citation {
        self.document.get(self.document.definition(pointer)).map(Citation::read).unwrap_or_default()
    }
}

impl SourceValue {
    pub(crate) fn new(document: &Document, pointer: String, value: Value) -> SourceValue {
        SourceValue { line: document.place(&pointer).line, pointer, value }
    }
}

impl Row {
    /// Whether it says nothing that is checked.
    pub(crate) fn is_text(&self) -> bool {
        TEXTS.contains(&self.keyword.as_str())
    }
}

impl Part {
    /// Whether two parts of two tables are the same place.
    pub(crate) fn is_at(&self, other: &Part) -> bool {
        (self.direction, &self.key) == (other.direction, &other.key)
    }

    pub(crate) fn is_inside(&self, outer: &Part) -> bool {
        let rest = self.key.strip_prefix(&outer.key).filter(|_| self.direction == outer.direction);
        rest.is_some_and(|rest| rest.starts_with(['.', '[', ' ']))
    }

    pub(crate) fn get(&self, keyword: &str, entry: &str) -> Option<&Row> {
        self.rows.iter().find(|row| row.keyword == keyword && row.entry == entry)
    }

    pub(crate) fn value(&self, keyword: &str) -> Option<&Value> {
        self.get(keyword, "").map(|row| &row.said.value)
    }

    pub(crate) fn has(&self, keyword: &str) -> bool {
        self.value(keyword).is_some_and(|value| *value != Value::Bool(false))
    }

    /// What stands for the part as a whole: its status, text, media type or type.
    pub(crate) fn said(&self, document: &Document) -> SourceValue {
        let value = ["", "text", "content", "type"].into_iter().find_map(|keyword| self.value(keyword));
        SourceValue::new(document, self.pointer.clone(), value.cloned().unwrap_or_default())
    }

    /// The clauses behind its rows.
    pub(crate) fn clauses(&self) -> Vec<String> {
        self.rows.iter().flat_map(|row| row.clauses.clone()).collect()
    }
}

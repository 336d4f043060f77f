//! Reads the [`table`](crate::table) out of the document.

use serde_json::Value;

use crate::{
    check::counted,
    citation::Citation,
    date_time,
    table::{Constraint, Location, Operation, Part, Row, Rule, Schema, Substitute, Token, Transport, Type},
};

/// The keywords of a schema that become rows, in the order in which they are checked.
const KEYWORDS: &str = "type enum format x-format minimum maximum x-max-utf8-bytes minLength maxLength minItems maxItems items \
    x-max-distinct properties";

/// The other keywords: texts, what is read together with one of [`KEYWORDS`], and what only repeats it for tools of others.
const OTHER_KEYWORDS: &str =
    "description example x-clause nullable default required x-port x-separators pattern additionalProperties";

/// The clause of every operation that takes a token. A parameter of it may be optional where the token has other transports.
const TOKEN_REQUIRED: &str = "all.token-required";

/// The operations of a document, in its order.
///
/// # Errors
/// A request has a constraint that the table cannot hold. Says where.
pub fn operations(document: &Value) -> Result<Vec<Operation>, String> {
    let mut operations = Vec::new();
    for (path, item) in members(&document["paths"]) {
        for (method, operation) in members(item).filter(|(_, operation)| operation["operationId"].is_string())
        {
            let read = Reader { document }.operation(path, method, operation);
            operations.push(read.map_err(|problem| format!("{} {path}: {problem}", method.to_uppercase()))?);
        }
    }
    Ok(operations)
}

struct Reader<'a> {
    document: &'a Value,
}

impl<'a> Reader<'a> {
    fn definition(&self, part: &'a Value) -> &'a Value {
        let target = part["$ref"].as_str().and_then(|target| target.strip_prefix('#'));
        target.and_then(|target| self.document.pointer(target)).unwrap_or(part)
    }

    fn operation(&self, path: &str, method: &str, operation: &'a Value) -> Result<Operation, String> {
        let parameters = items(&operation["parameters"]).map(|parameter| self.definition(parameter));
        let (tokens, parameters): (Vec<_>, Vec<_>) =
            parameters.partition(|parameter| parameter["x-credential"] == true);
        let (mut rules, mut substitutes) = (Vec::new(), Vec::new());
        for parameter in &parameters {
            let name = text(parameter, "name");
            if let Some(header) = parameter["x-falls-back-to"].as_str() {
                substitutes.push(Substitute { parameter: name.clone(), by: header.to_owned() });
            }
            if let Some(original) = parameter["x-alias-of"].as_str() {
                let (parameter, clauses) = (original.to_owned(), text(parameter, "x-aliases-agree"));
                substitutes.push(Substitute { parameter: parameter.clone(), by: name.clone() });
                rules.push(Rule::Same { alias: name, parameter, clauses });
            }
        }
        for rule in items(&operation["x-rules"]) {
            rules.push(self::rule(rule)?);
        }
        let statuses = members(&operation["responses"]).filter_map(|(status, _)| status.parse().ok());
        let body = self.definition(&operation["requestBody"]);
        Ok(Operation {
            id: text(operation, "operationId"),
            method: method.to_uppercase(),
            path: path.to_owned(),
            status: statuses.into_iter().find(|status| (200..300).contains(status)).ok_or("no success")?,
            token: self.token(operation, tokens.first().ok_or("no parameter carries the token")?)?,
            parameters: parameters.into_iter().map(|one| self.parameter(one)).collect::<Result<_, _>>()?,
            body: if body.is_null() { None } else { Some(self.body(body)?) },
            rules,
            substitutes,
        })
    }

    fn token(&self, operation: &'a Value, parameter: &'a Value) -> Result<Token, String> {
        let names = items(&operation["security"]).flat_map(members).map(|(name, _)| name);
        let transports = names.map(|name| {
            let scheme = &self.document["components"]["securitySchemes"][name];
            match scheme["in"].as_str() {
                Some("query") => Transport::Query(text(scheme, "name")),
                Some(_) => Transport::Header(text(scheme, "name")),
                None => Transport::Bearer,
            }
        });
        let is_required = items(&operation["x-clause"]).any(|id| id == TOKEN_REQUIRED);
        let citation = Citation::read(parameter);
        let token = Token {
            name: text(parameter, "name"),
            location: location(parameter).unwrap_or_default(),
            transports: transports.collect(),
            required: if is_required { TOKEN_REQUIRED.to_owned() } else { citation.clauses("required") },
            not_empty: citation.clauses("minLength"),
            agree: text(operation, "x-credentials-agree"),
        };
        let schema = self.schema(self.definition(&parameter["schema"]), &citation, token.location)?;
        let is_limit =
            |row: &Row| !matches!(row.constraint, Constraint::NotEmpty | Constraint::Type(Type::String));
        if schema.rows.iter().any(is_limit) {
            return Err("the token is not a text without limits".to_owned());
        }
        if token.transports.len() > 1 && token.agree.is_empty() {
            return Err("a token with several transports has no `x-credentials-agree`".to_owned());
        }
        Ok(token)
    }

    fn parameter(&self, parameter: &'a Value) -> Result<Part, String> {
        let (name, citation) = (text(parameter, "name"), Citation::read(parameter));
        let location = location(parameter).ok_or_else(|| format!("`{name}` has no location"))?;
        let schema = self.definition(&parameter["schema"]);
        let own = Citation::read(schema).or(&citation);
        let schema =
            self.schema(schema, &own, location).map_err(|problem| format!("{location} {name}: {problem}"))?;
        let required = (parameter["required"] == true).then(|| citation.clauses("required"));
        Ok(Part { name, location, required, schema })
    }

    fn body(&self, body: &'a Value) -> Result<Part, String> {
        let citation = Citation::read(body);
        let schema = self.definition(&body["content"]["application/json"]["schema"]);
        let own = Citation::read(schema).or_any(&citation);
        Ok(Part {
            name: "body".to_owned(),
            location: Location::Body,
            required: (body["required"] == true).then(|| citation.clauses("required")),
            schema: self
                .schema(schema, &own, Location::Body)
                .map_err(|problem| format!("body: {problem}"))?,
        })
    }

    fn schema(&self, schema: &'a Value, citation: &Citation, location: Location) -> Result<Schema, String> {
        let is_known =
            |name: &str| KEYWORDS.split(' ').chain(OTHER_KEYWORDS.split(' ')).any(|known| known == name);
        if let Some((unknown, _)) = members(schema).find(|(name, _)| !is_known(name)) {
            return Err(format!("unsupported keyword `{unknown}`"));
        }
        let kind = match schema["type"].as_str() {
            Some("string") => Type::String,
            Some("integer") => Type::Integer,
            Some("boolean") => Type::Boolean,
            Some("array") => Type::Array,
            Some("object") => Type::Object,
            _ => return Err(format!("unsupported type {}", schema["type"])),
        };
        let in_body = location == Location::Body;
        let is_free = ["enum", "format", "x-format"].iter().all(|keyword| schema[*keyword].is_null());
        let row = |keyword, (constraint, expected)| Row {
            constraint,
            expected,
            clauses: citation.clauses(keyword),
        };
        let not_empty = || row("minLength", (Constraint::NotEmpty, "a value that is not empty".to_owned()));
        let mut rows = Vec::new();
        if !in_body {
            // The text of a number can be empty as well.
            rows.push(not_empty());
        }
        for keyword in KEYWORDS.split(' ').filter(|keyword| !schema[*keyword].is_null()) {
            let constraint = match keyword {
                "type" => Some((Constraint::Type(kind), type_in_words(kind, schema))),
                "items" => {
                    let inner = self.inner(&schema[keyword], citation, location)?;
                    Some((Constraint::Items(Box::new(inner)), String::new()))
                }
                "properties" => {
                    Some((Constraint::Members(self.members(schema, citation, location)?), String::new()))
                }
                _ => constraint(schema, keyword, citation)?,
            };
            rows.extend(constraint.map(|constraint| row(keyword, constraint)));
            if keyword == "type" && in_body && kind == Type::String && is_free {
                rows.push(not_empty());
            }
        }
        Ok(Schema {
            kind,
            nullable: schema["nullable"] == true,
            default: schema.get("default").cloned(),
            rows,
        })
    }

    fn members(
        &self,
        schema: &'a Value,
        citation: &Citation,
        location: Location,
    ) -> Result<Vec<Part>, String> {
        let required: Vec<_> = items(&schema["required"]).filter_map(Value::as_str).collect();
        let members = members(&schema["properties"]).map(|(name, property)| {
            let own = Citation::read(self.definition(property)).or_any(citation);
            Ok(Part {
                name: name.to_owned(),
                location,
                required: required.contains(&name).then(|| own.clauses("required")),
                schema: self
                    .inner(property, citation, location)
                    .map_err(|problem| format!("{name}: {problem}"))?,
            })
        });
        members.collect()
    }

    /// The schema of an item or a member.
    fn inner(&self, schema: &'a Value, around: &Citation, location: Location) -> Result<Schema, String> {
        let schema = self.definition(schema);
        self.schema(schema, &Citation::read(schema).or_any(around), location)
    }
}

/// What a keyword requires of a single value, with its words; nothing where another keyword says the same.
fn constraint(
    schema: &Value,
    keyword: &str,
    citation: &Citation,
) -> Result<Option<(Constraint, String)>, String> {
    let value = &schema[keyword];
    let unsupported = || format!("unsupported `{keyword}: {value}`");
    let number = || value.as_i64().ok_or_else(unsupported);
    let size = || number().and_then(|size| usize::try_from(size).map_err(|_| unsupported()));
    let range = type_in_words(Type::Integer, schema);
    Ok(Some(match keyword {
        "enum" => {
            let values: Option<Vec<_>> = items(value).map(|one| Some(one.as_str()?.to_owned())).collect();
            let values = values.ok_or_else(unsupported)?;
            let expected = format!("one of {}", values.join(", "));
            (Constraint::Enum(values), expected)
        }
        "format" if value == "date-time" => (Constraint::DateTime, date_time::EXPECTED.to_owned()),
        // Every integer has 64 bits.
        "format" if value == "int64" => return Ok(None),
        "x-format" if value == "ip-endpoint" => {
            let bound = |name: &str| u16::try_from(schema["x-port"][name].as_u64()?).ok();
            let (least, most) = bound("minimum").zip(bound("maximum")).ok_or_else(unsupported)?;
            let port_clauses = citation.clauses("x-port");
            let expected = format!("an IP address, perhaps with a port from {least} to {most}");
            (Constraint::IpEndpoint { ports: least..=most, port_clauses }, expected)
        }
        "minimum" => (Constraint::Minimum(number()?), range),
        "maximum" => (Constraint::Maximum(number()?), range),
        "x-max-utf8-bytes" => (Constraint::MaxUtf8Bytes(size()?), format!("at most {value} bytes in UTF-8")),
        // No text is empty.
        "minLength" if size()? <= 1 => return Ok(None),
        "minLength" => (Constraint::MinLength(size()?), format!("at least {value} characters")),
        "maxLength" => (Constraint::MaxLength(size()?), format!("at most {value} characters")),
        "minItems" => (Constraint::MinItems(size()?), format!("at least {}", counted(size()?, "item"))),
        "maxItems" => (Constraint::MaxItems(size()?), format!("at most {}", counted(size()?, "item"))),
        "x-max-distinct" => (Constraint::MaxDistinct(size()?), format!("at most {value} distinct items")),
        _ => return Err(unsupported()),
    }))
}

fn rule(rule: &Value) -> Result<Rule, String> {
    let clauses = text(rule, "clause");
    match rule["rule"].as_str() {
        Some("required-when") => Ok(Rule::RequiredWhen {
            parameter: text(rule, "parameter"),
            condition: text(&rule["when"], "parameter"),
            equals: text(&rule["when"], "equals"),
            clauses,
        }),
        Some("not-before") => {
            Ok(Rule::NotBefore { property: text(rule, "property"), bound: text(rule, "bound"), clauses })
        }
        _ => Err(format!("unsupported rule {}", rule["rule"])),
    }
}

fn type_in_words(kind: Type, schema: &Value) -> String {
    let bound = |keyword: &str| schema[keyword].as_i64();
    match (kind, bound("minimum"), bound("maximum")) {
        (Type::String, ..) => "a string".to_owned(),
        (Type::Boolean, ..) => "true or false".to_owned(),
        (Type::Array, ..) => "a list".to_owned(),
        (Type::Object, ..) => "a JSON object".to_owned(),
        (Type::Integer, Some(least), Some(most)) => format!("an integer from {least} to {most}"),
        (Type::Integer, Some(least), None) => {
            format!("an integer of at least {least} that fits into 64 bits")
        }
        (Type::Integer, None, Some(most)) => format!("an integer of at most {most} that fits into 64 bits"),
        (Type::Integer, None, None) => "an integer that fits into 64 bits".to_owned(),
    }
}

fn location(parameter: &Value) -> Option<Location> {
    match parameter["in"].as_str()? {
        "path" => Some(Location::Path),
        "query" => Some(Location::Query),
        "header" => Some(Location::Header),
        _ => None,
    }
}

fn text(part: &Value, key: &str) -> String {
    part[key].as_str().unwrap_or_default().to_owned()
}

fn members(value: &Value) -> impl Iterator<Item = (&str, &Value)> {
    value.as_object().into_iter().flatten().map(|(name, value)| (name.as_str(), value))
}

fn items(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

//! Checks requests by the [`table`](crate::table), and says of the first broken constraint where, by which clauses, what was
//! expected and what was found.

use std::{borrow::Cow, collections::HashSet, fmt};

use serde_json::Value;

use crate::{
    address::{Address, AddressError},
    date_time,
    request::Request,
    table::{Condition, Constraint, Limit, Location, Part, Row, Rule, Schema, Type},
};

/// Maximum number of characters of a text that a message repeats.
const MAX_SHOWN: usize = 40;

/// A broken constraint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation<'a> {
    /// Where the part is sent.
    pub location: Location,
    /// The part in it, such as `num`, `ips[3]` or `lines[2].page`; empty for the body as a whole.
    pub path: String,
    /// What is wrong with it.
    pub problem: Problem<'a>,
    /// What was expected, such as "an integer from 1 to 100".
    pub expected: Cow<'a, str>,
    /// What was found: a scalar in backticks, shortened, or what else it is. Never what may be a misplaced token.
    pub found: Cow<'static, str>,
    /// Ids of the clauses, separated by commas; empty where the document cites none.
    pub clauses: &'a str,
}

/// The kind of a [`Violation`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Problem<'a> {
    /// It is absent.
    Missing,
    /// It is absent, and required under this condition.
    MissingWhen(String),
    /// It is empty.
    Empty,
    /// It is a member that the document does not have.
    Unknown(Box<UnknownName<'a>>),
    /// It differs from the part that it must be equal to.
    Conflict,
    /// Its value breaks a constraint.
    Invalid,
}

/// The name of a member that the document does not have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownName<'a> {
    /// The name, which can be anything.
    pub name: String,
    /// The names that the document has.
    pub known: Vec<&'a str>,
}

type Check<'a> = Result<(), Violation<'a>>;

impl<'o> Request<'o> {
    /// Checks the request.
    ///
    /// # Errors
    /// The first constraint that it breaks.
    pub fn check(&self) -> Check<'o> {
        for (part, value) in self.parts() {
            part.check(value).map_err(|error| match part.location {
                Location::Body => Violation { path: error.path_in_body(), ..error },
                _ => error,
            })?;
        }
        self.operation().rules.iter().try_for_each(|rule| self.check_rule(rule))
    }

    fn check_rule(&self, rule: &'o Rule) -> Check<'o> {
        let operation = self.operation();
        match rule {
            Rule::Same { alias, parameter, clause } => match (self.get(alias), self.get(parameter)) {
                (Some(one), Some(other)) if one != other => Err(Violation {
                    problem: Problem::Conflict,
                    ..Violation::new(format!("the same value as `{parameter}`"), shown(one), clause)
                }
                .of(operation.part(alias))),
                _ => Ok(()),
            },
            Rule::RequiredWhen { parameter, when: Condition { parameter: condition, equals }, clause } => {
                let default = || operation.part(condition)?.schema.default.as_ref();
                let cause = self.get(condition).or_else(default);
                if self.get(parameter).is_some() || cause.and_then(Value::as_str) != Some(equals) {
                    return Ok(());
                }
                let when = format!("`{condition}` is `{equals}`");
                let error = Violation::new(format!("a value when {when}"), "none", clause);
                Err(Violation { problem: Problem::MissingWhen(when), ..error }.of(operation.part(parameter)))
            }
            Rule::NotBefore { property, bound, clause } => {
                let instant = |name| date_time::parse(self.get("body")?.get(name)?.as_str()?);
                match (instant(property), instant(bound)) {
                    (Some(value), Some(earliest)) if value < earliest => {
                        let expected = format!("`{bound}`, {earliest}, or later");
                        let error = Violation::new(expected, value.to_string(), clause);
                        Err(Violation { location: Location::Body, path: property.clone(), ..error })
                    }
                    _ => Ok(()),
                }
            }
        }
    }
}

impl Part {
    /// Checks the value of this part.
    ///
    /// # Errors
    /// The first constraint that it breaks.
    pub fn check(&self, value: Option<&Value>) -> Check<'_> {
        let outcome = match (value, &self.required) {
            (Some(value), _) => self.schema.check(value),
            (None, None) => Ok(()),
            (None, Some(clauses)) => {
                Err(Violation { problem: Problem::Missing, ..Violation::new("a value", "none", clauses) })
            }
        };
        outcome.map_err(|error| error.of(Some(self)))
    }
}

impl Schema {
    fn check(&self, value: &Value) -> Check<'_> {
        if self.nullable && value.is_null() {
            return Ok(());
        }
        self.rows.iter().try_for_each(|row| row.check(value))
    }

    /// Adds the defaults of absent members inside a value.
    pub(crate) fn add_defaults(&self, value: &mut Value) {
        for row in &self.rows {
            match (&row.constraint, &mut *value) {
                (Constraint::Items(schema), Value::Array(items)) if !schema.members().is_empty() => {
                    items.iter_mut().for_each(|item| schema.add_defaults(item));
                }
                (Constraint::Members(parts), Value::Object(members)) => {
                    for part in parts {
                        match (members.get_mut(&part.name), &part.schema.default) {
                            (Some(value), _) => part.schema.add_defaults(value),
                            (None, Some(default)) => drop(members.insert(part.name.clone(), default.clone())),
                            (None, None) => {}
                        }
                    }
                }
                _ => {}
            }
        }
    }
}

impl Row {
    /// Checks a value that has the type of its schema, once the row of the type has passed.
    fn check(&self, value: &Value) -> Check<'_> {
        let found = match (&self.constraint, value) {
            (Constraint::Type(kind), _) => (!kind.includes(value)).then(|| shown(value)),
            (Constraint::NotEmpty, Value::String(text)) if text.is_empty() => {
                return Err(Violation { problem: Problem::Empty, ..self.violation(shown(value)) });
            }
            (Constraint::Enum(values), Value::String(text)) => (!values.contains(text)).then(|| shown(value)),
            (Constraint::Limit(limit, bound), _) => {
                measured(*limit, *bound, value).and_then(|(size, noun)| {
                    let is_broken = if limit.is_lower() { size < *bound } else { size > *bound };
                    is_broken.then(|| if noun.is_empty() { shown(value) } else { counted(size, noun) })
                })
            }
            (Constraint::DateTime, Value::String(text)) => {
                date_time::parse(text).is_none().then(|| shown(value))
            }
            (Constraint::IpEndpoint { ports, port_clauses }, Value::String(text)) => {
                return Address::parse(text, ports).map(drop).map_err(|error| {
                    let is_port = matches!(error, AddressError::Port { .. });
                    let clauses = if is_port { port_clauses } else { &self.clauses };
                    Violation::new(error.expected(), shown(value), clauses)
                });
            }
            (Constraint::Items(schema), Value::Array(items)) => {
                for (index, item) in items.iter().enumerate() {
                    schema.check(item).map_err(|error| error.inside(&format!("[{index}]")))?;
                }
                None
            }
            (Constraint::Members(parts), Value::Object(members)) => {
                let is_known = |name: &&String| parts.iter().any(|part| part.name == **name);
                if let Some(name) = members.keys().find(|name| !is_known(name)) {
                    let known: Vec<&str> = parts.iter().map(|part| part.name.as_str()).collect();
                    let error = Violation::new(format!("one of: {}", known.join(", ")), "", "");
                    let problem = Problem::Unknown(Box::new(UnknownName { name: name.clone(), known }));
                    return Err(Violation { problem, ..error }.inside(name));
                }
                for part in parts {
                    part.check(members.get(&part.name))?;
                }
                None
            }
            _ => None,
        };
        found.map_or(Ok(()), |found| Err(self.violation(found)))
    }

    fn violation(&self, found: Cow<'static, str>) -> Violation<'_> {
        Violation::new(self.expected.as_str(), found, &self.clauses)
    }
}

impl Type {
    fn includes(self, value: &Value) -> bool {
        match self {
            Self::String => value.is_string(),
            Self::Integer => value.as_i64().is_some(),
            Self::Boolean => value.is_boolean(),
            Self::Array => value.is_array(),
            Self::Object => value.is_object(),
        }
    }
}

/// What a keyword limits of a value, with the noun of what is counted: a number itself, a length, or how many items there are. `None`
/// where it limits nothing.
fn measured(limit: Limit, bound: i64, value: &Value) -> Option<(i64, &'static str)> {
    let size = |count: usize, noun| Some((i64::try_from(count).unwrap_or(i64::MAX), noun));
    match (limit, value) {
        (Limit::Minimum | Limit::Maximum, Value::Number(number)) => Some((number.as_i64()?, "")),
        (Limit::MinLength | Limit::MaxLength, Value::String(text)) => size(text.chars().count(), "character"),
        (Limit::MaxUtf8Bytes, Value::String(text)) => size(text.len(), "byte"),
        (Limit::MinItems | Limit::MaxItems, Value::Array(items)) => size(items.len(), "item"),
        // Fewer items cannot have more distinct ones.
        (Limit::MaxDistinct, Value::Array(items)) if size(items.len(), "")?.0 > bound => {
            size(distinct(items), "distinct one")
        }
        _ => None,
    }
}

/// How many items differ. Addresses are equal in every spelling.
fn distinct(items: &[Value]) -> usize {
    let mut addresses = HashSet::new();
    let mut others = HashSet::new();
    for item in items {
        match item.as_str().and_then(|text| Address::parse(text, &(0..=u16::MAX)).ok()) {
            Some(address) => addresses.insert(address),
            None => others.insert(item),
        };
    }
    addresses.len() + others.len()
}

/// What was found: a scalar, escaped and shortened, or the kind of a container.
fn shown(value: &Value) -> Cow<'static, str> {
    let text = match value {
        Value::Array(_) => return "an array".into(),
        Value::Object(_) => return "an object".into(),
        Value::String(text) if text.is_empty() => return "an empty text".into(),
        Value::String(text) => Cow::Borrowed(text.as_str()),
        scalar => scalar.to_string().into(),
    };
    quoted(&text).into()
}

/// A text as messages repeat it: between backticks, escaped and shortened. Of what may be a misplaced token only the length is said.
#[must_use]
pub fn quoted(text: &str) -> String {
    if resembles_a_token(text) {
        return format!("a text of {} characters", text.chars().count());
    }
    let mut shown: String = text.chars().take(MAX_SHOWN).flat_map(char::escape_debug).collect();
    if text.chars().nth(MAX_SHOWN).is_some() {
        shown.push('…');
    }
    format!("`{shown}`")
}

/// Whether a text contains a long word with letters and digits, as tokens of all services are, in base64 or percent-encoded too.
fn resembles_a_token(text: &str) -> bool {
    const SHORTEST: usize = 20;
    let is_of_word = |c: char| c.is_ascii_alphanumeric() || "_-.~+/=%".contains(c);
    text.split(|c: char| !is_of_word(c)).any(|word| {
        let has = |kind: fn(&char) -> bool| word.chars().any(|c| kind(&c));
        word.len() >= SHORTEST && has(char::is_ascii_alphabetic) && has(char::is_ascii_digit)
    })
}

/// A number with its noun, such as "1 item" and "2 items".
#[must_use]
pub fn counted(count: i64, noun: &str) -> Cow<'static, str> {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" }).into()
}

impl<'a> Violation<'a> {
    fn new(expected: impl Into<Cow<'a, str>>, found: impl Into<Cow<'static, str>>, clauses: &'a str) -> Self {
        Self {
            location: Location::Body,
            path: String::new(),
            problem: Problem::Invalid,
            expected: expected.into(),
            found: found.into(),
            clauses,
        }
    }

    /// The violation in this part.
    fn of(self, part: Option<&Part>) -> Self {
        let Some(part) = part else { return self };
        Self { location: part.location, ..self.inside(&part.name) }
    }

    /// The violation inside a member or an item.
    fn inside(self, outer: &str) -> Self {
        let separator = if self.path.is_empty() || self.path.starts_with('[') { "" } else { "." };
        Self { path: format!("{outer}{separator}{}", self.path), ..self }
    }

    /// The path without the name of the body.
    fn path_in_body(&self) -> String {
        let path = self.path.strip_prefix("body").unwrap_or(&self.path);
        path.strip_prefix('.').unwrap_or(path).to_owned()
    }

    /// What is wrong with the part.
    #[must_use]
    pub fn message(&self) -> String {
        let Self { problem, expected, found, .. } = self;
        match problem {
            Problem::Missing => "missing".to_owned(),
            Problem::MissingWhen(when) => format!("missing; it is required when {when}"),
            Problem::Empty => "must not be empty".to_owned(),
            Problem::Unknown(_) => format!("unknown; expected {expected}"),
            Problem::Conflict => format!("expected {expected}"),
            Problem::Invalid => format!("expected {expected}, found {found}"),
        }
    }

    /// The part as a caller knows it, such as "query parameter `num`" or "body item `ips[3]`".
    #[must_use]
    pub fn place(&self) -> String {
        self.location.place(&self.path)
    }
}

/// Writes place, message and clauses.
impl fmt::Display for Violation<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place(), self.message())?;
        if self.clauses.is_empty() { Ok(()) } else { write!(f, " ({})", self.clauses) }
    }
}

//! The table of constraints: what the document requires of each part of a request, with the clauses behind it.
//!
//! A request is a JSON object with the value of each parameter by its name, and the body as `body`. The token is no part of it.

use std::{fmt, ops::RangeInclusive};

use serde::{
    Deserialize, Serialize,
    de::value::{self, StrDeserializer},
};
use serde_json::Value;

/// An operation and what its requests must be.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Operation {
    /// `operationId`.
    pub id: String,
    /// Method, in capitals.
    pub method: String,
    /// Path, without parameters.
    pub path: String,
    /// HTTP status of a success.
    pub status: u16,
    /// How the token is sent.
    pub token: Token,
    /// Parameters in the document's order, without the token's.
    pub parameters: Vec<Part>,
    /// The body, if the operation has one. Its name is `body`.
    pub body: Option<Part>,
    /// Rules between parts.
    pub rules: Vec<Rule>,
    /// Parts that stand for an absent other part: aliases and fallback headers.
    pub substitutes: Vec<Substitute>,
}

/// How an operation takes the account's token. Texts of clauses are empty where the document cites none.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Token {
    /// Name of the parameter that the document describes the token by.
    pub name: String,
    /// Where that parameter is sent.
    pub location: Location,
    /// Ways to send it, in the document's order.
    pub transports: Vec<Transport>,
    /// The clauses that an absent token breaks.
    pub required: String,
    /// The clauses that an empty token breaks.
    pub not_empty: String,
    /// The clauses that different tokens in several transports break.
    pub agree: String,
}

/// A way to send the token.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Transport {
    /// A query parameter.
    Query(String),
    /// A header, as the document spells it.
    Header(String),
    /// `Authorization: Bearer …`.
    Bearer,
}

/// Where a part of a request is sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Location {
    /// In the query.
    #[default]
    Query,
    /// In a header.
    Header,
    /// In the body.
    Body,
}

/// A parameter, the body, or a member of an object in it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Part {
    /// Its name.
    pub name: String,
    /// Where it is sent.
    pub location: Location,
    /// The clauses that require it; `None` for an optional part.
    pub required: Option<String>,
    /// What its value must be.
    pub schema: Schema,
}

/// What a value must be.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Schema {
    /// The type of the value.
    pub kind: Type,
    /// Whether null is a value as well.
    pub nullable: bool,
    /// What an absent value stands for.
    pub default: Option<Value>,
    /// The constraints, in the order in which they are checked. The type comes first.
    pub rows: Vec<Row>,
}

/// A constraint and how a message names it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// What must hold.
    pub constraint: Constraint,
    /// The same in words, such as "an integer from 1 to 100".
    pub expected: String,
    /// Ids of the clauses behind it, separated by commas. Empty where the document cites none.
    pub clauses: String,
}

/// What must hold for a value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the document's keywords, described in README.md")]
pub enum Constraint {
    Type(Type),
    /// A text that is not empty: this repository's decision wherever the document says nothing else.
    NotEmpty,
    Enum(Vec<String>),
    Limit(Limit, i64),
    DateTime,
    IpEndpoint {
        ports: RangeInclusive<u16>,
        port_clauses: String,
    },
    /// Every item of a list.
    Items(Box<Schema>),
    /// The members of an object, which has no others.
    Members(Vec<Part>),
}

/// The keywords with one number that bounds a value, its length or its number of items.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the document's keywords")]
#[serde(rename_all = "camelCase")]
pub enum Limit {
    Minimum,
    Maximum,
    #[serde(rename = "x-max-utf8-bytes")]
    MaxUtf8Bytes,
    MinLength,
    MaxLength,
    MinItems,
    MaxItems,
    #[serde(rename = "x-max-distinct")]
    MaxDistinct,
}

/// The type of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the document's types")]
#[serde(rename_all = "lowercase")]
pub enum Type {
    String,
    /// An integer that fits into 64 bits, and is not written as a fraction.
    Integer,
    Boolean,
    Array,
    Object,
}

/// A rule between two parts of a request, in the form of the document's `x-rules`. Members of the body are named as such.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "rule", rename_all = "kebab-case")]
pub enum Rule {
    /// Another name of a parameter must have the same value if both are sent.
    Same {
        /// The other name.
        alias: String,
        /// The parameter.
        parameter: String,
        /// The clause behind the rule.
        clause: String,
    },
    /// A parameter is required when another one has a value.
    RequiredWhen {
        /// The parameter that is required.
        parameter: String,
        /// The value of the other one, which may be its default.
        when: Condition,
        /// The clause behind the rule.
        clause: String,
    },
    /// A member of the body must not be before another one.
    NotBefore {
        /// The later member.
        property: String,
        /// The earlier member.
        bound: String,
        /// The clause behind the rule.
        clause: String,
    },
}

/// The value of a parameter that makes another one required.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Condition {
    /// The parameter.
    pub parameter: String,
    /// Its value.
    pub equals: String,
}

/// A parameter whose value counts for another parameter that is absent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Substitute {
    /// The parameter that may be absent.
    pub parameter: String,
    /// The one that is read instead.
    pub by: String,
}

impl Operation {
    /// The parts of a request: the parameters, then the body.
    pub fn parts(&self) -> impl Iterator<Item = &Part> {
        self.parameters.iter().chain(&self.body)
    }

    /// The part at a path such as `num`, `body` or `body.ips`.
    #[must_use]
    pub fn part(&self, path: &str) -> Option<&Part> {
        let mut names = path.split('.');
        let name = names.next()?;
        let mut part = self.parts().find(|part| part.name == name)?;
        for name in names {
            part = part.schema.members().iter().find(|member| member.name == name)?;
        }
        Some(part)
    }

    /// The parameter that this one is read instead of.
    #[must_use]
    pub fn substituted_by(&self, name: &str) -> Option<&str> {
        self.substitutes.iter().find(|one| one.by == name).map(|one| one.parameter.as_str())
    }
}

impl Schema {
    /// The members of an object; none of any other value.
    #[must_use]
    pub fn members(&self) -> &[Part] {
        let members = self.rows.iter().find_map(|row| match &row.constraint {
            Constraint::Members(members) => Some(members.as_slice()),
            _ => None,
        });
        members.unwrap_or_default()
    }

    /// The schema of the items of a list; none of any other value.
    #[must_use]
    pub fn items(&self) -> Option<&Schema> {
        self.rows.iter().find_map(|row| match &row.constraint {
            Constraint::Items(items) => Some(items.as_ref()),
            _ => None,
        })
    }

    /// Maximum number of JSON values in a valid value, with itself; `None` where the document limits no list in it.
    #[must_use]
    pub fn max_values(&self) -> Option<usize> {
        let inside = self.rows.iter().map(|row| match &row.constraint {
            Constraint::Items(items) => {
                usize::try_from(self.limit(Limit::MaxItems)?).ok()?.checked_mul(items.max_values()?)
            }
            Constraint::Members(parts) => parts.iter().map(|part| part.schema.max_values()).sum(),
            _ => Some(0),
        });
        inside.sum::<Option<usize>>()?.checked_add(1)
    }

    /// The bound of that keyword.
    #[must_use]
    pub fn limit(&self, keyword: Limit) -> Option<i64> {
        self.rows.iter().find_map(|row| match &row.constraint {
            Constraint::Limit(limit, bound) if *limit == keyword => Some(*bound),
            _ => None,
        })
    }

    /// The ids of the clauses behind every row, those of items included.
    pub fn cited(&self) -> Vec<&str> {
        let mut ids = Vec::new();
        for Row { constraint, clauses, .. } in &self.rows {
            ids.extend(clauses.split(", "));
            match constraint {
                Constraint::IpEndpoint { port_clauses, .. } => ids.extend(port_clauses.split(", ")),
                Constraint::Items(items) => ids.extend(items.cited()),
                _ => {}
            }
        }
        ids
    }

    /// The clauses behind the type.
    #[must_use]
    pub fn clauses(&self) -> &str {
        let row = self.rows.iter().find(|row| matches!(row.constraint, Constraint::Type(_)));
        row.map_or("", |row| &row.clauses)
    }

    /// The value that a text in a query or header stands for: an integer in plain digits, without plus sign, leading
    /// zeros, fraction or exponent, or a boolean. A text of another form stays one, and breaks the type.
    #[must_use]
    pub fn value_of(&self, text: impl Into<String> + AsRef<str>) -> Value {
        let value = match self.kind {
            Type::Integer => plain_integer(text.as_ref()).map(Value::from),
            Type::Boolean => text.as_ref().parse().ok().map(Value::Bool),
            Type::Array | Type::String | Type::Object => None,
        };
        value.unwrap_or_else(|| Value::String(text.into()))
    }
}

impl Limit {
    /// The keyword; `None` for another one.
    #[must_use]
    pub fn named(keyword: &str) -> Option<Self> {
        Self::deserialize(StrDeserializer::<value::Error>::new(keyword)).ok()
    }

    /// Whether what is less than the bound breaks it, and not what is more.
    #[must_use]
    pub fn is_lower(self) -> bool {
        matches!(self, Self::Minimum | Self::MinLength | Self::MinItems)
    }
}

impl Location {
    /// A part as a caller knows it, such as "query parameter `num`" or "body item `ips[3]`".
    #[must_use]
    pub fn place(self, path: &str) -> String {
        match self {
            Self::Query => format!("{self} parameter `{path}`"),
            Self::Header => format!("header `{path}`"),
            Self::Body if path.is_empty() => "body".to_owned(),
            Self::Body if path.ends_with(']') => format!("body item `{path}`"),
            Self::Body => format!("body field `{path}`"),
        }
    }
}

/// An integer in plain digits, without plus sign and leading zeros.
pub(crate) fn plain_integer(text: &str) -> Option<i64> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let is_plain =
        digits.bytes().all(|byte| byte.is_ascii_digit()) && (text == "0" || !digits.starts_with('0'));
    if is_plain { text.parse().ok() } else { None }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

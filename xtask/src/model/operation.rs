//! Operations: requests and responses.

use std::fmt;

use serde_json::Value;

use super::{Citation, Schema};

/// One method on one path.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Operation {
    /// `operationId`.
    pub(crate) id: String,
    pub(crate) method: Method,
    /// Path as the document has it, each parameter as `{name}`.
    pub(crate) path: String,
    pub(crate) pointer: String,
    pub(crate) tags: Vec<String>,
    pub(crate) summary: Option<String>,
    pub(crate) description: Option<String>,
    /// The clauses that bind the operation as a whole.
    pub(crate) citation: Citation,
    /// Ways to send the token, in the document's order; any one of them is enough.
    pub(crate) credentials: Vec<Credential>,
    /// The clause that requires several transports to carry one value (`x-credentials-agree`).
    pub(crate) credentials_agree: Option<String>,
    /// Whether it may be repeated (`x-retry`); the lint requires it.
    pub(crate) retry: Option<Retry>,
    pub(crate) rules: Vec<Rule>,
    pub(crate) parameters: Vec<Parameter>,
    pub(crate) body: Option<Body>,
    pub(crate) success: Response,
    /// Responses with another status than 2xx, in the document's order.
    pub(crate) errors: Vec<Response>,
}

/// Whether an operation may be repeated when its outcome is unknown. Parsed from `x-retry`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::EnumString, strum::VariantNames)]
#[strum(serialize_all = "kebab-case")]
pub(crate) enum Retry {
    /// Repeating it changes nothing.
    Safe,
    /// With the same idempotency key it is the same call.
    IdempotencyKey,
    /// Repeating it may have its effect twice.
    Never,
}

/// Methods that the generators can express. Parsed from their keys in the document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, strum::EnumString, strum::IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub(crate) enum Method {
    Get,
    Put,
    Post,
    Delete,
    Patch,
}

/// A way to send the account's token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Credential {
    Query {
        name: String,
    },
    Header {
        name: String,
    },
    /// `Authorization: Bearer <token>`.
    Bearer,
}

/// A rule between two fields (`x-rules`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Rule {
    /// `parameter` must be sent and not be empty when `condition` has the value `equals`.
    RequiredWhen { pointer: String, parameter: String, condition: String, equals: String, clause: String },
    /// The body's `property` must not be earlier than its `bound`.
    NotBefore { pointer: String, property: String, bound: String, clause: String },
}

/// A parameter of the path or of the query, or a request header.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Parameter {
    pub(crate) name: String,
    pub(crate) location: Location,
    /// Pointer of the definition, after following `$ref`.
    pub(crate) pointer: String,
    pub(crate) required: bool,
    pub(crate) description: Option<String>,
    /// Carries the account's token (`x-credential`).
    pub(crate) credential: bool,
    /// The parameter that this one is another name for (`x-alias-of`).
    pub(crate) alias_of: Option<String>,
    /// The clause that requires an alias and its parameter to be equal (`x-aliases-agree`).
    pub(crate) aliases_agree: Option<String>,
    /// The header that is read when the parameter is absent (`x-falls-back-to`).
    pub(crate) falls_back_to: Option<String>,
    pub(crate) schema: Schema,
    pub(crate) example: Option<Value>,
    pub(crate) citation: Citation,
}

/// Where a parameter is sent. Parsed and shown as the document spells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, strum::Display, strum::EnumString)]
#[strum(serialize_all = "lowercase")]
pub(crate) enum Location {
    Path,
    Query,
    Header,
}

/// A JSON request body.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Body {
    pub(crate) pointer: String,
    pub(crate) required: bool,
    pub(crate) description: Option<String>,
    pub(crate) schema: Schema,
    pub(crate) citation: Citation,
}

/// The response of an operation with one status.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Response {
    /// For example `200`, `204`, `429` or `default`.
    pub(crate) status: String,
    /// Pointer of the definition, after following `$ref`.
    pub(crate) pointer: String,
    pub(crate) description: Option<String>,
    pub(crate) headers: Vec<Header>,
    /// In the document's order.
    pub(crate) content: Vec<Media>,
    pub(crate) citation: Citation,
}

/// A response header.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Header {
    pub(crate) name: String,
    /// Pointer of the definition, after following `$ref`.
    pub(crate) pointer: String,
    pub(crate) required: bool,
    pub(crate) description: Option<String>,
    pub(crate) schema: Schema,
    pub(crate) citation: Citation,
}

/// A media type and the schema of its body.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Media {
    /// For example `application/json`.
    pub(crate) name: String,
    pub(crate) schema: Schema,
}

impl Operation {
    /// Every response, that of success first.
    pub(crate) fn responses(&self) -> impl Iterator<Item = &Response> {
        std::iter::once(&self.success).chain(&self.errors)
    }

    /// The parameters that have a value of their own: aliases and fallback headers are redundant, and the token belongs to the
    /// call as a whole.
    pub(crate) fn distinct_parameters(&self) -> impl Iterator<Item = &Parameter> {
        let is_fallback = |parameter: &Parameter| {
            let mut others = self.parameters.iter();
            parameter.location == Location::Header
                && others.any(|other| other.falls_back_to.as_ref() == Some(&parameter.name))
        };
        let sent = move |parameter: &&Parameter| {
            !parameter.credential && parameter.alias_of.is_none() && !is_fallback(parameter)
        };
        self.parameters.iter().filter(sent)
    }
}

impl Response {
    /// The schema of the JSON body, if there is one.
    pub(crate) fn json(&self) -> Option<&Schema> {
        self.content.iter().find(|media| media.name == "application/json").map(|media| &media.schema)
    }
}

impl Retry {
    /// The values of `x-retry`, the most lenient first.
    pub(crate) const CLASSES: &'static [&'static str] = <Retry as strum::VariantNames>::VARIANTS;
}

impl Method {
    /// As the document spells it.
    pub(crate) fn key(self) -> &'static str {
        self.into()
    }
}

impl fmt::Display for Method {
    /// As HTTP spells it.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.key().to_ascii_uppercase())
    }
}

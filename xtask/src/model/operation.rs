//! Operations: requests and responses.

use serde::{Deserialize, Deserializer, Serialize, de::Error as _};

use sallyport_contract::table::{Location, Rule, Transport};

use super::{Citation, Filter, Page, Schema, field::Doc};

/// One method on one path.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub(crate) struct Operation {
    #[serde(rename(deserialize = "operationId"))]
    pub(crate) id: String,
    /// As HTTP spells it.
    #[serde(skip_deserializing)]
    pub(crate) method: String,
    /// Path as the document has it.
    #[serde(skip_deserializing)]
    pub(crate) path: String,
    #[serde(rename(deserialize = "$at"))]
    pub(crate) pointer: String,
    #[serde(default)]
    pub(crate) tags: Vec<String>,
    pub(crate) summary: Option<String>,
    pub(crate) description: Option<String>,
    /// The clauses that bind the operation as a whole.
    #[serde(rename(deserialize = "x-clause"), default)]
    pub(crate) citation: Citation,
    /// Ways to send the token, in the document's order; any one of them is enough.
    #[serde(skip_deserializing)]
    pub(crate) credentials: Vec<Transport>,
    /// The clause that requires several transports to carry one value.
    #[serde(rename(deserialize = "x-credentials-agree"))]
    pub(crate) credentials_agree: Option<String>,
    /// Whether it may be repeated; the lint requires it.
    #[serde(rename(deserialize = "x-retry"))]
    pub(crate) retry: Option<Retry>,
    #[serde(rename(deserialize = "x-rules"), default)]
    pub(crate) rules: Vec<Rule>,
    #[serde(default)]
    pub(crate) parameters: Vec<Parameter>,
    #[serde(rename(deserialize = "requestBody"))]
    pub(crate) body: Option<Body>,
    #[serde(skip_deserializing)]
    pub(crate) success: Response,
    /// Responses with another status than 2xx, in the document's order.
    #[serde(rename(deserialize = "responses"))]
    pub(crate) errors: Vec<Response>,
    /// What the properties of a search find, in the document's order.
    #[serde(rename(deserialize = "x-filter"), default)]
    pub(crate) filters: Vec<Filter>,
    #[serde(rename(deserialize = "x-page"))]
    pub(crate) page: Option<Page>,
}

/// Whether an operation may be repeated when its outcome is unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Retry {
    /// Repeating it changes nothing.
    Safe,
    /// With the same idempotency key it is the same call.
    IdempotencyKey,
    /// Repeating it may have its effect twice.
    Never,
}

/// A query parameter or a request header.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub(crate) struct Parameter {
    pub(crate) name: String,
    #[serde(rename(deserialize = "in"))]
    pub(crate) location: Location,
    /// Pointer of the definition, after following `$ref`.
    #[serde(rename(deserialize = "$at"))]
    pub(crate) pointer: String,
    #[serde(default)]
    pub(crate) required: bool,
    pub(crate) description: Option<String>,
    /// Carries the account's token.
    #[serde(rename(deserialize = "x-credential"), default)]
    pub(crate) credential: bool,
    /// The parameter that this one is another name for.
    #[serde(rename(deserialize = "x-alias-of"))]
    pub(crate) alias_of: Option<String>,
    /// The clause that requires an alias and its parameter to be equal.
    #[serde(rename(deserialize = "x-aliases-agree"))]
    pub(crate) aliases_agree: Option<String>,
    /// The header that is read when the parameter is absent.
    #[serde(rename(deserialize = "x-falls-back-to"))]
    pub(crate) falls_back_to: Option<String>,
    pub(crate) schema: Schema,
    #[serde(rename(deserialize = "x-clause"), default)]
    pub(crate) citation: Citation,
    #[serde(skip_deserializing)]
    pub(crate) doc: Doc,
    /// Whether it has a value of its own: aliases and fallback headers are redundant, and the token belongs to the call as a whole.
    #[serde(skip_deserializing)]
    pub(crate) is_distinct: bool,
}

/// A JSON request body.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub(crate) struct Body {
    #[serde(rename(deserialize = "$at"))]
    pub(crate) pointer: String,
    #[serde(default)]
    pub(crate) required: bool,
    pub(crate) description: Option<String>,
    #[serde(rename(deserialize = "content"), deserialize_with = "only_schema")]
    pub(crate) schema: Schema,
    #[serde(rename(deserialize = "x-clause"), default)]
    pub(crate) citation: Citation,
    #[serde(skip_deserializing)]
    pub(crate) doc: Doc,
}

/// The schema of the only media type.
fn only_schema<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Schema, D::Error> {
    let media = Vec::<Media>::deserialize(deserializer)?.pop();
    media.map(|media| media.schema).ok_or_else(|| D::Error::custom("missing `application/json`"))
}

/// The response of an operation with one status.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
pub(crate) struct Response {
    /// For example `200`, `204`, `429` or `default`.
    #[serde(rename(deserialize = "$key"))]
    pub(crate) status: String,
    /// Pointer of the definition, after following `$ref`.
    #[serde(rename(deserialize = "$at"))]
    pub(crate) pointer: String,
    pub(crate) description: Option<String>,
    #[serde(default)]
    pub(crate) headers: Vec<Header>,
    /// In the document's order.
    #[serde(default)]
    pub(crate) content: Vec<Media>,
    #[serde(rename(deserialize = "x-clause"), default)]
    pub(crate) citation: Citation,
}

/// A response header.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub(crate) struct Header {
    #[serde(rename(deserialize = "$key"))]
    pub(crate) name: String,
    /// Pointer of the definition, after following `$ref`.
    #[serde(rename(deserialize = "$at"))]
    pub(crate) pointer: String,
    #[serde(default)]
    pub(crate) required: bool,
    pub(crate) description: Option<String>,
    pub(crate) schema: Schema,
    #[serde(rename(deserialize = "x-clause"), default)]
    pub(crate) citation: Citation,
}

/// A media type and the schema of its body.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub(crate) struct Media {
    /// For example `application/json`.
    #[serde(rename(deserialize = "$key"))]
    pub(crate) name: String,
    pub(crate) schema: Schema,
}

impl Operation {
    /// What the ids of its clauses begin with, by that of its success.
    pub(crate) fn prefix(&self) -> &str {
        let clause = self.success.citation.clauses_for("any").first();
        clause.and_then(|clause| clause.split('.').next()).unwrap_or(&self.id)
    }

    /// Whether it sends nothing but the token, so that its calls follow from its declaration.
    pub(crate) fn is_plain(&self) -> bool {
        self.body.is_none() && self.distinct_parameters().next().is_none()
    }

    /// Every response, that of success first.
    pub(crate) fn responses(&self) -> impl Iterator<Item = &Response> {
        std::iter::once(&self.success).chain(&self.errors)
    }

    /// The parameters that have a value of their own.
    pub(crate) fn distinct_parameters(&self) -> impl Iterator<Item = &Parameter> {
        self.parameters.iter().filter(|parameter| parameter.is_distinct)
    }
}

impl Header {
    /// Whether it always has the same value.
    pub(crate) fn is_constant(&self) -> bool {
        self.required && self.schema.text_variants().is_some_and(|values| values.len() == 1)
    }
}

impl Response {
    /// The schema of the JSON body, if there is one.
    pub(crate) fn json(&self) -> Option<&Schema> {
        self.content.iter().find(|media| media.name == "application/json").map(|media| &media.schema)
    }
}

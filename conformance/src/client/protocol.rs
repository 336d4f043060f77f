//! The input of the command and its answer: one JSON object each.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::names::names;

/// Maximum size of standard output, and of what is kept of standard error, in bytes (1 MiB).
pub(super) const MAX_OUTPUT: usize = 1 << 20;

/// What a client is asked to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Operation {
    /// Extract gateways as JSON. Arguments: those of the document, `num` always.
    Extract,
    /// Extract gateways as plain text. Arguments: `num` and `lb`, and `sb` for a separator of one's own.
    ExtractText,
    /// List all groups. No arguments.
    Groups,
    /// Search and return the instances of all pages. Arguments: `ips` and `pageSize`.
    Search,
}

names! {
    Operation {
        Extract => "extract",
        ExtractText => "extract_text",
        Groups => "groups",
        Search => "search",
    }
}

impl Operation {
    /// The member of an answer that holds the result.
    const fn member(self) -> &'static str {
        match self {
            Self::Extract => "gateways",
            Self::ExtractText => "entries",
            Self::Groups => "groups",
            Self::Search => "instances",
        }
    }

    /// One item of the result.
    pub(super) const fn item(self) -> &'static str {
        match self {
            Self::Extract => "gateway",
            Self::ExtractText => "entry",
            Self::Groups => "group",
            Self::Search => "instance",
        }
    }
}

/// A call with its arguments.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Call {
    /// What to do.
    pub operation: Operation,
    /// By the names of the document.
    pub arguments: Map<String, Value>,
}

/// The object on standard input.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Input {
    #[serde(flatten)]
    pub(super) call: Call,
    /// Time for the whole call with its retries, in milliseconds.
    pub(super) time_limit_ms: u64,
}

impl Input {
    pub(super) fn new(call: Call, limit: Duration) -> Self {
        Self { call, time_limit_ms: u64::try_from(limit.as_millis()).unwrap_or(u64::MAX) }
    }
}

/// The object on standard output: what the client understood, or that the call failed. Further members are ignored.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
pub(super) struct Output {
    /// Of `extract`: each gateway as `host:port`.
    pub(super) gateways: Option<Vec<String>>,
    /// Of `extract_text`: each entry as it stands in the text.
    pub(super) entries: Option<Vec<String>>,
    /// Of `groups`: the ids.
    pub(super) groups: Option<Vec<i64>>,
    /// Of `search`: the ids of the instances, of all pages.
    pub(super) instances: Option<Vec<i64>>,
    /// Of `search`: the total that the service declares.
    pub(super) total: Option<i64>,
    pub(super) error: Option<Failure>,
}

impl Output {
    /// Reads standard output, or says what is wrong with it: its size, its JSON, or the place and type of a member.
    pub(super) fn parse(stdout: &[u8]) -> Result<Self, String> {
        if stdout.len() > MAX_OUTPUT {
            return Err(format!("more than {} MiB", MAX_OUTPUT >> 20));
        }
        if stdout.iter().all(u8::is_ascii_whitespace) {
            return Err("empty".to_owned());
        }
        let value: Value = serde_json::from_slice(stdout).map_err(|error| format!("no JSON: {error}"))?;
        if !value.is_object() {
            return Err("JSON, but no object".to_owned());
        }
        // What stands there instead is the client's own, and is shown with its output.
        if let Some(error) = value.get("error").filter(|error| !error.is_object() && !error.is_null()) {
            let found = match error {
                Value::String(_) => "a text",
                Value::Array(_) => "a list",
                Value::Number(_) => "a number",
                _ => "a boolean",
            };
            return Err(format!("`error`: expected an object with `class` and `message`, found {found}"));
        }
        let output: Self = serde_path_to_error::deserialize(value).map_err(|error| {
            // The names of Rust's types mean nothing to writers of other languages.
            let reason = error.inner().to_string().replace("expected i64", "expected an integer");
            format!("`{}`: {reason}", error.path())
        })?;
        if !output.has_result() && output.error.is_none() {
            return Err("an object without a result and without `error`".to_owned());
        }
        Ok(output)
    }

    /// The same, when it fits the operation: an error, or a result with the operation's own member.
    pub(super) fn of(self, operation: Operation) -> Result<Self, String> {
        let is_own = self.results().any(|(of, _)| of == operation);
        let other = self.results().next().map(|(of, _)| of);
        match other {
            Some(other) if !is_own && self.error.is_none() => Err(format!(
                "expected `{}` in the answer to `{}`, found `{}`",
                operation.member(),
                operation.name(),
                other.member()
            )),
            _ => Ok(self),
        }
    }

    /// The results that it holds, each with its items as texts.
    pub(super) fn results(&self) -> impl Iterator<Item = (Operation, Vec<String>)> {
        let texts = |list: &Vec<String>| -> Vec<String> {
            list.iter().map(|text| text.trim().to_owned()).filter(|text| !text.is_empty()).collect()
        };
        // The evidence spells an IPv6 host without brackets.
        let hosts = |list: &Vec<String>| -> Vec<String> {
            texts(&list.iter().map(|gateway| gateway.replace(['[', ']'], "")).collect())
        };
        let numbers = |list: &Vec<i64>| list.iter().map(ToString::to_string).collect();
        let Self { gateways, entries, groups, instances, total: _, error: _ } = self;
        let results = [
            (Operation::Extract, gateways.as_ref().map(hosts)),
            (Operation::ExtractText, entries.as_ref().map(texts)),
            (Operation::Groups, groups.as_ref().map(numbers)),
            (Operation::Search, instances.as_ref().map(numbers)),
        ];
        results.into_iter().filter_map(|(operation, items)| Some((operation, items?)))
    }

    pub(super) fn has_result(&self) -> bool {
        self.results().next().is_some()
    }
}

/// An error as the client reports it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(expecting = "an object with `class` and `message`")]
pub(super) struct Failure {
    /// Its kind in the client's own words, such as `throttled` or `timeout`.
    pub(super) class: Option<String>,
    /// What a user would read.
    pub(super) message: Option<String>,
}

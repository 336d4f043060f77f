//! The input of the command and its answer: one JSON object each.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::names;

/// Maximum size of standard output, and of what is kept of standard error, in bytes (1 MiB).
pub(super) const MAX_OUTPUT: usize = 1 << 20;

names! {
    /// What a client is asked to do.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Operation {
        /// Extract gateways as JSON. Arguments: those of the document, `num` always.
        Extract => "extract",
        /// Extract gateways as plain text. Arguments: `num` and `lb`, and `sb` for a separator of one's own.
        ExtractText => "extract_text",
        /// List all groups. No arguments.
        Groups => "groups",
        /// Search and return the instances of all pages. Arguments: `ips` and `pageSize`.
        Search => "search",
    }
}

impl Operation {
    /// The member of an answer that holds the result, and the name of one item of it.
    pub(super) const fn result(self) -> (&'static str, &'static str) {
        match self {
            Self::Extract => ("gateways", "gateway"),
            Self::ExtractText => ("entries", "entry"),
            Self::Groups => ("groups", "group"),
            Self::Search => ("instances", "instance"),
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

/// The object on standard output. Further members are ignored.
#[derive(Deserialize)]
struct Output {
    gateways: Option<Vec<String>>,
    entries: Option<Vec<String>>,
    groups: Option<Vec<i64>>,
    instances: Option<Vec<i64>>,
    total: Option<i64>,
    error: Option<Failure>,
}

impl Output {
    /// The items of this operation's result; none without its member.
    fn items(&self, operation: Operation) -> Option<Vec<String>> {
        let numbers = |list: &Vec<i64>| list.iter().map(ToString::to_string).collect();
        // The evidence spells an IPv6 host without brackets.
        let hosts = |list: &Vec<String>| list.iter().map(|host| host.replace(['[', ']'], "")).collect();
        match operation {
            Operation::Extract => self.gateways.as_ref().map(hosts),
            Operation::ExtractText => self.entries.clone(),
            Operation::Groups => self.groups.as_ref().map(numbers),
            Operation::Search => self.instances.as_ref().map(numbers),
        }
    }
}

/// What the client understood, or that the call failed.
#[derive(Debug, Clone, Default)]
pub(super) struct Answer {
    /// Each gateway as `host:port`, each entry as it stands in the text, or the ids of groups or of the instances of all pages.
    pub(super) items: Option<Vec<String>>,
    /// The total that the service of a search declares.
    pub(super) total: Option<i64>,
    pub(super) error: Option<Failure>,
}

impl Answer {
    /// A result; of a text only what is more than blanks counts.
    pub(super) fn result(items: impl IntoIterator<Item = String>, total: Option<i64>) -> Self {
        let items = items.into_iter().map(|text| text.trim().to_owned()).filter(|text| !text.is_empty());
        Self { items: Some(items.collect()), total, error: None }
    }

    /// Reads standard output, or says what is wrong with its size, its JSON or a member, by place and type.
    pub(super) fn parse(stdout: &[u8], operation: Operation) -> Result<Self, String> {
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
        let output: Output = serde_path_to_error::deserialize(value).map_err(|error| {
            // The names of Rust's types mean nothing to writers of other languages.
            let reason = error.inner().to_string().replace("expected i64", "expected an integer");
            format!("`{}`: {reason}", error.path())
        })?;
        let items = output.items(operation);
        if items.is_none() && output.error.is_none() {
            let other = Operation::ALL.into_iter().find(|other| output.items(*other).is_some());
            let other = other.ok_or("an object without a result and without `error`")?;
            let ((expected, _), call, (found, _)) = (operation.result(), operation.name(), other.result());
            return Err(format!("expected `{expected}` in the answer to `{call}`, found `{found}`"));
        }
        let result = items.map_or_else(Self::default, |items| Self::result(items, output.total));
        Ok(Self { error: output.error, ..result })
    }

    pub(super) fn is_result(&self) -> bool {
        self.items.is_some() && self.error.is_none()
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

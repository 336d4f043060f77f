//! One change of the contract.

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::rules::Rule;
use crate::table::{Direction, SourceValue};

/// One change, judged by a rule.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Change {
    pub(crate) rule: Rule,
    /// `operationId`, that of the newer document where both have the operation; `None` for the document as a whole.
    pub(crate) operation: Option<String>,
    pub(crate) direction: Direction,
    /// Where the value is sent, as [`Part::at`](crate::table::Part::at), or the pointer of a text.
    pub(crate) at: String,
    /// The keyword that changed; empty when the whole part did.
    pub(crate) keyword: String,
    /// What the older document says; `None` when the part is new.
    pub(crate) old: Option<SourceValue>,
    /// What the newer document says; `None` when the part is gone.
    pub(crate) new: Option<SourceValue>,
    /// The clauses that the part cites in either document.
    pub(crate) clauses: Vec<String>,
    /// Why the change was accepted, from the file of accepted changes.
    pub(crate) accepted: Option<String>,
}

/// Length of a fingerprint in hexadecimal digits.
const FINGERPRINT_LENGTH: usize = 12;

impl Change {
    /// Identifies the change; does not depend on line numbers and on the wording of messages.
    pub(crate) fn fingerprint(&self) -> String {
        let value = |found: &Option<SourceValue>| found.as_ref().map(|found| found.value.clone());
        let identity = json!([
            self.rule.id,
            self.operation,
            self.direction.to_string(),
            self.at,
            self.keyword,
            value(&self.old),
            value(&self.new),
        ]);
        let digest = Sha256::digest(identity.to_string());
        let text: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        text[..FINGERPRINT_LENGTH].to_owned()
    }

    /// The change in one line without its place: ``maximum: `100` → `50` ``.
    pub(crate) fn summary(&self) -> String {
        let keyword = if self.keyword.is_empty() { String::new() } else { format!("`{}`: ", self.keyword) };
        match (&self.old, &self.new) {
            (Some(old), Some(new)) if old.value != new.value => {
                format!("{keyword}{} → {}", shown(&old.value), shown(&new.value))
            }
            (None, Some(new)) => format!("{keyword}added {}", shown(&new.value)),
            (Some(old), None) => format!("{keyword}removed {}", shown(&old.value)),
            (Some(_), Some(_)) | (None, None) => self.keyword.clone(),
        }
    }
}

/// Maximum length of a value in a summary, in characters.
const MAX_SHOWN: usize = 120;

/// A value on one line, cut where it is long.
pub(crate) fn shown(value: &Value) -> String {
    let text = match value {
        Value::String(text) => text.split_whitespace().collect::<Vec<_>>().join(" "),
        other => other.to_string(),
    };
    let cut: String = text.chars().take(MAX_SHOWN).collect();
    let dots = if cut.len() < text.len() { " …" } else { "" };
    // A backtick would end the quotation.
    if text.contains('`') { format!("\"{cut}{dots}\"") } else { format!("`{cut}{dots}`") }
}

//! Valid and malformed spellings of values that have a grammar: the lists of `spellings.txt`.

mod integer;
mod list;

use serde::Serialize;

pub(crate) use integer::{integer_texts, json_integers};
pub(crate) use list::{date_times, ip_endpoints, ip_ports};

/// One way to write a value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Spelling {
    /// The value as it is sent.
    pub(crate) text: String,
    /// Whether the contract allows it.
    pub(crate) is_valid: bool,
    pub(crate) reason: &'static str,
    /// Its name in labels of cases: its text, unless that depends on a limit of the document, which changes no label.
    pub(crate) name: String,
}

impl Spelling {
    pub(crate) fn malformed(text: impl Into<String>, reason: &'static str) -> Self {
        let text = text.into();
        Self { name: text.clone(), text, is_valid: false, reason }
    }
}

/// The spellings with one reason.
#[derive(Serialize)]
pub(crate) struct Reason {
    text: &'static str,
    is_valid: bool,
    is_likely: bool,
    /// Index of the first spelling in the list.
    first: usize,
    spellings: Vec<String>,
}

/// Groups spellings by their reason, in the order of the first of each.
pub(crate) fn by_reason(spellings: Vec<Spelling>) -> Vec<Reason> {
    let mut reasons: Vec<Reason> = Vec::new();
    for (first, Spelling { text, is_valid, reason, .. }) in spellings.into_iter().enumerate() {
        match reasons.iter_mut().find(|known| known.text == reason && known.is_valid == is_valid) {
            Some(known) => known.spellings.push(text),
            None => {
                let is_likely = integer::LIKELY.contains(&reason);
                reasons.push(Reason { text: reason, is_valid, is_likely, first, spellings: vec![text] });
            }
        }
    }
    reasons
}

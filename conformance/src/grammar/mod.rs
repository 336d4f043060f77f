//! Valid and malformed spellings of strings that have a grammar.
//!
//! A seed selects base values and the parts that are damaged, so the same seed gives the same spellings. Unspecified spellings
//! (leading zeros, surrounding spaces, `[IPv6]` without a port, IPv4-mapped IPv6, a space in place of `T`, leap seconds) are
//! neither valid nor malformed and are left out.

mod date_time;
mod integer;
mod ip_endpoint;

pub(crate) use date_time::date_times;
pub(crate) use integer::{LIKELY, integer_texts, json_integers};
pub(crate) use ip_endpoint::{ip_endpoints, ip_ports};

/// One way to write a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Spelling {
    /// The value as it is sent.
    pub(crate) text: String,
    /// Whether the contract allows it.
    pub(crate) is_valid: bool,
    /// Describes it.
    pub(crate) reason: &'static str,
    /// Its name in labels of cases: its text, unless that depends on a limit of the document, so that a new limit changes no
    /// label.
    pub(crate) name: String,
}

impl Spelling {
    fn valid(text: impl Into<String>, reason: &'static str) -> Self {
        Self { is_valid: true, ..Self::malformed(text, reason) }
    }

    pub(crate) fn malformed(text: impl Into<String>, reason: &'static str) -> Self {
        let text = text.into();
        Self { name: text.clone(), text, is_valid: false, reason }
    }

    /// A number outside the document's range.
    fn outside((number, reason): (i64, &'static str)) -> Self {
        Self { name: reason.to_owned(), ..Self::malformed(number.to_string(), reason) }
    }
}

/// The spellings with one reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Reason {
    pub(crate) text: &'static str,
    pub(crate) is_valid: bool,
    /// Index of the first spelling in the list.
    pub(crate) first: usize,
    pub(crate) spellings: Vec<String>,
}

/// Groups spellings by their reason, in the order of the first of each.
pub(crate) fn by_reason(spellings: Vec<Spelling>) -> Vec<Reason> {
    let mut reasons: Vec<Reason> = Vec::new();
    for (first, Spelling { text, is_valid, reason, .. }) in spellings.into_iter().enumerate() {
        match reasons.iter_mut().find(|known| known.text == reason && known.is_valid == is_valid) {
            Some(known) => known.spellings.push(text),
            None => reasons.push(Reason { text: reason, is_valid, first, spellings: vec![text] }),
        }
    }
    reasons
}

/// Removes repeated texts.
fn distinct(spellings: Vec<Spelling>) -> Vec<Spelling> {
    let mut seen = std::collections::BTreeSet::new();
    spellings.into_iter().filter(|spelling| seen.insert(spelling.text.clone())).collect()
}

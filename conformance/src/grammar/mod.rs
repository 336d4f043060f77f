//! Valid and malformed spellings of the strings that have a grammar, derived from its rules.
//!
//! A seed chooses base values and the places that are damaged, so that the same seed gives the same spellings. What the
//! contract leaves open (leading zeros, surrounding spaces, `[IPv6]` without a port, IPv4-mapped IPv6, a space in place
//! of `T`, leap seconds) is neither valid nor malformed, and none of it is here.

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
    /// What is special about it.
    pub(crate) reason: &'static str,
    /// Its name in labels of cases: its text, unless that depends on a limit of the document. A new limit gives the cases no
    /// new names.
    pub(crate) name: String,
}

impl Spelling {
    fn valid(text: impl Into<String>, reason: &'static str) -> Self {
        Self { is_valid: true, ..Self::malformed(text, reason) }
    }

    /// A spelling that the contract does not allow.
    pub(crate) fn malformed(text: impl Into<String>, reason: &'static str) -> Self {
        let text = text.into();
        Self { name: text.clone(), text, is_valid: false, reason }
    }

    /// A number outside of the document's range, as text.
    fn outside((number, reason): (i64, &'static str)) -> Self {
        Self { name: reason.to_owned(), ..Self::malformed(number.to_string(), reason) }
    }
}

/// The spellings that are special for one reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Reason {
    /// The reason, unique among those of one list.
    pub(crate) text: &'static str,
    /// Whether the contract allows them.
    pub(crate) is_valid: bool,
    /// The place of the first of them in the list.
    pub(crate) first: usize,
    /// The values as they are sent.
    pub(crate) spellings: Vec<String>,
}

/// Spellings by their reason, in the order in which the reasons come first.
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

/// Drops repeated texts, of which the first stays.
fn distinct(spellings: Vec<Spelling>) -> Vec<Spelling> {
    let mut seen = std::collections::BTreeSet::new();
    spellings.into_iter().filter(|spelling| seen.insert(spelling.text.clone())).collect()
}

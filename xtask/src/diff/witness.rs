//! A concrete request or response that the older contract allows and the newer one does not, for each breaking change: a value
//! next to the bound of the row that changed.

use std::collections::BTreeMap;

use minijinja::Value as Known;
use serde_json::Value;

use super::{Verdict, change::Change, rules};
use crate::table::Direction;

/// The witness of a breaking change, such as `a request with query num = 51`; `None` for other changes, and where no value can be derived from the two documents.
pub(crate) fn witness(change: &Change) -> Option<String> {
    if change.rule.verdict != Verdict::Breaking {
        return None;
    }
    let [old, new] = [&change.old, &change.new].map(|found| found.as_ref().map(|found| &found.value));
    let (keyword, is_response) = (change.keyword.as_str(), change.direction == Direction::Response);
    let bound = if is_response { new.or(old) } else { new };
    let step = match keyword.contains("min") {
        // Callers that follow the older document cannot expect what only the newer one allows.
        _ if is_response && new.is_some() => 0,
        true => -1,
        false => 1,
    };
    let size = bound.and_then(Value::as_i64).and_then(|bound| bound.checked_add(step));
    let known = BTreeMap::from([
        ("rule", Known::from(&change.rule.id)),
        ("at", Known::from(&change.at)),
        ("keyword", Known::from(keyword)),
        ("kind", Known::from(if is_response { "response" } else { "request" })),
        ("old", rules::known(old)),
        ("new", rules::known(new)),
        ("size", size.map_or(Known::UNDEFINED, Known::from)),
    ]);
    Some(rules::witness(&known)).filter(|witness| !witness.is_empty())
}

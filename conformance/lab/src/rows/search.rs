//! What searches ask for, and small changes to them and to their results, for tables to be made of.

use serde_json::Value;

use crate::call::Call;

/// The items of `ips` that are texts.
pub(crate) fn ips(call: &Call) -> Vec<String> {
    let ips = call.json()[&call.contract.search.ips.name].clone();
    ips.as_array().into_iter().flatten().filter_map(|item| item.as_str().map(str::to_owned)).collect()
}

/// Totals beyond this count as this, so that no fault overflows when it calculates with them.
const LARGE: i64 = 1 << 30;

pub(crate) fn items(body: &mut Value) -> Option<&mut Vec<Value>> {
    body.pointer_mut("/data/items")?.as_array_mut()
}

pub(crate) fn total(body: &Value) -> i64 {
    body["data"]["total"].as_i64().unwrap_or_default().clamp(-LARGE, LARGE)
}

//! Lists of two accounts, held against each other.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::wire::Answer;

/// The items of a listing or of a page.
pub(super) fn items(answer: &Answer) -> &[Value] {
    answer.at("/data/items").and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// How many items of one answer are in the other too, with the same value in each of these fields; there may be others,
/// which may change as they like. Whether ids are counted anew in each account is open, so an id alone says nothing.
pub(super) fn shared(one: &Answer, other: &Answer, fields: &[String]) -> usize {
    let shown =
        |item: &Value| fields.iter().map(|field| item.get(field).map(Value::to_string)).collect::<Vec<_>>();
    let objects = |answer| items(answer).iter().filter(|item| item.is_object());
    let others: BTreeSet<_> = objects(other).map(shown).collect();
    objects(one).filter(|item| others.contains(&shown(item))).count()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_item_is_shared_when_its_fields_agree_and_not_by_its_id() {
        let answer =
            |items: Value| Answer::new(200, Vec::new(), json!({"data": {"items": items}}).to_string().into());
        let fields = ["id", "name"].map(str::to_owned);
        let own = answer(json!([{"id": 1, "name": "a", "seen": 1}, {"id": 2, "name": "b"}]));
        assert_eq!(
            shared(&own, &answer(json!([{"id": 1, "name": "c"}, {"id": 3, "name": "a"}])), &fields),
            0
        );
        assert_eq!(shared(&own, &answer(json!([{"id": 1, "name": "a", "seen": 2}])), &fields), 1);
        assert_eq!(shared(&own, &answer(json!([null, 1])), &fields), 0);
    }
}

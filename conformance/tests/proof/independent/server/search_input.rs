//! The body of a search, read strictly but for faults.

use serde_json::{Map, Value};

use super::address::Item;
use super::behaviour::{Tags, with_tags};
use super::world::STATUSES;
use super::{Reject, Request, Server};

/// A valid search.
#[derive(Debug, Clone, Default)]
pub(super) struct Query {
    pub items: Vec<Item>,
    pub order: Option<String>,
    pub group: Option<i64>,
    pub country: Option<String>,
    pub city: Option<String>,
    pub status: Option<String>,
    pub page: usize,
    pub page_size: usize,
    pub from: Option<i128>,
    pub to: Option<i128>,
}

pub(super) type Body = Map<String, Value>;

pub(super) fn wrong(name: &str) -> Reject {
    Reject::input(format!("`{name}` is not valid"))
}

impl Server {
    pub(super) fn search_query(&self, request: &Request, tags: &mut Tags) -> Result<Query, Reject> {
        const KNOWN: &[&str] = &[
            "ips",
            "orderNo",
            "groupId",
            "countryCode",
            "cityCode",
            "status",
            "page",
            "pageSize",
            "activatedFrom",
            "activatedTo",
        ];
        let body = self.body(request, tags)?;
        let unknown = body.keys().find(|name| !KNOWN.contains(&name.as_str()));
        if self.decides("unknown-rejected")
            && let Some(unknown) = unknown
        {
            return Err(Reject::input(format!("unknown field `{unknown}`")));
        }
        let has = |name: &str| body.get(name).is_some_and(|value| !value.is_null());
        let of_fields = [
            ("orderNo", "order"),
            ("groupId", "group"),
            ("countryCode", "country"),
            ("cityCode", "city"),
            ("status", "status"),
            ("activatedFrom", "from"),
            ("activatedTo", "to"),
            ("page", "page"),
            ("pageSize", "page-size"),
        ];
        let is_filtered = KNOWN.iter().any(|name| !["ips", "page", "pageSize"].contains(name) && has(name));
        let is_later = body.get("page").and_then(Value::as_u64).is_some_and(|page| page > 1);
        *tags = with_tags(tags, of_fields.map(|(name, tag)| (has(name), tag)));
        *tags = with_tags(tags, [(is_filtered, "filtered"), (is_later, "page-2")]);
        let text = |name: &'static str| self.text_field(&body, name, tags);
        let query = Query {
            order: text("orderNo")?,
            country: text("countryCode")?,
            city: text("cityCode")?,
            status: self.status(&body, tags)?,
            group: self.group_field(&body, tags)?,
            page: self.number(&body, "page", 1, 1_000_000, tags)?,
            page_size: self.number(&body, "pageSize", 20, 1000, tags)?,
            from: self.time_field(&body, "activatedFrom", tags)?,
            to: self.time_field(&body, "activatedTo", tags)?,
            items: Vec::new(),
        };
        self.time_order(&body, &query, tags)?;
        let items = self.items(&body, tags)?;
        let more = [
            (items.len() > 100, "many"),
            (items.iter().any(|item| item.port.is_some()), "ported"),
            (items.iter().any(|item| item.ip.is_ipv6()), "ipv6"),
        ];
        *tags = with_tags(tags, more);
        Ok(Query { items, ..query })
    }

    fn body(&self, request: &Request, tags: &Tags) -> Result<Body, Reject> {
        let media = request.header("content-type").unwrap_or_default();
        let essence = media.split(';').next().unwrap_or_default().trim();
        let is_json = essence.eq_ignore_ascii_case("application/json");
        if request.body.len() > 20_000 && self.on("search-body-above-20000-refused", tags)
            || request.body.len() > 131_072 && self.on("search-body-above-131072-refused", tags)
        {
            return Err(Reject::new(415, 41_500, "media type or size"));
        }
        if !is_json && !self.decides("lenient-content-type") {
            return Err(Reject::new(415, 41_500, "expected application/json"));
        }
        let text = String::from_utf8_lossy(&request.body);
        match serde_json::from_str(&text) {
            Ok(Value::Object(body)) => Ok(body),
            Ok(Value::Array(mut list))
                if list.iter().all(Value::is_object)
                    && !list.is_empty()
                    && self.on("search-body-in-list", tags) =>
            {
                Ok(list.remove(0).as_object().cloned().unwrap_or_default())
            }
            Ok(Value::Array(list))
                if list.iter().all(Value::is_string) && self.on("search-body-bare-ips", tags) =>
            {
                Ok(Map::from_iter([("ips".to_owned(), Value::Array(list))]))
            }
            Ok(Value::String(inner)) if self.on("search-body-encoded-twice", tags) => {
                Ok(serde_json::from_str(&inner).unwrap_or_else(|_| fallback()))
            }
            Ok(Value::Null) if self.on("search-body-null", tags) => Ok(fallback()),
            Ok(_) if self.on("search-body-not-object", tags) => Ok(fallback()),
            Ok(_) => Err(Reject::input("expected an object")),
            Err(_) if request.body.is_empty() && self.on("search-body-empty", tags) => Ok(fallback()),
            Err(_) if text.contains("ips=") && self.on("search-body-form", tags) => Ok(fallback()),
            Err(error) if error.is_syntax() && !request.body.is_empty() => {
                let mut values = serde_json::Deserializer::from_str(&text).into_iter::<Value>();
                if let Some(Ok(Value::Object(first))) = values.next()
                    && self.on("search-body-trailing-text", tags)
                {
                    return Ok(first);
                }
                let mended =
                    text.replace(",]", "]").replace(",}", "}").replace(", ]", "]").replace(", }", "}");
                if let Ok(Value::Object(body)) = serde_json::from_str(&mended)
                    && self.on("search-body-trailing-comma", tags)
                {
                    return Ok(body);
                }
                if self.on("search-body-malformed", tags) {
                    return Ok(fallback());
                }
                Err(Reject::input("the body is not JSON"))
            }
            Err(error)
                if error.is_eof() && !request.body.is_empty() && self.on("search-body-cut-off", tags) =>
            {
                Ok(fallback())
            }
            Err(_) => Err(Reject::input("the body is not JSON")),
        }
    }

    /// A wrong or a null value of a field; says whether the field counts as absent.
    pub(super) fn wrong_type(
        &self,
        name: &'static str,
        value: &Value,
        tags: &Tags,
    ) -> Result<Option<Value>, Reject> {
        let kind = match value {
            Value::Null if name != "groupId" && self.decides("null-rejected") => {
                return Err(wrong(name));
            }
            Value::Null => return Ok(Some(Value::Null)),
            Value::Bool(_) => "boolean-accepted",
            Value::Number(_) => "number-accepted",
            Value::String(_) => "text-accepted",
            Value::Array(_) => "list-accepted",
            Value::Object(_) => "object-accepted",
        };
        let part = format!("search-{name}");
        if self.on_part(&part, kind, tags) || self.on_part(&part, "any-type-accepted", tags) {
            return Ok(Some(Value::Null));
        }
        if let Value::Array(list) = value
            && list.len() == 1
            && self.on_part(&part, "single-list-accepted", tags)
        {
            return Ok(Some(list[0].clone()));
        }
        Err(wrong(name))
    }

    fn text_field(&self, body: &Body, name: &'static str, tags: &Tags) -> Result<Option<String>, Reject> {
        let Some(value) = body.get(name) else { return Ok(None) };
        let text = match value {
            Value::String(text) => text.clone(),
            Value::Number(number) if self.on_part(&format!("search-{name}"), "number-as-text", tags) => {
                number.to_string()
            }
            other => match self.wrong_type(name, other, tags)? {
                Some(Value::String(text)) => text,
                _ => return Ok(None),
            },
        };
        if text.is_empty() {
            return match () {
                () if self.decides("empty-filter-ignored") => Ok(None),
                () if self.decides("empty-filter-rejected") => Err(wrong(name)),
                () => Ok(Some(text)),
            };
        }
        Ok(Some(text))
    }

    fn status(&self, body: &Body, tags: &Tags) -> Result<Option<String>, Reject> {
        let is_empty = body.get("status").and_then(Value::as_str) == Some("");
        if is_empty && self.decides("empty-filter-ignored") {
            return Ok(None);
        }
        let Some(text) = self.text_field(body, "status", tags)? else { return Ok(None) };
        if STATUSES.contains(&text.as_str()) {
            if text == "failed" && self.on("search-status-failed-refused", tags)
                || text == "provisioning" && self.on("search-status-provisioning-refused", tags)
                || text == "cancelled" && self.on("search-status-cancelled-refused", tags)
            {
                return Err(wrong("status"));
            }
            return Ok(Some(text));
        }
        let listed =
            |text: &str| STATUSES.iter().find(|known| **known == text).map(|known| (*known).to_owned());
        let first = text.split(',').next().and_then(listed);
        let rules = [
            (!text.is_empty(), "search-status-unknown-empty", Some(text.clone())),
            (!text.is_empty(), "search-status-unknown-ignored", None),
            (listed(&text.to_lowercase()).is_some(), "search-status-any-case", listed(&text.to_lowercase())),
            (listed(text.trim()).is_some(), "search-status-trimmed", listed(text.trim())),
            (text == "canceled", "search-status-canceled", Some("cancelled".into())),
            (text == "all", "search-status-all", None),
            (first.is_some(), "search-status-list", first),
            (
                text.len() > 2 && STATUSES.iter().any(|known| known.starts_with(&text)),
                "search-status-prefix",
                Some("active".into()),
            ),
            (text == "suspended", "search-status-suspended", Some(text.clone())),
        ];
        self.first_broken_of(tags, rules).ok_or_else(|| wrong("status"))
    }

    fn group_field(&self, body: &Body, tags: &Tags) -> Result<Option<i64>, Reject> {
        let Some(value) = body.get("groupId") else {
            return Ok(self.on("search-group-omitted-as-ungrouped", tags).then_some(0));
        };
        if value.is_null() {
            if self.on("search-group-null-refused", tags) {
                return Err(wrong("groupId"));
            }
            return Ok(self.on("search-group-null-as-ungrouped", tags).then_some(0));
        }
        let float = value.as_f64().unwrap_or(f64::NAN);
        if let Some(group) = value
            .as_i64()
            .or((self.decides("fraction-accepted") && float.fract() == 0.0).then_some(float as i64))
        {
            if group == 0 && self.on("search-group-0-refused", tags) {
                return Err(wrong("groupId"));
            }
            if group == 0 && self.on("search-group-0-as-all", tags) {
                return Ok(None);
            }
            if group > i64::from(i32::MAX) && self.on("search-group-wraps-32", tags) {
                return Ok(Some(i64::from(group as i32)));
            }
            if group < 0 {
                let is_far = group < i64::from(i32::MIN);
                let rules = [
                    (true, "search-group-negative-as-all", None),
                    (true, "search-group-negative-as-ungrouped", Some(0)),
                    (true, "search-group-negative-finds-nothing", Some(group)),
                    (group == -1, "search-group-minus-one-as-all", None),
                    (is_far, "search-group-far-negative", Some(i64::from(group as i32))),
                ];
                return self.first_broken_of(tags, rules).ok_or_else(|| wrong("groupId"));
            }
            return Ok(Some(group));
        }
        if let Some(text) = value.as_str()
            && let Ok(group) = text.parse()
            && self.on("search-groupId-digits-accepted", tags)
        {
            return Ok(Some(group));
        }
        if value.is_f64() && float < 1e15 && self.on("search-group-fraction", tags) {
            return Ok(Some(float as i64));
        }
        if value.is_number() && float.abs() > 9e18 && self.on("search-group-far", tags) {
            return Ok(Some(i64::MAX));
        }
        self.wrong_type("groupId", value, tags).map(|_| None)
    }

    fn number(
        &self,
        body: &Body,
        name: &'static str,
        default: usize,
        most: usize,
        tags: &Tags,
    ) -> Result<usize, Reject> {
        let part = format!("search-{name}");
        let Some(value) = body.get(name) else {
            return Ok(match () {
                () if self.on_part(&part, "default-10", tags) => 10,
                () if self.on_part(&part, "default-100", tags) => 100,
                () if self.on_part(&part, "default-2", tags) => 2,
                () if self.on_part(&part, "required", tags) => return Err(wrong(name)),
                () => default,
            });
        };
        let float = value.as_f64().unwrap_or(f64::NAN);
        let whole = value
            .as_i64()
            .or((self.decides("fraction-accepted") && float.fract() == 0.0).then_some(float as i64));
        let in_range = |number: i64| number >= 1 && number <= most as i64;
        if let Some(number) = whole
            && in_range(number)
        {
            let number = number as usize;
            if number == most && self.on_part(&part, "most-refused", tags)
                || number == 1 && self.on_part(&part, "one-refused", tags)
                || number > most / 2 && self.on_part(&part, "above-half-refused", tags)
            {
                return Err(wrong(name));
            }
            return Ok(number);
        }
        let big: Option<i128> = value.as_i64().map(i128::from).or(value.as_u64().map(i128::from));
        let wrapped = |bits: u32| {
            let big = big.or((value.is_f64() && float.fract() == 0.0).then_some(float as i128))?;
            let low = big.rem_euclid(1 << bits) as i64;
            in_range(low).then_some(low as usize)
        };
        let is_far = value.is_number() && float.abs() > 4e9;
        let digits = value.as_str().and_then(|text| text.parse().ok());
        let rules = [
            ("unchecked", value.is_number().then_some(default)),
            ("zero", (whole == Some(0)).then_some(default)),
            ("above-clamped", (float > most as f64).then_some(most)),
            ("above-by-one", (whole == Some(most as i64 + 1)).then_some(most)),
            ("below-clamped", (float < 1.0).then_some(1)),
            ("negative", whole.filter(|number| *number < 0).map(|_| default)),
            (
                "absolute",
                whole
                    .filter(|number| *number < 0)
                    .and_then(i64::checked_neg)
                    .filter(|number| in_range(*number))
                    .map(|number| number as usize),
            ),
            ("wraps-16", wrapped(16)),
            ("wraps-32", wrapped(32)),
            ("wraps-64", (float.abs() > 9.3e18).then_some(1).or(wrapped(64).filter(|_| is_far))),
            ("far", (is_far && float > 0.0).then_some(default)),
            ("far-negative", (is_far && float < 0.0).then_some(default)),
            (
                "fraction",
                (value.is_f64() && float.fract() != 0.0 && in_range(float as i64)).then_some(float as usize),
            ),
            ("digits-accepted", digits),
            ("true-as-one", (value == &Value::Bool(true)).then_some(1)),
        ];
        let found =
            rules.into_iter().find_map(|(what, number)| number.filter(|_| self.on_part(&part, what, tags)));
        match found {
            Some(number) => Ok(number),
            None if value.is_number() => Err(wrong(name)),
            None => self.wrong_type(name, value, tags).map(|_| default),
        }
    }
}

/// What a lax reader of the body works with when there is nothing to read.
fn fallback() -> Body {
    Map::from_iter([("ips".to_owned(), serde_json::json!(["45.10.0.4"]))])
}

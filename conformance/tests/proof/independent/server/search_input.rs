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

/// The fields beside `ips`, and the circumstances that they are sent.
const FIELDS: [(&str, &str); 9] = [
    ("page", "page"),
    ("pageSize", "page-size"),
    ("orderNo", "order"),
    ("groupId", "group"),
    ("countryCode", "country"),
    ("cityCode", "city"),
    ("status", "status"),
    ("activatedFrom", "from"),
    ("activatedTo", "to"),
];

pub(super) fn wrong(name: &str) -> Reject {
    Reject::input(format!("`{name}` is not valid"))
}

impl Server {
    pub(super) fn search_query(&self, request: &Request, tags: &mut Tags) -> Result<Query, Reject> {
        let body = self.body(request, tags)?;
        let is_known = |name: &String| name == "ips" || FIELDS.iter().any(|(known, _)| known == name);
        let unknown = body.keys().find(|name| !is_known(name));
        if let Some(unknown) = unknown.filter(|_| self.decides("unknown-rejected")) {
            return Err(Reject::input(format!("unknown field `{unknown}`")));
        }
        let sent = FIELDS.map(|(name, tag)| (body.get(name).is_some_and(|value| !value.is_null()), tag));
        let is_filtered = sent.iter().any(|(is_sent, tag)| *is_sent && !["page", "page-size"].contains(tag));
        let is_later = body.get("page").and_then(Value::as_u64).is_some_and(|page| page > 1);
        *tags = with_tags(tags, sent);
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
        let length = request.body.len();
        let rules = [
            (length > 20_000, "search-body-above-20000-refused"),
            (length > 131_072, "search-body-above-131072-refused"),
        ];
        if self.breaks_any(tags, rules) || !is_json && !self.decides("lenient-content-type") {
            return Err(Reject::new(415, 41_500, "media type or size"));
        }
        let text = String::from_utf8_lossy(&request.body);
        let object = |text: &str| match serde_json::from_str(text) {
            Ok(Value::Object(body)) => Some(body),
            _ => None,
        };
        // What a lax reader works with when there is nothing to read.
        let fallback = || object(r#"{"ips": ["45.10.0.4"]}"#);
        let if_so = |holds: bool| if holds { fallback() } else { None };
        let rules = match serde_json::from_str(&text) {
            Ok(Value::Object(body)) => return Ok(body),
            Ok(value) => {
                let list = value.as_array().filter(|list| !list.is_empty());
                let objects = list.filter(|list| list.iter().all(Value::is_object));
                let texts = value.as_array().filter(|list| list.iter().all(Value::is_string));
                let inner = value.as_str().and_then(|inner| object(inner).or_else(fallback));
                vec![
                    ("in-list", objects.and_then(|list| list[0].as_object().cloned())),
                    ("bare-ips", texts.map(|_| Map::from_iter([("ips".to_owned(), value.clone())]))),
                    ("encoded-twice", inner),
                    ("null", if_so(value.is_null())),
                    ("not-object", fallback()),
                ]
            }
            Err(error) => {
                let mut values = serde_json::Deserializer::from_str(&text).into_iter::<Body>();
                let first = values.next().and_then(Result::ok).filter(|_| error.is_syntax());
                let mended =
                    text.replace(",]", "]").replace(",}", "}").replace(", ]", "]").replace(", }", "}");
                let is_syntax = error.is_syntax() && length > 0;
                vec![
                    ("empty", if_so(length == 0)),
                    ("form", if_so(text.contains("ips="))),
                    ("trailing-text", first),
                    ("trailing-comma", object(&mended).filter(|_| is_syntax)),
                    ("malformed", if_so(is_syntax)),
                    ("cut-off", if_so(error.is_eof() && length > 0)),
                ]
            }
        };
        let found = self.first_broken_part("search-body", tags, rules);
        found.ok_or_else(|| Reject::input("expected a JSON object"))
    }

    /// A wrong or a null value of a field; says whether the field counts as absent.
    pub(super) fn wrong_type(
        &self,
        name: &'static str,
        value: &Value,
        tags: &Tags,
    ) -> Result<Option<Value>, Reject> {
        let kind = match value {
            Value::Null if name != "groupId" && self.decides("null-rejected") => return Err(wrong(name)),
            Value::Null => return Ok(Some(Value::Null)),
            Value::Bool(_) => "boolean-accepted",
            Value::Number(_) => "number-accepted",
            Value::String(_) => "text-accepted",
            Value::Array(_) => "list-accepted",
            Value::Object(_) => "object-accepted",
        };
        let only = value.as_array().filter(|list| list.len() == 1).map(|list| list[0].clone());
        let rules = [
            (kind, Some(Value::Null)),
            ("any-type-accepted", Some(Value::Null)),
            ("single-list-accepted", only),
        ];
        let taken = self.first_broken_part(&format!("search-{name}"), tags, rules);
        taken.map(Some).ok_or_else(|| wrong(name))
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
        match text.is_empty() {
            true if self.decides("empty-filter-ignored") => Ok(None),
            true if self.decides("empty-filter-rejected") => Err(wrong(name)),
            _ => Ok(Some(text)),
        }
    }

    fn status(&self, body: &Body, tags: &Tags) -> Result<Option<String>, Reject> {
        let Some(text) = self.text_field(body, "status", tags)? else { return Ok(None) };
        let listed =
            |text: &str| STATUSES.iter().find(|known| **known == text).map(|known| (*known).to_owned());
        if let Some(status) = listed(&text) {
            let refusals = [
                (text == "failed", "search-status-failed-refused"),
                (text == "provisioning", "search-status-provisioning-refused"),
                (text == "cancelled", "search-status-cancelled-refused"),
            ];
            return if self.breaks_any(tags, refusals) { Err(wrong("status")) } else { Ok(Some(status)) };
        }
        let is_some = !text.is_empty();
        let is_prefix = text.len() > 2 && STATUSES.iter().any(|known| known.starts_with(&text));
        let (lower, trimmed) = (listed(&text.to_lowercase()), listed(text.trim()));
        let first = text.split(',').next().and_then(listed);
        let rules = [
            (is_some, "unknown-empty", Some(text.clone())),
            (is_some, "unknown-ignored", None),
            (lower.is_some(), "any-case", lower),
            (trimmed.is_some(), "trimmed", trimmed),
            (text == "canceled", "canceled", Some("cancelled".into())),
            (text == "all", "all", None),
            (first.is_some(), "list", first),
            (is_prefix, "prefix", Some("active".into())),
            (text == "suspended", "suspended", Some(text.clone())),
        ];
        let rules = rules.map(|(holds, rule, status)| (rule, holds.then_some(status)));
        self.first_broken_part("search-status", tags, rules).ok_or_else(|| wrong("status"))
    }

    /// A number that is an integer, also one with a fraction of zero where that is accepted.
    fn whole_number(&self, value: &Value) -> Option<i64> {
        let float = value.as_f64().filter(|float| float.fract() == 0.0 && self.decides("fraction-accepted"));
        value.as_i64().or(float.map(|float| float as i64))
    }

    fn group_field(&self, body: &Body, tags: &Tags) -> Result<Option<i64>, Reject> {
        let value = body.get("groupId");
        let is_null = value.is_some_and(Value::is_null);
        let group = value.and_then(|value| self.whole_number(value));
        let refusals = [(is_null, "search-group-null-refused"), (group == Some(0), "search-group-0-refused")];
        if self.breaks_any(tags, refusals) {
            return Err(wrong("groupId"));
        }
        let Some(value) = value.filter(|_| !is_null) else {
            let rules = [
                (!is_null, "search-group-omitted-as-ungrouped"),
                (is_null, "search-group-null-as-ungrouped"),
            ];
            return Ok(self.breaks_any(tags, rules).then_some(0));
        };
        let float = value.as_f64().unwrap_or(f64::NAN);
        let in_32_bits = group.map(|group| i64::from(group as i32));
        let is_negative = group.is_some_and(|group| group < 0);
        let is_large = group.is_some_and(|group| group > i64::from(i32::MAX));
        let is_far_below = group.is_some_and(|group| group < i64::from(i32::MIN));
        let digits = value.as_str().and_then(|text| text.parse().ok());
        let is_fraction = group.is_none() && value.is_f64() && float < 1e15;
        let is_far = group.is_none() && value.is_number() && float.abs() > 9e18;
        let rules = [
            (group == Some(0), "search-group-0-as-all", None),
            (is_large, "search-group-wraps-32", in_32_bits),
            (is_negative, "search-group-negative-as-all", None),
            (is_negative, "search-group-negative-as-ungrouped", Some(0)),
            (is_negative, "search-group-negative-finds-nothing", group),
            (group == Some(-1), "search-group-minus-one-as-all", None),
            (is_far_below, "search-group-far-negative", in_32_bits),
            (digits.is_some(), "search-groupId-digits-accepted", digits),
            (is_fraction, "search-group-fraction", Some(float as i64)),
            (is_far, "search-group-far", Some(i64::MAX)),
        ];
        match self.first_broken_of(tags, rules) {
            Some(taken) => Ok(taken),
            None if is_negative => Err(wrong("groupId")),
            None if group.is_some() => Ok(group),
            None => self.wrong_type("groupId", value, tags).map(|_| None),
        }
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
        let broken = |rules: &[(&'static str, Option<usize>)]| {
            self.first_broken_part(&part, tags, rules.iter().copied())
        };
        let Some(value) = body.get(name) else {
            let defaults = [("default-10", Some(10)), ("default-100", Some(100)), ("default-2", Some(2))];
            return match self.on_part(&part, "required", tags) {
                true => Err(wrong(name)),
                false => Ok(broken(&defaults).unwrap_or(default)),
            };
        };
        let float = value.as_f64().unwrap_or(f64::NAN);
        let whole = self.whole_number(value);
        let fitting = |number: i64| (number >= 1 && number <= most as i64).then_some(number as usize);
        if let Some(number) = whole.and_then(fitting) {
            let refusals = [
                ("most-refused", (number == most).then_some(0)),
                ("one-refused", (number == 1).then_some(0)),
                ("above-half-refused", (number > most / 2).then_some(0)),
            ];
            return if broken(&refusals).is_some() { Err(wrong(name)) } else { Ok(number) };
        }
        let is_whole_float = value.is_f64() && float.fract() == 0.0;
        let big = value.as_i64().map(i128::from).or(value.as_u64().map(i128::from));
        let big = big.or(is_whole_float.then_some(float as i128));
        let wrapped = |bits: u32| fitting(big?.rem_euclid(1 << bits) as i64);
        let is_far = value.is_number() && float.abs() > 4e9;
        let negative = whole.filter(|number| *number < 0);
        let rules = [
            ("unchecked", value.is_number().then_some(default)),
            ("zero", (whole == Some(0)).then_some(default)),
            ("above-clamped", (float > most as f64).then_some(most)),
            ("above-by-one", (whole == Some(most as i64 + 1)).then_some(most)),
            ("below-clamped", (float < 1.0).then_some(1)),
            ("negative", negative.map(|_| default)),
            ("absolute", negative.and_then(i64::checked_neg).and_then(fitting)),
            ("wraps-16", wrapped(16)),
            ("wraps-32", wrapped(32)),
            ("wraps-64", (float.abs() > 9.3e18).then_some(1).or(wrapped(64).filter(|_| is_far))),
            ("far", (is_far && float > 0.0).then_some(default)),
            ("far-negative", (is_far && float < 0.0).then_some(default)),
            ("fraction", fitting(float as i64).filter(|_| value.is_f64() && !is_whole_float)),
            ("digits-accepted", value.as_str().and_then(|text| text.parse().ok())),
            ("true-as-one", (value == &Value::Bool(true)).then_some(1)),
        ];
        match broken(&rules) {
            Some(number) => Ok(number),
            None if value.is_number() => Err(wrong(name)),
            None => self.wrong_type(name, value, tags).map(|_| default),
        }
    }
}

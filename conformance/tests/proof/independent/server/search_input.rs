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
        let is_refused = self.breaks("search.body-refused", tags, || known! { length });
        if is_refused || !is_json && !self.decides("lenient-content-type") {
            return Err(Reject::new(415, 41_500, "media type or size"));
        }
        let text = String::from_utf8_lossy(&request.body);
        let found: Option<Option<Body>> = match serde_json::from_str(&text) {
            Ok(Value::Object(body)) => return Ok(body),
            Ok(value) => self.instead("search.body", tags, || known! { value }),
            Err(error) => self.instead("search.no-json", tags, || {
                let mut values = serde_json::Deserializer::from_str(&text).into_iter::<Body>();
                let first = values.next().and_then(Result::ok).filter(|_| error.is_syntax());
                let (syntax, cut) = (error.is_syntax() && length > 0, error.is_eof() && length > 0);
                known! { text, first, syntax, cut }
            }),
        };
        found.flatten().ok_or_else(|| Reject::input("expected a JSON object"))
    }

    /// What counts in place of a value that is null or of a wrong type; null where the field counts as absent.
    pub(super) fn wrong_type(&self, name: &'static str, value: &Value, tags: &Tags) -> Result<Value, Reject> {
        if value.is_null() && (name == "groupId" || !self.decides("null-rejected")) {
            return Ok(Value::Null);
        }
        self.instead("search.field", tags, || known! { name, value }).ok_or_else(|| wrong(name))
    }

    fn text_field(&self, body: &Body, name: &'static str, tags: &Tags) -> Result<Option<String>, Reject> {
        let Some(value) = body.get(name) else { return Ok(None) };
        let text = match value {
            Value::String(text) => text.clone(),
            other => match self.wrong_type(name, other, tags)? {
                Value::String(text) => text,
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
        if STATUSES.contains(&text.as_str()) {
            let is_refused = self.breaks("search.status-refused", tags, || known! { text });
            return if is_refused { Err(wrong("status")) } else { Ok(Some(text)) };
        }
        let status = self.instead("search.status", tags, || known! { text, statuses => STATUSES });
        status.ok_or_else(|| wrong("status"))
    }

    /// A number that is an integer, also one with a fraction of zero where that is accepted.
    fn whole_number(&self, value: &Value) -> Option<i64> {
        let float = value.as_f64().filter(|float| float.fract() == 0.0 && self.decides("fraction-accepted"));
        value.as_i64().or(float.map(|float| float as i64))
    }

    fn group_field(&self, body: &Body, tags: &Tags) -> Result<Option<i64>, Reject> {
        let value = body.get("groupId");
        let group = value.and_then(|value| self.whole_number(value));
        let known = || known! { sent => value.is_some(), value, group };
        if self.breaks("search.group-refused", tags, known) {
            return Err(wrong("groupId"));
        }
        if let Some(taken) = self.instead("search.asked-group", tags, known) {
            return Ok(taken);
        }
        match value.filter(|value| !value.is_null()) {
            None => Ok(None),
            Some(_) if group.is_some_and(|group| group < 0) => Err(wrong("groupId")),
            Some(_) if group.is_some() => Ok(group),
            Some(value) => self.wrong_type("groupId", value, tags).map(|_| None),
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
        let (value, sent) = (body.get(name).unwrap_or(&Value::Null), body.contains_key(name));
        let whole = self.whole_number(value);
        let known = || {
            let float = value.as_f64();
            let is_whole_float = value.is_f64() && float.is_some_and(|float| float.fract() == 0.0);
            let big = value.as_i64().map(i128::from).or(value.as_u64().map(i128::from));
            let big = big.or(float.filter(|_| is_whole_float).map(|float| float as i128));
            known! { sent, value, float, whole, big, default, most }
        };
        if self.breaks(&format!("search.{name}-refused"), tags, known) {
            return Err(wrong(name));
        }
        if let Some(number) = whole.filter(|number| (1..=most as i64).contains(number)) {
            return Ok(number as usize);
        }
        match self.instead(&format!("search.{name}"), tags, known) {
            Some(other) => Ok(other),
            None if !sent => Ok(default),
            None if value.is_number() => Err(wrong(name)),
            None => self.wrong_type(name, value, tags).map(|_| default),
        }
    }
}

//! The other server's search: strict about all that it may be strict about.

use std::cmp::Reverse;
use std::net::{IpAddr, Ipv6Addr};

use hyper::header::CONTENT_TYPE;
use jiff::Timestamp;
use sallyport_conformance::lab::ProxiedRequest;
use serde_json::{Map, Value, json};

use super::data::{DIRECTORY, Instance, groups};
use super::{OtherServer, Rejection};

/// An item of `ips` as it was first written.
struct Item {
    ip: IpAddr,
    text: String,
    port: Option<i64>,
}

impl OtherServer {
    pub(super) fn search(&self, seen: &ProxiedRequest) -> Result<Value, Rejection> {
        let account = Self::caller(seen)?;
        let media = seen.headers.get(CONTENT_TYPE).and_then(|media| media.to_str().ok()).unwrap_or_default();
        if media.split(';').next().map(str::trim) != Some("application/json") {
            return Err(Rejection("the media type"));
        }
        let body: Map<String, Value> =
            serde_json::from_slice(&seen.body).map_err(|_| Rejection("no JSON object"))?;
        let search = &self.contract.search;
        for (name, value) in &body {
            let known = search.properties().iter().any(|property| property.name == *name);
            if !known || (value.is_null() && *name != search.group_id.name) {
                return Err(Rejection("an unknown field, or null"));
            }
        }
        let items = self.items(body.get("ips"))?;
        let orders = self.instances.iter().filter(|found| found.account == account).map(|found| found.order);
        let order = text(&body, "orderNo", |order| orders.clone().any(|known| known == order))?;
        let country = text(&body, "countryCode", |code| {
            DIRECTORY.iter().any(|(known, _)| known.eq_ignore_ascii_case(code))
        })?;
        let city =
            text(&body, "cityCode", |code| DIRECTORY.iter().any(|(_, cities)| cities.contains(&code)))?;
        let status = text(&body, "status", |status| search.statuses.iter().any(|known| known == status))?;
        let group = match body.get("groupId") {
            None | Some(Value::Null) => None,
            Some(group) => Some(group.as_i64().ok_or(Rejection("groupId"))?),
        };
        if group.is_some_and(|group| group != 0 && groups(account).iter().all(|(known, _)| *known != group)) {
            return Err(Rejection("no such group"));
        }
        let (from, to) = (time(&body, "activatedFrom")?, time(&body, "activatedTo")?);
        if from.zip(to).is_some_and(|(from, to)| to < from) {
            return Err(Rejection("the bounds"));
        }
        let page = number(&body, "page", &search.pages, search.default_page)?;
        let size = number(&body, "pageSize", &search.page_sizes, search.default_page_size)?;

        let fits = |found: &&Instance| {
            found.account == account
                && items.iter().any(|item| item.finds(found))
                && order.is_none_or(|order| found.order == order)
                && country.is_none_or(|country| found.country.eq_ignore_ascii_case(country))
                && city.is_none_or(|city| found.city == city)
                && status.is_none_or(|status| found.status == status)
                && group.is_none_or(|group| found.group.unwrap_or(0) == group)
                && from.is_none_or(|from| found.activated.is_some_and(|activated| activated >= from))
                && to.is_none_or(|to| found.activated.is_some_and(|activated| activated <= to))
        };
        let mut found: Vec<_> = self.instances.iter().filter(fits).collect();
        found.sort_by_key(|found| (found.port, Reverse(found.id)));
        let before = usize::try_from((page - 1) * size).unwrap_or(usize::MAX);
        if page > 1 && before >= found.len() {
            return Err(Rejection("no such page"));
        }
        let shown = found.iter().skip(before).take(usize::try_from(size).unwrap_or(usize::MAX));
        let shown: Vec<_> = shown.map(|found| found.shown()).collect();
        Ok(json!({"total": found.len(), "pageSize": size, "page": page, "items": shown}))
    }

    /// The first spelling of each address and port.
    fn items(&self, ips: Option<&Value>) -> Result<Vec<Item>, Rejection> {
        let search = &self.contract.search;
        let raw = ips.and_then(Value::as_array).ok_or(Rejection("ips"))?;
        if !search.raw_items.contains(&raw.len()) {
            return Err(Rejection("the number of ips"));
        }
        let mut items: Vec<Item> = Vec::new();
        let mut known = std::collections::HashSet::new();
        for item in raw {
            let item = item.as_str().and_then(Item::read).ok_or(Rejection("an item of ips"))?;
            if known.insert((item.ip, item.port)) {
                items.push(item);
            }
        }
        if items.len() > search.distinct_items { Err(Rejection("too many ips")) } else { Ok(items) }
    }
}

impl Item {
    /// Brackets need no port here; leading zeros, spaces and mapped addresses are rejected.
    fn read(text: &str) -> Option<Self> {
        let port = |digits: &str| {
            let plain = digits.bytes().all(|byte| byte.is_ascii_digit()) && !digits.starts_with('0');
            digits.parse::<u16>().ok().filter(|_| plain).map(i64::from)
        };
        let (address, port) = match text.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            Some((inside, "")) => (inside, None),
            Some((inside, rest)) => (inside, Some(port(rest.strip_prefix(':')?)?)),
            None => match text.split_once(':') {
                Some((address, digits)) if !digits.contains(':') => (address, Some(port(digits)?)),
                _ => (text, None),
            },
        };
        let ip: IpAddr = address.parse().ok()?;
        let mapped = matches!(ip, IpAddr::V6(ip) if ip.to_ipv4_mapped().is_some());
        let bracketed = text.starts_with('[') && address.parse::<Ipv6Addr>().is_err();
        (!mapped && !bracketed).then(|| Self { ip, text: address.to_owned(), port })
    }

    fn finds(&self, instance: &Instance) -> bool {
        self.text == instance.ip && self.port.is_none_or(|port| port == instance.port)
    }
}

fn text<'a>(
    body: &'a Map<String, Value>,
    name: &str,
    known: impl Fn(&str) -> bool,
) -> Result<Option<&'a str>, Rejection> {
    let Some(value) = body.get(name) else { return Ok(None) };
    let text = value.as_str().ok_or(Rejection("a filter of another type"))?;
    if known(text) { Ok(Some(text)) } else { Err(Rejection("an unknown value of a filter")) }
}

fn time(body: &Map<String, Value>, name: &str) -> Result<Option<Timestamp>, Rejection> {
    let Some(value) = body.get(name) else { return Ok(None) };
    // jiff also reads what RFC 3339 does not have: times without seconds, other offsets, other separators.
    let is_rfc_3339 = |text: &&str| {
        let Some((local, rest)) = text.split_at_checked("2026-03-01T12:00:00".len()) else { return false };
        let shape = |byte: u8| if byte.is_ascii_digit() { b'0' } else { byte.to_ascii_uppercase() };
        let zone = match rest.strip_prefix('.') {
            Some(fraction) => fraction.trim_start_matches(|digit: char| digit.is_ascii_digit()),
            None => rest,
        };
        let is_offset = |offset: &str| offset.len() == "+00:00".len() && offset[1..] < *"24:00";
        local.bytes().map(shape).eq(*b"0000-00-00T00:00:00")
            && (zone.eq_ignore_ascii_case("z") || is_offset(zone))
    };
    let time = value.as_str().filter(is_rfc_3339).and_then(|text| text.parse().ok());
    time.map(Some).ok_or(Rejection("a time"))
}

fn number(
    body: &Map<String, Value>,
    name: &str,
    range: &std::ops::RangeInclusive<i64>,
    default: i64,
) -> Result<i64, Rejection> {
    let Some(value) = body.get(name) else { return Ok(default) };
    value.as_i64().filter(|value| range.contains(value)).ok_or(Rejection("a number"))
}

use std::net::{Ipv6Addr, SocketAddr, SocketAddrV6};
use std::sync::Arc;

use super::values::{nanosecond, same};
use super::*;

/// The fields of an instance that comparisons need. The schema check judges the rest.
#[derive(Debug, Clone)]
pub(crate) struct Instance {
    pub(crate) id: i64,
    /// In canonical form: IPv4-mapped IPv6 is IPv4.
    pub(crate) ip: IpAddr,
    pub(crate) port: i64,
    /// The field of each filter, in the order of the document.
    values: Vec<FieldValue>,
    /// Whether its times are exact. Services may keep finer times than nanoseconds.
    pub(crate) is_exact: bool,
    pub(crate) max_batch: Option<i64>,
    /// The response that shows it, and its place there: copying hundreds of items would cost more than all else in a check.
    body: Arc<Value>,
    index: usize,
    /// The fields of the document. Further ones may change at any time.
    fields: Arc<[String]>,
    /// Number of fractional digits of its times in the response.
    pub(crate) digits: usize,
}

/// Instances are equal when every field has the same meaning: a service may spell an address or a time in several ways.
impl PartialEq for Instance {
    fn eq(&self, other: &Self) -> bool {
        self.differing(other).next().is_none()
    }
}

impl Instance {
    /// Reads every item of a response; `None` when it has no list of items.
    pub(crate) fn all<'a>(
        search: &'a Search,
        response: &'a Response,
    ) -> Option<impl ExactSizeIterator<Item = Option<Self>> + use<'a>> {
        let body = response.json.as_ref()?;
        let items = items(body)?;
        Some(items.iter().enumerate().map(move |(index, item)| Self::read(search, item, (body, index))))
    }

    fn item(&self) -> Option<&Value> {
        items(&self.body)?.get(self.index)
    }

    pub(crate) fn field(&self, name: &str) -> Option<&Value> {
        self.item()?.get(name)
    }

    /// The fields that differ in meaning from those of another reading.
    pub(crate) fn differing<'a>(&'a self, other: &Self) -> impl Iterator<Item = &'a str> {
        let (own, others) = (self.item(), other.item());
        let differs =
            move |field: &&str| match [own, others].map(|item| item.and_then(|item| item.get(*field))) {
                [Some(own), Some(other)] => !same(own, other),
                [own, other] => own != other,
            };
        self.fields.iter().map(String::as_str).filter(differs)
    }

    /// The field that a filter is compared with; null where instances do not show it.
    pub(crate) fn value(&self, kind: FilterKind) -> &FieldValue {
        self.values.get(kind.index).unwrap_or(&FieldValue::Null)
    }

    /// None when the item lacks a field or has one of another type.
    fn read(search: &Search, item: &Value, (body, index): (&Arc<Value>, usize)) -> Option<Self> {
        // The schema check reports a number in a string; the comparisons still read it.
        let whole = |value: &Value| value.as_i64().or_else(|| value.as_str()?.parse().ok());
        let values: Vec<FieldValue> = kinds().map(|kind| kind.field_of(item)).collect::<Option<_>>()?;
        let compared = kinds().zip(&values);
        let times = compared.filter(|(_, value)| matches!(value, FieldValue::Time(_)));
        let times: Vec<&str> =
            times.filter_map(|(filter, _)| item.get(filter.field.as_deref()?)?.as_str()).collect();
        Some(Self {
            id: whole(item.get(&search.paging.identity)?)?,
            ip: item.get("ip")?.as_str()?.parse::<IpAddr>().ok()?.to_canonical(),
            port: whole(item.get("port")?)?,
            values,
            is_exact: times.iter().all(|time| nanosecond(time).is_some_and(|(_, is_exact)| is_exact)),
            max_batch: item.get("capabilities")?.get("maxBatchSize").and_then(Value::as_i64),
            body: Arc::clone(body),
            index,
            fields: Arc::clone(&search.instance_fields),
            digits: times.iter().map(|time| digits(time)).max().unwrap_or(0),
        })
    }
}

/// The address of an item of `ips`, in canonical form, and its port.
pub(crate) fn address_of(item: &str) -> Option<(IpAddr, Option<i64>)> {
    let bare = item.parse::<IpAddr>().ok().map(|ip| (ip.to_canonical(), None));
    bare.or_else(|| {
        let socket: SocketAddr = item.parse().ok()?;
        Some((socket.ip().to_canonical(), Some(i64::from(socket.port()))))
    })
}

/// The address of an item of `ips` in its original spelling.
pub(crate) fn without_port(item: &str) -> &str {
    match item.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or(rest),
        None if item.parse::<IpAddr>().is_ok() => item,
        None => item.split(':').next().unwrap_or(item),
    }
}

/// The same item with its IPv6 address in full and in upper case; `None` for IPv4, which has only one spelling.
pub(crate) fn respell(item: &str) -> Option<String> {
    let write = |address: Ipv6Addr| {
        let segments: Vec<_> = address.segments().iter().map(|segment| format!("{segment:04X}")).collect();
        segments.join(":")
    };
    let with_port = |item: &str| {
        let socket: SocketAddrV6 = item.parse().ok()?;
        Some(format!("[{}]:{}", write(*socket.ip()), socket.port()))
    };
    item.parse().ok().map(write).or_else(|| with_port(item))
}

fn items(body: &Value) -> Option<&Vec<Value>> {
    body.pointer("/data/items")?.as_array()
}

fn digits(time: &str) -> usize {
    let fraction = time.split_once('.').map_or("", |(_, fraction)| fraction);
    fraction.bytes().take_while(u8::is_ascii_digit).count()
}

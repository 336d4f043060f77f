use std::net::{IpAddr, SocketAddr};

use jiff::Timestamp;
use serde_json::Value;

use crate::contract::Search;

/// What relations need of an instance. The schema check judges the rest.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Instance {
    pub(crate) id: i64,
    /// In canonical form: IPv4-mapped IPv6 is IPv4.
    pub(crate) ip: IpAddr,
    pub(crate) port: i64,
    pub(crate) status: String,
    pub(crate) country: String,
    pub(crate) city: String,
    /// None for an ungrouped instance.
    pub(crate) group: Option<i64>,
    /// None for one that was never activated.
    pub(crate) activated: Option<Timestamp>,
    /// `capabilities.maxBatchSize`.
    pub(crate) max_batch: Option<i64>,
    /// Every field that the document names, as it came; there may be others, which may change as they like.
    pub(crate) shown: Value,
    /// Digits of a second that the activation time was shown with.
    pub(crate) digits: usize,
}

impl Instance {
    /// Reads an item of an answer; none when it lacks a field or has one of another type.
    pub(crate) fn read(search: &Search, item: &Value) -> Option<Self> {
        let text = |name: &str| item.get(name)?.as_str().map(str::to_owned);
        let activated = match item.get("activatedAt")? {
            Value::Null => None,
            value => Some(value.as_str()?),
        };
        Some(Self {
            id: item.get("instanceId")?.as_i64()?,
            ip: item.get("ip")?.as_str()?.parse::<IpAddr>().ok()?.to_canonical(),
            port: item.get("port")?.as_i64()?,
            status: text("status")?,
            country: text("countryCode")?,
            city: text("cityCode")?,
            group: match item.get("groupId")? {
                Value::Null => None,
                group => Some(group.as_i64()?),
            },
            activated: activated.map(str::parse).transpose().ok()?,
            max_batch: item.get("capabilities")?.get("maxBatchSize").and_then(Value::as_i64),
            shown: search.instance_fields.iter().map(|field| (field.clone(), item[field].clone())).collect(),
            digits: activated.map_or(0, digits),
        })
    }

    /// Address and port as an item of `ips`; none for a port that no item can have.
    pub(crate) fn with_port(&self, search: &Search) -> Option<String> {
        let port = Some(self.port).filter(|port| search.ports.contains(port))?;
        Some(SocketAddr::new(self.ip, u16::try_from(port).ok()?).to_string())
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

fn digits(time: &str) -> usize {
    let fraction = time.split_once('.').map_or("", |(_, fraction)| fraction);
    fraction.bytes().take_while(u8::is_ascii_digit).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_are_read_in_each_form() {
        let ip = |text: &str| text.parse::<IpAddr>().expect("an address");
        assert_eq!(address_of("203.0.113.7"), Some((ip("203.0.113.7"), None)));
        assert_eq!(address_of("203.0.113.7:80"), Some((ip("203.0.113.7"), Some(80))));
        assert_eq!(address_of("[2001:DB8:0::1]:80"), Some((ip("2001:db8::1"), Some(80))));
        assert_eq!(address_of("2001:db8::1"), Some((ip("2001:db8::1"), None)));
        assert_eq!(address_of("203.0.113.0/24"), None);
    }

    #[test]
    fn digits_of_a_second_are_counted() {
        for (time, expected) in
            [("2026-01-01T00:00:00Z", 0), ("2026-01-01T00:00:00.5+02:00", 1), ("2026-01-01T00:00:00.120Z", 3)]
        {
            assert_eq!(digits(time), expected, "{time}");
        }
    }
}

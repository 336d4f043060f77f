use std::net::IpAddr;
use std::path::Path;

use serde_json::{Map, Value};

use crate::files;

/// An instance with the values that the console of the service shows.
#[derive(Debug, Clone, PartialEq)]
pub struct KnownInstance {
    /// Its address.
    pub ip: IpAddr,
    /// The address as written in the file, which a search sends unchanged.
    pub spelling: String,
    /// Its port.
    pub port: i64,
    /// Number of its order, which no response shows.
    pub order: Option<String>,
    /// Further fields by their names in the contract. From CSV, each value is text.
    pub fields: Map<String, Value>,
}

const MAX_INSTANCES: usize = 100_000;
const MAX_BYTES: u64 = 64 << 20;

impl KnownInstance {
    /// Reads a file: JSON if the name ends in `.json`, else CSV with a header line.
    ///
    /// # Errors
    /// Names what was expected, and the line or item.
    pub fn read(path: &Path) -> Result<Vec<Self>, String> {
        let what = |reason: &str| {
            format!("a file of instances that can be read, found {}: {reason}", path.display())
        };
        let text = files::read_text(path, MAX_BYTES).map_err(|error| what(&error.to_string()))?;
        let is_json = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("json"));
        let instances = if is_json { Self::from_json(&text) } else { Self::from_csv(&text) };
        let instances = instances.map_err(|reason| format!("{reason}, in {}", path.display()))?;
        match instances.len() {
            0 => Err(what("it has no instances")),
            1..=MAX_INSTANCES => Ok(instances),
            _ => Err(what(&format!("it has more than {MAX_INSTANCES} instances"))),
        }
    }

    /// Reads a list of objects, alone or as `data.items` of a search response.
    fn from_json(text: &str) -> Result<Vec<Self>, String> {
        let value: Value = serde_json::from_str(text).map_err(|error| format!("JSON, found {error}"))?;
        let items = value.pointer("/data/items").unwrap_or(&value);
        let items = items.as_array().ok_or("a list of objects, or a search response with data.items")?;
        let instance = |(at, item): (usize, &Value)| {
            let fields = item.as_object().ok_or_else(|| "an object, found another value".to_owned());
            let read = fields.and_then(|fields| Self::from_fields(fields.clone()));
            read.map_err(|reason| format!("{reason} at item {}", at + 1))
        };
        items.iter().enumerate().map(instance).collect()
    }

    fn from_csv(text: &str) -> Result<Vec<Self>, String> {
        let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(text.as_bytes());
        let wrong = |error: csv::Error| {
            format!("CSV with as many fields in each line as in the header, found {error}")
        };
        let header = reader.headers().map_err(wrong)?.clone();
        let instance = |record: Result<csv::StringRecord, csv::Error>| {
            let record = record.map_err(wrong)?;
            let line = record.position().map_or(0, csv::Position::line);
            let fields = header.iter().zip(&record);
            let fields = fields.map(|(name, value)| (name.to_owned(), Value::from(value))).collect();
            Self::from_fields(fields).map_err(|reason| format!("{reason} in line {line}"))
        };
        reader.records().map(instance).collect()
    }

    pub(crate) fn from_fields(mut fields: Map<String, Value>) -> Result<Self, String> {
        let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let spelling = fields.remove("ip").map(|ip| text(&ip)).ok_or("a field `ip`, found none")?;
        let ip: IpAddr =
            spelling.parse().map_err(|_| format!("an IPv4 or IPv6 address in `ip`, found `{spelling}`"))?;
        let port = fields.remove("port").map(|port| text(&port)).ok_or("a field `port`, found none")?;
        let wrong = |_| format!("a port from 0 to {} in `port`, found `{port}`", u16::MAX);
        let port = port.parse::<u16>().map_err(wrong)?.into();
        let order = fields.remove("orderNo").filter(|order| !order.is_null()).map(|order| text(&order));
        Ok(Self { ip, spelling, port, order: order.filter(|order| !order.is_empty()), fields })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn csv_and_json_are_equivalent() {
        let csv = "ip,port,orderNo,countryCode,groupId\n203.0.113.7,80,SO-1,USA,\n2001:db8::1,0,,DEU,7\n";
        let json = r#"[{"ip":"203.0.113.7","port":80,"orderNo":"SO-1","countryCode":"USA","groupId":""},
            {"ip":"2001:db8::1","port":"0","orderNo":null,"countryCode":"DEU","groupId":"7"}]"#;
        let from_csv = KnownInstance::from_csv(csv).unwrap();
        assert_eq!(from_csv, KnownInstance::from_json(json).unwrap());
        assert_eq!(from_csv[0].order.as_deref(), Some("SO-1"));
        assert_eq!(from_csv[1].order, None);
        let response = format!(r#"{{"code":200,"data":{{"items":{json}}}}}"#);
        assert_eq!(from_csv, KnownInstance::from_json(&response).unwrap());
    }
}

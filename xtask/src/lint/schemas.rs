//! Rules about single schemas: limits that contradict each other, null, and patterns.

use regex::Regex;
use serde_json::Value;

use super::{Lint, Node, Part, subset::suggestion};

const PAIRS: [(&str, &str); 4] = [
    ("minimum", "maximum"),
    ("minLength", "maxLength"),
    ("minItems", "maxItems"),
    ("x-max-distinct", "maxItems"),
];

/// Bounds that no value can satisfy.
pub(super) fn bounds(lint: &mut Lint<'_>) {
    for node in lint.parts(Part::Schema).into_iter().chain(lint.parts(Part::Ports)) {
        for (low, high) in PAIRS {
            let number = |keyword| node.value.get(keyword).and_then(Value::as_f64);
            let (Some(lower), Some(upper)) = (number(low), number(high)) else { continue };
            if lower > upper {
                let message = format!("`{low}: {lower}` is above `{high}: {upper}`");
                lint.report(node.at(low), message, format!("lower `{low}` or raise `{high}`"));
            }
        }
    }
}

/// An unknown property in `required`.
pub(super) fn required(lint: &mut Lint<'_>) {
    for node in lint.parts(Part::Schema) {
        let properties: Vec<&str> = node.entries("properties").map(|(name, _)| name).collect();
        for (index, name) in node.items("required").iter().enumerate() {
            let Some(name) = name.as_str().filter(|name| !properties.contains(name)) else { continue };
            let help = "define it under `properties`, or remove it here";
            let help = suggestion(name, properties.iter().copied(), help);
            let at = format!("{}/{index}", node.at("required"));
            lint.report(at, format!("unknown property `{name}` in `required`"), help);
        }
    }
}

/// `nullable` on a schema that is neither a property nor a component that only properties refer to.
pub(super) fn nullables(lint: &mut Lint<'_>) {
    let is_property =
        |pointer: &str| pointer.rsplit_once('/').is_some_and(|(around, _)| around.ends_with("/properties"));
    for schema in lint.parts(Part::Schema).into_iter().filter(|schema| schema.is_true("nullable")) {
        let target = format!("#{}", schema.pointer);
        let refers = |node: &&Node<'_>| node.text("$ref") == Some(target.as_str());
        let is_component =
            schema.pointer.starts_with("/components/schemas/") && schema.pointer.matches('/').count() == 3;
        let mut users = lint.nodes.iter().filter(refers);
        if is_property(&schema.pointer) || is_component && users.all(|node| is_property(&node.pointer)) {
            continue;
        }
        let message = "`nullable` is not supported here: only a property can be nullable";
        lint.report(schema.at("nullable"), message, "leave it out, or make the property optional");
    }
}

/// Addresses of every form that `ip-endpoint` allows, and texts that look like one and that it rejects.
const ADDRESSES: &str = "0.0.0.0 9.10.99.100 199.200.249.255 :: ::1 1:: 2001:db8::7 2001:DB8:0:0:0:0:0:7 1:2:3:4:5:6:7:: \
    ::2:3:4:5:6:7:8 1:2:3:4:5::8 1::6:7:8 64:ff9b::203.0.113.7 1:2:3:4:5:6:203.0.113.7 1:2:3::203.0.113.7";
const OTHERS: &str = "203.0.113 203.0.113.256 203.0.113.7.1 203.0.113.0/24 203.0.113.7#a 203.0.113.7: 203.0.113.7:http 2001:db8 \
    2001:db8::7::1 2001:db8::12345 2001:db8::g 1:2:3:4:5:6:7:8:9 fe80::1%eth0 2001:db8::/32 [2001:db8::7 2001:db8::7]:80 \
    [203.0.113.7]:80 example.com";

/// A `pattern` beside an `x-format`, which other people's tools read in place of the format: both must say the same.
pub(super) fn patterns(lint: &mut Lint<'_>) {
    for schema in lint.parts(Part::Schema).into_iter().filter(|schema| schema.has("x-format")) {
        let Some(pattern) = schema.text("pattern") else { continue };
        let at = schema.at("pattern");
        let Ok(regex) = Regex::new(pattern) else {
            lint.report(at, "`pattern` is not a valid regular expression", "correct it, or remove it");
            continue;
        };
        let (accepted, rejected) = samples(schema.value);
        let wrong = [(accepted, false, ["rejects", "accept"]), (rejected, true, ["accepts", "reject"])];
        for (texts, is_match, verb) in wrong {
            let Some(text) = texts.iter().find(|text| regex.is_match(text) == is_match) else { continue };
            let message =
                format!("`pattern` {} {text:?}, which `x-format` and `x-port` {}", verb[0], verb[1]);
            let help = "other people's tools read the pattern alone: change both, or remove the pattern";
            lint.report(&at, message, help);
        }
    }
}

/// Texts that the format and the ports of `schema` allow, and texts that they reject.
fn samples(schema: &Value) -> (Vec<String>, Vec<String>) {
    let bound = |name: &str| schema.pointer(&format!("/x-port/{name}")).and_then(Value::as_u64);
    let (min, max) = (bound("minimum").unwrap_or(0), bound("maximum").unwrap_or(u64::from(u16::MAX)));
    let with_port = |port: u64| {
        ADDRESSES.split(' ').map(move |address| {
            if address.contains(':') { format!("[{address}]:{port}") } else { format!("{address}:{port}") }
        })
    };
    let ports = [min, max, 10, 443, 8080, 20_000, 59_999, 64_999, 65_499, 65_529];
    let within = ports.into_iter().filter(|port| (min..=max).contains(port)).flat_map(with_port);
    let outside = min.checked_sub(1).into_iter().chain([max + 1, 100_000]).flat_map(with_port);
    let texts = |list: &str| list.split(' ').map(str::to_owned).collect::<Vec<_>>();
    let odd = ["".to_owned(), " 203.0.113.7".to_owned()];
    (
        texts(ADDRESSES).into_iter().chain(within).collect(),
        texts(OTHERS).into_iter().chain(odd).chain(outside).collect(),
    )
}

#[cfg(test)]
mod tests {
    use std::net::{IpAddr, SocketAddr};

    use super::*;

    #[test]
    fn the_samples_are_what_the_format_says() {
        let (accepted, rejected) =
            samples(&serde_json::json!({ "x-port": { "minimum": 1, "maximum": 65535 } }));
        let is_endpoint = |text: &String| {
            let with_port = || text.parse::<SocketAddr>().is_ok_and(|address| address.port() > 0);
            text.parse::<IpAddr>().is_ok() || with_port()
        };
        assert!(accepted.len() > 100 && accepted.iter().all(is_endpoint));
        assert!(rejected.len() > 50 && !rejected.iter().any(is_endpoint));
    }
}

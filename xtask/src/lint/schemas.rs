//! Rules about single schemas: limits that contradict each other, null, and patterns.

use std::ops::RangeInclusive;

use regex::Regex;
use sallyport_contract::address::Address;
use serde_json::Value;

use super::{Lint, Node, Part};
use crate::problem::suggestion;

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

/// Addresses of every form that `ip-endpoint` allows, and texts that look like one and are none.
const ADDRESSES: &str = "0.0.0.0 9.10.99.100 199.200.249.255 :: ::1 1:: 2001:db8::7 2001:DB8:0:0:0:0:0:7 1:2:3:4:5:6:7:: \
    ::2:3:4:5:6:7:8 1:2:3:4:5::8 1::6:7:8 64:ff9b::203.0.113.7 1:2:3:4:5:6:203.0.113.7 1:2:3::203.0.113.7 \
    203.0.113 203.0.113.256 203.0.113.7.1 203.0.113.0/24 203.0.113.7#a 203.0.113.7: 203.0.113.7:http 2001:db8 \
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
        let bound = |name: &str| schema.value.pointer(&format!("/x-port/{name}")).and_then(Value::as_u64);
        let bound = |name| bound(name).and_then(|port| u16::try_from(port).ok());
        let ports = bound("minimum").unwrap_or(0)..=bound("maximum").unwrap_or(u16::MAX);
        let is_valid = |text: &String| Address::parse(text, &ports).is_ok();
        for (verb, other, is_match) in [("rejects", "accept", false), ("accepts", "reject", true)] {
            let mut wrong = texts(&ports).into_iter().filter(|text| is_valid(text) != is_match);
            let Some(text) = wrong.find(|text| regex.is_match(text) == is_match) else { continue };
            let message = format!("`pattern` {verb} {text:?}, which `x-format` and `x-port` {other}");
            let help = "other people's tools read the pattern alone: change both, or remove the pattern";
            lint.report(&at, message, help);
        }
    }
}

/// Texts with and without ports, some at the bounds of the ports and next to them.
fn texts(ports: &RangeInclusive<u16>) -> Vec<String> {
    let (min, max) = (u32::from(*ports.start()), u32::from(*ports.end()));
    let numbers = [
        min.wrapping_sub(1),
        min,
        max,
        max + 1,
        0,
        10,
        443,
        8080,
        20_000,
        59_999,
        64_999,
        65_499,
        65_529,
        100_000,
    ];
    let mut texts = vec![String::new(), " 203.0.113.7".to_owned()];
    for address in ADDRESSES.split(' ') {
        let with_port = |port: u32| {
            if address.contains(':') { format!("[{address}]:{port}") } else { format!("{address}:{port}") }
        };
        texts.push(address.to_owned());
        texts.extend(numbers.map(with_port));
    }
    texts
}

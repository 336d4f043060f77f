//! A `pattern` beside an `x-format`, which other people's tools read in place of the format: both must say the same.

use regex::Regex;
use serde_json::Value;

use super::{Lint, Part};

/// Addresses of every form that `ip-endpoint` allows.
const ADDRESSES: &[&str] = &[
    "0.0.0.0",
    "9.10.99.100",
    "199.200.249.255",
    "::",
    "::1",
    "1::",
    "2001:db8::7",
    "2001:DB8:0:0:0:0:0:7",
    "1:2:3:4:5:6:7::",
    "::2:3:4:5:6:7:8",
    "1:2:3:4:5::8",
    "1::6:7:8",
    "64:ff9b::203.0.113.7",
    "1:2:3:4:5:6:203.0.113.7",
    "1:2:3::203.0.113.7",
];

/// Texts that look like an address, and that `ip-endpoint` rejects.
const OTHERS: &[&str] = &[
    "",
    "203.0.113",
    "203.0.113.256",
    "203.0.113.7.1",
    "203.0.113.0/24",
    "203.0.113.7#a",
    " 203.0.113.7",
    "203.0.113.7:",
    "203.0.113.7:http",
    "2001:db8",
    "2001:db8::7::1",
    "2001:db8::12345",
    "2001:db8::g",
    "1:2:3:4:5:6:7:8:9",
    "fe80::1%eth0",
    "2001:db8::/32",
    "[2001:db8::7",
    "2001:db8::7]:80",
    "[203.0.113.7]:80",
    "example.com",
];

pub(super) fn run(lint: &mut Lint<'_>) {
    for schema in lint.parts(Part::Schema) {
        let (Some(pattern), Some("ip-endpoint")) = (schema.text("pattern"), schema.text("x-format")) else {
            continue;
        };
        let regex = match Regex::new(pattern) {
            Ok(regex) => regex,
            Err(error) => {
                let reason = error.to_string();
                let reason = reason.lines().last().unwrap_or_default().trim_start_matches("error: ");
                let message = format!("`pattern` is not a valid regular expression: {reason}");
                lint.report(&schema, schema.at("pattern"), message, "correct it, or remove it");
                continue;
            }
        };
        let (accepted, rejected) = samples(schema.value);
        let wrong = [(accepted, false, ["rejects", "accept"]), (rejected, true, ["accepts", "reject"])];
        for (texts, is_match, verb) in wrong {
            let Some(text) = texts.iter().find(|text| regex.is_match(text) == is_match) else { continue };
            let message =
                format!("`pattern` {} {text:?}, which `x-format` and `x-port` {}", verb[0], verb[1]);
            let help = "other people's tools read the pattern alone: change both, or remove the pattern";
            lint.report(&schema, schema.at("pattern"), message, help);
        }
    }
}

/// Texts that the format and the ports of `schema` allow, and texts that they reject.
fn samples(schema: &Value) -> (Vec<String>, Vec<String>) {
    let mut accepted: Vec<String> = ADDRESSES.iter().map(ToString::to_string).collect();
    let mut rejected: Vec<String> = OTHERS.iter().map(ToString::to_string).collect();
    let bound = |name: &str| schema.pointer(&format!("/x-port/{name}")).and_then(Value::as_u64);
    // Other rules report ports that are missing or in the wrong order.
    let (Some(min), Some(max)) = (bound("minimum"), bound("maximum")) else { return (accepted, rejected) };
    if min > max || max > u64::from(u16::MAX) {
        return (accepted, rejected);
    }
    let middles = [10, 443, 8080, 20_000, 59_999, 64_999, 65_499, 65_529];
    let within = middles.into_iter().filter(|port| (min..=max).contains(port));
    let with_port = |port: u64| ADDRESSES.iter().map(move |address| endpoint(address, port));
    accepted.extend([min, max].into_iter().chain(within).flat_map(with_port));
    rejected.extend(min.checked_sub(1).into_iter().chain([max + 1, 100_000]).flat_map(with_port));
    (accepted, rejected)
}

fn endpoint(address: &str, port: u64) -> String {
    if address.contains(':') { format!("[{address}]:{port}") } else { format!("{address}:{port}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_samples_are_what_the_format_says() {
        let (accepted, rejected) =
            samples(&serde_json::json!({ "x-port": { "minimum": 1, "maximum": 65535 } }));
        let is_endpoint = |text: &String| {
            text.parse::<std::net::IpAddr>().is_ok()
                || text.parse::<std::net::SocketAddr>().is_ok_and(|address| address.port() > 0)
        };
        assert!(accepted.iter().all(is_endpoint));
        assert_eq!(rejected.iter().filter(|text| is_endpoint(text)).count(), 0);
    }
}

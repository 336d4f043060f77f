//! The parts of a response: the envelopes of a success and of an error, entries, `request_ip`, the separators of a text.

use std::net::Ipv4Addr;

use serde_json::Value;

use super::*;
use crate::check::Form;
use crate::checks::extraction::content::is_served_text;
use crate::checks::extraction::says_error;
use crate::wire::{TransientFailure, is_loopback};

pub(super) static PROGRAMS: &[Program] = &[
    passive("extract.endpoint.internal-fields", judge_fields),
    passive("extract.endpoint.address", judge_address),
    passive("extract.error-envelope.watched", judge_error),
    passive("extract.request-ip.source", judge_source),
    passive("extract.request-ip.egress", judge_egress),
    passive("extract.separator.watched", |observed| {
        // In the traffic of others, a known request id may come with another separator, which is unspecified.
        let is_known =
            observed.request.is_recorded && !request_ids(observed.contract, observed.request).is_empty();
        Served::observed(observed)?.separated().filter(|_| !is_known)
    }),
];

/// A field whose name ends with one of these words has a secret.
const SECRET: [&str; 6] = ["password", "passwd", "passphrase", "secret", "token", "credential"];

/// Words of names that are hardly meant for customers.
const DOUBTFUL: [&str; 4] = ["upstream", "supplier", "vendor", "cost"];

/// Parts of a provider's infrastructure. A field is internal if it identifies one of them or has its address.
const PLACES: [&str; 6] = ["node", "upstream", "backend", "shard", "rack", "pod"];
const IDENTIFIERS: [&str; 7] = ["id", "ip", "host", "addr", "address", "no", "number"];

fn judge_fields(observed: &ObservedExchange<'_>) -> Option<Vec<PassiveFinding>> {
    let entries = observed.success()?.at("/data")?.as_array()?;
    let fields = entries.iter().filter_map(Value::as_object).flatten();
    let finding = |(name, severity): (&String, Severity)| {
        let (expected, actual) =
            ("an entry without internal fields", format!("an entry with the field {name}"));
        PassiveFinding { severity, ..PassiveFinding::fail(ExtractEndpoint, name, expected, actual) }
    };
    let internal = fields.filter_map(|(name, value)| Some((name, severity(name, value)?)));
    Some(internal.map(finding).collect())
}

/// The contract does not define internal fields, so a field fails only when its name says so, or when it has a secret.
fn severity(name: &str, value: &Value) -> Option<Severity> {
    let words = words(name);
    let has = |word: &str| words.iter().any(|known| known == word);
    let last = words.last().map_or("", |word| word.trim_end_matches('s'));
    let secret = SECRET.contains(&last) && value.as_str().is_some_and(|text| text.chars().any(|c| c != '*'));
    let is_identifier = value.is_number() || value.is_string();
    let is_address = value.as_str().is_some_and(|text| text.parse::<std::net::IpAddr>().is_ok());
    let is_identified = is_address || IDENTIFIERS.into_iter().any(has);
    let place = PLACES.into_iter().any(has) && is_identified && is_identifier;
    if has("internal") || has("debug") || place || secret {
        return Some(Severity::Fail);
    }
    (name.starts_with('_') || DOUBTFUL.into_iter().any(has)).then_some(Severity::Warn)
}

/// The words of a name in snake, kebab or camel case, in lower case.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut small = false;
    for c in name.chars() {
        if !c.is_alphanumeric() || (c.is_uppercase() && small) {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut().filter(|_| c.is_alphanumeric()) {
            word.extend(c.to_lowercase());
        }
        small = c.is_lowercase();
    }
    words.retain(|word| !word.is_empty());
    words
}

fn judge_address(observed: &ObservedExchange<'_>) -> Option<Vec<PassiveFinding>> {
    let entries = observed.success()?.at("/data")?.as_array()?;
    let finding = |key: &str, expected: &str, actual: String| {
        PassiveFinding::fail(ExtractEndpoint, key, expected, actual)
    };
    let addresses = entries.iter().filter_map(|entry| entry.get("ip")?.as_str());
    let wrong = addresses.filter_map(|address| Some((address, fault_of_address(address)?)));
    let addresses = wrong.map(|(address, fault)| {
        finding(fault, "ip: an IP address or a host name", format!("ip: {address:?}, {fault}"))
    });
    let ports = entries.iter().filter_map(|entry| entry.get("port")?.as_i64());
    let unusable = ports.filter(|port| !PORTS.contains(port));
    let ports = unusable.map(|port| finding("port", "port: 1 to 65535", format!("port: {port}")));
    Some(addresses.chain(ports).collect())
}

const PORTS: std::ops::RangeInclusive<i64> = 1..=65535;

/// Why a text is neither an IP address nor a host name; `None` when it may be one.
fn fault_of_address(address: &str) -> Option<&'static str> {
    let inner = address.strip_prefix('[').and_then(|inner| inner.strip_suffix(']')).unwrap_or(address);
    if address.trim().is_empty() {
        Some("which is empty")
    } else if address.contains("://") || address.contains('/') {
        Some("which has a scheme or a path")
    } else if address.contains('@') {
        Some("which has a user")
    } else if address.contains(char::is_whitespace) {
        Some("which has a space")
    } else if address.contains(':') && inner.parse::<std::net::Ipv6Addr>().is_err() {
        Some("which has a port")
    } else {
        None
    }
}

/// Codes may be numbers or strings, and there may be more fields. Throttling, server errors and responses about the connection are
/// not judged without a code, since they often come from a proxy in front of the service.
fn judge_error(observed: &ObservedExchange<'_>) -> Option<Vec<PassiveFinding>> {
    // This clause does not cover errors of other methods.
    if observed.request.method_name() != observed.contract.extract.operation.method {
        return None;
    }
    let response = observed.response;
    let code = response.at("/code");
    let in_words = || observed.form == Form::Text && says_error(response);
    let is_rejected = match observed.class {
        ResponseClass::Rejected(_) | ResponseClass::Shortage(_)
            if TransientFailure::from_status(response.status).is_none() =>
        {
            true
        }
        ResponseClass::Rejected(_)
        | ResponseClass::Shortage(_)
        | ResponseClass::ServerError(_)
        | ResponseClass::Throttled(_) => code.is_some_and(|code| !code.is_null()),
        ResponseClass::Accepted => in_words(),
        _ => false,
    };
    if !is_rejected {
        return None;
    }
    let success = observed.contract.extract.operation.success.code;
    let mut faults = Vec::new();
    if !code.is_some_and(|code| code.is_number() || code.is_string()) {
        faults.push(("code", "a code".to_owned()));
    }
    if code.and_then(Value::as_i64) == Some(success) {
        faults.push(("success", format!("a code other than {success}")));
    }
    if !response.at("/message").is_some_and(Value::is_string) {
        faults.push(("message", "a message".to_owned()));
    }
    let form = if observed.form == Form::Json { "as JSON" } else { "as text" };
    let actual = match observed.class {
        ResponseClass::Accepted => format!("HTTP {} with a rejection in plain text", response.status),
        class => class.description().to_owned(),
    };
    let finding = |(key, expected): (&str, String)| {
        let expected = format!("{expected} in the JSON body of a rejection, requested {form}");
        PassiveFinding::fail(ExtractErrorEnvelope, format!("{key} {form}"), expected, &actual)
    };
    Some(faults.into_iter().map(finding).collect())
}

/// Judges the response to a POST without a valid token, an error whatever the payload should be, if it is a JSON object.
pub(super) async fn judge_post(probe: &Probe<'_>, row: Arc<Row>) -> Result<(), Stop> {
    let (exchange, class) = probe.send(&row.requests(probe)?[0]).await?;
    if matches!(class, ResponseClass::Throttled(_)) {
        return Err(probe.inconclusive(THROTTLED));
    }
    let body = exchange.result.as_ref().ok().and_then(|response| response.json()).and_then(Value::as_object);
    let Some(body) = body else {
        return Err(probe.skip(&format!("the response to POST is not JSON: {}", class.description())));
    };
    let has_code = body.get("code").is_some_and(|code| code.is_number() || code.is_string());
    let has_message = body.get("message").is_some_and(Value::is_string);
    for (is_there, what) in [(has_code, "a code"), (has_message, "a message")] {
        if !is_there {
            let expected = format!("{what} in the JSON body of an error of POST extraction");
            probe.finding(ExtractPostErrorEnvelope, &expected, class.description(), &[&exchange]);
        }
    }
    Ok(())
}

/// No call comes from the unspecified address, or from one of a group of receivers. The schema judges what is no IPv4 address.
fn judge_source(observed: &ObservedExchange<'_>) -> Option<Vec<PassiveFinding>> {
    let actual: Ipv4Addr = observed.success()?.at("/request_ip")?.as_str()?.parse().ok()?;
    if !(actual.is_unspecified() || actual.is_multicast() || actual.is_broadcast()) {
        return Some(Vec::new());
    }
    let (expected, actual) = ("request_ip: the address of the caller", format!("request_ip: {actual}"));
    Some(vec![PassiveFinding::fail(ExtractRequestIp, "request_ip", expected.to_owned(), actual)])
}

/// Neither a text response nor a shortage has the address.
fn judge_egress(observed: &ObservedExchange<'_>) -> Option<Vec<PassiveFinding>> {
    let egress = observed.facts.egress_ip?;
    let actual = observed.success()?.at("/request_ip")?;
    if actual.as_str().and_then(|ip| ip.parse::<Ipv4Addr>().ok()) == Some(egress) {
        return Some(Vec::new());
    }
    // The finding depends on a fact, so it names the fact.
    let expected = format!("request_ip: {egress}, as supplied by {}", Fact::EgressIp.variable());
    let actual = format!("request_ip: {actual}");
    Some(vec![PassiveFinding::fail(ExtractRequestIp, "request_ip", expected, actual)])
}

/// A whitelisted caller that claims another address must be served, with its real address in the response. The service may reject
/// the headers themselves, unless it accepts them with the real address, which the second request of the row has.
pub(super) async fn forged(probe: &Probe<'_>, row: Arc<Row>) -> Result<(), Stop> {
    let (requests, (_, edits)) = (row.requests(probe)?, &row.requests[0]);
    let claim =
        |edit: &Edit| if let Edit::Claim(header, address) = edit { Some((*header, *address)) } else { None };
    let (names, addresses): (Vec<_>, Vec<_>) = edits.iter().filter_map(claim).unzip();
    let names = names.join(", ");
    let [address, ..] = addresses[..] else {
        return Err(Stop::Error(
            "a row of `forged` must claim an address; this is a bug of the suite".to_owned(),
        ));
    };
    let (form, egress) = (row.form(), probe.facts().egress_ip);
    let on_this_machine = is_loopback(probe.base());
    let (exchange, class) = probe.send_once(&requests[0]).await?;
    if let Some(served) = accepted(&exchange, &class) {
        if served.response.at("/request_ip").and_then(Value::as_str) != Some(address) {
            return Ok(());
        }
        // A service may trust a proxy on its own machine, and the suite may run there in place of that proxy. Then only a known
        // egress address distinguishes a forged address from a forwarded one.
        if on_this_machine && egress.is_none() {
            let reason = format!(
                "the service runs on this machine and may trust {names} from it; supply {}",
                Fact::EgressIp
            );
            return Err(probe.inconclusive(&reason));
        }
        let actual = format!("the address of a forged {names}");
        probe.finding(ExtractRequestIp, "the real address of the caller", &actual, &[&exchange]);
        return Ok(());
    }
    form.control(probe).await?;
    if class.decision() != Decision::Rejected {
        return Err(probe.skip(&format!("the service returned no gateways: {}", class.description())));
    }
    let (Some(egress), Some(real)) = (egress, requests.get(1)) else {
        let reason = format!("the service may reject the headers themselves; supply {}", Fact::EgressIp);
        return Err(probe.skip(&reason));
    };
    let (real, is_served) = probe.is_accepted(real).await?;
    if is_served && on_this_machine && !egress.is_loopback() {
        return Err(probe.skip(
            "the service runs on this machine and may trust the suite as a local proxy; test it from another machine",
        ));
    }
    if is_served {
        let expected = format!("accepted, since the real address is whitelisted, {}", form.name());
        let actual = format!("rejected for {address} in {names}");
        probe.finding_beside(ExtractWhitelist, &expected, &actual, &[&exchange], &[&real]);
    }
    Ok(())
}

/// A separator does not apply to JSON. A service may validate it or not, but must not return text because of it.
pub(super) async fn separator_alone(probe: &Probe<'_>, row: Arc<Row>) -> Result<(), Stop> {
    let extract = &probe.contract().extract;
    let request = row.request(probe);
    let (exchange, class) = probe.send_once(&request).await?;
    if class != ResponseClass::Accepted {
        Extraction::PLAIN.control(probe).await?;
    }
    if exchange.result.as_ref().is_ok_and(|response| is_served_text(extract, response)) {
        let code = request.query_value(LB).unwrap_or_default();
        let expected = format!("JSON or a rejection: {LB}={code} without {RETURN_TYPE}");
        probe.finding(ExtractReturnType, &expected, "plain text", &[&exchange]);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_address_is_an_ip_address_or_a_host_name() {
        for address in ["203.0.113.1", "gw1.example.com", "2001:db8::1", "[2001:db8::1]", "gw_1", "localhost"]
        {
            assert_eq!(fault_of_address(address), None, "{address}");
        }
        for address in
            ["", " ", "gw:80", "203.0.113.1:80", "http://gw", "user@gw", "gw 1", "[2001:db8::1]:80"]
        {
            assert!(fault_of_address(address).is_some(), "{address}");
        }
    }

    #[test]
    fn fields_are_judged_by_the_words_of_their_names() {
        for (name, value, expected) in [
            ("proxy_password", json!("x"), Some(Severity::Fail)),
            ("accessToken", json!("x"), Some(Severity::Fail)),
            ("proxyPassword", json!("***"), None),
            ("passwd", Value::Null, None),
            ("accosted", json!(1), None),
            ("internationalCode", json!(1), None),
            ("upstreamIp", json!("10.0.0.7"), Some(Severity::Fail)),
            ("_debug", json!({}), Some(Severity::Fail)),
            ("upstreamRegion", json!("EU"), Some(Severity::Warn)),
            ("node", json!("EU"), None),
            ("id", json!(1), None),
            ("unitCost", json!(1), Some(Severity::Warn)),
            ("_links", json!({}), Some(Severity::Warn)),
        ] {
            assert_eq!(severity(name, &value), expected, "{name}");
        }
    }
}

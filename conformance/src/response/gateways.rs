//! Counts the gateways that a request may take and those in its response, whatever that is: a target may violate the contract.

use serde_json::Value;

use super::class::number;
use crate::contract::{Contract, Extract, OperationId};
use crate::wire::{FailureKind, GatewayCost, GatewayCount, Request, Response, WireFailure};

/// The gateways that a request may take: a valid `num`, unless the request must get none. An invalid `num` must be rejected, but a
/// target that replaces it by the nearest valid value may return the maximum of a call.
pub(crate) fn cost(contract: &Contract, request: &Request) -> GatewayCost {
    let extract = &contract.extract;
    if !is_extraction(contract, request) {
        return GatewayCost::Nothing;
    }
    let range = &extract.num_range;
    let num = request.only_query_value(&extract.num.name).and_then(|num| num.parse::<i64>().ok());
    match num.filter(|num| range.contains(num)).and_then(|num| u64::try_from(num).ok()) {
        Some(num) if request.gives_nothing => GatewayCost::UpTo(num),
        Some(num) => GatewayCost::Exactly(num),
        None => GatewayCost::UpTo(u64::try_from(*range.end()).unwrap_or(u64::MAX)),
    }
}

/// The gateways in the response to a request.
pub(crate) fn count(
    contract: &Contract,
    request: &Request,
    result: &Result<Response, WireFailure>,
) -> GatewayCount {
    let cost = cost(contract, request);
    if cost == GatewayCost::Nothing {
        return GatewayCount::Counted(0);
    }
    let response = match result {
        Ok(response) => response,
        Err(failure) if failure.kind.is_unhandled() => return GatewayCount::Counted(0),
        Err(WireFailure { kind: FailureKind::TooLarge, .. }) => return GatewayCount::Unbounded,
        // If all reserved gateways counted, a service that breaks connections would use up the budget, and the run would have no
        // verdict.
        Err(_) if matches!(cost, GatewayCost::UpTo(_)) => return GatewayCount::Counted(1),
        Err(_) => return GatewayCount::Unknown,
    };
    let is_repeated =
        |given: &[String]| !given.is_empty() && given == listed(&contract.extract, request, response);
    if request.given.as_deref().is_some_and(is_repeated) {
        return GatewayCount::Counted(0);
    }
    let count = u64::try_from(gateways_of(&contract.extract, request, response)).unwrap_or(u64::MAX);
    // A service that fails may have taken the gateways before.
    let has_failed = response.status >= 500 && response.status != 503;
    match cost {
        GatewayCost::Exactly(num) if has_failed && count < num => GatewayCount::Unknown,
        _ => GatewayCount::Counted(count),
    }
}

/// The gateways of a JSON response, sorted for comparison: address and port alone, since a time to live, say, may change.
pub(crate) fn entries(response: &Response) -> Option<Vec<String>> {
    let entries = response.at("/data")?.as_array()?;
    let gateway = |entry: &Value| match (entry.get("ip"), entry.get("port")) {
        (Some(ip), Some(port)) => format!("{ip} {port}"),
        _ => entry.to_string(),
    };
    let mut entries: Vec<String> = entries.iter().map(gateway).collect();
    entries.sort_unstable();
    Some(entries)
}

/// The gateways of a response, sorted: its entries, or the parts of a text between the requested separators.
pub(crate) fn listed(extract: &Extract, request: &Request, response: &Response) -> Vec<String> {
    entries(response).unwrap_or_else(|| {
        let text = response.text();
        let separator = separator(extract, request).unwrap_or("\n");
        let entries = text.split(separator).map(str::trim).filter(|entry| !entry.is_empty());
        let mut entries: Vec<String> = entries.map(str::to_owned).collect();
        entries.sort_unstable();
        entries
    })
}

/// Whether the flag of a partial result is negative.
pub(crate) fn denies(flag: &str) -> bool {
    ["false", "f", "0", "no", "n", "off", "none"].contains(&flag.to_ascii_lowercase().as_str())
}

pub(crate) fn separator<'a>(extract: &'a Extract, request: &'a Request) -> Option<&'a str> {
    let default = || extract.lb.schema.default.as_ref().and_then(Value::as_str);
    let code = request.query_value(&extract.lb.name).or_else(default)?;
    if code == extract.custom_separator {
        return request.query_value(&extract.sb.name).filter(|separator| !separator.is_empty());
    }
    let known = extract.separators.iter().find(|separator| separator.code == code)?;
    Some(&known.text)
}

/// A target may treat any path that is not of another operation as an extraction.
fn is_extraction(contract: &Contract, request: &Request) -> bool {
    let mut others = contract.operations().filter(|operation| operation.id != OperationId::Extract);
    !others.any(|operation| operation.path == request.path())
}

/// The number of gateways in a response, rather too high than too low.
fn gateways_of(extract: &Extract, request: &Request, response: &Response) -> usize {
    let success = (200..300).contains(&response.status);
    if let Some(body) = response.json().filter(|body| body.is_object() || body.is_array()) {
        let code = body.get("code").filter(|code| !code.is_null());
        let accepted =
            success && code.is_none_or(|code| number(code) == Some(extract.operation.success.code));
        let data = body.get("data").unwrap_or(body);
        let listed = data.as_array().filter(|_| accepted).map_or(0, Vec::len);
        return listed.max(endpoints(data));
    }
    // If the declared charset is wrong, the decoded text may have fewer entries.
    let (text, undeclared) = (response.text(), String::from_utf8_lossy(response.body()));
    let counted = |text: &str| gateways_in(extract, request, success, text);
    if undeclared == text { counted(&text) } else { counted(&text).max(counted(&undeclared)) }
}

fn gateways_in(extract: &Extract, request: &Request, success: bool, text: &str) -> usize {
    let asks_for_text = request.query_value(&extract.return_type.name) == Some(extract.text.as_str());
    if success && asks_for_text && !text.trim_start().starts_with('<') {
        // A target may use another separator than the requested one.
        let custom = request.query_value(&extract.sb.name).filter(|separator| !separator.is_empty());
        let separators = extract.separators.iter().map(|separator| separator.text.as_str()).chain(custom);
        let entries =
            |separator| text.split(separator).filter(|entry: &&str| !entry.trim().is_empty()).count();
        return separators.map(entries).max().unwrap_or(0);
    }
    words(text).filter(|word| is_endpoint(word)).count()
}

/// The number of gateways at any depth. The parser limits the depth.
fn endpoints(value: &Value) -> usize {
    match value {
        Value::Object(members) if members.contains_key("port") && members.len() > 1 => 1,
        Value::Object(members) => members.values().map(endpoints).sum(),
        Value::Array(items) => items.iter().map(endpoints).sum(),
        Value::String(text) => words(text).filter(|word| is_endpoint(word)).count(),
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    }
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| c.is_whitespace() || "\"',;|<>".contains(c))
}

/// Whether a text is a host name or an address with a port.
pub(crate) fn is_endpoint(word: &str) -> bool {
    let Some((host, port)) = word.rsplit_once(':') else { return false };
    let is_port = (1..=5).contains(&port.len()) && port.bytes().all(|byte| byte.is_ascii_digit());
    is_port && (host.contains('.') || host.ends_with(']'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contract() -> &'static Contract {
        Contract::embedded().expect("contract")
    }

    fn extraction() -> Request {
        Request::to(&contract().extract.operation)
    }

    #[test]
    fn an_invalid_request_may_take_the_maximum_of_a_call() {
        let (extract, groups) = (&contract().extract, contract().groups());
        let max = u64::try_from(*extract.num_range.end()).expect("a number");
        let beyond = format!("num={}", max + 1);
        let of = |path: &str, query: &str| cost(contract(), &Request::recorded("GET", path, query));
        assert_eq!(of(&extract.operation.path, "num=3"), GatewayCost::Exactly(3));
        for query in
            ["", &beyond, "num=0", "num=-1", "num=1e3", "num=3&num=5", "num=3&num=%35", "num=3&num=%ff"]
        {
            assert_eq!(of(&extract.operation.path, query), GatewayCost::UpTo(max), "{query}");
        }
        let invalid = extraction().query(&extract.num.name, 3).giving_nothing();
        assert_eq!(cost(contract(), &invalid), GatewayCost::UpTo(3));
        let lost = Err(WireFailure { kind: FailureKind::Broken, detail: "it was closed".to_owned() });
        assert_eq!(count(contract(), &invalid, &lost), GatewayCount::Counted(1));
        for other in [&groups.path, &contract().search.operation.path] {
            assert_eq!(of(other, "num=3"), GatewayCost::Nothing);
        }
    }

    #[test]
    fn a_text_is_split_at_its_separators() {
        let extract = &contract().extract;
        let text = |body: &str, lb: &str, sb: &str| {
            let request = extraction().query(&extract.return_type.name, &extract.text);
            let request = request.query(&extract.lb.name, lb).query(&extract.sb.name, sb);
            listed(extract, &request, &Response::new(200, Vec::new(), body.to_owned().into()))
        };
        for separator in &extract.separators {
            let body = ["gw2.invalid:2", "gw1.invalid:1", ""].join(&separator.text);
            assert_eq!(text(&body, &separator.code, ""), ["gw1.invalid:1", "gw2.invalid:2"]);
        }
        assert_eq!(text("b--a--c", &extract.custom_separator, "--"), ["a", "b", "c"]);
    }

    #[test]
    fn a_repetition_counts_if_it_returns_other_gateways() {
        let body = |ports: [u16; 2]| {
            let [one, two] = ports.map(|port| format!(r#"{{"ip": "203.0.113.1", "port": {port}}}"#));
            Response::new(200, Vec::new(), format!(r#"{{"code": 0, "data": [{one}, {two}]}}"#).into())
        };
        let request = extraction().query(&contract().extract.num.name, 2);
        let again = request.clone().giving_again(listed(&contract().extract, &request, &body([1, 2])));
        assert_eq!(cost(contract(), &again), GatewayCost::UpTo(2));
        for (ports, taken) in [([1, 2], 0), ([2, 1], 0), ([1, 3], 2)] {
            assert_eq!(
                count(contract(), &again, &Ok(body(ports))),
                GatewayCount::Counted(taken),
                "{ports:?}"
            );
        }
        assert_eq!(count(contract(), &request, &Ok(body([1, 2]))), GatewayCount::Counted(2));
    }
}

//! Rules of all operations: HTTPS, the prefix, tokens, secrets, throttling.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::check::{Case, Cost, ObservedExchange, PassiveFinding, Probe, ResponseClass, Stop};
use crate::checks::rule::{Program, active, passive};
use crate::contract::{Clause, OperationId, Unspecified};
use crate::wire::password;

pub(super) static PROGRAMS: &[Program] = &[
    active("all.https.verified", |_| Case::single(Cost::requests(1), https)),
    passive("all.no-secrets.watched", judge_secrets),
    // A budget without gateways leaves the case out, since it sends an extraction.
    active("all.prefix.served", |scope| {
        let operations = u32::try_from(2 + scope.contract.plain.len()).unwrap_or(u32::MAX);
        Case::single(Cost::extraction(operations, 1), prefix)
    }),
    passive("all.throttled-retry-after.watched", judge_throttled),
];

/// Fails only when TLS or HTTP breaks during the run, which does not start without a trusted certificate. Plain HTTP to the
/// same host is not tested: a redirect, a rejection and a closed port are all allowed, and it must not get a token.
async fn https(probe: &Probe<'_>) -> Result<(), Stop> {
    if probe.base().scheme() != "https" {
        return Err(probe.skip("the base URL is plain http; set an https base URL"));
    }
    let (exchange, class) = probe.send(&probe.groups()).await?;
    if let Err(failure) = &exchange.result {
        probe.finding(Clause::AllHttps, "a response over HTTPS", &failure.to_string(), &[&exchange]);
    } else {
        probe.observe(Unspecified::HttpTransport, &format!("over HTTPS: {}", class.description()));
    }
    Ok(())
}

/// Looks for the canaries that the tester supplied, and for headers and string members that are named like passwords.
fn judge_secrets(observed: &ObservedExchange<'_>) -> Option<Vec<PassiveFinding>> {
    let mut found = BTreeSet::new();
    let ObservedExchange { response, canaries, .. } = observed;
    let headers = response.headers().iter().map(|(_, value)| value.as_slice());
    let texts = headers.chain([response.body().as_ref()]);
    let escaped = response.json().filter(|_| response.body().contains(&b'\\'));
    if texts.into_iter().any(|text| canaries.found_in(text))
        || escaped.is_some_and(|body| any_string(body, &|text| canaries.found_in(text.as_bytes())))
    {
        found.insert("a text that must never appear".to_owned());
    }
    for (name, value) in response.headers() {
        if password::is_password(name, &String::from_utf8_lossy(value)) {
            found.insert(format!("a header {name}"));
        }
    }
    if response.json().is_some() && password::may_contain_one(response.body()) {
        let text = response.text();
        found.extend(password::names(&text).map(|name| format!("a member {name}")));
    }
    // Pages of a proxy are no lists of gateways.
    let is_list = *observed.class == ResponseClass::Accepted && response.json().is_none();
    if is_list && password::in_text(&response.text()).next().is_some() {
        found.insert("an entry with user and password".to_owned());
    }
    let finding = |actual: String| {
        let expected = format!("{}: a response without passwords", observed.operation);
        let key = format!("{} {actual}", observed.operation);
        PassiveFinding::fail(Clause::AllNoSecrets, key, expected, actual)
    };
    Some(found.into_iter().map(finding).collect())
}

/// Whether a test holds for a name or a string of a body, with its escapes decoded.
fn any_string(value: &Value, test: &impl Fn(&str) -> bool) -> bool {
    match value {
        Value::String(text) => test(text),
        Value::Array(items) => items.iter().any(|item| any_string(item, test)),
        Value::Object(members) => members.iter().any(|(name, member)| test(name) || any_string(member, test)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

/// The contract does not promise that an environment is open. Once it serves one operation under its path, it is open and
/// accepts the token, so it must serve the others as well.
async fn prefix(probe: &Probe<'_>) -> Result<(), Stop> {
    let mut missing = Vec::new();
    let mut served = false;
    // Without `num` the extraction is rejected, which shows that it is served, and takes no gateway.
    let num = &probe.contract().extract.num.name;
    let extract = probe.extract().without_query(num).as_invalid();
    let plain = probe.contract().plain.keys().copied();
    let requests = plain.chain([OperationId::Search]).map(|operation| probe.valid(operation));
    for request in requests.chain([extract]) {
        let (exchange, class) = probe.send(&request).await?;
        served |= class == ResponseClass::Accepted;
        // The status of a rejection is unspecified, so a 404 with a code still shows that the operation is served.
        if let Ok(response) = &exchange.result
            && response.status == 404
            && response.at("/code").is_none()
        {
            missing.push((request, exchange, class));
        }
    }
    if !missing.is_empty() && !served {
        return Err(probe.inconclusive(
            "no operation is served; check that the environment is open and the base URL is right",
        ));
    }
    for (request, exchange, class) in missing {
        let expected =
            format!("{} {} is served, as the other operations are", request.method_name(), request.path());
        probe.finding(Clause::AllPrefix, &expected, class.description(), &[&exchange]);
    }
    Ok(())
}

fn judge_throttled(observed: &ObservedExchange<'_>) -> Option<Vec<PassiveFinding>> {
    if observed.response.status != 429 {
        return None;
    }
    let actual = match observed.response.header("Retry-After") {
        None => "429 without Retry-After".to_owned(),
        Some(value) if observed.response.retry_after().is_none() => format!("Retry-After: {value}"),
        Some(_) => return Some(Vec::new()),
    };
    let key = observed.operation.to_string();
    let expected = format!("{key}: Retry-After with seconds or an HTTP date");
    Some(vec![PassiveFinding::fail(Clause::AllThrottledRetryAfter, key, expected, actual)])
}

//! When a fault shows, and what a request asks for.

use crate::fault::Scene;
use crate::proxy::ProxiedRequest;

/// `num` as it was sent, when it is a number.
pub fn num(scene: &Scene, seen: &ProxiedRequest) -> Option<i64> {
    seen.param(&scene.contract.extract.num.name)?.parse().ok()
}

/// Plain text is asked for.
pub fn in_text(scene: &Scene, seen: &ProxiedRequest) -> bool {
    scene.wants_text(seen)
}

/// A protocol other than the default is asked for.
pub fn with_other_protocol(scene: &Scene, seen: &ProxiedRequest) -> bool {
    let protocol = &scene.contract.extract.protocol;
    let default = protocol.schema.default.as_ref().and_then(|default| default.as_str());
    seen.param(&protocol.name).is_some_and(|sent| {
        Some(sent.as_str()) != default && scene.contract.extract.protocols.contains(&sent)
    })
}

/// As many entries are asked for as one call may.
pub fn at_maximum(scene: &Scene, seen: &ProxiedRequest) -> bool {
    num(scene, seen) == Some(*scene.contract.extract.num_range.end())
}

/// The token is in the header of its own.
pub fn by_header(scene: &Scene, seen: &ProxiedRequest) -> bool {
    seen.headers.contains_key(scene.contract.extract.api_key_header.as_str())
}

/// The token is in Authorization.
pub fn by_bearer(_: &Scene, seen: &ProxiedRequest) -> bool {
    seen.headers.contains_key(hyper::header::AUTHORIZATION)
}

/// The token is in the query.
pub fn by_query(scene: &Scene, seen: &ProxiedRequest) -> bool {
    seen.param(&scene.contract.extract.api_key.name).is_some()
}

/// A request id is sent, in the query or in the header.
pub fn with_request_id(scene: &Scene, seen: &ProxiedRequest) -> bool {
    request_id(scene, seen).is_some()
}

/// The request id that counts.
pub fn request_id(scene: &Scene, seen: &ProxiedRequest) -> Option<String> {
    let extract = &scene.contract.extract;
    let header = seen.headers.get(extract.request_id_header.name.as_str());
    let header = || header.and_then(|value| value.to_str().ok()).map(str::to_owned);
    seen.param(&extract.request_id.name).or_else(header)
}

/// The region that counts, under either name; the default when none is sent.
pub fn region(scene: &Scene, seen: &ProxiedRequest) -> String {
    let extract = &scene.contract.extract;
    let default = extract.regions.schema.default.as_ref().and_then(|default| default.as_str());
    let sent = seen.param(&extract.regions.name).or_else(|| seen.param(&extract.country.name));
    sent.unwrap_or_else(|| default.unwrap_or_default().to_owned())
}

/// The region with a few gateways only is asked for.
pub fn of_scarce_region(scene: &Scene, seen: &ProxiedRequest) -> bool {
    scene.facts.scarce_region.as_ref() == Some(&region(scene, seen))
}

/// The region without gateways is asked for.
pub fn of_empty_region(scene: &Scene, seen: &ProxiedRequest) -> bool {
    scene.facts.empty_region.as_ref() == Some(&region(scene, seen))
}

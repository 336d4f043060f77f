//! The forms of an extraction in which every rule about callers must hold alike.

use super::transport::Transport;
use crate::check::{Probe, Stop};
use crate::wire::Request;

/// An extraction in one form, without a token.
#[derive(Debug, Clone)]
pub(super) struct Shape {
    pub(super) name: String,
    pub(super) request: Request,
}

impl Shape {
    /// The extraction with the account's own token in the query.
    pub(super) fn good(&self, probe: &Probe<'_>) -> Request {
        Transport::Query.carry(probe, self.request.clone(), probe.token().expose())
    }

    /// The same for another extraction: a known request id with other parameters may be answered in any way.
    pub(super) fn anew(&self, probe: &Probe<'_>) -> Request {
        let id = &probe.contract().extract.request_id.name;
        let request = self.good(probe);
        match request.query_value(id) {
            Some(_) => request.query(id, probe.fresh_request_id()),
            None => request,
        }
    }
}

/// The forms that are accepted with the account's own token. The plain one must be; another one may be refused for reasons
/// of its own, such as a missing entitlement for its protocol, and is left out then.
pub(super) async fn usable(probe: &Probe<'_>) -> Result<Vec<Shape>, Stop> {
    let mut usable = Vec::new();
    for (index, shape) in all(probe).into_iter().enumerate() {
        match probe.ground(&shape.good(probe)).await {
            Ok(()) => usable.push(shape),
            Err(Stop::Inconclusive(_)) if index > 0 => {}
            Err(stop) => return Err(stop),
        }
    }
    Ok(usable)
}

fn all(probe: &Probe<'_>) -> Vec<Shape> {
    let extract = &probe.contract().extract;
    let plain = probe.extract_without_token();
    let shape = |name: &str, request: Request| Shape { name: name.to_owned(), request };
    let mut shapes = vec![
        shape("in JSON", plain.clone()),
        shape("in text", plain.clone().query(&extract.return_type.name, &extract.text)),
        shape("with a request id", plain.clone().query(&extract.request_id.name, probe.fresh_request_id())),
    ];
    let default = extract.protocol.schema.default.as_ref().and_then(|default| default.as_str());
    for protocol in extract.protocols.iter().filter(|protocol| Some(protocol.as_str()) != default) {
        let request = plain.clone().query(&extract.protocol.name, protocol);
        shapes.push(shape(&format!("with protocol={protocol}"), request));
    }
    shapes
}

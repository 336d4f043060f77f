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
/// of its own, such as a missing entitlement for its protocol, and is left out then. What another check of the run has seen
/// accepted is not tried again.
pub(super) async fn usable(probe: &Probe<'_>) -> Result<Vec<Shape>, Stop> {
    let mut usable = Vec::new();
    for (index, shape) in all(probe).into_iter().enumerate() {
        let plain = index == 0;
        if !plain && probe.known_forms().has(index) {
            usable.push(shape);
            continue;
        }
        match probe.ground(&shape.good(probe)).await {
            Ok(()) => {
                probe.known_forms().add(index);
                usable.push(shape);
            }
            Err(Stop::Inconclusive(_)) if !plain => {}
            Err(stop) => return Err(stop),
        }
    }
    Ok(usable)
}

/// The usable forms, each asking for text. The one in JSON would be the one in text then, and is left out.
pub(super) async fn usable_in_text(probe: &Probe<'_>) -> Result<Vec<Shape>, Stop> {
    let extract = &probe.contract().extract;
    let usable = usable(probe).await?.into_iter().skip(1);
    let in_text = |shape: Shape| Shape {
        request: shape.request.query(&extract.return_type.name, &extract.text),
        ..shape
    };
    Ok(usable.map(in_text).collect())
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

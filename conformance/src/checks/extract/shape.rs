//! The forms of an extraction in which every rule about callers must hold alike.

use super::transport::Transport;
use crate::check::{Case, Cost, Probe, Stop};
use crate::checks::Requests;
use crate::checks::State;
use crate::contract::Extract;
use crate::wire::Request;

/// A form of an extraction, from the contract alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Kind {
    Json,
    Text,
    RequestId,
    /// Another protocol than the default one.
    Protocol(String),
}

/// An extraction in one form, without a token.
#[derive(Debug, Clone)]
pub(super) struct Shape {
    pub(super) name: String,
    pub(super) request: Request,
}

impl Kind {
    /// All of them, the plain one first.
    pub(super) fn all(extract: &Extract) -> Vec<Self> {
        let default = extract.protocol.schema.default.as_ref().and_then(|default| default.as_str());
        let others = extract.protocols.iter().filter(|protocol| Some(protocol.as_str()) != default);
        let others = others.map(|protocol| Self::Protocol(protocol.clone()));
        [Self::Json, Self::Text, Self::RequestId].into_iter().chain(others).collect()
    }

    /// Those that can ask for text. The one in JSON would be the one in text then, and is left out.
    pub(super) fn all_in_text(extract: &Extract) -> Vec<Self> {
        Self::all(extract).into_iter().filter(|kind| *kind != Self::Json).collect()
    }

    /// A case with its control request, the extraction in this form. One with a request id is another each time, so that it is
    /// not shared.
    pub(super) fn control(&self, case: Case) -> Case {
        let key = match self {
            Self::RequestId => case.label().to_owned(),
            _ => self.label().to_owned(),
        };
        case.control(key, Cost::extraction(1, 1))
    }

    /// For the label of a case.
    pub(super) fn label(&self) -> &str {
        match self {
            Self::Json => "json",
            Self::Text => "text",
            Self::RequestId => "request-id",
            Self::Protocol(protocol) => protocol,
        }
    }

    /// The form, once the run has seen it accepted with the account's own token.
    ///
    /// # Errors
    /// Skip when it is not accepted: it may be rejected for reasons of its own, such as a missing entitlement for its
    /// protocol. The plain one must be accepted, and is inconclusive otherwise.
    pub(super) async fn usable(&self, probe: &Probe<'_>) -> Result<Shape, Stop> {
        let shape = self.shape(probe);
        let number = Self::all(&probe.contract().extract).iter().position(|kind| kind == self);
        let number = number.unwrap_or(usize::MAX);
        if *self != Self::Json && State::from_probe(probe)?.known_forms.has(number) {
            return Ok(shape);
        }
        match probe.control_once(&shape.good(probe)).await {
            Ok(()) => {
                State::from_probe(probe)?.known_forms.add(number);
                Ok(shape)
            }
            Err(Stop::Inconclusive(_)) if *self != Self::Json => {
                Err(probe.skip(&format!("an extraction {} is not accepted at all", shape.name)))
            }
            Err(stop) => Err(stop),
        }
    }

    /// The form, asking for text.
    ///
    /// # Errors
    /// As for [`Kind::usable`].
    pub(super) async fn usable_in_text(&self, probe: &Probe<'_>) -> Result<Shape, Stop> {
        let extract = &probe.contract().extract;
        let Shape { name, request } = self.usable(probe).await?;
        Ok(Shape { name, request: request.query(&extract.return_type.name, &extract.text) })
    }

    fn shape(&self, probe: &Probe<'_>) -> Shape {
        let extract = &probe.contract().extract;
        let plain = probe.extract_without_token();
        let (name, request) = match self {
            Self::Json => ("in JSON".to_owned(), plain),
            Self::Text => ("in text".to_owned(), plain.query(&extract.return_type.name, &extract.text)),
            Self::RequestId => (
                "with a request id".to_owned(),
                plain.query(&extract.request_id.name, probe.fresh_request_id()),
            ),
            Self::Protocol(protocol) => {
                (format!("with protocol={protocol}"), plain.query(&extract.protocol.name, protocol))
            }
        };
        Shape { name, request }
    }
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

/// The forms that are accepted with the account's own token. What another check of the run has seen accepted is not tried
/// again.
pub(super) async fn usable(probe: &Probe<'_>) -> Result<Vec<Shape>, Stop> {
    let mut usable = Vec::new();
    for kind in Kind::all(&probe.contract().extract) {
        match kind.usable(probe).await {
            Ok(shape) => usable.push(shape),
            Err(Stop::Skip(_)) => {}
            Err(stop) => return Err(stop),
        }
    }
    Ok(usable)
}

/// The usable forms, each asking for text.
pub(super) async fn usable_in_text(probe: &Probe<'_>) -> Result<Vec<Shape>, Stop> {
    // The plain form must be accepted here as well.
    Kind::Json.usable(probe).await?;
    let mut usable = Vec::new();
    for kind in Kind::all_in_text(&probe.contract().extract) {
        match kind.usable_in_text(probe).await {
            Ok(shape) => usable.push(shape),
            Err(Stop::Skip(_)) => {}
            Err(stop) => return Err(stop),
        }
    }
    Ok(usable)
}

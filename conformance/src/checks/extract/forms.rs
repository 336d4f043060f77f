//! The forms in which every rule of an extraction must hold alike: what stands beside the parameter under test, JSON or text,
//! and the transport of the token. Each form has one control request, which a run sends once.

use std::fmt::Display;

use crate::check::{AcceptedResponse, Case, Cost, Form, Probe, ResponseClass, Stop};
use crate::checks::{Requests, State};
use crate::contract::{Clause, Extract, OperationId, Parameter};
use crate::grammar::Spelling;
use crate::wire::{Request, Response};

/// One way to carry the token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Transport {
    Query,
    Header,
    Bearer,
}

/// What else a request carries.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct ExtraParameter {
    /// A request id that is new each time.
    pub(super) request_id: bool,
    /// Another protocol than the default one.
    pub(super) protocol: Option<String>,
    /// The default region: left out where the plain form names one, and by its name where it names none.
    pub(super) region: bool,
}

impl ExtraParameter {
    const NOTHING: Self = Self { request_id: false, protocol: None, region: false };

    pub(super) const fn is_nothing(&self) -> bool {
        matches!(self, Self { request_id: false, protocol: None, region: false })
    }
}

/// An extraction in one form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Context {
    pub(super) extra: ExtraParameter,
    pub(super) is_text: bool,
    pub(super) transport: Transport,
}

impl Transport {
    pub(super) const ALL: [Self; 3] = [Self::Query, Self::Header, Self::Bearer];

    /// The request with a token carried in this way.
    pub(super) fn carry(self, probe: &Probe<'_>, request: Request, token: &str) -> Request {
        let extract = &probe.contract().extract;
        match self {
            Self::Query => request.query(&extract.api_key.name, token),
            Self::Header => request.header(&extract.api_key_header, token),
            Self::Bearer => request.header("Authorization", format!("Bearer {token}")),
        }
    }

    /// For the label of a case.
    pub(super) const fn label(self) -> &'static str {
        match self {
            Self::Query => "query",
            Self::Header => "header",
            Self::Bearer => "bearer",
        }
    }

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Query => "the query",
            Self::Header => "the header of its own",
            Self::Bearer => "Authorization: Bearer",
        }
    }
}

impl Context {
    /// JSON, and the token in the query.
    pub(super) const PLAIN: Self =
        Self { extra: ExtraParameter::NOTHING, is_text: false, transport: Transport::Query };

    /// Each form with the token in the query, the plain one first.
    pub(super) fn in_query(extract: &Extract) -> Vec<Self> {
        let with = |extra| Self { extra, ..Self::PLAIN };
        let text = Self { is_text: true, ..Self::PLAIN };
        let id = with(ExtraParameter { request_id: true, ..ExtraParameter::NOTHING });
        let protocols = other_protocols(extract)
            .map(|protocol| with(ExtraParameter { protocol: Some(protocol), ..ExtraParameter::NOTHING }));
        let region = with(ExtraParameter { region: true, ..ExtraParameter::NOTHING });
        [Self::PLAIN, text, id].into_iter().chain(protocols).chain([region]).collect()
    }

    /// Two forms that have everything between them: a rule that is broken beside one thing, whatever it is, is broken in one
    /// of them, so that a run of few requests tests the rule in these two and in the plain one. The other protocol, which an
    /// account may have no entitlement for, is in the second one alone.
    fn combined(extract: &Extract) -> [Self; 2] {
        let text = ExtraParameter { request_id: true, protocol: None, region: true };
        let json =
            ExtraParameter { request_id: true, protocol: other_protocols(extract).next(), region: false };
        [
            Self { extra: text, is_text: true, transport: Transport::Bearer },
            Self { extra: json, is_text: false, transport: Transport::Header },
        ]
    }

    /// Whether it is one of those, with or without the request id.
    pub(super) const fn is_combined(&self) -> bool {
        let ExtraParameter { request_id, protocol, region } = &self.extra;
        (*region && self.is_text) || (*request_id && (*region || protocol.is_some()))
    }

    /// Each form with each transport of the token, the plain one first, and the combined ones.
    pub(super) fn all(extract: &Extract) -> Vec<Self> {
        let forms = Self::in_query(extract);
        let by = |transport| forms.iter().map(move |form| Self { transport, ..form.clone() });
        Transport::ALL.into_iter().flat_map(by).chain(Self::combined(extract)).collect()
    }

    /// The same without a request id.
    pub(super) fn all_without_id(extract: &Extract) -> Vec<Self> {
        let [mut text, _] = Self::combined(extract);
        text.extra.request_id = false;
        let all = Self::all(extract).into_iter().filter(|context| !context.extra.request_id);
        all.chain([text]).collect()
    }

    /// Each form as text, the one without an extra parameter first.
    pub(super) fn in_text(extract: &Extract) -> Vec<Self> {
        let forms = Self::in_query(extract).into_iter().filter(|form| !form.is_text);
        let text = |form: Self| Self { is_text: true, ..form };
        let transports = [Transport::Header, Transport::Bearer];
        let transports = transports.map(|transport| Self { transport, ..Self::PLAIN });
        forms.chain(transports).chain(Self::combined(extract)).map(text).collect()
    }

    /// The first form for each value, a combined one, and one of the others in turns. Every value meets three forms, and
    /// every form many values, without a case for each pair.
    pub(super) fn some_for_each<T: Clone>(
        contexts: &[Self],
        values: impl IntoIterator<Item = T>,
    ) -> Vec<(Self, T)> {
        let Some((first, others)) = contexts.split_first() else { return Vec::new() };
        let (combined, single): (Vec<_>, Vec<_>) = others.iter().partition(|context| context.is_combined());
        let (mut combined, mut single) = (combined.into_iter().cycle(), single.into_iter().cycle());
        let mut pairs = Vec::new();
        for value in values {
            pairs.push((first.clone(), value.clone()));
            let others = combined.next().into_iter().chain(single.next());
            pairs.extend(others.map(|other| (other.clone(), value.clone())));
        }
        pairs
    }

    /// The first form for each value, and one of the others in turns: for values that are many and alike.
    pub(super) fn one_for_each<T: Clone>(
        contexts: &[Self],
        values: impl IntoIterator<Item = T>,
    ) -> Vec<(Self, T)> {
        let Some((first, others)) = contexts.split_first() else { return Vec::new() };
        let mut others = others.iter().cycle();
        let pairs = |value: T| {
            let other = others.next().map(|other| (other.clone(), value.clone()));
            [(first.clone(), value)].into_iter().chain(other)
        };
        values.into_iter().flat_map(pairs).collect()
    }

    /// The clause that a service violates which rejects this form, where it accepts [`Context::PLAIN`] and it is not combined.
    pub(super) const fn clause(&self) -> Clause {
        let ExtraParameter { request_id, protocol, region: _ } = &self.extra;
        match self {
            Self { transport: Transport::Header | Transport::Bearer, .. } => Clause::ExtractTokenTransport,
            Self { is_text: true, .. } => Clause::ExtractReturnType,
            _ if protocol.is_some() => Clause::ExtractProtocol,
            _ if *request_id => Clause::ExtractRequestIdSource,
            _ => Clause::ExtractRegion,
        }
    }

    /// The form whose control request shows that this one is accepted, where the token of this one is wrong. Which
    /// transports of the token work is the matter of another check.
    pub(super) fn without_transport(&self) -> Self {
        let transport = if self.is_combined() { self.transport } else { Transport::Query };
        Self { transport, ..self.clone() }
    }

    /// For the label of a case; unique.
    pub(super) fn label(&self) -> String {
        let ExtraParameter { request_id, protocol, region } = &self.extra;
        let mut parts = Vec::new();
        parts.extend(request_id.then_some("request-id"));
        parts.extend(protocol.as_deref());
        parts.extend(region.then_some("regions"));
        if self.is_text {
            parts.push("text");
        } else if parts.is_empty() {
            parts.push("json");
        }
        if self.transport != Transport::Query {
            parts.push(self.transport.label());
        }
        parts.join("-")
    }

    /// For messages.
    pub(super) fn name(&self) -> String {
        let form = if self.is_text { "as text" } else { "as JSON" };
        let ExtraParameter { request_id, protocol, region } = &self.extra;
        let mut extra = String::new();
        extra.push_str(if *request_id { ", with a request id" } else { "" });
        extra.push_str(&protocol.as_ref().map_or(String::new(), |name| format!(", with protocol={name}")));
        extra.push_str(if *region { ", with the default region" } else { "" });
        format!("{form}{extra}, the token in {}", self.transport.name())
    }

    /// The extraction without a token; a request id is new each time, since a known one with other parameters may be
    /// handled in any way.
    pub(super) fn without_token(&self, probe: &Probe<'_>) -> Request {
        let extract = &probe.contract().extract;
        let ExtraParameter { request_id, protocol, region } = &self.extra;
        let mut request = probe.extract_without_token();
        if *request_id {
            request = request.query(&extract.request_id.name, probe.fresh_request_id());
        }
        if let Some(protocol) = protocol {
            request = request.query(&extract.protocol.name, protocol);
        }
        if *region && probe.facts().plentiful_region.is_some() {
            request = request.without_query(&extract.regions.name);
        } else if *region {
            request = request.query(&extract.regions.name, default_of(&extract.regions));
        }
        match (self.is_text, self.is_combined()) {
            (true, _) => request.query(&extract.return_type.name, &extract.text),
            // The default by its name, which a rule may be forgotten for.
            (false, true) => request.query(&extract.return_type.name, &extract.json),
            (false, false) => request,
        }
    }

    /// The extraction with a token.
    pub(super) fn with_token(&self, probe: &Probe<'_>, token: &str) -> Request {
        self.transport.carry(probe, self.without_token(probe), token)
    }

    /// The extraction with the account's own token.
    pub(super) fn request(&self, probe: &Probe<'_>) -> Request {
        self.with_token(probe, probe.token().expose())
    }

    /// Shows that the form is accepted with the account's own token; sends nothing when the run has shown it before.
    ///
    /// # Errors
    /// Skip when it is not accepted: it may be rejected for reasons of its own, such as a missing entitlement for its
    /// protocol. The plain form must be accepted, and is inconclusive otherwise.
    pub(super) async fn control(&self, probe: &Probe<'_>) -> Result<(), Stop> {
        self.control_with(probe, "", Clone::clone).await
    }

    /// The same for a control request with something more, which `label` names.
    ///
    /// # Errors
    /// As for [`Context::control`].
    pub(super) async fn control_with(
        &self,
        probe: &Probe<'_>,
        label: &str,
        change: impl Fn(&Request) -> Request + Send,
    ) -> Result<(), Stop> {
        let mut shown = State::from_probe(probe)?.controls.0.lock().await;
        let label = self.control_label(label);
        if shown.contains(&label) {
            return Ok(());
        }
        let request = change(&self.request(probe));
        probe.as_control(&label, self.accepted(probe, &request)).await?;
        shown.insert(label);
        Ok(())
    }

    fn control_label(&self, more: &str) -> String {
        format!("extract {} {more}", self.label())
    }

    /// Sends a control request in this form, other than that of [`Context::control`].
    ///
    /// # Errors
    /// As for [`Context::control`].
    pub(super) async fn accepted(
        &self,
        probe: &Probe<'_>,
        request: &Request,
    ) -> Result<AcceptedResponse, Stop> {
        match probe.control(request).await {
            Err(Stop::Inconclusive(reason)) if *self != Self::PLAIN => {
                Err(probe.skip(&format!("a valid extraction {} is not accepted: {reason}", self.name())))
            }
            other => other,
        }
    }

    /// The case, which needs [`Context::control`].
    pub(super) fn share(&self, case: Case) -> Case {
        self.share_with(case, "", 1)
    }

    /// The case, which needs [`Context::control_with`] for some gateways.
    pub(super) fn share_with(&self, case: Case, label: &str, gateways: u32) -> Case {
        case.sharing_in_run(self.control_label(label), Cost::extraction(1, gateways))
    }

    /// A case for a request that must be rejected: the valid one of this form with one change.
    pub(super) fn invalid(
        self,
        what: impl Display,
        clause: Clause,
        reason: impl Display,
        change: impl Fn(&Probe<'_>, Request) -> Request + Clone + Send + Sync + 'static,
    ) -> Case {
        let label = format!("{}/{what}", self.label());
        let why = format!("{reason}, {}", self.name());
        let context = self.clone();
        let case = Case::new(label, Cost::requests(1), move |probe| {
            let (context, why, change) = (context.clone(), why.clone(), change.clone());
            Box::pin(async move {
                context.control(probe).await?;
                let invalid = change(probe, context.request(probe));
                rejects(probe, clause, &why, &invalid).await
            })
        });
        self.share(case)
    }

    /// The same for another value of one parameter.
    pub(super) fn invalid_value(self, parameter: &Parameter, value: &Spelling, clause: Clause) -> Case {
        let what = format!("{}={}", parameter.name, value.name);
        let why = format!("{}={:?}, {}", parameter.name, value.text, value.reason);
        let (name, value) = (parameter.name.clone(), value.text.clone());
        self.invalid(what, clause, why, move |_, request| request.query(&name, &value))
    }

    /// A case for a request that must be accepted: the valid one of this form with one change, of one gateway.
    pub(super) fn valid(
        self,
        what: impl Display,
        clause: Clause,
        reason: impl Display,
        change: impl Fn(&Probe<'_>, Request) -> Request + Clone + Send + Sync + 'static,
    ) -> Case {
        let label = format!("{}/{what}", self.label());
        let why = format!("{reason}, {}", self.name());
        let context = self.clone();
        Case::new(label, Cost::extraction(1, 1), move |probe| {
            let (context, why, change) = (context.clone(), why.clone(), change.clone());
            Box::pin(async move {
                let request = change(probe, context.request(probe));
                probe.accepts_or_control(clause, &why, &request, context.control(probe)).await?;
                Ok(())
            })
        })
    }
}

/// Sends a request that must be rejected, after its control. A rejection in plain text under the status of a success is one
/// all the same: that it has no envelope is `extract.error-envelope.watched`'s to say.
pub(super) async fn rejects(
    probe: &Probe<'_>,
    clause: Clause,
    why: &str,
    invalid: &Request,
) -> Result<(), Stop> {
    let (exchange, class) = probe.send(&invalid.clone().giving_nothing()).await?;
    let is_text = Form::from_request(probe.contract(), OperationId::Extract, invalid) == Form::Text;
    let in_words = exchange.result.as_ref().is_ok_and(says_error);
    if class == ResponseClass::Accepted && is_text && in_words {
        return Ok(());
    }
    probe.judge_rejection(clause, why, &exchange, &class)
}

/// Whether a text response is a rejection in words. The form of an entry is open, but each has a port, so that a text without
/// a digit has no entry; with digits its first word must say so.
pub(super) fn says_error(response: &Response) -> bool {
    const WORDS: [&str; 8] =
        ["err", "error", "fail", "failed", "failure", "invalid", "unauthorized", "forbidden"];
    let text = response.text();
    let words = || text.split(|c: char| !c.is_alphabetic()).filter(|word| !word.is_empty());
    let first = words().next().unwrap_or_default().to_lowercase();
    let is_plain = response.json().is_none() && !text.trim_start().starts_with('<');
    let has_digit = text.contains(|c: char| c.is_ascii_digit());
    is_plain && (WORDS.contains(&first.as_str()) || (!has_digit && words().count() > 1))
}

/// The protocols beside the default one.
pub(super) fn other_protocols(extract: &Extract) -> impl Iterator<Item = String> {
    let default = default_of(&extract.protocol);
    extract.protocols.iter().filter(move |protocol| **protocol != default).cloned()
}

/// The default value of a parameter; empty when it has none.
pub(super) fn default_of(parameter: &Parameter) -> String {
    parameter.schema.default.as_ref().and_then(|default| default.as_str()).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::Contract;

    #[test]
    fn labels_are_unique_and_the_plain_form_is_first() {
        let extract = &Contract::embedded().expect("contract").extract;
        let mut labels: Vec<_> = Context::all(extract).iter().map(Context::label).collect();
        assert_eq!(labels[0], "json");
        labels.sort();
        labels.dedup();
        assert_eq!(labels.len(), Context::all(extract).len());
    }

    #[test]
    fn a_text_is_a_rejection_by_its_words() {
        let response = |text: &str| Response::new(200, Vec::new(), text.to_owned().into());
        for error in ["ERROR: num must be 1-100", "not allowed", "Invalid num 101"] {
            assert!(says_error(&response(error)), "{error}");
        }
        for entries in
            ["gw1.invalid:80\r\ngw2.invalid:81", "203.0.113.1 80", "", "error.invalid", "{\"port\": 1}"]
        {
            assert_eq!(says_error(&response(entries)), entries == "error.invalid", "{entries}");
        }
    }
}

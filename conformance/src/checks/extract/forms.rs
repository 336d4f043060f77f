//! The forms of an extraction, in each of which every rule must hold: other parameters beside the one under test, JSON or
//! text, and the transport of the token. Each form has one control request, which a run sends once.

use super::content::has_retry_after;
use crate::check::{AcceptedResponse, Case, Cost, Form, Probe, ResponseClass, Stop};
use crate::checks::{Requests, State};
use crate::contract::part::{PROTOCOL, REGIONS, REQUEST_ID, RETURN_TYPE};
use crate::contract::{Clause, Extract, OperationId};
use crate::wire::{Request, Response};

/// Where a request carries the token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::checks) enum Transport {
    Query,
    Header,
    Bearer,
}

/// Parameters beside the one under test.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct ExtraParameter {
    /// A request id, a new one in each request.
    pub(super) request_id: bool,
    /// A protocol other than the default one.
    pub(super) protocol: Option<String>,
    /// The default region: no region where the plain form names one, the default by its name where it names none.
    pub(super) region: bool,
}

impl ExtraParameter {
    const NOTHING: Self = Self { request_id: false, protocol: None, region: false };

    pub(super) const fn is_nothing(&self) -> bool {
        matches!(self, Self { request_id: false, protocol: None, region: false })
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::checks) struct Context {
    pub(super) extra: ExtraParameter,
    pub(super) is_text: bool,
    pub(super) transport: Transport,
}

impl Transport {
    pub(super) const ALL: [Self; 3] = [Self::Query, Self::Header, Self::Bearer];

    pub(super) fn carry(self, probe: &Probe<'_>, request: Request, token: &str) -> Request {
        let extract = &probe.contract().extract;
        match self {
            Self::Query => request.query(&extract.api_key.name, token),
            Self::Header => request.header(&extract.api_key_header, token),
            Self::Bearer => request.header("Authorization", format!("Bearer {token}")),
        }
    }

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
    pub(in crate::checks) const PLAIN: Self =
        Self { extra: ExtraParameter::NOTHING, is_text: false, transport: Transport::Query };

    pub(in crate::checks) const TEXT: Self =
        Self { extra: ExtraParameter::NOTHING, is_text: true, transport: Transport::Query };

    pub(in crate::checks) const fn by(transport: Transport) -> Self {
        Self { extra: ExtraParameter::NOTHING, is_text: false, transport }
    }

    /// Each form with the token in the query, the plain one first.
    pub(super) fn in_query(extract: &Extract) -> Vec<Self> {
        let with = |extra| Self { extra, ..Self::PLAIN };
        let id = with(ExtraParameter { request_id: true, ..ExtraParameter::NOTHING });
        let protocols = other_protocols(extract)
            .map(|protocol| with(ExtraParameter { protocol: Some(protocol), ..ExtraParameter::NOTHING }));
        let region = with(ExtraParameter { region: true, ..ExtraParameter::NOTHING });
        [Self::PLAIN, Self::TEXT, id].into_iter().chain(protocols).chain([region]).collect()
    }

    /// Two forms that together have every parameter: a rule that does not hold beside some parameter does not hold in one of
    /// them, so a run of few requests tests the rule in these two and in the plain form. Only the second one has the other
    /// protocol, since the account may lack the entitlement for it.
    fn combined(extract: &Extract) -> [Self; 2] {
        let text = ExtraParameter { request_id: true, protocol: None, region: true };
        let json =
            ExtraParameter { request_id: true, protocol: other_protocols(extract).next(), region: false };
        [
            Self { extra: text, is_text: true, transport: Transport::Bearer },
            Self { extra: json, is_text: false, transport: Transport::Header },
        ]
    }

    /// Whether it is one of the combined forms, with or without the request id.
    pub(super) const fn is_combined(&self) -> bool {
        let ExtraParameter { request_id, protocol, region } = &self.extra;
        (*region && self.is_text) || (*request_id && (*region || protocol.is_some()))
    }

    /// Each form with each transport of the token, the plain one first, and the combined forms.
    pub(super) fn all(extract: &Extract) -> Vec<Self> {
        let forms = Self::in_query(extract);
        let by = |transport| forms.iter().map(move |form| Self { transport, ..form.clone() });
        Transport::ALL.into_iter().flat_map(by).chain(Self::combined(extract)).collect()
    }

    /// All forms without a request id.
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
        let transports = [Transport::Header, Transport::Bearer].map(Self::by);
        forms.chain(transports).chain(Self::combined(extract)).map(text).collect()
    }

    /// Pairs each value with the first form, with a combined form in turn, and with one of the others in turn. Each value occurs
    /// in three forms, and each form with many values, without a case for each pair.
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

    /// Pairs each value with the first form and with one of the others in turn: for long lists of similar values.
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

    /// The clause that a service violates when it rejects this form, which is not combined, and accepts [`Context::PLAIN`].
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

    pub(super) fn other_transports(&self) -> impl Iterator<Item = Transport> + use<> {
        let own = self.transport;
        Transport::ALL.into_iter().filter(move |other| *other != own)
    }

    /// The form whose control request shows that this one is accepted, for requests with a wrong token. Another check tests
    /// which transports of the token work.
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

    pub(super) fn name(&self) -> String {
        let form = if self.is_text { "as text" } else { "as JSON" };
        let ExtraParameter { request_id, protocol, region } = &self.extra;
        let mut extra = String::new();
        extra.push_str(if *request_id { ", with a request id" } else { "" });
        extra.push_str(&protocol.as_ref().map_or(String::new(), |name| format!(", with protocol={name}")));
        extra.push_str(if *region { ", with the default region" } else { "" });
        format!("{form}{extra}, the token in {}", self.transport.name())
    }

    /// The extraction without a token. Each has a new request id, since a known one with other parameters is unspecified.
    pub(super) fn without_token(&self, probe: &Probe<'_>) -> Request {
        let extract = &probe.contract().extract;
        let ExtraParameter { request_id, protocol, region } = &self.extra;
        let mut request = probe.extract_without_token();
        if *request_id {
            request = request.query(REQUEST_ID, probe.fresh_request_id());
        }
        if let Some(protocol) = protocol {
            request = request.query(PROTOCOL, protocol);
        }
        if *region && probe.facts().plentiful_region.is_some() {
            request = request.without_query(REGIONS);
        } else if *region {
            request = request.query(REGIONS, extract.regions.default_text());
        }
        match (self.is_text, self.is_combined()) {
            (true, _) => request.query(RETURN_TYPE, &extract.text),
            // The default by its name: a service may forget a rule there.
            (false, true) => request.query(RETURN_TYPE, &extract.json),
            (false, false) => request,
        }
    }

    pub(super) fn with_token(&self, probe: &Probe<'_>, token: &str) -> Request {
        self.transport.carry(probe, self.without_token(probe), token)
    }

    /// The extraction with the account's own token.
    pub(in crate::checks) fn request(&self, probe: &Probe<'_>) -> Request {
        self.with_token(probe, probe.token().expose())
    }

    /// Shows that the form is accepted with the account's own token. Sends nothing when the run has already shown it.
    ///
    /// # Errors
    /// Skip when it is not accepted, which may have a reason of its own, such as a missing entitlement for its protocol. For
    /// the plain form it is inconclusive.
    pub(in crate::checks) async fn control(&self, probe: &Probe<'_>) -> Result<(), Stop> {
        self.control_with(probe, "", Clone::clone).await
    }

    /// Like [`Context::control`], for a control request with a change, which `label` names. Errors are the same.
    pub(super) async fn control_with(
        &self,
        probe: &Probe<'_>,
        label: &str,
        change: impl Fn(&Request) -> Request + Send,
    ) -> Result<(), Stop> {
        let mut accepted = State::from_probe(probe)?.controls.0.lock().await;
        let label = self.control_label(label);
        if accepted.contains(&label) {
            return Ok(());
        }
        let request = change(&self.request(probe));
        probe.as_control(&label, self.accepted(probe, &request)).await?;
        accepted.insert(label);
        Ok(())
    }

    fn control_label(&self, change: &str) -> String {
        format!("extract {} {change}", self.label())
    }

    /// Sends another control request of this form than [`Context::control`] does. Errors are the same.
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
    pub(in crate::checks) fn share(&self, case: Case) -> Case {
        self.share_with(case, "", 1)
    }

    /// The case, which needs [`Context::control_with`] for some gateways.
    pub(super) fn share_with(&self, case: Case, label: &str, gateways: u32) -> Case {
        case.sharing_in_run(self.control_label(label), Cost::extraction(1, gateways))
    }
}

/// Sends a request that must be rejected, after its control. A rejection in plain text with the status of a success counts as a
/// rejection; `extract.error-envelope.watched` reports that it has no envelope.
pub(in crate::checks) async fn rejects(
    probe: &Probe<'_>,
    clause: Clause,
    why: &str,
    invalid: &Request,
) -> Result<(), Stop> {
    let invalid = invalid.clone().as_invalid();
    let (exchange, class) = if names_empty_region(probe, &invalid) {
        let sent = probe.send_once(&invalid).await?;
        if has_retry_after(&sent.0) {
            return Err(probe.skip("the service notices first that the region has no gateways"));
        }
        sent
    } else {
        probe.send(&invalid).await?
    };
    let is_text = Form::from_request(probe.contract(), OperationId::Extract, &invalid) == Form::Text;
    let in_words = exchange.result.as_ref().is_ok_and(says_error);
    if class == ResponseClass::Accepted && is_text && in_words {
        return Ok(());
    }
    probe.judge_rejection(clause, why, &exchange, &class).await
}

/// Whether a request asks for the empty region, under either name. The order in which a service notices mistakes is unspecified.
fn names_empty_region(probe: &Probe<'_>, request: &Request) -> bool {
    let Extract { regions, country, .. } = &probe.contract().extract;
    let empty = probe.facts().empty_region.as_deref();
    empty.is_some() && [regions, country].into_iter().any(|name| request.query_value(&name.name) == empty)
}

/// Whether a text response is an error message. The form of an entry is unspecified, but each entry has a port, so a text
/// without a digit has none. A text with digits is an error if its first word says so.
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
    let default = extract.protocol.default_text();
    extract.protocols.iter().filter(move |protocol| **protocol != default).cloned()
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
    fn error_messages_in_plain_text_are_recognized() {
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

//! An extraction as one value: the form of its response, its separator, region, protocol, request id, and where it has the token.
//! Every rule must hold in each form. Each form has one control request, which a run sends once.

pub(crate) mod cause;
pub(crate) mod content;
pub(crate) mod link;
pub(crate) mod shortage;

use std::borrow::Cow;

use crate::check::{
    AcceptedResponse, Case, Cost, Decision, Form, Probe, ResponseClass, Stop, accepted, undecided,
};
use crate::checks::State;
use crate::contract::Clause::{self, *};
use crate::contract::part::*;
use crate::contract::{Extract, OperationId, Separator, Unspecified};
use crate::names;
use crate::target::Fact;
use crate::wire::{Exchange, QuerySpelling, Request, Response};

/// A request that was sent, and what its response means.
type Sent = (Exchange, ResponseClass);

names! {
    /// Where a request carries the token.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
    pub(crate) enum Transport {
        Query => "query",
        Header => "header",
        Bearer => "bearer",
    }
}

names! {
    /// Where a request carries its id.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
    pub(crate) enum Place {
        Query => "query",
        Header => "header",
    }
}

names! {
    /// The form that a request asks for.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(crate) enum Asked {
        Json => "JSON",
        JsonByName => "JSON by name",
        Text => "text",
    }
}

names! {
    /// The region that a request asks for.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(crate) enum Region {
        /// The plentiful region if one is known, else none.
        Usual => "as usual",
        /// The default region, in the way that the usual request does not have.
        Default => "the default",
        Unnamed => "left out",
        DefaultByName => "the default by name",
        /// The usual region, or the default one, as `country`.
        Alias => "as country",
        /// The same as `regions` and as `country`.
        Equal => "by both names",
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Extraction {
    pub(crate) form: Asked,
    pub(crate) separator: Option<Separator>,
    pub(crate) tokens: Cow<'static, [Transport]>,
    pub(crate) region: Region,
    /// A protocol by its name. In the forms, another than the default one.
    pub(crate) protocol: Option<String>,
    /// The places of a request id: a new one in each request, and in each place.
    pub(crate) ids: Cow<'static, [Place]>,
    pub(crate) spelling: QuerySpelling,
}

impl Transport {
    /// The request with a token in this place, in place of any other there.
    pub(crate) fn carry(self, probe: &Probe<'_>, request: Request, token: &str) -> Request {
        let Extract { operation, api_key_header: header, .. } = &probe.contract().extract;
        match self {
            Self::Query => request.query(&operation.api_key.name, token),
            Self::Header => request.without_header(header).header(header, token),
            Self::Bearer => {
                request.without_header("Authorization").header("Authorization", format!("Bearer {token}"))
            }
        }
    }

    pub(crate) const fn words(self) -> &'static str {
        match self {
            Self::Query => "the query",
            Self::Header => "the header of its own",
            Self::Bearer => "Authorization: Bearer",
        }
    }

    pub(crate) fn names(transports: &[Self]) -> String {
        transports.iter().map(|transport| transport.words()).collect::<Vec<_>>().join(" and ")
    }
}

impl Place {
    pub(crate) fn carry(self, request: Request, id: &str) -> Request {
        match self {
            Self::Query => request.query(REQUEST_ID, id),
            Self::Header => request.without_header(REQUEST_ID_HEADER).header(REQUEST_ID_HEADER, id),
        }
    }
}

impl Region {
    fn carry(self, probe: &Probe<'_>, request: Request) -> Request {
        let extract = &probe.contract().extract;
        match self {
            Self::Usual => request,
            Self::Default if probe.facts().plentiful_region.is_some() => request.without_query(REGIONS),
            Self::Default | Self::DefaultByName => request.query(REGIONS, extract.regions.default_text()),
            Self::Unnamed => request.without_query(REGIONS),
            Self::Alias => by_country(extract, request),
            Self::Equal => {
                let region = region_of(extract, &request);
                request.query(REGIONS, &region).query(COUNTRY, region)
            }
        }
    }
}

fn region_of(extract: &Extract, request: &Request) -> String {
    request.query_value(REGIONS).map_or_else(|| extract.regions.default_text(), str::to_owned)
}

/// The same extraction, with `country` for the region in place of `regions`.
pub(crate) fn by_country(extract: &Extract, request: Request) -> Request {
    let region = region_of(extract, &request);
    request.without_query(REGIONS).query(COUNTRY, region)
}

impl Extraction {
    pub(crate) const PLAIN: Self = Self {
        form: Asked::Json,
        separator: None,
        tokens: Cow::Borrowed(&[Transport::Query]),
        region: Region::Usual,
        protocol: None,
        ids: Cow::Borrowed(&[]),
        spelling: QuerySpelling::Usual,
    };

    pub(crate) fn by(transport: Transport) -> Self {
        Self::PLAIN.sent_in(transport)
    }

    fn text() -> Self {
        Self { form: Asked::Text, ..Self::PLAIN }
    }

    pub(crate) fn sent_in(&self, transport: Transport) -> Self {
        Self { tokens: vec![transport].into(), ..self.clone() }
    }

    /// Each form with the token in the query, the plain one first.
    pub(crate) fn in_query(extract: &Extract) -> Vec<Self> {
        let id = Self { ids: Cow::Borrowed(&[Place::Query]), ..Self::PLAIN };
        let protocols = other_protocols(extract).map(|other| Self { protocol: Some(other), ..Self::PLAIN });
        let region = Self { region: Region::Default, ..Self::PLAIN };
        [Self::PLAIN, Self::text(), id].into_iter().chain(protocols).chain([region]).collect()
    }

    /// Two forms that together have every parameter: a rule that does not hold beside some parameter does not hold in one of
    /// them, so a run of few requests tests the rule in these two and in the plain form. Only the second one has the other
    /// protocol, since the account may lack the entitlement for it. It names JSON: a service may forget a rule there.
    fn combined(extract: &Extract) -> [Self; 2] {
        let both =
            |form, transport| Self { form, ids: Cow::Borrowed(&[Place::Query]), ..Self::by(transport) };
        let separator = extract.separators.last().cloned();
        let text = Self { region: Region::Default, separator, ..both(Asked::Text, Transport::Bearer) };
        let protocol = other_protocols(extract).next();
        [text, Self { protocol, ..both(Asked::JsonByName, Transport::Header) }]
    }

    /// Whether it is one of the combined forms, with or without the request id.
    pub(crate) fn is_combined(&self) -> bool {
        let is_elsewhere = self.region != Region::Usual;
        (is_elsewhere && self.is_text()) || (self.has_id() && (is_elsewhere || self.protocol.is_some()))
    }

    /// Each form with each transport of the token, the plain one first, and the combined forms.
    pub(crate) fn all(extract: &Extract) -> Vec<Self> {
        let forms = Self::in_query(extract);
        let by = |transport| forms.iter().map(move |form| form.sent_in(transport));
        Transport::ALL.into_iter().flat_map(by).chain(Self::combined(extract)).collect()
    }

    /// Changes one of its properties, in the words of rows.
    pub(crate) fn change(&mut self, extract: &Extract, property: &str, words: &str) -> Option<()> {
        let names = words.split(", ");
        match property {
            "tokens" => self.tokens = ascending(names.map(Transport::named))?,
            "ids" => self.ids = ascending(names.map(Place::named))?,
            "asked" => self.form = Asked::named(words.strip_prefix("as ")?)?,
            "region" => self.region = Region::named(words)?,
            "protocol" => self.protocol = Some(words.to_owned()),
            "spelled" if words == "encoded" => self.spelling = QuerySpelling::Encoded,
            "spelled" if words == "with encoded values" => self.spelling = QuerySpelling::EncodedValues,
            "separator" => {
                let (code, text) = words.split_once(": ").unwrap_or((words, ""));
                let known = extract.separators.iter().find(|separator| separator.code == code).cloned();
                let custom =
                    || Some(Separator { code: code.to_owned(), text: serde_json::from_str(text).ok()? });
                self.separator = Some(known.or_else(custom)?);
            }
            _ => return None,
        }
        Some(())
    }

    /// The forms with this name in rows, or the one with this label.
    pub(crate) fn named(extract: &Extract, name: &str) -> Option<Vec<Self>> {
        let all = || Self::all(extract).into_iter();
        let [text, _] = Self::combined(extract);
        let without_id =
            || all().filter(|form| !form.has_id()).chain([Self { ids: Cow::default(), ..text.clone() }]);
        Some(match name {
            "every form" => Self::all(extract),
            "every other form" => all().skip(1).collect(),
            "each JSON" => all().filter(|form| !form.is_text()).collect(),
            "each text" => Self::in_text(extract),
            "JSON and text" => vec![Self::PLAIN, Self::text()],
            "JSON in each place" => Transport::ALL.map(Self::by).into(),
            "JSON in each place and text" => {
                Transport::ALL.map(Self::by).into_iter().chain([Self::text()]).collect()
            }
            "both combined forms" => Self::combined(extract).into(),
            "forms of the query" => Self::in_query(extract),
            "forms without id" => without_id().collect(),
            "forms without protocol" => all().filter(|form| form.protocol.is_none()).collect(),
            "forms without region" => all().filter(|form| form.region == Region::Usual).collect(),
            label => {
                let mut known = all().chain(Self::in_text(extract)).chain(without_id());
                vec![known.find(|form| form.label() == label)?]
            }
        })
    }

    /// Each form as text, the one without an extra parameter first.
    pub(crate) fn in_text(extract: &Extract) -> Vec<Self> {
        let forms = Self::in_query(extract).into_iter().filter(|form| !form.is_text());
        let transports = [Transport::Header, Transport::Bearer].map(Self::by);
        let forms = forms.chain(transports).chain(Self::combined(extract));
        forms.map(|form| Self { form: Asked::Text, ..form }).collect()
    }

    pub(crate) fn is_text(&self) -> bool {
        self.form == Asked::Text
    }

    pub(crate) fn has_id(&self) -> bool {
        !self.ids.is_empty()
    }

    /// Whether it has neither request id, protocol nor region.
    pub(crate) fn is_bare(&self) -> bool {
        !self.has_id() && self.protocol.is_none() && self.region == Region::Usual
    }

    pub(crate) fn transport(&self) -> Transport {
        self.tokens.first().copied().unwrap_or(Transport::Query)
    }

    /// The clause that a service violates when it rejects this form, which is not combined, and accepts [`Extraction::PLAIN`].
    pub(crate) fn clause(&self) -> Clause {
        match self {
            _ if self.transport() != Transport::Query => ExtractTokenTransport,
            _ if self.is_text() => ExtractReturnType,
            _ if self.protocol.is_some() => ExtractProtocol,
            _ if self.has_id() => ExtractRequestIdSource,
            _ => ExtractRegion,
        }
    }

    /// For the label of a case; unique among the forms.
    pub(crate) fn label(&self) -> String {
        let mut parts = Vec::new();
        parts.extend(self.has_id().then_some("request-id"));
        parts.extend(self.protocol.as_deref());
        parts.extend((self.region != Region::Usual).then_some("regions"));
        if self.is_text() {
            parts.push("text");
        } else if parts.is_empty() {
            parts.push("json");
        }
        if self.transport() != Transport::Query {
            parts.push(self.transport().name());
        }
        parts.join("-")
    }

    pub(crate) fn name(&self) -> String {
        let form = if self.is_text() { "as text" } else { "as JSON" };
        let id = if self.has_id() { ", with a request id" } else { "" };
        let protocol = self.protocol.as_ref().map_or(String::new(), |name| format!(", with protocol={name}"));
        let region = if self.region == Region::Usual { "" } else { ", with the default region" };
        let separator = self.separator.as_ref().map_or(String::new(), |of| format!(", with lb={}", of.code));
        format!("{form}{id}{protocol}{region}{separator}, the token in {}", Transport::names(&self.tokens))
    }

    /// The extraction without a token. Each has a new request id, since a known one with other parameters is unspecified.
    pub(crate) fn without_token(&self, probe: &Probe<'_>) -> Request {
        let extract = &probe.contract().extract;
        let mut request = self.region.carry(probe, probe.extract_without_token());
        if let Some(protocol) = &self.protocol {
            request = request.query(PROTOCOL, protocol);
        }
        request = match self.form {
            Asked::Json => request,
            Asked::JsonByName => request.query(RETURN_TYPE, &extract.json),
            Asked::Text => request.query(RETURN_TYPE, &extract.text),
        };
        if let Some(Separator { code, text }) = &self.separator {
            request = request.query(LB, code);
            request = if *code == extract.custom_separator { request.query(SB, text) } else { request };
        }
        let with_id = |request, place: &Place| place.carry(request, &probe.fresh_request_id());
        self.ids.iter().fold(request, with_id).spelling(self.spelling)
    }

    pub(crate) fn with_token(&self, probe: &Probe<'_>, token: &str) -> Request {
        let carry = |request, transport: &Transport| transport.carry(probe, request, token);
        self.tokens.iter().fold(self.without_token(probe), carry)
    }

    pub(crate) fn request(&self, probe: &Probe<'_>) -> Request {
        self.with_token(probe, probe.token().expose())
    }

    /// Shows that the form is accepted with the account's own token. Sends nothing when the run has already shown it. Skips when it is not
    /// accepted, which may have a reason of its own, such as a missing entitlement; for the plain form that is inconclusive.
    pub(crate) async fn control(&self, probe: &Probe<'_>) -> Result<(), Stop> {
        let request = self.request(probe);
        let request = if self.is_text() { request.query(NUM, SEPARATED) } else { request };
        self.control_with(probe, "", request).await
    }

    /// Like [`Extraction::control`], for a control request of this form with a change that `label` names. Errors are the same.
    pub(crate) async fn control_with(
        &self,
        probe: &Probe<'_>,
        label: &str,
        request: Request,
    ) -> Result<(), Stop> {
        let mut accepted = probe.state::<State>()?.controls.lock().await;
        let label = self.control_label(label);
        if let Some(known) = accepted.get(&label) {
            probe.show_control(known.clone());
            return Ok(());
        }
        let served = probe.as_control(&label, self.accepted(probe, &request)).await?;
        accepted.insert(label, served.exchange.brief());
        Ok(())
    }

    /// Whether a case shares [`Extraction::control`].
    pub(super) fn is_control_of(&self, case: &Case) -> bool {
        case.controls_in_run().any(|control| control.label == self.control_label(""))
    }

    fn control_label(&self, change: &str) -> String {
        format!("extract {} {change}", self.label())
    }

    /// Sends another control request of this form than [`Extraction::control`] does. Errors are the same.
    pub(crate) async fn accepted(
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

    /// The case, which needs [`Extraction::control`].
    pub(crate) fn share(&self, case: Case) -> Case {
        self.share_with(case, "", if self.is_text() { SEPARATED } else { 1 })
    }

    /// The case, which needs [`Extraction::control_with`] for some gateways.
    pub(crate) fn share_with(&self, case: Case, label: &str, gateways: u32) -> Case {
        case.sharing_in_run(self.control_label(label), Cost::extraction(1, gateways))
    }
}

/// Gateways of the control request of a text, which so shows its separator.
const SEPARATED: u32 = 2;

/// Sends a request that must be rejected, after its control. A rejection in plain text with the status of a success counts as a
/// rejection; `extract.error-envelope.watched` reports that it has no envelope. Gateways as text where JSON is expected are reported if
/// that is judged `even_as_text`.
pub(crate) async fn rejects(
    probe: &Probe<'_>,
    (clause, why): (Clause, &str),
    invalid: &Request,
    even_as_text: bool,
) -> Result<(), Stop> {
    let invalid = invalid.clone().as_invalid();
    let (exchange, class) = match doubtful_regions(probe, &invalid).as_slice() {
        [] => probe.send(&invalid).await?,
        regions => {
            let sent = probe.send_once(&invalid).await?;
            if shortage::explains(probe, regions, &sent.0).await? {
                return Err(probe.skip("the service notices first that the region has no gateways"));
            }
            if matches!(sent.1, ResponseClass::Throttled(_)) { probe.send(&invalid).await? } else { sent }
        }
    };
    let is_text = Form::from_request(probe.contract(), OperationId::Extract, &invalid) == Form::Text;
    let in_words = exchange.result.as_ref().is_ok_and(says_error);
    if class == ResponseClass::Accepted && is_text && in_words {
        return Ok(());
    }
    let is_served = |response| content::is_served_text(&probe.contract().extract, response);
    if even_as_text && exchange.result.as_ref().is_ok_and(is_served) {
        probe.finding(clause, &format!("rejected: {why}"), "a success", &[&exchange]);
        return Ok(());
    }
    probe.judge_rejection(clause, why, &exchange, &class).await
}

/// The regions that a request asks for, under either name, and of which nobody says that they have gateways; the empty one first. The
/// order in which a service notices mistakes is unspecified, and a region that it does not know may get the response of one without
/// gateways.
fn doubtful_regions<'a>(probe: &Probe<'_>, request: &'a Request) -> Vec<&'a str> {
    let facts = probe.facts();
    let default = probe.contract().extract.regions.default_text();
    let known = [Some(&default), facts.plentiful_region.as_ref(), facts.scarce_region.as_ref()];
    let named = [REGIONS, COUNTRY].into_iter().filter_map(|name| request.query_value(name));
    let is_doubtful = |region: &&str| known.into_iter().flatten().all(|known| known != region);
    let mut regions: Vec<_> = named.filter(is_doubtful).collect();
    regions.sort_by_key(|region| facts.empty_region.as_deref() != Some(region));
    regions
}

/// Whether a text response is an error message. The form of an entry is unspecified, but each entry has a port, so a text
/// without a digit has none. A text with digits is an error if its first word says so.
pub(crate) fn says_error(response: &Response) -> bool {
    const WORDS: [&str; 8] =
        ["err", "error", "fail", "failed", "failure", "invalid", "unauthorized", "forbidden"];
    let text = response.text();
    let words = || text.split(|c: char| !c.is_alphabetic()).filter(|word| !word.is_empty());
    let first = words().next().unwrap_or_default().to_lowercase();
    let is_plain = response.json().is_none() && !text.trim_start().starts_with('<');
    let has_digit = text.contains(|c: char| c.is_ascii_digit());
    is_plain && (WORDS.contains(&first.as_str()) || (!has_digit && words().count() > 1))
}

/// A list whose elements stand in the order of their enum, each once.
fn ascending<T: Ord + Clone>(list: impl Iterator<Item = Option<T>>) -> Option<Cow<'static, [T]>> {
    let list: Vec<_> = list.collect::<Option<_>>()?;
    list.is_sorted_by(|one, other| one < other).then_some(list.into())
}

fn other_protocols(extract: &Extract) -> impl Iterator<Item = String> {
    let default = extract.protocol.default_text();
    extract.protocols.iter().filter(move |protocol| **protocol != default).cloned()
}

#[cfg(test)]
mod tests {
    use super::*;

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

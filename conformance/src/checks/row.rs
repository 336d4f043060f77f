//! Rules as rows. A row says what differs from a valid request, and what must follow; the case with its label, cost and control
//! request, and the words of a finding, are made from it.

use std::ops::RangeInclusive;
use std::sync::{Arc, OnceLock};

use serde_json::Value as Json;

use super::Requests;
use super::extract::{
    Extraction, Judge, Place, Transport, by_country, by_link, claiming, find_cause, is_valid, judge_repeated,
    must_be_short, rejects, rejects_even_as_text, share_link,
};
use super::token::WrongToken;
use crate::check::{Case, CaseFn, Cost, Probe, Stop, accepted};
use crate::contract::part::{LB, NUM, PAGE, PAGE_SIZE, REQUEST_ID_HEADER, SB};
use crate::contract::{Clause, Contract, OperationId, Unspecified};
use crate::grammar::Spelling;
use crate::response::operation_of;
use crate::target::{Fact, RejectionReason, Secret};
use crate::wire::Request;

/// One case of a rule.
#[derive(Debug, Clone)]
pub(super) struct Row {
    base: Base,
    /// The label of the case, behind that of the form unless it `has_whole_label`. Then the words say nothing of the form.
    label: String,
    has_whole_label: bool,
    clause: Option<Clause>,
    valid: Valid,
    /// What differs in a request that must be accepted before.
    before: Option<Vec<Edit>>,
    /// What differs in each request, with its description.
    requests: Vec<(String, Vec<Edit>)>,
    must: Must,
    then: Vec<Then>,
    needs: Vec<Fact>,
    cost: Option<Cost>,
}

/// The plain valid request of an operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Base {
    Groups,
    Search,
    Extract(Extraction),
    /// An extraction with a legacy API Link credential, in the transport that the service accepts.
    Link(Extraction),
}

/// What the valid request of a row has beside its base. Rows with equal names share one control request.
#[derive(Debug, Clone, Default)]
struct Valid {
    name: String,
    edits: Vec<Edit>,
    gateways: u32,
    /// Whether a service may reject it for a reason of its own; then nothing is judged.
    is_doubtful: bool,
}

/// What must follow.
#[derive(Debug, Clone)]
enum Must {
    /// A rejection. With `even_as_text`, gateways as text are a success even where JSON is expected.
    Reject { even_as_text: bool },
    /// A success. An extraction returns at most so many gateways, which are judged.
    Serve { gateways: u32, unless: Unless, judges: &'static [Judge] },
    /// Any response without a server error, which is recorded.
    RespondSomehow(Unspecified),
    /// In the region without gateways, the shortage that a simpler form gets.
    BeShort { like: Extraction },
}

/// What follows when a request that must be served is not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unless {
    /// A finding, if the control request is accepted.
    Finding,
    /// A finding on the clause of the parameter that causes it.
    Cause,
    /// Nothing is judged: the request is a control itself.
    Control,
    /// Nothing is judged if the control request is accepted: there may be no gateways.
    Shortage,
    /// Nothing is judged, and no control request sent.
    Nothing,
}

/// What follows an extraction that was served.
#[derive(Debug, Clone)]
pub(super) enum Then {
    /// The same extraction once more, which returns the same gateways.
    Again(Clause, String, Vec<Edit>),
    /// Another valid extraction.
    Other(Vec<Edit>),
    /// An invalid one, whatever its response.
    Invalid(Vec<Edit>),
}

/// A difference from a valid request.
#[derive(Debug, Clone)]
pub(super) enum Edit {
    /// A query parameter, or a member of the body of a search.
    Set(&'static str, Value),
    Drop(&'static str),
    /// A query parameter once more, beside the first.
    Add(&'static str, Value),
    /// Another credential in place of the token.
    By(Credential),
    /// A credential in one more place.
    Token(Transport, Credential),
    /// The token once more in the query.
    AddToken(Credential),
    NoToken,
    /// A request id. Those of one number are the same in a case, and new ones in each case.
    Id(Place, usize),
    NoHeaderId,
    /// The region by its alias.
    ByCountry,
    Header(&'static str, String),
    /// An address that the caller claims to have, in that header.
    Claim(&'static str, String),
    /// What no other edit says.
    Change(fn(&Probe<'_>, Request) -> Result<Request, Stop>),
}

/// A value, or its distance from the smallest or the largest one that the document allows.
#[derive(Debug, Clone)]
pub(super) enum Value {
    Text(String),
    Min(i64),
    Max(i64),
}

/// A credential.
#[derive(Debug, Clone, Copy)]
pub(super) enum Credential {
    Own,
    Wrong(WrongToken),
    /// One that the tester supplied.
    Supplied(Fact),
    /// One of the list of rejected tokens.
    Rejected(usize),
}

/// The request ids of a case.
#[derive(Debug, Default)]
pub(super) struct Ids([OnceLock<String>; 16]);

pub(super) use Edit::Drop;
pub(super) use Value::{Max, Min};

pub(super) fn set(part: &'static str, value: impl Into<Value>) -> Edit {
    Edit::Set(part, value.into())
}

pub(super) fn reject(label: impl Into<String>, why: impl Into<String>, edits: impl Into<Vec<Edit>>) -> Row {
    Row {
        base: Base::Extract(Extraction::PLAIN),
        label: label.into(),
        has_whole_label: false,
        clause: None,
        valid: Valid::default(),
        before: None,
        requests: vec![(why.into(), edits.into())],
        must: Must::Reject { even_as_text: false },
        then: Vec::new(),
        needs: Vec::new(),
        cost: None,
    }
}

pub(super) fn accept(label: impl Into<String>, why: impl Into<String>, edits: impl Into<Vec<Edit>>) -> Row {
    let must = Must::Serve { gateways: 1, unless: Unless::Finding, judges: &[] };
    Row { must, ..reject(label, why, edits) }
}

/// A request whose outcome is unspecified.
pub(super) fn either(unspecified: Unspecified, label: &str, why: &str, edits: impl Into<Vec<Edit>>) -> Row {
    Row { must: Must::RespondSomehow(unspecified), ..reject("", why, edits) }.labelled(label)
}

/// A row whose label is also its description.
pub(super) fn limit(clause: Clause, label: impl Into<String>, edits: impl Into<Vec<Edit>>) -> Row {
    let label = label.into();
    reject(label.clone(), label, edits).citing(clause)
}

/// A row for each value of a parameter that must be rejected.
pub(super) fn values(part: &'static str, values: impl IntoIterator<Item = Spelling>) -> Vec<Row> {
    let row = |Spelling { text, name, reason, .. }: Spelling| {
        reject(format!("{part}={name}"), format!("{part}={text:?}, {reason}"), [set(part, text)])
    };
    values.into_iter().map(row).collect()
}

/// Each row in each form.
pub(super) fn each(forms: &[Extraction], rows: impl IntoIterator<Item = Row>) -> Vec<Row> {
    let in_forms =
        |row: Row| forms.iter().map(move |form| row.clone().in_form(form.clone())).collect::<Vec<_>>();
    rows.into_iter().flat_map(in_forms).collect()
}

/// Pairs each value with the first form, with a combined form in turn, and with one of the others in turn: each value in three forms,
/// and each form with many values.
pub(super) fn three_forms<T: Clone>(
    forms: &[Extraction],
    values: impl IntoIterator<Item = T>,
) -> Vec<(Extraction, T)> {
    let (combined, single) = forms.iter().skip(1).partition(|form| form.is_combined());
    in_turns(forms, &[combined, single], values)
}

fn in_turns<T: Clone>(
    forms: &[Extraction],
    others: &[Vec<&Extraction>],
    values: impl IntoIterator<Item = T>,
) -> Vec<(Extraction, T)> {
    let pairs = |(turn, value): (usize, T)| {
        let others = others.iter().filter_map(|others| others.get(turn % others.len().max(1)).copied());
        let chosen = forms.first().into_iter().chain(others);
        chosen.map(|form| (form.clone(), value.clone())).collect::<Vec<_>>()
    };
    values.into_iter().enumerate().flat_map(pairs).collect()
}

/// Each row in three forms.
pub(super) fn in_three(forms: &[Extraction], rows: impl IntoIterator<Item = Row>) -> Vec<Row> {
    three_forms(forms, rows).into_iter().map(|(form, row)| row.in_form(form)).collect()
}

/// Each row in the first form and in one of the others in turn: for long lists of similar values.
pub(super) fn in_two(forms: &[Extraction], rows: impl IntoIterator<Item = Row>) -> Vec<Row> {
    let others = forms.iter().skip(1).collect();
    in_turns(forms, &[others], rows).into_iter().map(|(form, row)| row.in_form(form)).collect()
}

/// A case of a form that is judged by a function of its own.
pub(super) fn flow(
    label: &'static str,
    cost: Cost,
    run: impl for<'p> CaseFn<'p, (Extraction,)> + Copy,
) -> impl Fn(Extraction) -> Case {
    move |form| Case::for_data(joined(&form.label(), label), cost, form, run)
}

/// The same, which needs the control request of the form.
pub(super) fn controlled_flow(
    cost: Cost,
    run: impl for<'p> CaseFn<'p, (Extraction,)> + Copy,
) -> impl Fn(Extraction) -> Case {
    move |form| form.clone().share(flow("", cost, run)(form))
}

/// The cases of rows. A row that names no clause is about this one.
pub(super) fn cases(clause: Clause, rows: impl IntoIterator<Item = Row>) -> Vec<Case> {
    rows.into_iter().map(|row| row.case(clause)).collect()
}

impl Row {
    pub(super) fn of(self, base: Base) -> Self {
        Self { base, ..self }
    }

    pub(super) fn in_form(self, form: Extraction) -> Self {
        let base = if matches!(self.base, Base::Link(_)) { Base::Link(form) } else { Base::Extract(form) };
        self.of(base)
    }

    /// The row with a legacy API Link credential.
    pub(super) fn by_link(self) -> Self {
        let form = self.form();
        self.of(Base::Link(form))
    }

    /// The row under this label alone, and with nothing of its form in its words.
    pub(super) fn labelled(self, label: impl Into<String>) -> Self {
        Self { label: label.into(), has_whole_label: true, ..self }
    }

    pub(super) fn citing(self, clause: Clause) -> Self {
        Self { clause: Some(clause), ..self }
    }

    /// The row as a change of another valid request, whose control is shared under this name.
    pub(super) fn changing(
        self,
        name: impl Into<String>,
        edits: impl Into<Vec<Edit>>,
        gateways: u32,
    ) -> Self {
        Self { valid: Valid { name: name.into(), edits: edits.into(), gateways, is_doubtful: false }, ..self }
    }

    /// The row as a change of a valid request that a service may reject for a reason of its own; then nothing is judged.
    pub(super) fn doubtful(mut self) -> Self {
        self.valid.is_doubtful = true;
        self
    }

    /// The row as a change of a text of so many gateways with a custom separator.
    pub(super) fn separated(self, num: i64) -> Self {
        let separator = |probe: &Probe<'_>, request: Request| {
            Ok(request.query(LB, &probe.contract().extract.custom_separator).query(SB, SEPARATOR))
        };
        let edits = [set(NUM, num), Edit::Change(separator)];
        let gateways = u32::try_from(num).unwrap_or(u32::MAX);
        self.changing(format!("with a custom separator, num={num}"), edits, gateways)
    }

    /// The row as a change of an extraction that names the region by its alias.
    pub(super) fn by_country(self) -> Self {
        let name =
            if self.valid.edits.is_empty() { "by country" } else { "by country, with a custom separator" };
        let edits: Vec<_> = [Edit::ByCountry].into_iter().chain(self.valid.edits.clone()).collect();
        self.changing(name, edits, 1).doubtful()
    }

    pub(super) fn by(mut self, credential: Credential) -> Self {
        for (_, edits) in &mut self.requests {
            edits.insert(0, Edit::By(credential));
        }
        self
    }

    pub(super) fn needing(mut self, fact: Fact) -> Self {
        self.needs.push(fact);
        self
    }

    pub(super) fn costing(self, cost: Cost) -> Self {
        Self { cost: Some(cost), ..self }
    }

    /// The row behind a request with these differences, which must be accepted.
    pub(super) fn after(self, edits: impl Into<Vec<Edit>>) -> Self {
        Self { before: Some(edits.into()), ..self }
    }

    /// The row with the request id of an extraction that was accepted.
    pub(super) fn replaying(mut self, place: Place) -> Self {
        let id = Edit::Id(place, 0);
        self.label = format!("{} id in {}", self.label, place.label());
        for (_, edits) in &mut self.requests {
            edits.push(id.clone());
        }
        self.after([id]).costing(Cost::extraction(3, 1))
    }

    /// The row with one more request, which is judged like the first.
    pub(super) fn and(mut self, why: impl Into<String>, edits: impl Into<Vec<Edit>>) -> Self {
        self.requests.push((why.into(), edits.into()));
        self
    }

    pub(super) fn then(self, then: impl Into<Vec<Then>>) -> Self {
        Self { then: then.into(), ..self }
    }

    pub(super) fn even_as_text(self) -> Self {
        Self { must: Must::Reject { even_as_text: true }, ..self }
    }

    pub(super) fn giving(self, gateways: u32, unless: Unless, judges: &'static [Judge]) -> Self {
        Self { must: Must::Serve { gateways, unless, judges }, ..self }
    }

    /// The row in the region without gateways, under its label alone.
    pub(super) fn short_like(self, like: Extraction) -> Self {
        Self { must: Must::BeShort { like }, has_whole_label: true, ..self }
    }

    pub(super) const fn clause(&self) -> Option<Clause> {
        self.clause
    }

    /// Whether it is about separators, which apply to text alone.
    pub(super) fn is_of_separators(&self) -> bool {
        let of_separator = |edit: &Edit| matches!(edit, Edit::Set(LB | SB, _) | Edit::Drop(LB | SB));
        self.requests.iter().flat_map(|(_, edits)| edits).any(of_separator)
    }

    fn form(&self) -> Extraction {
        match &self.base {
            Base::Extract(form) | Base::Link(form) => form.clone(),
            Base::Groups | Base::Search => Extraction::PLAIN,
        }
    }

    /// The credential in place of the token.
    fn credential(&self) -> Credential {
        let by = |edit: &Edit| if let Edit::By(credential) = edit { Some(*credential) } else { None };
        self.requests.iter().flat_map(|(_, edits)| edits).find_map(by).unwrap_or(Credential::Own)
    }

    fn case(self, clause: Clause) -> Case {
        let label = match &self.base {
            Base::Extract(form) | Base::Link(form) if !self.has_whole_label => {
                joined(&form.label(), &self.label)
            }
            _ => self.label.clone(),
        };
        let requests = u32::try_from(self.requests.len() + self.then.len()).unwrap_or(u32::MAX);
        let cost = self.cost.unwrap_or(match self.must {
            Must::Serve { gateways, .. } if self.base.extracts() => Cost::extraction(requests, gateways),
            Must::RespondSomehow(_) if self.base.extracts() => Cost::extraction(requests, 1),
            _ => Cost::requests(requests),
        });
        let row = Arc::new(self);
        let data = (row.clause.unwrap_or(clause), Arc::clone(&row));
        row.share(Case::for_data(label, cost, data, judge).needs(row.needs.clone()))
    }

    /// The case with the control requests that it shares. An extraction that is accepted needs none.
    fn share(&self, case: Case) -> Case {
        let Valid { name, gateways, .. } = &self.valid;
        let form = match &self.base {
            Base::Groups | Base::Search => {
                return case.sharing(
                    if name.is_empty() { self.base.label() } else { name.clone() },
                    Cost::requests(1),
                );
            }
            Base::Link(form) => {
                let case = share_link(form, case);
                let is_own = name.is_empty() || !matches!(self.must, Must::Reject { .. });
                return if is_own { case } else { case.sharing(form.label(), Cost::extraction(1, 1)) };
            }
            Base::Extract(_) if matches!(self.must, Must::Serve { .. } | Must::BeShort { .. }) => {
                return case;
            }
            Base::Extract(_) => self.control_form(),
        };
        let case = match (self.credential(), self.credential().fact()) {
            _ if self.before.is_some() => case,
            (Credential::Rejected(index), _) => case.sharing(format!("groups {index}"), Cost::requests(1)),
            (_, Some(fact)) if is_of_valid_token(fact) => case.sharing("groups", Cost::requests(1)),
            _ => case,
        };
        form.share_with(case, name, (*gateways).max(1))
    }

    /// The form must be accepted. Another check tests the transports of the token.
    fn control_form(&self) -> Extraction {
        match self.credential() {
            Credential::Own => self.form(),
            _ if self.before.is_some() => self.form(),
            _ => self.form().without_transport(),
        }
    }

    /// An extraction with a legacy credential needs none: how it is sent was found out by one that was accepted.
    async fn control(&self, probe: &Probe<'_>, valid: &Request) -> Result<(), Stop> {
        let Valid { name, edits, is_doubtful, .. } = &self.valid;
        let result = match &self.base {
            Base::Groups | Base::Search => probe.control_once(valid).await,
            Base::Link(_) if name.is_empty() => Ok(()),
            Base::Link(_) => probe.control_once(valid).await,
            Base::Extract(_) => {
                let form = self.control_form();
                let request = apply(probe, &Ids::default(), form.request(probe), edits)?;
                form.control_with(probe, name, request).await
            }
        };
        match result {
            Err(Stop::Inconclusive(_) | Stop::Skip(_)) if *is_doubtful => {}
            other => return other,
        }
        if self.base.extracts() && probe.is_accepted(valid).await?.1 {
            return Ok(());
        }
        Err(probe.skip(&format!("a valid request is rejected, {name}, {}", self.base.label())))
    }

    /// What is special about a request, in words.
    fn words(&self, why: &str) -> String {
        match &self.base {
            Base::Extract(form) | Base::Link(form) if !self.has_whole_label => {
                format!("{why}{}{}", if why.is_empty() { "" } else { ", " }, form.name())
            }
            _ => why.to_owned(),
        }
    }
}

impl Base {
    fn label(&self) -> String {
        match self {
            Self::Groups => "groups".to_owned(),
            Self::Search => "search".to_owned(),
            Self::Extract(form) | Self::Link(form) => form.label(),
        }
    }

    pub(super) const fn extracts(&self) -> bool {
        matches!(self, Self::Extract(_) | Self::Link(_))
    }

    async fn request(&self, probe: &Probe<'_>) -> Result<Request, Stop> {
        Ok(match self {
            Self::Groups => probe.groups(),
            Self::Search => probe.any_search(),
            Self::Extract(form) => form.request(probe),
            Self::Link(form) => by_link(probe, form).await?,
        })
    }
}

/// A custom separator that no service has a reason to reject.
pub(super) const SEPARATOR: &str = "|";

fn joined(form: &str, label: &str) -> String {
    if label.is_empty() { form.to_owned() } else { format!("{form}/{label}") }
}

fn apply(probe: &Probe<'_>, ids: &Ids, request: Request, edits: &[Edit]) -> Result<Request, Stop> {
    edits.iter().try_fold(request, |request, edit| edit.apply(probe, ids, request))
}

async fn judge(probe: &Probe<'_>, (clause, row): (Clause, Arc<Row>)) -> Result<(), Stop> {
    let ids = Ids::default();
    let valid = apply(probe, &ids, row.base.request(probe).await?, &row.valid.edits)?;
    let edited = |edits: &[Edit]| apply(probe, &ids, valid.clone(), edits);
    let requests = row.requests.iter().map(|(why, edits)| Ok((why, edited(edits)?)));
    let requests = requests.collect::<Result<Vec<_>, Stop>>()?;
    if let Some(before) = &row.before {
        row.control(probe, &valid).await?;
        row.form().accepted(probe, &edited(before)?).await?;
    }
    for (why, request) in requests {
        let words = row.words(why);
        match &row.must {
            Must::BeShort { like } => must_be_short(probe, clause, why, like, &request).await?,
            Must::Serve { .. } => row.serve(probe, (clause, &words), (&valid, &request), &ids).await?,
            Must::RespondSomehow(unspecified) => {
                row.control(probe, &valid).await?;
                probe.tolerates(clause, *unspecified, why, &request).await?;
            }
            Must::Reject { even_as_text: true } => {
                row.control(probe, &valid).await?;
                rejects_even_as_text(probe, clause, &words, &request).await?;
            }
            Must::Reject { even_as_text: false } => {
                row.control(probe, &valid).await?;
                rejects(probe, clause, &words, &request).await?;
                row.credential().proves_valid(probe).await?;
            }
        }
    }
    Ok(())
}

impl Row {
    async fn serve(
        &self,
        probe: &Probe<'_>,
        (clause, words): (Clause, &str),
        (valid, request): (&Request, &Request),
        ids: &Ids,
    ) -> Result<(), Stop> {
        let Must::Serve { unless, judges, .. } = &self.must else { return Ok(()) };
        let served = match unless {
            Unless::Finding if !self.base.extracts() => {
                self.control(probe, valid).await?;
                probe.accepts(clause, words, request).await?
            }
            Unless::Finding => {
                probe.accepts_or_control(clause, words, request, self.control(probe, valid)).await?
            }
            Unless::Control => Some(self.form().accepted(probe, request).await?),
            Unless::Cause => find_cause(probe, &self.form(), words, request).await?,
            Unless::Shortage | Unless::Nothing => {
                let (exchange, class) = probe.send_once(request).await?;
                let served = accepted(&exchange, &class);
                if served.is_none() && *unless == Unless::Shortage {
                    self.control(probe, valid).await?;
                }
                served
            }
        };
        let Some(served) = served else { return Ok(()) };
        for then in &self.then {
            match then {
                Then::Again(clause, why, edits) => {
                    let again = apply(probe, ids, request.clone(), edits)?;
                    judge_repeated(probe, *clause, &self.words(why), &served, &again).await?;
                }
                Then::Other(edits) => {
                    probe.control(&apply(probe, ids, valid.clone(), edits)?).await?;
                }
                Then::Invalid(edits) => {
                    probe.send_once(&apply(probe, ids, valid.clone(), edits)?.as_invalid()).await?;
                }
            }
        }
        for judge in *judges {
            judge.of(probe, words, &served).await?;
        }
        Ok(())
    }
}

/// Whether the fact is a token that is valid and may not extract.
const fn is_of_valid_token(fact: Fact) -> bool {
    matches!(
        fact,
        Fact::TokenNotWhitelisted | Fact::TokenNotVerified | Fact::TokenNotEntitled | Fact::RejectedTokens
    )
}

impl Ids {
    fn id(&self, probe: &Probe<'_>, number: usize) -> &str {
        self.0[number].get_or_init(|| probe.fresh_request_id())
    }
}

/// The query parameter with the token of the operation that a request is for.
pub(super) fn token_parameter<'a>(contract: &'a Contract, request: &Request) -> &'a str {
    match operation_of(contract, request) {
        Some(OperationId::Groups) => &contract.groups.api_key.name,
        Some(OperationId::Search) => &contract.search.api_key.name,
        Some(OperationId::Extract) | None => &contract.extract.api_key.name,
    }
}

impl Edit {
    fn apply(&self, probe: &Probe<'_>, ids: &Ids, request: Request) -> Result<Request, Stop> {
        let contract = probe.contract();
        let is_search = operation_of(contract, &request) == Some(OperationId::Search);
        let key = token_parameter(contract, &request);
        Ok(match self {
            Self::Set(part, value) if is_search => request.field(part, value.json(contract, part)),
            Self::Set(part, value) => request.query(part, value.text(contract, part)),
            Self::Drop(part) if is_search => request.without_field(part),
            Self::Drop(part) => request.without_query(part),
            Self::Add(part, value) => request.add_query(part, value.text(contract, part)),
            Self::By(credential) => {
                let text = credential.text(probe)?;
                match transport_of(contract, &request) {
                    Transport::Query => request.query(key, text),
                    other => other.carry(probe, request, &text),
                }
            }
            Self::Token(transport, credential) => {
                let text = credential.text(probe)?;
                if text == probe.token().expose() && !matches!(credential, Credential::Own) {
                    return Err(probe.skip("the other value is the token itself"));
                }
                transport.carry(probe, request, &text)
            }
            Self::AddToken(credential) => request.add_query(key, credential.text(probe)?),
            Self::NoToken => {
                let request = request.without_query(key).without_header("Authorization");
                request.without_header(&contract.extract.api_key_header)
            }
            Self::Id(place, number) => place.carry(request, ids.id(probe, *number)),
            Self::NoHeaderId => request.without_header(REQUEST_ID_HEADER),
            Self::ByCountry => by_country(&contract.extract, request),
            Self::Header(name, value) => request.header(name, value),
            Self::Claim(header, address) => claiming(request, header, address),
            Self::Change(change) => change(probe, request)?,
        })
    }
}

impl Credential {
    /// The credential as it is sent.
    ///
    /// # Errors
    /// Skip the case without one of that kind.
    pub(super) fn text(self, probe: &Probe<'_>) -> Result<String, Stop> {
        match self {
            Self::Wrong(wrong) => wrong.text(probe),
            _ => Ok(self.secret(probe)?.expose().to_owned()),
        }
    }

    fn secret<'a>(self, probe: &Probe<'a>) -> Result<&'a Secret, Stop> {
        match self {
            Self::Own | Self::Wrong(_) => Ok(probe.token()),
            Self::Supplied(fact) => probe.secret(fact, 0),
            Self::Rejected(index) => probe.secret(Fact::RejectedTokens, index),
        }
    }

    /// Shows that a token which must be rejected for its account is valid by itself.
    ///
    /// # Errors
    /// Skip when it is not.
    async fn proves_valid(self, probe: &Probe<'_>) -> Result<(), Stop> {
        match self.fact() {
            Some(fact) if is_of_valid_token(fact) && !self.is_revoked(probe) => {
                is_valid(probe, self.secret(probe)?, fact).await
            }
            _ => Ok(()),
        }
    }

    pub(super) const fn fact(self) -> Option<Fact> {
        match self {
            Self::Own | Self::Wrong(_) => None,
            Self::Supplied(fact) => Some(fact),
            Self::Rejected(_) => Some(Fact::RejectedTokens),
        }
    }

    fn is_revoked(self, probe: &Probe<'_>) -> bool {
        let Self::Rejected(index) = self else { return false };
        let rejected = probe.facts().rejected_tokens.get(index);
        rejected.is_some_and(|rejected| rejected.reason == RejectionReason::Revoked)
    }
}

/// Where an extraction has its token.
fn transport_of(contract: &Contract, request: &Request) -> Transport {
    let has = |wanted: &str| request.headers().iter().any(|(name, _)| name.eq_ignore_ascii_case(wanted));
    match () {
        () if has("Authorization") => Transport::Bearer,
        () if has(&contract.extract.api_key_header) => Transport::Header,
        () => Transport::Query,
    }
}

/// The smallest and the largest value of a part.
fn range(contract: &Contract, part: &str) -> RangeInclusive<i64> {
    match part {
        PAGE => contract.search.pages.clone(),
        PAGE_SIZE => contract.search.page_sizes.clone(),
        _ => contract.extract.range(part),
    }
}

impl<T: ToString> From<T> for Value {
    fn from(value: T) -> Self {
        Self::Text(value.to_string())
    }
}

impl Value {
    fn json(&self, contract: &Contract, part: &str) -> Json {
        match self {
            Self::Text(text) => text.as_str().into(),
            Self::Min(by) => (range(contract, part).start() + by).into(),
            Self::Max(by) => (range(contract, part).end() + by).into(),
        }
    }

    /// The value of a query parameter.
    pub(super) fn text(&self, contract: &Contract, part: &str) -> String {
        match self.json(contract, part) {
            Json::String(text) => text,
            other => other.to_string(),
        }
    }
}

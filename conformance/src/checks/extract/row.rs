//! Rules of an extraction as rows. A row says what differs from a valid extraction of some form, and what must follow; the case
//! with its label, cost and control request, and the words of a finding, are made from it.

use std::sync::Arc;

use super::access::{claiming, is_valid};
use super::content::judge_count;
use super::empty_region::must_be_short;
use super::forms::{Context, Transport, rejects};
use super::link;
use super::region::by_country;
use super::request_id::Place;
use super::text::{is_served_text, judge_form, judge_separator};
use crate::check::{AcceptedResponse, Case, CaseFn, Cost, Probe, Stop, accepted};
use crate::checks::Requests;
use crate::checks::token::WrongToken;
use crate::contract::part::{LB, NUM, SB};
use crate::contract::{Clause, Extract, Unspecified};
use crate::grammar::Spelling;
use crate::target::{Fact, Facts, RejectionReason, Secret};
use crate::wire::Request;

/// One case of a rule.
#[derive(Debug, Clone)]
pub(super) struct Row {
    form: Context,
    /// The form of the control request, where it is another.
    control_form: Option<Context>,
    /// The label of the case, behind that of the form unless it `has_whole_label`.
    label: String,
    has_whole_label: bool,
    /// Whether its words say nothing of the form.
    is_named: bool,
    why: String,
    clause: Option<Clause>,
    caller: Caller,
    /// The number of gateways of a text with a custom separator.
    separated: Option<i64>,
    credential: Credential,
    edits: Vec<Edit>,
    must: Must,
    needs: Vec<Fact>,
}

/// What must follow.
#[derive(Debug, Clone)]
enum Must {
    /// A rejection. With `even_as_text`, gateways as text are a success even where JSON is expected.
    Reject { even_as_text: bool },
    /// At most so many gateways, which are judged.
    Serve { gateways: u32, unless: Unless, judge: Judge },
    /// Any response without a server error, which is recorded.
    RespondSomehow(Unspecified),
    /// In the region without gateways, the shortage that a simpler form gets.
    BeShort { like: Context },
}

/// What follows when an extraction that must be served is not.
#[derive(Debug, Clone, Copy)]
pub(super) enum Unless {
    /// A finding, if the control request is accepted.
    Finding,
    /// Nothing is judged: the request is a control itself.
    Control,
    /// Nothing is judged if the control request is accepted: there may be no gateways.
    Shortage,
    /// Nothing is judged, and no control request sent.
    Nothing,
}

/// What is judged in a response with gateways, beside that it is a success.
#[derive(Debug, Clone)]
pub(super) enum Judge {
    Nothing,
    /// That there are at most so many.
    Count(i64),
    /// That they come as text.
    Text,
    /// The text between them.
    Separator(String),
}

/// Who sends the valid extraction that a row changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Caller {
    Usual,
    /// One that names the region by its alias.
    ByCountry,
    /// One with a legacy API Link credential.
    ByLink,
}

/// A difference from a valid extraction.
#[derive(Debug, Clone)]
pub(super) enum Edit {
    Set(&'static str, Value),
    Drop(&'static str),
    /// Once more, beside the first.
    Add(&'static str, Value),
    /// A credential in one more place.
    Token(Transport, Credential),
    /// A new request id.
    Id(Place),
    /// The region by its alias.
    ByCountry,
    Header(&'static str, String),
    /// An address that the caller claims to have, in that header.
    Claim(&'static str, String),
}

/// A value, or its distance from the smallest or the largest one that the document allows.
#[derive(Debug, Clone)]
pub(super) enum Value {
    Text(String),
    Min(i64),
    Max(i64),
}

/// A credential of an extraction.
#[derive(Debug, Clone, Copy)]
pub(super) enum Credential {
    Own,
    Wrong(WrongToken),
    /// One that the tester supplied.
    Supplied(Fact, fn(&Facts) -> Option<&Secret>),
    /// One of the list of rejected tokens.
    Rejected(usize),
}

pub(super) use Edit::Drop;
pub(super) use Value::{Max, Min};

pub(super) fn set(part: &'static str, value: impl Into<Value>) -> Edit {
    Edit::Set(part, value.into())
}

pub(super) fn reject(label: impl Into<String>, why: impl Into<String>, edits: impl Into<Vec<Edit>>) -> Row {
    Row {
        form: Context::PLAIN,
        control_form: None,
        label: label.into(),
        has_whole_label: false,
        is_named: false,
        why: why.into(),
        clause: None,
        caller: Caller::Usual,
        separated: None,
        credential: Credential::Own,
        edits: edits.into(),
        must: Must::Reject { even_as_text: false },
        needs: Vec::new(),
    }
}

pub(super) fn accept(label: impl Into<String>, why: impl Into<String>, edits: impl Into<Vec<Edit>>) -> Row {
    let must = Must::Serve { gateways: 1, unless: Unless::Finding, judge: Judge::Nothing };
    Row { must, ..reject(label, why, edits) }
}

/// An extraction whose outcome is unspecified.
pub(super) fn either(unspecified: Unspecified, label: &str, why: &str, edits: impl Into<Vec<Edit>>) -> Row {
    Row { must: Must::RespondSomehow(unspecified), ..reject("", why, edits) }.labelled(label)
}

/// A row whose label is that of the limit: the same mistake under another caller.
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
pub(super) fn each(forms: &[Context], rows: impl IntoIterator<Item = Row>) -> Vec<Row> {
    let in_forms =
        |row: Row| forms.iter().map(move |form| row.clone().in_form(form.clone())).collect::<Vec<_>>();
    rows.into_iter().flat_map(in_forms).collect()
}

/// Rows with the forms that [`Context::some_for_each`] or [`Context::one_for_each`] chose for them.
pub(super) fn in_forms(pairs: impl IntoIterator<Item = (Context, Row)>) -> Vec<Row> {
    pairs.into_iter().map(|(form, row)| row.in_form(form)).collect()
}

/// A case of a form that is judged by a function of its own.
pub(super) fn flow(
    label: &'static str,
    cost: Cost,
    run: impl for<'p> CaseFn<'p, (Context,)> + Copy,
) -> impl Fn(Context) -> Case {
    move |form| Case::for_data(joined(&form.label(), label), cost, form, run)
}

/// The same, which needs the control request of the form.
pub(super) fn controlled_flow(
    cost: Cost,
    run: impl for<'p> CaseFn<'p, (Context,)> + Copy,
) -> impl Fn(Context) -> Case {
    move |form| form.clone().share(flow("", cost, run)(form))
}

/// The cases of rows. A row that names no clause is about this one.
pub(super) fn cases(clause: Clause, rows: impl IntoIterator<Item = Row>) -> Vec<Case> {
    rows.into_iter().map(|row| row.case(clause)).collect()
}

impl Row {
    pub(super) fn in_form(self, form: Context) -> Self {
        Self { form, ..self }
    }

    /// The row under this label alone.
    pub(super) fn labelled(self, label: impl Into<String>) -> Self {
        Self { label: label.into(), has_whole_label: true, ..self }
    }

    /// The row under this label alone, and with nothing of its form in its words.
    pub(super) fn named(self, label: impl Into<String>) -> Self {
        Self { is_named: true, ..self.labelled(label) }
    }

    pub(super) fn citing(self, clause: Clause) -> Self {
        Self { clause: Some(clause), ..self }
    }

    pub(super) fn sent(self, caller: Caller) -> Self {
        Self { caller, ..self }
    }

    /// The row as a change of a text of so many gateways with a custom separator.
    pub(super) fn separated(self, gateways: i64) -> Self {
        Self { separated: Some(gateways), ..self }
    }

    pub(super) fn by(self, credential: Credential) -> Self {
        Self { credential, ..self }
    }

    pub(super) fn needing(mut self, fact: Fact) -> Self {
        self.needs.push(fact);
        self
    }

    pub(super) fn even_as_text(self) -> Self {
        Self { must: Must::Reject { even_as_text: true }, ..self }
    }

    pub(super) fn giving(self, gateways: u32, unless: Unless, judge: Judge) -> Self {
        Self { must: Must::Serve { gateways, unless, judge }, ..self }
    }

    /// The row with the control request of another form.
    pub(super) fn controlled_by(self, form: Context) -> Self {
        Self { control_form: Some(form), ..self }
    }

    /// The row in the region without gateways, under its label alone.
    pub(super) fn short_like(self, like: Context) -> Self {
        Self { must: Must::BeShort { like }, has_whole_label: true, ..self }
    }

    pub(super) fn clause(&self) -> Option<Clause> {
        self.clause
    }

    /// Whether it is about separators, which apply to text alone.
    pub(super) fn is_of_separators(&self) -> bool {
        self.edits.iter().any(|edit| matches!(edit, Edit::Set(LB | SB, _) | Edit::Drop(LB | SB)))
    }

    fn case(self, clause: Clause) -> Case {
        let label =
            if self.has_whole_label { self.label.clone() } else { joined(&self.form.label(), &self.label) };
        let cost = match self.must {
            Must::Serve { gateways, .. } => Cost::extraction(1, gateways),
            Must::RespondSomehow(_) => Cost::extraction(1, 1),
            Must::Reject { .. } | Must::BeShort { .. } => Cost::requests(1),
        };
        let row = Arc::new(self);
        let data = (row.clause.unwrap_or(clause), Arc::clone(&row));
        row.share(Case::for_data(label, cost, data, judge).needs(row.needs.clone()))
    }

    /// The case with the control requests that it shares. An accepted request needs none.
    fn share(&self, case: Case) -> Case {
        match (&self.must, self.caller) {
            (Must::Reject { .. } | Must::RespondSomehow(_), _) => {}
            (_, Caller::ByLink) => return link::shared(&self.form, case),
            _ => return case,
        }
        let case = match (self.credential, self.credential.fact()) {
            (Credential::Rejected(index), _) => case.sharing(format!("groups {index}"), Cost::requests(1)),
            (_, Some(fact)) if is_of_valid_token(fact) => case.sharing("groups", Cost::requests(1)),
            _ => case,
        };
        let gateways = self.separated.map_or(1, |num| u32::try_from(num).unwrap_or(u32::MAX));
        match (self.caller, self.separated) {
            (Caller::ByLink, None) => link::shared(&self.form, case),
            (Caller::ByLink, Some(_)) => {
                link::shared(&self.form, case).sharing(self.form.label(), Cost::extraction(1, 1))
            }
            _ => self.control_form().share_with(case, &self.control_label(), gateways),
        }
    }

    /// The form must be accepted. Another check tests the transports of the token.
    fn control_form(&self) -> Context {
        match (&self.control_form, self.credential) {
            (Some(form), _) => form.clone(),
            (None, Credential::Own) => self.form.clone(),
            (None, _) => self.form.without_transport(),
        }
    }

    fn control_label(&self) -> String {
        match (self.caller, self.separated) {
            (Caller::ByCountry, None) => "by country".to_owned(),
            (Caller::ByCountry, Some(_)) => "by country, with a custom separator".to_owned(),
            (_, Some(num)) => format!("with a custom separator, num={num}"),
            (_, None) => String::new(),
        }
    }

    /// The valid extraction of its caller, from that of its form.
    fn valid(&self, extract: &Extract, request: Request) -> Request {
        let request = if self.caller == Caller::ByCountry { by_country(extract, request) } else { request };
        match self.separated {
            Some(num) => request.query(NUM, num).query(LB, &extract.custom_separator).query(SB, SEPARATOR),
            None => request,
        }
    }

    /// An extraction with a legacy credential needs none: how it is sent was found out by one that was accepted.
    async fn control(&self, probe: &Probe<'_>) -> Result<(), Stop> {
        if self.caller == Caller::ByLink {
            return Ok(());
        }
        let extract = &probe.contract().extract;
        let (form, valid) = (self.control_form(), |request: &Request| self.valid(extract, request.clone()));
        let result = form.control_with(probe, &self.control_label(), valid).await;
        if self.caller != Caller::ByCountry || result.is_ok() {
            return result;
        }
        // Another check judges whether the alias is accepted.
        match probe.is_accepted(&valid(&form.request(probe))).await? {
            (_, true) => Ok(()),
            (_, false) => {
                Err(probe.skip(&format!("a valid extraction with country is rejected, {}", form.name())))
            }
        }
    }

    fn description(&self) -> String {
        let caller = match self.caller {
            Caller::Usual => "",
            Caller::ByCountry => ", with country",
            Caller::ByLink => " with the legacy credential",
        };
        if self.is_named { self.why.clone() } else { format!("{}{caller}, {}", self.why, self.form.name()) }
    }
}

/// A custom separator that no service has a reason to reject.
pub(super) const SEPARATOR: &str = "|";

fn joined(form: &str, label: &str) -> String {
    if label.is_empty() { form.to_owned() } else { format!("{form}/{label}") }
}

async fn judge(probe: &Probe<'_>, (clause, row): (Clause, Arc<Row>)) -> Result<(), Stop> {
    let token = row.credential.text(probe)?;
    let base = match row.caller {
        Caller::ByLink => link::by_link(probe, &row.form).await?,
        Caller::Usual | Caller::ByCountry => row.form.with_token(probe, &token),
    };
    let valid = row.valid(&probe.contract().extract, base);
    let request = row.edits.iter().try_fold(valid.clone(), |request, edit| edit.apply(probe, request))?;
    let why = row.description();
    match &row.must {
        Must::BeShort { like } => must_be_short(probe, clause, &row.why, like, &request).await,
        Must::Serve { unless, judge, .. } => {
            let served = match unless {
                Unless::Finding => {
                    probe.accepts_or_control(clause, &why, &request, row.control(probe)).await?
                }
                Unless::Control => Some(row.form.accepted(probe, &request).await?),
                Unless::Shortage | Unless::Nothing => {
                    let (exchange, class) = probe.send_once(&request).await?;
                    let served = accepted(&exchange, &class);
                    if served.is_none() && matches!(unless, Unless::Shortage) {
                        row.control(probe).await?;
                    }
                    served
                }
            };
            match served {
                Some(served) => judge.of(probe, &why, &served).await,
                None => Ok(()),
            }
        }
        Must::RespondSomehow(unspecified) => {
            row.control(probe).await?;
            probe.tolerates(clause, *unspecified, &row.why, &request).await
        }
        Must::Reject { even_as_text } => {
            if row.caller == Caller::ByLink && row.separated.is_some() {
                probe.control_once(&valid).await?;
            }
            row.control(probe).await?;
            if *even_as_text {
                return rejects_even_as_text(probe, clause, &why, &request).await;
            }
            rejects(probe, clause, &why, &request).await?;
            row.credential.proves_valid(probe).await
        }
    }
}

async fn rejects_even_as_text(
    probe: &Probe<'_>,
    clause: Clause,
    why: &str,
    request: &Request,
) -> Result<(), Stop> {
    let (exchange, class) = probe.send(&request.clone().as_invalid()).await?;
    if exchange.result.as_ref().is_ok_and(|response| is_served_text(&probe.contract().extract, response)) {
        probe.finding(clause, &format!("rejected: {why}"), "a success", &[&exchange]);
        return Ok(());
    }
    probe.judge_rejection(clause, why, &exchange, &class).await
}

impl Judge {
    async fn of(&self, probe: &Probe<'_>, why: &str, served: &AcceptedResponse) -> Result<(), Stop> {
        match self {
            Self::Nothing => {}
            Self::Count(most) => judge_count(probe, &served.exchange, &served.response, *most),
            Self::Text => judge_form(probe, &served.exchange, &served.response, why),
            Self::Separator(separator) => judge_separator(probe, served, separator).await?,
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

impl Edit {
    pub(super) fn apply(&self, probe: &Probe<'_>, request: Request) -> Result<Request, Stop> {
        let extract = &probe.contract().extract;
        Ok(match self {
            Self::Set(part, value) => request.query(part, value.text(extract, part)),
            Self::Drop(part) => request.without_query(part),
            Self::Add(part, value) => request.add_query(part, value.text(extract, part)),
            Self::Token(transport, credential) => {
                let text = credential.text(probe)?;
                if text == probe.token().expose() && !matches!(credential, Credential::Own) {
                    return Err(probe.skip("the other value is the token itself"));
                }
                transport.carry(probe, request, &text)
            }
            Self::Id(place) => place.carry(request, &probe.fresh_request_id()),
            Self::ByCountry => by_country(extract, request),
            Self::Header(name, value) => request.header(name, value),
            Self::Claim(header, address) => claiming(request, header, address),
        })
    }
}

impl Credential {
    pub(super) const SECOND: Self = Self::Supplied(Fact::SecondToken, |facts| facts.second_token.as_ref());
    pub(super) const LINK: Self =
        Self::Supplied(Fact::LinkCredential, |facts| facts.link_credential.as_ref());
    pub(super) const REVOKED: Self = Self::Supplied(Fact::RevokedToken, |facts| facts.revoked_token.as_ref());

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
            Self::Supplied(fact, secret) => probe.required(fact, secret),
            Self::Rejected(index) => {
                probe.required(Fact::RejectedTokens, |facts| Some(&facts.rejected_tokens.get(index)?.token))
            }
        }
    }

    /// Shows that a token which must be rejected for its account is valid by itself.
    ///
    /// # Errors
    /// Skip when it is not.
    pub(super) async fn proves_valid(self, probe: &Probe<'_>) -> Result<(), Stop> {
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
            Self::Supplied(fact, _) => Some(fact),
            Self::Rejected(_) => Some(Fact::RejectedTokens),
        }
    }

    fn is_revoked(self, probe: &Probe<'_>) -> bool {
        let Self::Rejected(index) = self else { return false };
        let rejected = probe.facts().rejected_tokens.get(index);
        rejected.is_some_and(|rejected| rejected.reason == RejectionReason::Revoked)
    }
}

impl<T: ToString> From<T> for Value {
    fn from(value: T) -> Self {
        Self::Text(value.to_string())
    }
}

impl Value {
    pub(super) fn text(&self, extract: &Extract, part: &str) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Min(by) => (extract.range(part).start() + by).to_string(),
            Self::Max(by) => (extract.range(part).end() + by).to_string(),
        }
    }
}

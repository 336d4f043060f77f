//! Rules as rows, which say what differs from a valid request, and what must follow. Cases and the words of findings are made from them.

mod edit;
mod engine;
mod text;

use std::sync::Arc;

use super::extraction::Extraction;
use super::extraction::content::Judge;
use crate::check::{Case, CaseFuture, Cost, Probe};
use crate::contract::{Clause, OperationId, Unspecified};
use crate::names;
use crate::target::Fact;

pub(super) use edit::{Credential, Edit, token_parameter, with};
pub(super) use engine::edited;
pub(crate) use text::changed;
pub(super) use text::{edits, fact, read};

/// One case of a rule.
#[derive(Clone)]
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
    pub(super) requests: Vec<(String, Vec<Edit>)>,
    must: Must,
    then: Vec<Then>,
    needs: Vec<Fact>,
    cost: Option<Cost>,
    /// The index of the supplied thing that it is about.
    subject: Option<usize>,
}

/// The plain valid request of an operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Base {
    /// An operation that reserves no gateways.
    Static(OperationId),
    Extract(Extraction),
    /// An extraction with a legacy API Link credential, in the transport that the service accepts.
    Link(Extraction),
}

/// What the valid request of a row has beside its base. Rows with equal names share one control request.
#[derive(Clone, Default)]
struct Valid {
    name: String,
    edits: Vec<Edit>,
    gateways: u32,
    /// Whether a service may reject it for a reason of its own; then nothing is judged.
    is_doubtful: bool,
}

/// What must follow.
#[derive(Clone)]
enum Must {
    /// A rejection. With `even_as_text`, gateways as text are a success even where JSON is expected.
    Reject { even_as_text: bool },
    /// A success. An extraction returns at most so many gateways, which are judged.
    Serve { gateways: u32, unless: Unless, judges: Vec<Judge> },
    /// Any response without a server error, which is recorded.
    RespondSomehow(Unspecified),
    /// The same decision for both requests, which mean the same.
    BeAlike,
    /// In the region without gateways, the shortage that a simpler form gets.
    BeShort { like: Extraction },
    /// Whatever a function judges, which sends the requests itself.
    Flow(Flow, Option<Shared>),
}

pub(super) type Flow = for<'p> fn(&'p Probe<'p>, Arc<Row>) -> CaseFuture<'p>;

/// What a flow reads of its row, which may have nothing else.
#[derive(Debug, Clone, Copy)]
pub(super) enum Reads {
    /// The form.
    Form,
    /// The only request, with differences that depend on contract and facts alone.
    Request,
    /// Up to so many requests.
    Requests(usize),
}

names! {
    /// The control request that the case of a flow shares.
    #[derive(Debug, Clone, Copy)]
    pub(crate) enum Shared {
        /// That of its form.
        Control => "its control",
        /// The shortage of the region without gateways.
        Shortage => "the shortage",
    }
}

names! {
    /// What follows when a request that must be served is not.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(crate) enum Unless {
        /// A finding, if the control request is accepted.
        Finding => "a finding",
        /// A finding on the clause of the parameter that causes it.
        Cause => "its cause",
        /// Nothing is judged: the request is a control itself.
        Control => "no control",
        /// Nothing is judged, and no control request sent.
        Nothing => "nothing",
        /// The same, of a region with few gateways. That it is short of all of them is recorded.
        Scarce => "a shortage",
    }
}

/// What follows an extraction that was served.
#[derive(Clone)]
pub(super) enum Then {
    /// The same extraction once more, which returns the same gateways. It may be about another clause than the row.
    Again(Option<Clause>, String, Vec<Edit>),
    /// The same once more, whose response is judged in the same way.
    Alike,
    /// Another valid extraction.
    Other(Vec<Edit>),
    /// An invalid one, whatever its response.
    Invalid(Vec<Edit>),
}

/// The cases of rows. A row that names no clause is about this one.
pub(super) fn cases(clause: Clause, rows: impl IntoIterator<Item = Row>) -> Vec<Case> {
    rows.into_iter().map(|row| row.case(clause)).collect()
}

impl Row {
    /// A request that must be accepted or rejected, and is described by its label.
    pub(super) fn new(
        base: Base,
        clause: Option<Clause>,
        label: &str,
        is_valid: bool,
        edits: Vec<Edit>,
    ) -> Self {
        let must = match is_valid {
            true => Must::Serve { gateways: 1, unless: Unless::Finding, judges: Vec::new() },
            false => Must::Reject { even_as_text: false },
        };
        Self {
            base,
            label: label.to_owned(),
            has_whole_label: false,
            clause,
            valid: Valid::default(),
            before: None,
            requests: vec![(label.to_owned(), edits)],
            must,
            then: Vec::new(),
            needs: Vec::new(),
            cost: None,
            subject: None,
        }
    }

    fn in_form(self, form: Extraction) -> Self {
        let base = if matches!(self.base, Base::Link(_)) { Base::Link(form) } else { Base::Extract(form) };
        Self { base, ..self }
    }

    pub(super) fn form(&self) -> Extraction {
        self.base.form().cloned().unwrap_or(Extraction::PLAIN)
    }

    /// The credential in place of the token.
    fn credential(&self) -> Credential {
        let by = |edit: &Edit| if let Edit::By(credential) = edit { Some(*credential) } else { None };
        self.requests.iter().flat_map(|(_, edits)| edits).find_map(by).unwrap_or(Credential::Own)
    }
}

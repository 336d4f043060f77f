//! Rules of a search, and of any request but an extraction, as rows. A row says what differs from a valid search, and what must follow; the case with its cost and its
//! control request is made from it.

use std::sync::Arc;

use super::cases::{Change, Member, beside_member, control_or_skip};
use crate::check::{Case, Cost, Probe, Stop};
use crate::checks::relation::accepts_search;
use crate::checks::{Requests, UNKNOWN_ADDRESS};
use crate::contract::{Clause, Unspecified};
use crate::wire::Request;

/// One case of a rule: requests that are made from a valid search and judged alike.
#[derive(Clone)]
pub(in crate::checks) struct Row {
    label: String,
    clause: Clause,
    must: Must,
    valid: Valid,
    /// The label under which the cases of a check share the control request.
    control: Option<String>,
    /// Each with its description.
    requests: Vec<(String, Edit)>,
}

type Edit = Arc<dyn Fn(&Probe<'_>, Request) -> Result<Request, Stop> + Send + Sync>;

#[derive(Debug, Clone, Copy)]
enum Must {
    Reject,
    Accept,
    /// Accepted, with a control request only when it is not.
    AcceptAlone,
    /// Accepted or rejected, without a server error.
    Either(Unspecified),
}

/// The valid request that a row changes, which is its control request.
#[derive(Clone)]
enum Valid {
    Beside(Member),
    /// The plain search with a change. A doubtful one may be rejected by a service for a reason of its own.
    Changed {
        change: Edit,
        is_doubtful: bool,
    },
}

impl Row {
    fn new(must: Must, clause: Clause, label: impl Into<String>) -> Self {
        let plain: Edit = Arc::new(|_: &Probe<'_>, good: Request| Ok::<_, Stop>(good));
        let valid = Valid::Changed { change: plain, is_doubtful: false };
        let control = Some("search".to_owned());
        Self { label: label.into(), clause, must, valid, control, requests: Vec::new() }
    }

    pub(in crate::checks) fn rejects(clause: Clause, label: impl Into<String>) -> Self {
        Self::new(Must::Reject, clause, label)
    }

    pub(super) fn accepts(clause: Clause, label: impl Into<String>) -> Self {
        Self::new(Must::Accept, clause, label)
    }

    pub(super) fn accepts_or_rejects(clause: Clause, label: impl Into<String>, is_allowed: bool) -> Self {
        Self::new(if is_allowed { Must::Accept } else { Must::Reject }, clause, label)
    }

    pub(super) fn accepts_alone(clause: Clause, label: impl Into<String>) -> Self {
        Self { control: None, ..Self::new(Must::AcceptAlone, clause, label) }
    }

    pub(super) fn either(clause: Clause, unspecified: Unspecified, label: impl Into<String>) -> Self {
        Self::new(Must::Either(unspecified), clause, label)
    }

    /// The same with a request.
    pub(in crate::checks) fn sending(
        mut self,
        why: impl Into<String>,
        edit: impl Fn(&Probe<'_>, Request) -> Result<Request, Stop> + Send + Sync + 'static,
    ) -> Self {
        self.requests.push((why.into(), Arc::new(edit)));
        self
    }

    /// The same with a request, which its label describes.
    pub(super) fn changed(self, change: Change) -> Self {
        let why = self.label.clone();
        self.sending(why, move |probe, good| Ok(change(&probe.contract().search, good)))
    }

    /// The same with a member of the body in place of the valid one.
    pub(super) fn with(
        self,
        why: impl Into<String>,
        part: &'static str,
        value: impl Into<serde_json::Value>,
    ) -> Self {
        let value = value.into();
        self.sending(why, move |_, good| Ok(good.field(part, value.clone())))
    }

    /// The row beside a member that a service may reject, in place of which it is then beside a status.
    pub(super) fn beside(self, member: Member) -> Self {
        Self { valid: Valid::Beside(member), control: Some(format!("beside {}", member.0)), ..self }
    }

    /// The row as a change of another valid request, whose control is shared under this label.
    pub(in crate::checks) fn changing(
        self,
        control: impl Into<String>,
        change: impl Fn(&Probe<'_>, Request) -> Request + Send + Sync + 'static,
    ) -> Self {
        let change: Edit = Arc::new(move |probe: &Probe<'_>, good: Request| Ok(change(probe, good)));
        Self { valid: Valid::Changed { change, is_doubtful: false }, control: Some(control.into()), ..self }
    }

    /// The row as a change of a search for one address that finds nothing.
    pub(super) fn changing_nothing_found(self, control: &str) -> Self {
        self.changing(control, |probe, _| probe.search([UNKNOWN_ADDRESS]))
    }

    /// The row as a change of a search that a service may reject for a reason of its own; then it is skipped. The control may be
    /// shared under a label.
    pub(super) fn changing_doubtful(
        self,
        control: Option<String>,
        change: impl Fn(&Probe<'_>, Request) -> Request + Send + Sync + 'static,
    ) -> Self {
        let change: Edit = Arc::new(move |probe: &Probe<'_>, good: Request| Ok(change(probe, good)));
        Self { valid: Valid::Changed { change, is_doubtful: true }, control, ..self }
    }

    /// The row with a control request of its own.
    pub(super) fn unshared(self) -> Self {
        Self { control: None, ..self }
    }

    pub(in crate::checks) fn case(self) -> Case {
        let count = u32::try_from(self.requests.len()).unwrap_or(u32::MAX);
        let has_own_control = self.control.is_none() && !matches!(self.must, Must::AcceptAlone);
        let cost = Cost::requests(count.saturating_add(has_own_control.into()));
        let (label, control) = (self.label.clone(), self.control.clone());
        let case = Case::for_data(label, cost, Arc::new(self), judge);
        match control {
            Some(control) => case.sharing(control, Cost::requests(1)),
            None => case,
        }
    }
}

pub(super) fn cases(rows: impl IntoIterator<Item = Row>) -> Vec<Case> {
    rows.into_iter().map(Row::case).collect()
}

async fn judge(probe: &Probe<'_>, row: Arc<Row>) -> Result<(), Stop> {
    let good = match &row.valid {
        Valid::Beside(member) => beside_member(probe, *member).await?,
        Valid::Changed { change, .. } => change(probe, probe.any_search())?,
    };
    let requests = row.requests.iter().map(|(why, edit)| Ok((why, edit(probe, good.clone())?)));
    let requests = requests.collect::<Result<Vec<_>, Stop>>()?;
    match (&row.valid, row.must) {
        (_, Must::AcceptAlone) => {}
        (Valid::Changed { is_doubtful: true, .. }, _) => control_or_skip(probe, &good).await?,
        _ => probe.control_once(&good).await?,
    }
    for (why, request) in requests {
        match row.must {
            Must::Reject => probe.rejects(row.clause, why, &request).await?,
            Must::Accept => drop(probe.accepts(row.clause, why, &request).await?),
            Must::AcceptAlone => drop(accepts_search(probe, row.clause, why, &request).await?),
            Must::Either(unspecified) => probe.tolerates(row.clause, unspecified, why, &request).await?,
        }
    }
    Ok(())
}

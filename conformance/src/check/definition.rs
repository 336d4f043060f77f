use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use futures::future::BoxFuture;

use super::{Observed, PassiveFinding, Probe};
use crate::contract::{Clause, Contract, OperationId};
use crate::target::{Fact, Facts};
use crate::wire::{Exhausted, WireError};

/// One rule of the contract under test: a list of cases, or a passive check.
#[derive(Debug)]
pub struct Check {
    /// `operation.rule.aspect`, unique; the first part is the operation's, or `all`.
    pub id: &'static str,
    /// What a conforming service does, in a few words.
    pub title: &'static str,
    /// What goes wrong for users when the clause is broken.
    pub why: &'static str,
    /// The operation that it tests; none when it looks at all of them.
    pub operation: Option<OperationId>,
    /// The clauses that its findings may cite.
    pub clauses: &'static [Clause],
    /// Facts without which it is skipped; a case may need more.
    pub needs: &'static [Fact],
    /// How it is done.
    pub run: Run,
}

/// How a check is done.
#[derive(Debug, Clone, Copy)]
pub enum Run {
    /// Active: the cases, from what is known before anything is sent. They run one after another in one [`Probe`], so that
    /// a control request is sent once for all of them.
    Cases(fn(&Scope<'_>) -> Vec<Case>),
    /// Passive: judges the exchanges of other checks. None means that the exchange does not concern it.
    Passive(fn(&Observed<'_>) -> Option<Vec<PassiveFinding>>),
}

/// What cases are made from. The same scope gives the same cases, so that a plan knows labels and costs.
#[derive(Debug, Clone, Copy)]
pub struct Scope<'a> {
    /// The contract.
    pub contract: &'a Contract,
    /// What the tester knows.
    pub facts: &'a Facts,
}

/// One request pattern of a check, with what it needs and costs.
#[derive(Clone)]
pub struct Case {
    label: Cow<'static, str>,
    cost: Cost,
    control: Option<Control>,
    needs: Vec<Fact>,
    run: RunCase,
}

/// Control requests that several cases of a check share.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Control {
    /// Cases of a check with the same key send the same control requests, of which all but the first are saved.
    pub(crate) key: Cow<'static, str>,
    pub(crate) cost: Cost,
}

type RunCase = Arc<dyn for<'p> Fn(&'p Probe<'p>) -> Running<'p> + Send + Sync>;

/// A case at work.
pub type Running<'p> = BoxFuture<'p, Result<(), Stop>>;

/// Requests and gateways that a case may use when nothing has to be repeated.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Cost {
    /// Requests.
    pub requests: u32,
    /// Gateways that its extractions ask for.
    pub gateways: u32,
}

/// Why a case ends before its end.
#[derive(Debug, thiserror::Error)]
pub enum Stop {
    /// It does not apply here; the text says what is missing.
    #[error("{0}")]
    Skip(String),
    /// The target did not let it come to a result.
    #[error("{0}")]
    Inconclusive(String),
    /// Our own fault or the network's.
    #[error("{0}")]
    Error(String),
    /// The budget is used up. This ends the whole check.
    #[error(transparent)]
    Budget(#[from] Exhausted),
}

impl Check {
    /// Its cases in a scope; none for a passive check.
    #[must_use]
    pub fn cases(&self, scope: &Scope<'_>) -> Vec<Case> {
        match self.run {
            Run::Cases(cases) => cases(scope),
            Run::Passive(_) => Vec::new(),
        }
    }

    /// Whether it judges the exchanges of other checks.
    #[must_use]
    pub const fn is_passive(&self) -> bool {
        matches!(self.run, Run::Passive(_))
    }
}

impl Case {
    /// A case. `label` is unique within its check, says what is special about the request, and holds no secret. `cost` is
    /// whole, but for what [`Case::control`] adds.
    #[must_use]
    pub fn new(
        label: impl Into<Cow<'static, str>>,
        cost: Cost,
        run: impl for<'p> Fn(&'p Probe<'p>) -> Running<'p> + Send + Sync + 'static,
    ) -> Self {
        Self { label: label.into(), cost, control: None, needs: Vec::new(), run: Arc::new(run) }
    }

    /// A case that is given a copy of some data, such as the value that it sends.
    #[must_use]
    pub fn with<T: Clone + Send + Sync + 'static>(
        label: impl Into<Cow<'static, str>>,
        cost: Cost,
        data: T,
        run: for<'p> fn(&'p Probe<'p>, T) -> Running<'p>,
    ) -> Self {
        Self::new(label, cost, move |probe| run(probe, data.clone()))
    }

    /// The one case of a check that has no others; it has no label.
    #[must_use]
    pub fn single(
        cost: Cost,
        run: impl for<'p> Fn(&'p Probe<'p>) -> Running<'p> + Send + Sync + 'static,
    ) -> Vec<Self> {
        vec![Self::new("", cost, run)]
    }

    /// Adds the cost of control requests that other cases of the check with the same key send as well, so that a plan counts
    /// them once.
    #[must_use]
    pub fn control(mut self, key: impl Into<Cow<'static, str>>, cost: Cost) -> Self {
        self.control = Some(Control { key: key.into(), cost });
        self
    }

    /// Facts without which this case is skipped, beside those of its check.
    #[must_use]
    pub fn needs(mut self, facts: impl IntoIterator<Item = Fact>) -> Self {
        self.needs.extend(facts);
        self
    }

    /// What is special about its request; empty for the one case of a check that has no others.
    #[must_use]
    pub fn label(&self) -> &str {
        &self.label
    }

    /// What it may use when it runs alone: its control requests included.
    #[must_use]
    pub fn cost(&self) -> Cost {
        [self.cost].into_iter().chain(self.control.as_ref().map(|control| control.cost)).sum()
    }

    /// What it may use beside the control requests that it shares.
    pub(crate) fn own_cost(&self) -> Cost {
        self.cost
    }

    /// The control requests that it shares.
    pub(crate) fn shared(&self) -> Option<&Control> {
        self.control.as_ref()
    }

    /// Facts without which it is skipped, beside those of its check.
    #[must_use]
    pub fn needed(&self) -> &[Fact] {
        &self.needs
    }

    pub(crate) fn run<'p>(&self, probe: &'p Probe<'p>) -> Running<'p> {
        (self.run)(probe)
    }
}

impl fmt::Debug for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { label, cost, control, needs, run: _ } = self;
        f.debug_struct("Case")
            .field("label", label)
            .field("cost", cost)
            .field("control", control)
            .field("needs", needs)
            .finish()
    }
}

impl Cost {
    /// Requests that take no gateway.
    #[must_use]
    pub const fn requests(requests: u32) -> Self {
        Self { requests, gateways: 0 }
    }

    /// Extractions and the gateways they ask for together.
    #[must_use]
    pub const fn extraction(requests: u32, gateways: u32) -> Self {
        Self { requests, gateways }
    }
}

impl std::iter::Sum for Cost {
    fn sum<I: Iterator<Item = Self>>(costs: I) -> Self {
        costs.fold(Self::default(), |sum, cost| Self {
            requests: sum.requests.saturating_add(cost.requests),
            gateways: sum.gateways.saturating_add(cost.gateways),
        })
    }
}

impl From<WireError> for Stop {
    fn from(error: WireError) -> Self {
        match error {
            WireError::Budget(exhausted) => Self::Budget(exhausted),
            WireError::Setup(_) => Self::Error(error.to_string()),
        }
    }
}

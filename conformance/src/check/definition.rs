use std::borrow::Cow;
use std::sync::Arc;

use futures::future::BoxFuture;

use super::{ObservedExchange, PassiveFinding, Probe};
use crate::contract::{Clause, Contract, Operation, OperationId};
use crate::target::{Fact, Facts};
use crate::wire::{BudgetError, WireError, debug_as};

/// One rule of the contract under test: a list of cases, or a passive check.
#[derive(Debug)]
pub struct Check {
    /// `operation.rule.aspect`, unique; the first part is the operation's, or `all`.
    pub id: &'static str,
    /// What a conforming service does, in a few words.
    pub title: &'static str,
    /// What goes wrong for users when the clause is violated.
    pub why: &'static str,
    /// The operation that it tests; none when it concerns all of them.
    pub operation: Option<OperationId>,
    /// The clauses that its findings may cite.
    pub clauses: &'static [Clause],
    /// Facts without which it is skipped; a case may need more.
    pub needs: &'static [Fact],
    /// How it is run.
    pub run: Run,
    /// Makes the cases of the rows that stand beside its rule, which come before those of `run`.
    pub stated: fn(&Self, &Scope<'_>) -> Vec<Case>,
}

/// How a check is run.
#[derive(Debug, Clone, Copy)]
pub enum Run {
    /// Active: the cases, made before anything is sent. They run one after another in one [`Probe`], which sends their control once.
    Cases(fn(&Scope<'_>) -> Vec<Case>),
    /// Active, and run to its end before any other check begins: its requests must be the first of their kind.
    FirstCases(fn(&Scope<'_>) -> Vec<Case>),
    /// Active like [`Run::Cases`], and made from the declaration of its operation.
    Declared(fn(&Operation) -> Vec<Case>),
    /// Passive: judges the exchanges of other checks. None means that the check does not apply to the exchange.
    Passive(fn(&ObservedExchange<'_>) -> Option<Vec<PassiveFinding>>),
}

/// What cases are made from. The same scope gives the same cases, so a plan knows labels and costs.
#[derive(Debug, Clone, Copy)]
pub struct Scope<'a> {
    /// The contract.
    pub contract: &'a Contract,
    /// What the tester knows.
    pub facts: &'a Facts,
}

/// One request pattern of a check, with what it needs and costs.
#[derive(Clone)]
#[must_use]
pub struct Case {
    pub(crate) label: Cow<'static, str>,
    /// Its cost, without the control requests that it shares.
    pub cost: Cost,
    /// Facts without which it is skipped, beside those of its check.
    pub needs: Vec<Fact>,
    /// The control requests that it shares.
    pub controls: Vec<SharedControl>,
    /// The index of the supplied thing that it is about. Plans value the first case of each.
    pub(crate) subject: Option<usize>,
    /// The clause that it is about even if no record says which faults it notices, where the case says so.
    pub(crate) clause: Option<Clause>,
    pub(crate) run: RunCase,
}

/// A control request that is sent once for several cases.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharedControl {
    /// Unique within the check or the run.
    pub label: Cow<'static, str>,
    /// Its cost.
    pub cost: Cost,
    /// Whether it is sent once in the run, or once in the check.
    pub is_in_run: bool,
}

type RunCase = Arc<dyn for<'p> Fn(&'p Probe<'p>) -> CaseFuture<'p> + Send + Sync>;

/// The future of a running case.
pub type CaseFuture<'p> = BoxFuture<'p, Result<(), Stop>>;

/// An `async fn` that runs a case: it takes the probe and, as `Args`, nothing (`()`) or the data of the case (`(T,)`).
pub trait CaseFn<'p, Args>: Send + Sync + 'static {
    /// Runs the case.
    fn call(&self, probe: &'p Probe<'p>, args: Args) -> CaseFuture<'p>;
}

impl<'p, F, R> CaseFn<'p, ()> for F
where
    F: Fn(&'p Probe<'p>) -> R + Send + Sync + 'static,
    R: Future<Output = Result<(), Stop>> + Send + 'p,
{
    fn call(&self, probe: &'p Probe<'p>, (): ()) -> CaseFuture<'p> {
        Box::pin(self(probe))
    }
}

impl<'p, F, R, T> CaseFn<'p, (T,)> for F
where
    F: Fn(&'p Probe<'p>, T) -> R + Send + Sync + 'static,
    R: Future<Output = Result<(), Stop>> + Send + 'p,
{
    fn call(&self, probe: &'p Probe<'p>, (data,): (T,)) -> CaseFuture<'p> {
        Box::pin(self(probe, data))
    }
}

/// Maximum number of requests and gateways of a case, its control request included, without retries. A control that is
/// sent only when a request is not accepted does not count: it takes the gateways that the request did not get.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Cost {
    /// Requests.
    pub requests: u32,
    /// Gateways that its extractions ask for.
    pub gateways: u32,
}

/// Why a case ends early.
#[derive(Debug, thiserror::Error)]
#[must_use]
pub enum Stop {
    /// The case does not apply; the text says what is missing.
    #[error("{0}")]
    Skip(String),
    /// The target prevented a result.
    #[error("{0}")]
    Inconclusive(String),
    /// An error of the suite or the network.
    #[error("{0}")]
    Error(String),
    /// The budget is used up, which ends the whole check.
    #[error(transparent)]
    Budget(#[from] BudgetError),
}

impl Run {
    /// Active, with the stated cases alone.
    pub const STATED: Self = Self::Cases(|_| Vec::new());
}

impl Check {
    /// No operation, facts or cases: what a check does not define itself. A test rejects one without an id, title, clauses or cases.
    pub(crate) const TEMPLATE: Self = Self {
        id: "",
        title: "",
        why: "",
        operation: None,
        clauses: &[],
        needs: &[],
        run: Run::STATED,
        stated: |_, _| Vec::new(),
    };

    /// Its cases in a scope; none for a passive check.
    pub fn cases(&self, scope: &Scope<'_>) -> Vec<Case> {
        let further = match self.run {
            Run::Cases(cases) | Run::FirstCases(cases) => cases(scope),
            Run::Declared(cases) => {
                self.operation.map(|id| cases(scope.contract.operation(id))).unwrap_or_default()
            }
            Run::Passive(_) => Vec::new(),
        };
        (self.stated)(self, scope).into_iter().chain(further).collect()
    }

    /// Whether it judges the exchanges of other checks.
    pub const fn is_passive(&self) -> bool {
        matches!(self.run, Run::Passive(_))
    }
}

impl Case {
    /// A case. `label` is unique within its check and says what is special about the request.
    pub fn new(label: impl Into<Cow<'static, str>>, cost: Cost, run: impl for<'p> CaseFn<'p, ()>) -> Self {
        Self::from_closure(label, cost, move |probe| run.call(probe, ()))
    }

    /// A case with a copy of some data, such as the value that it sends.
    pub fn for_data<T: Clone + Send + Sync + 'static>(
        label: impl Into<Cow<'static, str>>,
        cost: Cost,
        data: T,
        run: impl for<'p> CaseFn<'p, (T,)>,
    ) -> Self {
        Self::from_closure(label, cost, move |probe| run.call(probe, (data.clone(),)))
    }

    /// Like [`Case::new`], for a closure that captures data. It boxes its future, whose lifetimes can't be inferred.
    pub fn from_closure(
        label: impl Into<Cow<'static, str>>,
        cost: Cost,
        run: impl for<'p> Fn(&'p Probe<'p>) -> CaseFuture<'p> + Send + Sync + 'static,
    ) -> Self {
        Self {
            label: label.into(),
            cost,
            needs: Vec::new(),
            controls: Vec::new(),
            subject: None,
            clause: None,
            run: Arc::new(run),
        }
    }

    /// The only case of a check; it has no label.
    pub fn single(cost: Cost, run: impl for<'p> CaseFn<'p, ()>) -> Vec<Self> {
        vec![Self::new("", cost, run)]
    }

    /// Facts without which this case is skipped, beside those of its check.
    pub fn needs(mut self, facts: impl IntoIterator<Item = Fact>) -> Self {
        self.needs.extend(facts);
        self
    }

    /// Adds a control request, beside the case's own cost, that is sent once for all cases of this check with the same control label.
    pub fn sharing(mut self, control: impl Into<Cow<'static, str>>, cost: Cost) -> Self {
        self.controls.push(SharedControl { label: control.into(), cost, is_in_run: false });
        self
    }

    /// Adds a control request that is sent once in a run, for the cases of all checks with the same control label.
    pub fn sharing_in_run(mut self, control: impl Into<Cow<'static, str>>, cost: Cost) -> Self {
        self.controls.push(SharedControl { label: control.into(), cost, is_in_run: true });
        self
    }

    /// Describes its request; empty for the only case of a check.
    pub fn label(&self) -> &str {
        &self.label
    }

    /// Its cost including the control requests that it shares.
    pub fn cost_alone(&self) -> Cost {
        self.controls.iter().map(|control| control.cost).chain([self.cost]).sum()
    }

    /// The control requests that it shares with other checks.
    pub fn controls_in_run(&self) -> impl Iterator<Item = &SharedControl> {
        self.controls.iter().filter(|control| control.is_in_run)
    }
}

debug_as!(Case, |Self { label, .. }| "Case({label})");

impl Cost {
    /// Requests without gateways.
    pub const fn requests(requests: u32) -> Self {
        Self { requests, gateways: 0 }
    }

    /// Extractions, with the total number of gateways that they request.
    pub const fn extraction(requests: u32, gateways: u32) -> Self {
        Self { requests, gateways }
    }
}

impl SharedControl {
    /// Replaces the check's id for exchanges of a control request of the run, which belong to no case.
    pub const SOURCE: &'static str = "shared control";
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

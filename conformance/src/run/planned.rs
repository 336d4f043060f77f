use std::collections::BTreeSet;

use super::Selection;
use crate::check::{Case, Check, Cost, Scope, SharedControl};
use crate::detection::Cases;
use crate::target::{Fact, Facts};

/// One check of a plan.
#[derive(Debug, Clone)]
pub struct PlannedCheck {
    /// The check.
    pub check: &'static Check,
    /// Its cases that were chosen; none for a passive check.
    pub cases: Vec<PlannedCase>,
    /// Why the check as a whole is skipped, when it is.
    unfit: Option<String>,
}

/// One case of a plan.
#[derive(Debug, Clone)]
pub struct PlannedCase {
    /// The case.
    pub case: Case,
    /// Why it would be skipped, when it would.
    pub skipped: Option<String>,
}

impl PlannedCase {
    /// Adds it and the controls that it shares in the run, with the reason why it has no result when it has none.
    pub(super) fn add_to<'a>(
        &'a self,
        cases: &mut Cases<'a>,
        check: &'static str,
        without_result: Option<&'a str>,
    ) {
        cases.add(check, self.case.label(), without_result);
        for control in self.case.controls_in_run() {
            cases.add_shared(SharedControl::SOURCE, control.label(), without_result);
        }
    }
}

/// Shared control requests that the cases chosen so far send: those of the run, and those of each check.
#[derive(Debug, Default)]
pub(super) struct SentControls(BTreeSet<(Option<&'static str>, String)>);

impl SentControls {
    /// The additional cost of a case beside the cases chosen so far.
    pub(super) fn price(&self, check: &'static Check, case: &Case) -> Cost {
        let new = case.controls().iter().filter(|control| !self.0.contains(&Self::key(check, control)));
        new.map(SharedControl::cost).chain([case.cost()]).sum()
    }

    /// Whether every control of the run that a case shares is sent by cases chosen so far.
    pub(super) fn has_all(&self, check: &'static Check, case: &Case) -> bool {
        case.controls_in_run().all(|control| self.0.contains(&Self::key(check, control)))
    }

    /// Adds a control of the run.
    pub(super) fn add_control(&mut self, control: &SharedControl) {
        self.0.insert((None, control.label().to_owned()));
    }

    pub(super) fn add(&mut self, check: &'static Check, case: &Case) {
        self.0.extend(case.controls().iter().map(|control| Self::key(check, control)));
    }

    fn key(check: &'static Check, control: &SharedControl) -> (Option<&'static str>, String) {
        ((!control.is_in_run()).then_some(check.id), control.label().to_owned())
    }
}

impl PlannedCheck {
    /// None when none of its cases is chosen.
    pub(super) fn new(check: &'static Check, selection: &Selection, scope: &Scope<'_>) -> Option<Self> {
        let unfit = missing(check.needs, scope.facts);
        if check.is_passive() {
            return selection.includes(check, "").then_some(Self { check, cases: Vec::new(), unfit });
        }
        let chosen = |case: &Case| selection.includes(check, case.label());
        let planned = |case: Case| PlannedCase {
            skipped: unfit.clone().or_else(|| missing(case.needed(), scope.facts)),
            case,
        };
        let cases: Vec<_> = check.cases(scope).into_iter().filter(chosen).map(planned).collect();
        (!cases.is_empty()).then_some(Self { check, cases, unfit })
    }

    /// The cases that would run.
    pub fn running(&self) -> impl Iterator<Item = &Case> {
        self.cases.iter().filter(|planned| planned.skipped.is_none()).map(|planned| &planned.case)
    }

    /// The cost of the cases that would run.
    #[must_use]
    pub fn cost(&self) -> Cost {
        Cost::of_cases(self.running())
    }

    /// Whether all of its cases run.
    pub(super) fn runs_in_full(&self) -> bool {
        self.unfit.is_none() && self.cases.iter().all(|planned| planned.skipped.is_none())
    }

    /// Why no case of the check would run, if none would.
    #[must_use]
    pub fn skipped(&self) -> Option<String> {
        if self.check.is_passive() || self.unfit.is_some() {
            return self.unfit.clone();
        }
        let reasons: Option<BTreeSet<&str>> =
            self.cases.iter().map(|planned| planned.skipped.as_deref()).collect();
        reasons.map(|reasons| reasons.into_iter().collect::<Vec<_>>().join("; "))
    }
}

fn missing(needs: &[Fact], facts: &Facts) -> Option<String> {
    let missing: Vec<String> =
        needs.iter().filter(|fact| !facts.has(**fact)).map(ToString::to_string).collect();
    (!missing.is_empty()).then(|| format!("supply {} to run this", missing.join(" and ")))
}

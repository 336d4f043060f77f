use std::collections::BTreeSet;

use super::Selection;
use crate::check::{Case, Check, Cost, Scope, SharedControl};
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

/// Shared control requests that the cases chosen so far send: those of the run, and those of each check.
#[derive(Debug, Default)]
pub(super) struct SentControls(BTreeSet<(Option<&'static str>, String)>);

impl SentControls {
    /// The additional cost of a case beside the cases chosen so far.
    pub(super) fn price(&self, check: &'static Check, case: &Case) -> Cost {
        let new = case.controls().iter().filter(|control| !self.0.contains(&Self::key(check, control)));
        new.map(SharedControl::cost).chain([case.cost()]).sum()
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

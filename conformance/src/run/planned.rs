use std::collections::BTreeSet;

use super::Selection;
use crate::check::{Case, Check, Cost, Scope, SharedControl};
use crate::target::{Fact, Facts};

/// One check of a plan.
#[derive(Debug, Clone)]
pub struct PlannedCheck {
    /// The check.
    pub check: &'static Check,
    /// Its selected cases; none for a passive check.
    pub cases: Vec<PlannedCase>,
    /// Why the whole check is skipped, if it is.
    skipped: Option<String>,
}

/// One case of a plan.
#[derive(Debug, Clone)]
pub struct PlannedCase {
    /// The case.
    pub case: Case,
    /// Why it is skipped, if it is.
    pub skipped: Option<String>,
    /// Whether it is skipped for the budget alone.
    pub(super) is_left_out: bool,
}

/// The shared control requests of the cases chosen so far: those of the run, and those of each check.
#[derive(Debug, Default)]
pub(super) struct SentControls(BTreeSet<(Option<&'static str>, String)>);

impl SentControls {
    /// The additional cost of a case.
    pub(super) fn price(&self, check: &'static Check, case: &Case) -> Cost {
        let new = case.controls.iter().filter(|control| !self.0.contains(&Self::key(check, control)));
        new.map(|control| control.cost).chain([case.cost]).sum()
    }

    /// Whether all controls that a case shares in the run are sent already.
    pub(super) fn has_all(&self, check: &'static Check, case: &Case) -> bool {
        case.controls_in_run().all(|control| self.0.contains(&Self::key(check, control)))
    }

    pub(super) fn add_control(&mut self, control: &SharedControl) {
        self.0.insert((None, control.label.to_string()));
    }

    pub(super) fn add(&mut self, check: &'static Check, case: &Case) {
        self.0.extend(case.controls.iter().map(|control| Self::key(check, control)));
    }

    fn key(check: &'static Check, control: &SharedControl) -> (Option<&'static str>, String) {
        ((!control.is_in_run).then_some(check.id), control.label.to_string())
    }
}

/// The maximum cost of the cases that run, without retries.
pub(super) fn cost<'a>(planned: impl IntoIterator<Item = &'a PlannedCheck>) -> Cost {
    let mut sent = SentControls::default();
    let running = planned.into_iter().flat_map(|planned| planned.running().map(|case| (planned.check, case)));
    let price = |(check, case)| {
        let price = sent.price(check, case);
        sent.add(check, case);
        price
    };
    running.map(price).sum()
}

impl PlannedCheck {
    /// None when none of its cases is selected.
    pub(super) fn new(check: &'static Check, selection: &Selection, scope: &Scope<'_>) -> Option<Self> {
        if !selection.may_include(check) {
            return None;
        }
        let skipped = missing(check.needs, scope.facts);
        if check.is_passive() {
            return selection.includes(check, "").then_some(Self { check, cases: Vec::new(), skipped });
        }
        let is_selected = |case: &Case| selection.includes(check, case.label());
        let planned = |case: Case| PlannedCase {
            skipped: skipped.clone().or_else(|| missing(&case.needs, scope.facts)),
            case,
            is_left_out: false,
        };
        let cases: Vec<_> = check.cases(scope).into_iter().filter(is_selected).map(planned).collect();
        (!cases.is_empty()).then_some(Self { check, cases, skipped })
    }

    /// The check with only the cases whose indexes are chosen; the others are skipped.
    pub(super) fn only(&self, is_chosen: impl Fn(usize) -> bool) -> Self {
        let mut only = Self { skipped: None, ..self.clone() };
        for (index, case) in only.cases.iter_mut().enumerate() {
            let reason = case.skipped.take().unwrap_or_else(|| "it ran before".to_owned());
            case.skipped = (!is_chosen(index)).then_some(reason);
        }
        only
    }

    /// The cases that run.
    pub fn running(&self) -> impl Iterator<Item = &Case> {
        self.cases.iter().filter(|planned| planned.skipped.is_none()).map(|planned| &planned.case)
    }

    /// The cost of the cases that run.
    pub fn cost(&self) -> Cost {
        cost([self])
    }

    /// Whether all of its cases run.
    pub(super) fn runs_in_full(&self) -> bool {
        self.skipped.is_none() && self.cases.iter().all(|planned| planned.skipped.is_none())
    }

    /// Why no case of the check runs, if none does.
    pub fn skipped(&self) -> Option<String> {
        if self.check.is_passive() || self.skipped.is_some() {
            return self.skipped.clone();
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

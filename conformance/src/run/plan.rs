use std::collections::BTreeSet;

use super::choice::Allowance;
use super::{CheckResult, Selection, choice};
use crate::check::{Case, Check, Cost, Outcome, Scope, SharedControl};
use crate::detection::{Cases, Detection, Matrix};
use crate::target::{Fact, Facts};

/// The plan of a run: the cases that it would run, their cost, and the cases that it would skip with the reasons.
#[derive(Debug, Clone)]
pub struct Plan {
    /// Its checks, in the order of the registry, to read.
    pub planned: Vec<PlannedCheck>,
    /// Whether it contains every check with all of its cases.
    pub(super) is_all: bool,
}

impl Plan {
    /// A plan for the selected cases. A case whose facts are missing is skipped. If the others exceed the budget, it contains those
    /// that judge the most clauses and notice the most known faults for their cost. With `detect` it contains only as many as are
    /// needed to notice that percentage of the known faults.
    pub(super) fn new(
        checks: &[&'static Check],
        selection: &Selection,
        scope: &Scope<'_>,
        allowance: Allowance<'_>,
        matrix: &Matrix,
        detect: Option<u8>,
    ) -> Self {
        let mut planned: Vec<PlannedCheck> =
            checks.iter().filter_map(|check| PlannedCheck::new(check, selection, scope)).collect();
        choice::choose(&mut planned, matrix, allowance, detect);
        let is_all = planned.len() == checks.len() && planned.iter().all(PlannedCheck::runs_in_full);
        Self { planned, is_all }
    }

    /// Takes cases that it left out and that what is left of the budget covers, after these results. Returns their checks.
    pub(super) fn take_more(
        &mut self,
        results: &[CheckResult],
        matrix: &Matrix,
        allowance: Allowance<'_>,
    ) -> Vec<PlannedCheck> {
        let has_result = |check: &str, label: &str| {
            let result = results.iter().find(|result| result.id == check);
            result.and_then(|result| result.case(label)).is_some_and(Outcome::concluded)
        };
        let chosen = choice::choose_more(&self.planned, matrix, allowance, &has_result);
        let checks: BTreeSet<usize> = chosen.iter().map(|(check, _)| *check).collect();
        let only = |check: usize| self.planned[check].only(|case| chosen.contains(&(check, case)));
        let more = checks.into_iter().map(only).collect();
        for (check, case) in chosen {
            let case = &mut self.planned[check].cases[case];
            (case.skipped, case.is_left_out) = (None, false);
        }
        more
    }

    /// Whether the budget does not cover all of its cases.
    pub fn is_limited(&self) -> bool {
        self.planned.iter().flat_map(|planned| &planned.cases).any(|case| case.is_left_out)
    }

    /// Whether a selected case is skipped because a fact was not supplied.
    pub(super) fn lacks(&self, fact: Fact, facts: &Facts) -> bool {
        let needs = |planned: &PlannedCheck| {
            planned.check.needs.contains(&fact)
                || planned.cases.iter().any(|case| case.case.needs.contains(&fact))
        };
        !facts.has(fact) && self.planned.iter().any(needs)
    }

    /// How many known faults it would notice.
    pub fn detection(&self, matrix: &Matrix) -> Detection {
        Detection::new(matrix, &self.cases(None))
    }

    /// Its cases and the control requests that they share in the run; one without a result in these has the reason of plan or check.
    pub(super) fn cases<'a>(&'a self, results: Option<&'a [CheckResult]>) -> Cases<'a> {
        let mut cases = Cases::default();
        for planned in &self.planned {
            let id = planned.check.id;
            let result = results.map(|results| results.iter().find(|result| result.id == id));
            if matches!(result, Some(None)) {
                continue;
            }
            cases.add_judge(id);
            for planned in &planned.cases {
                let label = planned.case.label();
                let outcome = result.flatten().map(|result| result.case(label).unwrap_or(&result.outcome));
                let reason = planned.skipped.as_deref().or_else(|| outcome.and_then(Outcome::reason));
                let reason = reason.filter(|_| !outcome.is_some_and(Outcome::concluded));
                cases.add(id, label, reason);
                for control in planned.case.controls_in_run() {
                    cases.add(SharedControl::SOURCE, &control.label, reason);
                }
            }
        }
        cases
    }

    /// The maximum cost, without retries.
    pub fn cost(&self) -> Cost {
        cost(&self.planned)
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::{CaseResult, Run};
    use crate::checks::registry;
    use crate::contract::{Clause, Contract};
    use crate::detection::{Detector, KnownFault};
    use crate::embedded::Reference;
    use crate::run::Profile;
    use crate::wire::{Budget, Usage};

    fn plan(checks: &[&'static Check], gateways: u64) -> Plan {
        within(checks, &Budget { gateways, ..Budget::default() }, &Matrix::default())
    }

    fn unused(budget: &Budget) -> Allowance<'_> {
        Allowance { budget, used: Usage::default() }
    }

    fn within(checks: &[&'static Check], budget: &Budget, matrix: &Matrix) -> Plan {
        let contract = Contract::embedded().expect("contract");
        let scope = Scope { contract, facts: &Facts::default() };
        Plan::new(checks, &Selection::default(), &scope, unused(budget), matrix, None)
    }

    #[test]
    fn a_plan_never_goes_beyond_its_budget_and_reaches_as_many_checks_as_it_can() {
        let (none, embedded) = (Matrix::default(), Matrix::embedded().expect("the matrix"));
        let smoke = Profile::Smoke.budget();
        for (requests, gateways, matrix, least) in [
            (0, 0, &none, 0),
            (40, 1, &none, 0),
            (400, 7, &none, 31),
            (4_000, 25, &none, 31),
            (4_000, 1_000, &none, 31),
            (smoke.requests, smoke.gateways, embedded, 13),
        ] {
            let budget = Budget { requests, gateways, ..Budget::default() };
            let (plan, most) = (within(&registry(), &budget, matrix), (requests, gateways));
            let Cost { requests, gateways } = plan.cost();
            assert!(u64::from(requests) <= most.0 && u64::from(gateways) <= most.1, "{:?}", plan.cost());
            let reached = plan.planned.iter().filter(|planned| planned.running().count() > 0).count();
            assert!(reached >= least, "{budget:?}: {reached} checks");
        }
        let without = plan(&registry(), 0);
        for planned in &without.planned {
            let reason = planned.skipped().unwrap_or_default();
            let is_named = planned.check.needs.iter().all(|fact| reason.contains(fact.variable()));
            assert!(is_named, "{}: {reason}", planned.check.id);
            for planned in &planned.cases {
                let takes = planned.case.cost_alone().gateways > 0;
                let reason = planned.skipped.as_deref().unwrap_or_default();
                assert!(!takes || !reason.is_empty(), "{planned:?}");
                assert!(takes || !reason.contains("--max-gateways"), "{planned:?}");
            }
        }
    }

    fn nothing(cost: Cost, labels: &[&'static str]) -> Vec<Case> {
        labels.iter().map(|label| Case::from_closure(*label, cost, |_| Box::pin(async { Ok(()) }))).collect()
    }

    static CHEAP: Check = Check {
        id: "extract.a.a",
        clauses: &[Clause::ExtractCount],
        run: Run::Cases(|_| nothing(Cost::extraction(1, 2), &["one", "two", "three"])),
        ..Check::TEMPLATE
    };

    static SHARING: Check = Check {
        id: "extract.c.c",
        clauses: &[Clause::ExtractPartial],
        run: Run::Cases(|_| {
            let cases = nothing(Cost::extraction(1, 0), &["one", "two"]);
            let shared = cases.into_iter().map(|case| case.sharing("plain", Cost::extraction(1, 1)));
            shared.map(|case| case.sharing_in_run("run", Cost::extraction(1, 1))).collect()
        }),
        ..Check::TEMPLATE
    };

    static SHARING_TOO: Check = Check { id: "extract.d.d", ..SHARING };

    static WITH_ITS_OWN: Check = Check {
        id: "extract.e.e",
        clauses: &[Clause::ExtractPartial],
        run: Run::Cases(|_| nothing(Cost::extraction(3, 2), &["one", "two"])),
        ..Check::TEMPLATE
    };

    #[test]
    fn a_shared_control_counts_once() {
        let once = plan(&[&SHARING], 3);
        assert_eq!(once.cost(), Cost { requests: 4, gateways: 2 });
        assert_eq!(once.planned[0].cost(), Cost::extraction(4, 2));
        let both = plan(&[&SHARING, &SHARING_TOO], 100);
        assert_eq!(both.cost(), Cost { requests: 7, gateways: 3 });
        assert_eq!(plan(&[&SHARING], 1).cost(), Cost::default());
    }

    /// A matrix with a fault for each of these checks, which its cases with these labels notice.
    fn noticed(faults: &[(&'static Check, &str)]) -> Matrix {
        let mut matrix = Matrix::default();
        for (number, (check, labels)) in faults.iter().enumerate() {
            let labels = labels.split(' ');
            let cases = labels.map(|label| matrix.add_case(check.id, label)).collect::<Vec<_>>().into_iter();
            let noticed_by = cases.map(|case| Detector { judge: check.id.into(), case }).collect();
            let (id, clause, breaks) = (number.to_string(), Clause::ExtractCount, "Is wrong.".to_owned());
            matrix.add_fault(KnownFault { id, clause, breaks, noticed_by });
        }
        matrix
    }

    /// The cases that run, as `check/label`.
    fn running(planned: &[PlannedCheck]) -> String {
        let cases = planned.iter().flat_map(|planned| planned.running().map(|case| (planned.check.id, case)));
        let cases = cases.map(|(check, case)| format!("{}/{}", &check[8..9], case.label()));
        cases.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_budget_goes_to_the_cases_that_notice_most_for_their_price() {
        let matrix = noticed(&[(&CHEAP, "two"), (&CHEAP, "three"), (&CHEAP, "three")]);
        for (gateways, cases, found) in
            [(3, "a/three", 2), (5, "a/two a/three", 3), (7, "a/one a/two a/three", 3)]
        {
            let plan = within(&[&CHEAP], &Budget { requests: 1_000, gateways, ..Budget::default() }, &matrix);
            let detection = plan.detection(&matrix);
            assert_eq!((running(&plan.planned).as_str(), detection.noticed), (cases, found));
            let unlocks = detection.unlocks.iter();
            let mut told = unlocks.filter(|it| it.faults == 1 && it.reason.contains("--max-gateways"));
            assert_eq!(told.next().is_some(), found < 3, "{detection:?}");
        }
    }

    #[test]
    fn what_is_new_comes_first_and_checks_have_their_turns() {
        static COSTLY: Check = Check {
            run: Run::Cases(|_| {
                let costs = [(1, 0, "first"), (10, 0, "again"), (3_000_000 - 5, 1, "new")];
                let case = |(requests, gateways, label)| nothing(Cost { requests, gateways }, &[label]);
                costs.into_iter().flat_map(case).collect()
            }),
            ..CHEAP
        };
        // The last two do not fit together.
        let budget = Budget { requests: 4_000_000, gateways: 1, ..Budget::default() };
        let matrix = noticed(&[(&COSTLY, "first again"), (&COSTLY, "new")]);
        assert_eq!(running(&within(&[&COSTLY], &budget, &matrix).planned), "a/first a/new");

        static OTHER: Check = Check { id: "extract.b.b", clauses: &[Clause::ExtractPartial], ..CHEAP };
        let both = plan(&[&CHEAP, &OTHER], 9);
        assert_eq!([0, 1].map(|check| both.planned[check].running().count()), [2, 2]);
    }

    #[test]
    fn what_cases_did_not_use_goes_to_cases_that_were_left_out() {
        let faults = ["one", "two", "two", "three", "three"].map(|label| (&CHEAP, label));
        let matrix = noticed(&faults);
        let budget = Budget { requests: 1_000, gateways: 5, ..Budget::default() };
        let plan = within(&[&CHEAP], &budget, &matrix);
        let passed = plan.planned[0].running().map(|case| CaseResult::not_run(case.label(), Outcome::Passed));
        let result = CheckResult { cases: passed.collect(), ..CheckResult::not_run(&CHEAP, Outcome::Passed) };
        for (gateways, more) in [(4, ""), (3, ""), (2, "a/one")] {
            let allowance = Allowance { budget: &budget, used: Usage { requests: 2, gateways, bytes: 0 } };
            let planned = plan.clone().take_more(std::slice::from_ref(&result), &matrix, allowance);
            assert_eq!(running(&planned), more, "{gateways}");
        }
        let mut all = within(&[&CHEAP], &Budget::default(), &matrix);
        assert!(all.take_more(&[], &matrix, unused(&Budget::default())).is_empty());
    }

    #[test]
    fn after_a_rejected_control_cases_with_their_own_come_first() {
        let (sharing, too, own) = ((&SHARING, "one"), (&SHARING_TOO, "one"), (&WITH_ITS_OWN, "one"));
        let matrix = noticed(&[sharing, sharing, sharing, too, too, own]);
        let budget = Budget { requests: 1_000, gateways: 3, ..Budget::default() };
        let mut plan = within(&[&WITH_ITS_OWN, &SHARING, &SHARING_TOO], &budget, &matrix);
        assert_eq!(running(&plan.planned), "c/one c/two");
        let result = CheckResult::not_run(&SHARING, Outcome::Inconclusive("rejected".to_owned()));
        // One after the other of its cases.
        for more in ["e/one", "e/two"] {
            let allowance = Allowance { budget: &budget, used: Usage { requests: 2, ..Usage::default() } };
            assert_eq!(running(&plan.take_more(std::slice::from_ref(&result), &matrix, allowance)), more);
        }
    }

    /// Every second known fault, starting with number `first`.
    fn each_second(matrix: &Matrix, first: usize) -> Matrix {
        let mut half = Matrix::default();
        for name in matrix.cases() {
            half.add_case(&name.check, &name.label);
        }
        matrix.faults().iter().skip(first).step_by(2).for_each(|fault| half.add_fault(fault.clone()));
        half
    }

    /// A plan is made from known faults, and has to notice others.
    #[tokio::test]
    async fn a_plan_for_some_faults_notices_most_of_the_others() {
        let reference = Reference::start().await.expect("the embedded server");
        let contract = Contract::embedded().expect("contract");
        let scope = Scope { contract, facts: &reference.target().facts };
        let matrix = Matrix::embedded().expect("the matrix");
        let noticed = [0, 1].map(|first| {
            let (known, others) = (each_second(matrix, first), each_second(matrix, 1 - first));
            let budget = Profile::Production.budget();
            let plan = Plan::new(&registry(), &Selection::default(), &scope, unused(&budget), &known, None);
            let detection = plan.detection(&others);
            detection.noticed * 100 / detection.known
        });
        assert!(noticed.iter().all(|percent| *percent >= 69), "{noticed:?} %");
    }
}

use std::collections::BTreeSet;

use super::choice::Allowance;
use super::planned::{PlannedCheck, cost};
use super::{CheckResult, Selection, choice};
use crate::check::{Check, Cost, Outcome, Scope, SharedControl};
use crate::detection::{Cases, Detection, Matrix};
use crate::target::{Fact, Facts};

/// The plan of a run: the cases that it would run, their cost, and the cases that it would skip with the reasons.
#[derive(Debug, Clone)]
pub struct Plan {
    planned: Vec<PlannedCheck>,
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

    /// Its checks, in the order of the registry.
    pub fn planned(&self) -> &[PlannedCheck] {
        &self.planned
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
                    cases.add_shared(SharedControl::SOURCE, &control.label, reason);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::{Case, CaseResult, Run};
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
        let limits = [(0, 0, 0), (40, 1, 0), (400, 7, 31), (4_000, 25, 31), (4_000, 1_000, 31)];
        let budgets = limits.map(|(requests, gateways, least)| {
            (Budget { requests, gateways, ..Budget::default() }, &none, least)
        });
        for (budget, matrix, least) in budgets.into_iter().chain([(Profile::Smoke.budget(), embedded, 13)]) {
            let plan = within(&registry(), &budget, matrix);
            let Cost { requests, gateways } = plan.cost();
            let is_within = u64::from(requests) <= budget.requests && u64::from(gateways) <= budget.gateways;
            assert!(is_within, "{:?}", plan.cost());
            let reached = plan.planned().iter().filter(|planned| planned.running().count() > 0).count();
            assert!(reached >= least, "{budget:?}: {reached} checks");
        }
        let without = plan(&registry(), 0);
        for planned in without.planned() {
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
        assert_eq!(once.planned()[0].cost(), Cost::extraction(4, 2));
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
            assert_eq!((running(plan.planned()).as_str(), detection.noticed), (cases, found));
            let unlock = detection.unlocks.first().map(|unlock| (unlock.faults, unlock.reason.as_str()));
            let is_told =
                unlock.is_some_and(|(faults, reason)| faults == 1 && reason.contains("--max-gateways"));
            assert_eq!(is_told, found < 3, "{detection:?}");
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
        assert_eq!(running(within(&[&COSTLY], &budget, &matrix).planned()), "a/first a/new");

        static OTHER: Check = Check { id: "extract.b.b", clauses: &[Clause::ExtractPartial], ..CHEAP };
        let both = plan(&[&CHEAP, &OTHER], 9);
        assert_eq!([0, 1].map(|check| both.planned()[check].running().count()), [2, 2]);
    }

    #[test]
    fn what_cases_did_not_use_goes_to_cases_that_were_left_out() {
        let faults = ["one", "two", "two", "three", "three"].map(|label| (&CHEAP, label));
        let matrix = noticed(&faults);
        let budget = Budget { requests: 1_000, gateways: 5, ..Budget::default() };
        let plan = within(&[&CHEAP], &budget, &matrix);
        let passed =
            plan.planned()[0].running().map(|case| CaseResult::not_run(case.label(), Outcome::Passed));
        let result = CheckResult { cases: passed.collect(), ..CheckResult::not_run(&CHEAP, Outcome::Passed) };
        for (gateways, more) in [(4, ""), (3, ""), (2, "a/one")] {
            let used = Usage { requests: 2, gateways, bytes: 0 };
            let allowance = Allowance { budget: &budget, used };
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
        assert_eq!(running(plan.planned()), "c/one c/two");
        let result = CheckResult::not_run(&SHARING, Outcome::Inconclusive("rejected".to_owned()));
        // One after the other of its cases.
        for more in ["e/one", "e/two"] {
            let used = Usage { requests: 2, ..Usage::default() };
            let allowance = Allowance { budget: &budget, used };
            assert_eq!(running(&plan.take_more(std::slice::from_ref(&result), &matrix, allowance)), more);
        }
    }

    /// Every second known fault, starting with number `first`.
    fn each_second(matrix: &Matrix, first: usize) -> Matrix {
        let mut half = Matrix::default();
        for name in matrix.cases() {
            half.add_case(&name.check, &name.label);
        }
        for fault in matrix.faults().iter().skip(first).step_by(2) {
            half.add_fault(fault.clone());
        }
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

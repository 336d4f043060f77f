//! Chooses the cases that a budget is spent on: those that judge clauses which no other case judges, then those that notice
//! most known faults for their cost. It chooses several times, with all shared control requests and with a few of them, and
//! keeps the best choice: one case at a time, it does not see that a control pays when many cases share it.

use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap};

use super::planned::{PlannedCheck, SentControls};
use crate::check::{Case, Check, Cost, SharedControl};
use crate::contract::Clause;
use crate::detection::Matrix;
use crate::wire::Budget;

/// What a clause is worth that no chosen case judges yet: more than any number of faults.
const CLAUSE: u64 = 1 << 20;

/// What a known fault is worth, by the number of chosen cases that notice it. A second and a third case are worth something,
/// since unknown faults are likely to resemble known ones.
const FAULT: [u64; 3] = [16, 4, 1];

/// A choice is made with each of these numbers of shared control requests, beside the one with all of them.
const FEW_CONTROLS: [usize; 4] = [1, 2, 3, 5];

/// A choice is made with each of these times the price of a gateway, beside the one at which gateways and requests would be
/// used up together: where only few cases take gateways, they are worth more requests than that.
const DEARER: [u64; 3] = [2, 4, 16];

/// Marks the cases as skipped that the budget does not reach. A quarter of the requests is kept for repetitions, and a gateway
/// for requests that must be rejected: each holds one while it is under way.
pub(super) fn choose(planned: &mut [PlannedCheck], matrix: &Matrix, budget: &Budget, detect: Option<u8>) {
    let most = Cost {
        requests: u32::try_from(budget.requests - budget.requests / 4).unwrap_or(u32::MAX),
        gateways: u32::try_from(budget.gateways - u64::from(budget.gateways > 1)).unwrap_or(u32::MAX),
    };
    let candidates = Candidates::new(planned, matrix);
    let enough = detect.map(|percent| (candidates.faults * usize::from(percent)).div_ceil(100));
    let taken = candidates.best(most, enough);
    let skipped: Vec<_> = (0..candidates.all.len())
        .filter(|number| !taken.contains(number))
        .map(|number| {
            let Candidate { at, check, case, .. } = &candidates.all[number];
            (*at, SentControls::default().price(check, case))
        })
        .collect();
    drop(candidates);
    for ((check, case), price) in skipped {
        let reason = match detect {
            Some(percent) => format!("not needed to notice {percent} % of the known faults"),
            None if price.gateways > 0 => too_expensive(budget),
            None => too_many(budget),
        };
        planned[check].cases[case].skipped = Some(reason);
    }
}

struct Candidate<'a> {
    /// Its check's place in the plan, and its own among the check's cases.
    at: (usize, usize),
    check: &'static Check,
    case: &'a Case,
    /// The known faults that it notices, by their number.
    notices: Vec<usize>,
}

struct Candidates<'a> {
    all: Vec<Candidate<'a>>,
    faults: usize,
}

/// What is chosen so far.
struct Choice {
    taken: BTreeSet<usize>,
    sent: SentControls,
    left: Cost,
    judged: BTreeSet<Clause>,
    /// Faults that at least one chosen case notices.
    detected: usize,
    /// How many chosen cases notice each fault.
    noticed: Vec<u8>,
    /// How many requests a gateway counts as.
    gateway: u64,
}

/// A candidate in the queue: what it was worth for its price when it was looked at last, and the earlier one first among
/// equals.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Offer {
    worth: u64,
    number: std::cmp::Reverse<usize>,
}

impl<'a> Candidates<'a> {
    fn new(planned: &'a [PlannedCheck], matrix: &Matrix) -> Self {
        let judges: BTreeSet<&str> = planned.iter().map(|planned| planned.check.id).collect();
        let mut noticed_by: HashMap<usize, Vec<usize>> = HashMap::new();
        for (number, fault) in matrix.faults().iter().enumerate() {
            for notice in fault.noticed_by.iter().filter(|notice| judges.contains(notice.judge.as_str())) {
                let of_case = noticed_by.entry(notice.case).or_default();
                // The notices of a fault stand together.
                if of_case.last() != Some(&number) {
                    of_case.push(number);
                }
            }
        }
        let mut all = Vec::new();
        for (at, planned) in planned.iter().enumerate() {
            for (of_check, case) in planned.cases.iter().enumerate() {
                if case.skipped.is_none() {
                    let number = matrix.number(planned.check.id, case.case.label());
                    let notices = number.and_then(|number| noticed_by.remove(&number)).unwrap_or_default();
                    all.push(Candidate {
                        at: (at, of_check),
                        check: planned.check,
                        case: &case.case,
                        notices,
                    });
                }
            }
        }
        Self { all, faults: matrix.faults().len() }
    }

    /// The numbers of those that are chosen.
    fn best(&self, most: Cost, enough: Option<usize>) -> BTreeSet<usize> {
        let mut best = self.take(most, enough, None, 1);
        if best.taken.len() < self.all.len() {
            let controls = self.controls();
            let usual =
                || FEW_CONTROLS.into_iter().filter(|few| *few < controls.len()).map(|few| (Some(few), 1));
            let dearer = DEARER.into_iter().flat_map(|dearer| [(None, dearer), (Some(3), dearer)]);
            for (few, dearer) in usual().chain(dearer) {
                let few = few.and_then(|few| controls.get(..few));
                let other = self.take(most, enough, few, dearer);
                if other.value() > best.value() {
                    best = other;
                }
            }
        }
        best.taken
    }

    /// The control requests that cases of several checks share, those that most known faults are noticed with first.
    fn controls(&self) -> Vec<&'a str> {
        let mut noticed: BTreeMap<&str, BTreeSet<usize>> = BTreeMap::new();
        for candidate in &self.all {
            for control in candidate.case.controls().iter().filter(|control| control.is_in_run()) {
                noticed.entry(control.label()).or_default().extend(&candidate.notices);
            }
        }
        let mut controls: Vec<_> = noticed.into_iter().collect();
        controls.sort_by_key(|(_, faults)| std::cmp::Reverse(faults.len()));
        controls.into_iter().map(|(label, _)| label).collect()
    }

    /// Chooses first among the cases that share no other controls than these, and then among all, at a price of gateways that
    /// is so many times the usual one.
    fn take(&self, most: Cost, enough: Option<usize>, controls: Option<&[&str]>, dearer: u64) -> Choice {
        let mut chosen = Choice {
            taken: BTreeSet::new(),
            sent: SentControls::default(),
            left: most,
            judged: BTreeSet::new(),
            detected: 0,
            noticed: vec![0; self.faults],
            gateway: u64::from(most.requests / most.gateways.max(1)).max(1).saturating_mul(dearer),
        };
        if let Some(controls) = controls {
            let is_known =
                |control: &SharedControl| !control.is_in_run() || controls.contains(&control.label());
            self.by_value(&mut chosen, enough, &|candidate| candidate.case.controls().iter().all(is_known));
        }
        self.by_value(&mut chosen, enough, &|_| true);
        if enough.is_none() {
            self.in_turn(&mut chosen);
        }
        chosen
    }

    /// Takes what is worth most for its price, until nothing that fits is worth anything.
    fn by_value(&self, chosen: &mut Choice, enough: Option<usize>, may: &dyn Fn(&Candidate<'_>) -> bool) {
        let offer = |chosen: &Choice, number: usize| Offer {
            worth: chosen.worth(&self.all[number]),
            number: std::cmp::Reverse(number),
        };
        let numbers = || (0..self.all.len()).filter(|number| may(&self.all[*number]));
        let mut queue: BinaryHeap<Offer> = numbers().map(|number| offer(chosen, number)).collect();
        while let Some(Offer { worth, number: std::cmp::Reverse(number) }) = queue.pop() {
            if enough.is_some_and(|enough| chosen.detected >= enough) {
                return;
            }
            let candidate = &self.all[number];
            if worth == 0 || chosen.taken.contains(&number) {
                continue;
            }
            let now = offer(chosen, number);
            if queue.peek().is_some_and(|next| *next > now) {
                queue.push(now);
            } else if chosen.try_take(number, candidate) {
                // The control requests that it shares are paid for: the other cases of its check may be cheaper now.
                let others = numbers().filter(|other| self.all[*other].check.id == candidate.check.id);
                queue.extend(
                    others.filter(|other| !chosen.taken.contains(other)).map(|other| offer(chosen, other)),
                );
            }
        }
    }

    /// Takes what else fits: the first case of each check, then the second of each, so that many checks are run in part and
    /// few not at all.
    fn in_turn(&self, chosen: &mut Choice) {
        let mut rest: Vec<usize> =
            (0..self.all.len()).filter(|number| !chosen.taken.contains(number)).collect();
        rest.sort_by_key(|number| self.all[*number].at.1);
        for number in rest {
            chosen.try_take(number, &self.all[number]);
        }
    }
}

impl Choice {
    /// What a choice shows: clauses first, and with as many known faults the one that costs less.
    fn value(&self) -> (usize, usize, u32) {
        (self.judged.len(), self.detected, self.left.requests)
    }

    /// What a candidate adds for each request that it costs, in parts of a request.
    fn worth(&self, candidate: &Candidate<'_>) -> u64 {
        const PARTS: u64 = 1 << 10;
        let clauses = candidate.check.clauses.iter().filter(|clause| !self.judged.contains(clause)).count();
        let faults = candidate
            .notices
            .iter()
            .map(|fault| FAULT.get(usize::from(self.noticed[*fault])).copied().unwrap_or_default());
        let gain = CLAUSE.saturating_mul(clauses as u64).saturating_add(faults.sum());
        let Cost { requests, gateways } = self.sent.price(candidate.check, candidate.case);
        let price = u64::from(requests).saturating_add(u64::from(gateways).saturating_mul(self.gateway));
        gain.saturating_mul(PARTS) / price.max(1)
    }

    fn try_take(&mut self, number: usize, candidate: &Candidate<'_>) -> bool {
        let price = self.sent.price(candidate.check, candidate.case);
        let left = self
            .left
            .requests
            .checked_sub(price.requests)
            .zip(self.left.gateways.checked_sub(price.gateways));
        let Some((requests, gateways)) = left else { return false };
        self.left = Cost { requests, gateways };
        self.sent.add(candidate.check, candidate.case);
        self.judged.extend(candidate.check.clauses);
        for fault in &candidate.notices {
            self.detected += usize::from(self.noticed[*fault] == 0);
            self.noticed[*fault] = self.noticed[*fault].saturating_add(1);
        }
        self.taken.insert(number)
    }
}

fn too_many(budget: &Budget) -> String {
    format!(
        "the run may send at most {} requests, retries included; raise --max-requests to run this",
        budget.requests
    )
}

fn too_expensive(budget: &Budget) -> String {
    format!(
        "the run may extract at most {} gateways and send {} requests; raise --max-gateways or --max-requests to run this",
        budget.gateways, budget.requests
    )
}

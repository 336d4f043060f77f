//! Chooses the cases that a budget is spent on: those that judge clauses which no other case judges, then those that notice
//! most known faults for their cost, then those that notice faults once more. It chooses several times, with other shared
//! control requests, and keeps the best choice: one case at a time, it does not see that a control pays when many cases share
//! it.

use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap};

use super::planned::{PlannedCheck, SentControls};
use crate::check::{Case, Check, Cost, SharedControl};
use crate::contract::Clause;
use crate::detection::Matrix;
use crate::wire::Budget;

/// What a clause is worth that no chosen case judges yet: more than any number of faults.
const CLAUSE: u64 = 1 << 20;

/// What a known fault is worth that no chosen case notices yet.
const FAULT: u64 = 16;

/// What it is worth to notice a fault a second and a third time, when nothing new can be noticed: unknown faults are likely to
/// resemble known ones.
const ONCE_MORE: [u64; 2] = [4, 1];

/// Choices are made with each of these numbers of shared control requests.
const FEW_CONTROLS: [usize; 6] = [1, 2, 3, 4, 5, 6];

/// How the shared control requests come into a choice.
#[derive(Debug, Clone, Copy)]
enum Controls<'a> {
    /// With the first case that is worth its own price and theirs.
    AsNeeded,
    /// The same, of these alone before others.
    Before(&'a [&'a SharedControl]),
    /// These are paid for before anything is chosen.
    Paid(&'a [&'a SharedControl]),
}

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
    /// The same, with those that show in the control requests which it shares in the run. They count when no chosen case
    /// sends these already.
    with_controls: Vec<usize>,
}

struct Candidates<'a> {
    all: Vec<Candidate<'a>>,
    /// The known faults that show in a shared control request, by its label.
    of_controls: BTreeMap<&'a str, Vec<usize>>,
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

/// What a candidate is valued for, beside the clauses that no chosen case judges.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Gain {
    /// Faults that no chosen case notices.
    New,
    /// Faults that one or two chosen cases notice.
    OnceMore,
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
        let mut of_controls = BTreeMap::new();
        for (at, planned) in planned.iter().enumerate() {
            for (of_check, case) in planned.cases.iter().enumerate() {
                if case.skipped.is_none() {
                    let noticed = |check: &str, label: &str| -> &[usize] {
                        let number = matrix.number(check, label);
                        number.and_then(|number| noticed_by.get(&number)).map_or(&[], Vec::as_slice)
                    };
                    let notices = noticed(planned.check.id, case.case.label()).to_vec();
                    let mut with_controls: BTreeSet<usize> = notices.iter().copied().collect();
                    for control in case.case.controls_in_run() {
                        let faults = noticed(SharedControl::SOURCE, control.label());
                        with_controls.extend(faults);
                        of_controls.entry(control.label()).or_insert_with(|| faults.to_vec());
                    }
                    all.push(Candidate {
                        at: (at, of_check),
                        check: planned.check,
                        case: &case.case,
                        notices,
                        with_controls: with_controls.into_iter().collect(),
                    });
                }
            }
        }
        Self { all, of_controls, faults: matrix.faults().len() }
    }

    /// The numbers of those that are chosen.
    fn best(&self, most: Cost, enough: Option<usize>) -> BTreeSet<usize> {
        let mut best = self.take(most, enough, Controls::AsNeeded);
        if best.taken.len() < self.all.len() {
            let controls = self.controls();
            for few in FEW_CONTROLS.into_iter().filter_map(|few| controls.get(..few)) {
                for controls in [Controls::Before(few), Controls::Paid(few)] {
                    let other = self.take(most, enough, controls);
                    if other.value() > best.value() {
                        best = other;
                    }
                }
            }
        }
        best.taken
    }

    /// The control requests that cases of several checks share: first the one with whose cases most known faults are noticed,
    /// then the one that adds most to it, and so on.
    fn controls(&self) -> Vec<&'a SharedControl> {
        let mut noticed: BTreeMap<&str, (&SharedControl, BTreeSet<usize>)> = BTreeMap::new();
        let mut without = BTreeSet::new();
        for candidate in &self.all {
            for control in candidate.case.controls_in_run() {
                let (_, faults) =
                    noticed.entry(control.label()).or_insert_with(|| (control, BTreeSet::new()));
                faults.extend(&candidate.with_controls);
            }
            if candidate.case.cost_alone().gateways == 0 {
                without.extend(&candidate.notices);
            }
        }
        let mut left: Vec<_> = noticed.into_values().collect();
        let mut order = Vec::new();
        let mut seen: BTreeSet<usize> = without;
        while let Some(next) =
            (0..left.len()).max_by_key(|at| (left[*at].1.difference(&seen).count(), std::cmp::Reverse(*at)))
        {
            let (control, faults) = left.swap_remove(next);
            seen.extend(faults);
            order.push(control);
        }
        order
    }

    /// Chooses what notices new faults, then what notices faults once more, then whatever fits.
    fn take(&self, most: Cost, enough: Option<usize>, controls: Controls<'_>) -> Choice {
        let mut chosen = Choice {
            taken: BTreeSet::new(),
            sent: SentControls::default(),
            left: most,
            judged: BTreeSet::new(),
            detected: 0,
            noticed: vec![0; self.faults],
            gateway: u64::from(most.requests / most.gateways.max(1)).max(1),
        };
        match controls {
            Controls::AsNeeded => {}
            Controls::Before(few) => {
                let is_known = |control: &SharedControl| few.contains(&control);
                self.by_value(&mut chosen, enough, Gain::New, &|candidate| {
                    candidate.case.controls_in_run().all(is_known)
                });
            }
            Controls::Paid(few) => {
                for control in few {
                    chosen.pay(control, self.of_controls.get(control.label()).map_or(&[], Vec::as_slice));
                }
            }
        }
        self.by_value(&mut chosen, enough, Gain::New, &|_| true);
        if enough.is_none() {
            self.by_value(&mut chosen, enough, Gain::OnceMore, &|_| true);
            self.in_turn(&mut chosen);
        }
        chosen
    }

    /// Takes what is worth most for its price, until nothing that fits is worth anything.
    fn by_value(
        &self,
        chosen: &mut Choice,
        enough: Option<usize>,
        gain: Gain,
        may: &dyn Fn(&Candidate<'_>) -> bool,
    ) {
        let offer = |chosen: &Choice, number: usize| Offer {
            worth: chosen.worth(&self.all[number], gain),
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

    /// The known faults that a candidate notices, its shared controls included when it is the first to send one of them.
    fn notices<'a>(&self, candidate: &'a Candidate<'_>) -> &'a [usize] {
        match self.sent.has_all(candidate.check, candidate.case) {
            true => &candidate.notices,
            false => &candidate.with_controls,
        }
    }

    /// What a candidate adds for each request that it costs, in parts of a request.
    fn worth(&self, candidate: &Candidate<'_>, gain: Gain) -> u64 {
        const PARTS: u64 = 1 << 10;
        let clauses = candidate.check.clauses.iter().filter(|clause| !self.judged.contains(clause)).count();
        let of_fault = |fault: &usize| match (gain, usize::from(self.noticed[*fault])) {
            (_, 0) => FAULT,
            (Gain::New, _) => 0,
            (Gain::OnceMore, times) => ONCE_MORE.get(times - 1).copied().unwrap_or_default(),
        };
        let faults = self.notices(candidate).iter().map(of_fault);
        let gain = CLAUSE.saturating_mul(clauses as u64).saturating_add(faults.sum());
        let Cost { requests, gateways } = self.sent.price(candidate.check, candidate.case);
        let price = u64::from(requests).saturating_add(u64::from(gateways).saturating_mul(self.gateway));
        gain.saturating_mul(PARTS) / price.max(1)
    }

    /// Sends a shared control before any case that needs it, when that can be paid.
    fn pay(&mut self, control: &SharedControl, notices: &[usize]) {
        let price = control.cost();
        let requests = self.left.requests.checked_sub(price.requests);
        if let Some((requests, gateways)) = requests.zip(self.left.gateways.checked_sub(price.gateways)) {
            self.left = Cost { requests, gateways };
            self.sent.add_control(control);
            self.add(notices);
        }
    }

    fn try_take(&mut self, number: usize, candidate: &Candidate<'_>) -> bool {
        let price = self.sent.price(candidate.check, candidate.case);
        let left = self
            .left
            .requests
            .checked_sub(price.requests)
            .zip(self.left.gateways.checked_sub(price.gateways));
        let Some((requests, gateways)) = left else { return false };
        let notices = self.notices(candidate);
        self.left = Cost { requests, gateways };
        self.sent.add(candidate.check, candidate.case);
        self.judged.extend(candidate.check.clauses);
        self.add(notices);
        self.taken.insert(number)
    }

    /// Counts known faults that something chosen notices.
    fn add(&mut self, notices: &[usize]) {
        for fault in notices {
            self.detected += usize::from(self.noticed[*fault] == 0);
            self.noticed[*fault] = self.noticed[*fault].saturating_add(1);
        }
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

//! Chooses the cases on which a budget is spent: first those that judge clauses which no other chosen case judges, then those
//! that notice the most known faults for their cost, then those that notice faults again.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, HashMap};

use super::plan::{PlannedCase, PlannedCheck, SentControls, cost};
use crate::check::{Case, Check, Cost, SharedControl};
use crate::contract::Clause;
use crate::detection::Matrix;
use crate::wire::{Budget, Usage};

/// Value of a clause that no chosen case judges yet: more than any number of faults.
const CLAUSE: u64 = 1 << 36;

/// Value of a known fault that no chosen case notices yet, and that few cases notice. It has a multiple of this value if many
/// do: such a fault shows in ordinary requests, and is a more likely mistake than one that shows beside one other parameter.
const FAULT: u64 = 1 << 20;

/// Numbers of cases from which on a fault has a multiple of that value.
const MANY_CASES: [(usize, u64); 2] = [(12, 7), (4, 3)];

/// Value of a check, and of each supplied thing, without any chosen case: what it looks for resembles nothing that others notice.
const CHECK: u64 = 4 * FAULT;

/// Value of noticing a fault a second and a third time, for a case that notices nothing new: unknown faults are likely to resemble
/// known ones.
const AGAIN: [u64; 2] = [4, 1];

/// The numbers of cases among which a choice divides the price of a control request that several of them share: where the budget
/// is small, one that must pay off at once; else one that pays off later. The better choice counts.
const SHARERS: [u64; 2] = [1, 3];

/// The limits of a run, and what it has used.
#[derive(Debug, Clone, Copy)]
pub(super) struct Allowance<'a> {
    pub(super) budget: &'a Budget,
    pub(super) used: Usage,
}

impl Allowance<'_> {
    /// The cost that a plan may have. A quarter of the requests is kept for retries, and one gateway for requests that must be
    /// rejected, since each reserves one while it is in flight.
    fn plannable(self) -> Cost {
        let Self { budget: Budget { requests, gateways, .. }, used } = self;
        let left = |max: u64, used: u64| u32::try_from(max.saturating_sub(used)).unwrap_or(u32::MAX);
        Cost {
            requests: left(requests - requests / 4, used.requests),
            gateways: left(gateways - u64::from(*gateways > 1), used.gateways),
        }
    }
}

/// Marks the cases that the budget does not cover as skipped.
pub(super) fn choose(
    planned: &mut [PlannedCheck],
    matrix: &Matrix,
    allowance: Allowance<'_>,
    detect: Option<u8>,
) {
    let most = allowance.plannable();
    let Cost { requests, gateways } = cost(&*planned);
    if detect.is_none() && requests <= most.requests && gateways <= most.gateways {
        return;
    }
    let candidates = Candidates::of(planned, matrix, |case| case.skipped.is_none());
    let enough = detect.map(|percent| (candidates.values.len() * usize::from(percent)).div_ceil(100));
    let taken = candidates.best(most, enough);
    let Budget { requests, gateways, .. } = allowance.budget;
    for (check, planned) in planned.iter_mut().enumerate() {
        for (number, case) in planned.cases.iter_mut().enumerate() {
            if case.skipped.is_some() || taken.contains(&(check, number)) {
                continue;
            }
            case.is_left_out = detect.is_none();
            case.skipped = Some(match detect {
                Some(percent) => format!("not needed to notice {percent} % of the known faults"),
                None if case.case.cost_alone().gateways > 0 => format!(
                    "the run may extract at most {gateways} gateways and send {requests} requests; raise --max-gateways or --max-requests to run more"
                ),
                None => format!(
                    "the run may send at most {requests} requests, retries included; raise --max-requests to run more"
                ),
            });
        }
    }
}

/// Indexes of check and case that [`choose`] left out and the budget now covers. `has_result` tells which of the others had one.
pub(super) fn choose_more(
    planned: &[PlannedCheck],
    matrix: &Matrix,
    allowance: Allowance<'_>,
    has_result: &dyn Fn(&str, &str) -> bool,
) -> BTreeSet<(usize, usize)> {
    let failed = failed_controls(planned, has_result);
    let has_own_controls = |case: &Case| case.controls_in_run().next().is_none() && case.cost.gateways > 0;
    let has_failed =
        |case: &Case| case.controls_in_run().any(|shared| failed.contains(shared.label.as_ref()));
    let chosen = |may: &dyn Fn(&Case) -> bool| {
        let mut candidates = Candidates::of(planned, matrix, |case| case.is_left_out && may(&case.case));
        let ran = Candidates::of(planned, matrix, |case| case.skipped.is_none()).all.into_iter();
        candidates.ran = ran.filter(|ran| has_result(ran.check.id, ran.case.label())).collect();
        candidates.best(allowance.plannable(), None)
    };
    // Where valid extractions are rejected, those that are compared with a control request of their own may tell why.
    let telling = if failed.is_empty() { BTreeSet::new() } else { chosen(&has_own_controls) };
    if telling.is_empty() { chosen(&|case| !has_failed(case)) } else { telling }
}

/// The labels of the shared control requests with which no case had a result: they were probably not accepted.
fn failed_controls<'a>(
    planned: &'a [PlannedCheck],
    has_result: &dyn Fn(&str, &str) -> bool,
) -> BTreeSet<&'a str> {
    let (mut with_result, mut without) = (BTreeSet::new(), BTreeSet::new());
    for planned in planned {
        for case in planned.cases.iter().filter(|case| case.skipped.is_none()) {
            let has_result = has_result(planned.check.id, case.case.label());
            let controls = if has_result { &mut with_result } else { &mut without };
            controls.extend(case.case.controls_in_run().map(|control| control.label.as_ref()));
        }
    }
    &without - &with_result
}

struct Candidate<'a> {
    /// Index of its check in the plan, and of the case in the check.
    at: (usize, usize),
    check: &'static Check,
    case: &'a Case,
    subject: Subject,
    /// The clauses that it judges: those of which it notices known faults.
    clauses: BTreeSet<Clause>,
    /// Numbers of the known faults that it notices.
    notices: Vec<usize>,
    /// Also those noticed in the control requests that it shares in the run, while no chosen case sends these.
    with_controls: Vec<usize>,
}

/// The id of a check, and which of several supplied things a case is about.
type Subject = (&'static str, Option<usize>);

struct Candidates<'a> {
    all: Vec<Candidate<'a>>,
    /// Cases that had a result already.
    ran: Vec<Candidate<'a>>,
    /// The value of each fault.
    values: Vec<u64>,
}

struct Choice<'a> {
    taken: BTreeSet<usize>,
    sent: SentControls,
    left: Cost,
    judged: BTreeSet<Clause>,
    /// The checks of chosen cases, with what these are about.
    subjects: BTreeSet<Subject>,
    /// The value of each fault.
    values: &'a [u64],
    /// Faults that at least one chosen case notices.
    detected: usize,
    noticed: Vec<u8>,
    /// Price of a gateway in requests.
    gateway: u64,
    /// Value of noticing a fault a second and a third time; nothing where a number of faults is enough.
    again: [u64; 2],
    sharers: u64,
}

/// A candidate: its worth when last computed, its place in its check, so that among equals checks have their turns, and its number.
type Offer = (Worth, Reverse<(usize, usize)>);

/// Whether a candidate adds anything new, and the value that it adds for each 1/1024 of a request that it costs.
type Worth = (bool, u64);

impl<'a> Candidates<'a> {
    fn of(planned: &'a [PlannedCheck], matrix: &Matrix, may: impl Fn(&PlannedCase) -> bool) -> Self {
        let judges: BTreeSet<&str> = planned.iter().map(|planned| planned.check.id).collect();
        let mut noticed_by: HashMap<usize, Vec<usize>> = HashMap::new();
        for (number, fault) in matrix.faults().iter().enumerate() {
            for notice in fault.noticed_by.iter().filter(|notice| judges.contains(&*notice.judge)) {
                let of_case = noticed_by.entry(notice.case).or_default();
                // The detectors of a fault follow each other.
                if of_case.last() != Some(&number) {
                    of_case.push(number);
                }
            }
        }
        let with_faults: BTreeSet<Clause> = matrix.faults().iter().map(|fault| fault.clause).collect();
        let mut cases = vec![0; matrix.faults().len()];
        noticed_by.values().flatten().for_each(|fault| cases[*fault] += 1);
        let times =
            |cases: &usize| MANY_CASES.iter().find(|(many, _)| cases >= many).map_or(1, |many| many.1);
        let values = cases.iter().map(|cases| FAULT * times(cases)).collect();
        let mut all = Vec::new();
        for (at, planned) in planned.iter().enumerate() {
            let is_recorded = matrix.knows(planned.check.id);
            for (of_check, case) in planned.cases.iter().enumerate() {
                if may(case) {
                    let noticed = |check: &str, label: &str| -> &[usize] {
                        let number = matrix.number(check, label);
                        number.and_then(|number| noticed_by.get(&number)).map_or(&[], Vec::as_slice)
                    };
                    let notices = noticed(planned.check.id, case.case.label()).to_vec();
                    let mut with_controls: BTreeSet<usize> = notices.iter().copied().collect();
                    for control in case.case.controls_in_run() {
                        with_controls.extend(noticed(SharedControl::SOURCE, &control.label));
                    }
                    // A clause without known faults counts by its citation, and each clause of a check without a record.
                    let cited = planned.check.clauses.iter();
                    let cited = cited.filter(|clause| !is_recorded || !with_faults.contains(clause));
                    let shown = with_controls.iter().map(|fault| &matrix.faults()[*fault].clause);
                    all.push(Candidate {
                        at: (at, of_check),
                        check: planned.check,
                        case: &case.case,
                        subject: (planned.check.id, case.case.subject),
                        clauses: cited.chain(shown).copied().chain(case.case.clause).collect(),
                        notices,
                        with_controls: with_controls.into_iter().collect(),
                    });
                }
            }
        }
        Self { all, ran: Vec::new(), values }
    }

    /// The places of the chosen candidates; `enough` ends the choice after this number of known faults.
    fn best(&self, max: Cost, enough: Option<usize>) -> BTreeSet<(usize, usize)> {
        let choices = SHARERS.map(|sharers| self.take(max, enough, sharers)).into_iter();
        let best = choices.max_by_key(|choice| (choice.judged.len(), choice.detected, choice.left.requests));
        best.into_iter().flat_map(|choice| choice.taken).map(|number| self.all[number].at).collect()
    }

    /// Chooses the candidate with the highest value for its price, and again, until nothing more fits.
    fn take(&self, max: Cost, enough: Option<usize>, sharers: u64) -> Choice<'_> {
        let mut chosen = Choice {
            taken: BTreeSet::new(),
            sent: SentControls::default(),
            left: max,
            judged: BTreeSet::new(),
            subjects: BTreeSet::new(),
            values: &self.values,
            detected: 0,
            noticed: vec![0; self.values.len()],
            gateway: u64::from(max.requests / max.gateways.max(1)).max(1),
            again: if enough.is_some() { [0, 0] } else { AGAIN },
            sharers,
        };
        self.ran.iter().for_each(|ran| chosen.add_result(ran));
        let offer = |chosen: &Choice<'_>, number: usize| {
            let candidate = &self.all[number];
            (chosen.worth(candidate), Reverse((candidate.at.1, number)))
        };
        let mut queue: BinaryHeap<Offer> = (0..self.all.len()).map(|number| offer(&chosen, number)).collect();
        while let Some(((is_new, _), Reverse((_, number)))) = queue.pop() {
            if enough.is_some_and(|enough| chosen.detected >= enough || !is_new) {
                break;
            }
            let candidate = &self.all[number];
            if chosen.taken.contains(&number) {
                continue;
            }
            // What was chosen since may notice what it notices.
            let now = offer(&chosen, number);
            if queue.peek().is_some_and(|next| *next > now) {
                queue.push(now);
            } else if chosen.try_take(number, candidate) {
                // The control requests that it shares are paid for, so the other cases of its check may be cheaper now.
                let others =
                    (0..self.all.len()).filter(|other| self.all[*other].check.id == candidate.check.id);
                queue.extend(
                    others.filter(|other| !chosen.taken.contains(other)).map(|other| offer(&chosen, other)),
                );
            }
        }
        chosen
    }
}

impl Choice<'_> {
    /// The known faults that a candidate notices, including those of its shared controls if it is the first to send one of them.
    fn notices<'a>(&self, candidate: &'a Candidate<'_>) -> &'a [usize] {
        match self.sent.has_all(candidate.check, candidate.case) {
            true => &candidate.notices,
            false => &candidate.with_controls,
        }
    }

    fn worth(&self, candidate: &Candidate<'_>) -> Worth {
        const PARTS: u64 = 1 << 10;
        let clauses = candidate.clauses.difference(&self.judged).count();
        let of_check = if self.subjects.contains(&candidate.subject) { 0 } else { CHECK };
        let (mut new, mut again) = (CLAUSE.saturating_mul(clauses as u64).saturating_add(of_check), 0);
        for fault in self.notices(candidate) {
            match usize::from(self.noticed[*fault]) {
                0 => new = new.saturating_add(self.values[*fault]),
                times => again += self.again.get(times - 1).copied().unwrap_or_default(),
            }
        }
        let gain = if new > 0 { new } else { again };
        let in_requests = |Cost { requests, gateways }: Cost| {
            u64::from(requests).saturating_add(u64::from(gateways).saturating_mul(self.gateway))
        };
        let own = in_requests(candidate.case.cost);
        let shared = in_requests(self.sent.price(candidate.check, candidate.case)).saturating_sub(own);
        (new > 0, gain.saturating_mul(PARTS) / own.saturating_add(shared / self.sharers).max(1))
    }

    fn try_take(&mut self, number: usize, candidate: &Candidate<'_>) -> bool {
        let price = self.sent.price(candidate.check, candidate.case);
        let requests = self.left.requests.checked_sub(price.requests);
        let gateways = self.left.gateways.checked_sub(price.gateways);
        let (Some(requests), Some(gateways)) = (requests, gateways) else { return false };
        let notices = self.notices(candidate);
        self.left = Cost { requests, gateways };
        self.sent.add(candidate.check, candidate.case);
        self.count(candidate, notices);
        self.taken.insert(number)
    }

    /// Counts a case that had a result. The controls that it shared in the run need not be sent again.
    fn add_result(&mut self, ran: &Candidate<'_>) {
        ran.case.controls_in_run().for_each(|control| self.sent.add_control(control));
        self.count(ran, &ran.with_controls);
    }

    /// Counts what a chosen case judges, and the known faults that it or its controls notice.
    fn count(&mut self, candidate: &Candidate<'_>, notices: &[usize]) {
        self.judged.extend(&candidate.clauses);
        self.subjects.insert(candidate.subject);
        for fault in notices {
            self.detected += usize::from(self.noticed[*fault] == 0);
            self.noticed[*fault] = self.noticed[*fault].saturating_add(1);
        }
    }
}

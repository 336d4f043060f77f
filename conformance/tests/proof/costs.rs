//! What the cases of a world cost, and which of them show a known fault for the least.

use std::collections::{BTreeSet, HashMap};

use sallyport_conformance::Check;
use sallyport_conformance::check::{Scope, SharedControl};
use sallyport_conformance::detection::{CaseName, Detector, KnownFault, Matrix};
use sallyport_conformance::lab::Backend;
use sallyport_conformance::registry;

/// The cases of all checks, and the control requests that they share in a run.
pub struct Costs {
    /// What each costs, in requests; a gateway costs nothing here.
    prices: HashMap<CaseName, u32>,
    /// The cheapest case that sends each shared control request, with its price.
    senders: HashMap<CaseName, (u32, CaseName)>,
}

impl Costs {
    /// The costs with what is known of a server.
    pub fn new(backend: &Backend) -> Self {
        let scope = Scope { contract: backend.contract, facts: &backend.facts };
        let (mut prices, mut senders) = (HashMap::new(), HashMap::new());
        for check in registry() {
            for case in check.cases(&scope) {
                let name = CaseName { check: check.id.into(), label: case.label().into() };
                let sender = (case.cost_alone().requests, name.clone());
                for control in case.controls_in_run() {
                    let shared = CaseName {
                        check: SharedControl::SOURCE.into(),
                        label: control.label.as_ref().into(),
                    };
                    prices.insert(shared.clone(), control.cost.requests);
                    let known = senders.entry(shared).or_insert_with(|| sender.clone());
                    *known = std::cmp::min(known.clone(), sender.clone());
                }
                prices.insert(name, sender.0);
            }
        }
        Self { prices, senders }
    }

    pub fn cases(&self) -> impl Iterator<Item = &CaseName> {
        self.prices.keys()
    }

    pub fn price(&self, case: &CaseName) -> u32 {
        self.prices.get(case).copied().unwrap_or(u32::MAX)
    }

    /// Patterns for the cheapest case of each check that notices a fault (and cites its clause, if any does), the cheapest first.
    pub fn cheapest(&self, matrix: &Matrix, fault: &KnownFault) -> Vec<Vec<String>> {
        let mut noticing: Vec<&Check> = registry();
        noticing.retain(|check| fault.noticed_by.iter().any(|detector| *detector.judge == *check.id));
        if noticing.iter().any(|check| check.clauses.contains(&fault.clause)) {
            noticing.retain(|check| check.clauses.contains(&fault.clause));
        }
        let mut chosen: Vec<(u32, Vec<String>)> = Vec::new();
        for check in noticing {
            let of_check = fault.noticed_by.iter().filter(|detector| *detector.judge == *check.id);
            let cases = of_check.map(|Detector { case, .. }| &matrix.cases()[*case]);
            let cases = cases.filter(|case| self.prices.contains_key(case));
            let Some(case) = cases.min_by_key(|case| (self.price(case), (*case).clone())) else { continue };
            let mut patterns = vec![self.pattern(case)];
            patterns.extend(check.is_passive().then(|| check.id.to_owned()));
            chosen.push((self.price(case), patterns));
        }
        chosen.sort();
        chosen.into_iter().map(|(_, patterns)| patterns).collect()
    }

    /// Patterns for every case that notices a fault, and for the passive checks that judge them.
    pub fn noticing(&self, matrix: &Matrix, fault: &KnownFault) -> BTreeSet<String> {
        let of = |Detector { judge, case }: &Detector| {
            let case = &matrix.cases()[*case];
            let passive = (*judge != case.check).then(|| judge.to_string());
            passive.into_iter().chain([self.pattern(case)])
        };
        fault.noticed_by.iter().flat_map(of).collect()
    }

    fn pattern(&self, case: &CaseName) -> String {
        let CaseName { check, label } = self.senders.get(case).map_or(case, |(_, sender)| sender);
        // The unnamed case of a check is chosen by the check itself.
        if label.is_empty() { check.to_string() } else { format!("{check}/{label}") }
    }
}

use std::net::IpAddr;

use super::{Filter, FilterKind, Instance, Survey};

/// Every set of `size` kinds of filters, in a fixed order.
pub(crate) fn combinations(size: usize) -> Vec<Vec<FilterKind>> {
    let mut sets: Vec<Vec<FilterKind>> = vec![Vec::new()];
    for _ in 0..size {
        let longer = |set: &Vec<FilterKind>| {
            let last = set.last().copied();
            let rest = FilterKind::ALL.into_iter().filter(move |kind| last.is_none_or(|last| *kind > last));
            let set = set.clone();
            rest.map(move |kind| [set.clone(), vec![kind]].concat()).collect::<Vec<_>>()
        };
        sets = sets.iter().flat_map(longer).collect();
    }
    sets
}

/// One filter of each kind that some instance passes together, chosen so that as many of them as possible have an effect:
/// the search finds more without them. `None` when no instance passes.
pub(crate) fn meeting(survey: &Survey, kinds: &[FilterKind]) -> Option<Vec<Filter>> {
    let mut best: Option<(usize, Vec<Filter>)> = None;
    for filters in products(survey, kinds) {
        let found = survey.count(&filters);
        if found == 0 {
            continue;
        }
        let without = |index: usize| {
            let mut rest = filters.clone();
            rest.remove(index);
            survey.count(&rest)
        };
        let effective = (0..filters.len()).filter(|index| without(*index) > found).count();
        if effective == filters.len() {
            return Some(filters);
        }
        if best.as_ref().is_none_or(|(max, _)| effective > *max) {
            best = Some((effective, filters));
        }
    }
    best.map(|(_, filters)| filters)
}

/// Two filters and two addresses: each filter finds something at one of the addresses, and no instance there passes both.
pub(crate) fn excluding(survey: &Survey, kinds: &[FilterKind]) -> Option<(Vec<Filter>, [IpAddr; 2])> {
    let &[first, second] = kinds else { return None };
    survey.pairs().find_map(|(one, other)| {
        let filters = vec![survey.filter(first, one)?, survey.filter(second, other)?];
        let addresses = [one.ip, other.ip];
        let at_addresses = survey.ids_where(|instance| addresses.contains(&instance.ip));
        let is_usable =
            Filter::are_in_order(&filters) && survey.admitted(&filters).is_disjoint(&at_addresses);
        is_usable.then_some((filters, addresses))
    })
}

impl Survey {
    /// Each two of some instances at different addresses.
    pub(crate) fn pairs(&self) -> impl Iterator<Item = (&Instance, &Instance)> {
        const MAX_INSTANCES: usize = 40;
        let instances = || self.instances.values().take(MAX_INSTANCES);
        let pairs = instances().flat_map(move |one| instances().map(move |other| (one, other)));
        pairs.filter(|(one, other)| one.ip != other.ip)
    }
}

/// Every choice of one candidate of each kind.
fn products(survey: &Survey, kinds: &[FilterKind]) -> Vec<Vec<Filter>> {
    let mut products: Vec<Vec<Filter>> = vec![Vec::new()];
    for kind in kinds {
        let candidates = survey.candidates(*kind);
        let longer = |filters: &Vec<Filter>| {
            candidates
                .iter()
                .map(|candidate| [filters.as_slice(), std::slice::from_ref(candidate)].concat())
                .collect::<Vec<_>>()
        };
        products = products.iter().flat_map(longer).collect();
    }
    products
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pair_and_triple_occurs_once() {
        let kinds = FilterKind::ALL.len();
        let (pairs, triples) = (kinds * (kinds - 1) / 2, kinds * (kinds - 1) * (kinds - 2) / 6);
        for (size, expected) in [(1, kinds), (2, pairs), (3, triples)] {
            let mut sets = combinations(size);
            assert_eq!(sets.len(), expected);
            sets.sort_unstable();
            sets.dedup();
            assert_eq!(sets.len(), expected);
        }
    }
}

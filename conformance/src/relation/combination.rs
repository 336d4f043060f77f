use super::{Filter, FilterKind, Survey};

/// Every set of that many kinds of filters, in a fixed order.
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

/// One filter of each kind that some instance passes together, chosen so that as many of them as can be matter: leaving
/// one out would find more. None when no instance passes.
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
        let matter = (0..filters.len()).filter(|index| without(*index) > found).count();
        if matter == filters.len() {
            return Some(filters);
        }
        if best.as_ref().is_none_or(|(most, _)| matter > *most) {
            best = Some((matter, filters));
        }
    }
    best.map(|(_, filters)| filters)
}

/// One filter of each kind of which each finds something and all together find nothing. None when there are none.
pub(crate) fn excluding(survey: &Survey, kinds: &[FilterKind]) -> Option<Vec<Filter>> {
    // An upper bound before the lower one would be refused.
    let ordered = |filters: &Vec<Filter>| {
        let time = |wanted: fn(&Filter) -> Option<jiff::Timestamp>| filters.iter().find_map(wanted);
        let from = time(|filter| if let Filter::From(time) = filter { Some(*time) } else { None });
        let to = time(|filter| if let Filter::To(time) = filter { Some(*time) } else { None });
        !matches!((from, to), (Some(from), Some(to)) if to < from)
    };
    products(survey, kinds).into_iter().filter(ordered).find(|filters| survey.count(filters) == 0)
}

/// Every choice of one candidate of each kind.
fn products(survey: &Survey, kinds: &[FilterKind]) -> Vec<Vec<Filter>> {
    let mut products: Vec<Vec<Filter>> = vec![Vec::new()];
    for kind in kinds {
        let candidates = survey.candidates(*kind);
        let longer = |filters: &Vec<Filter>| {
            candidates
                .iter()
                .map(|candidate| [filters.as_slice(), &[candidate.clone()]].concat())
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
    fn every_pair_and_triple_comes_once() {
        for (size, expected) in [(1, 7), (2, 21), (3, 35)] {
            let mut sets = combinations(size);
            assert_eq!(sets.len(), expected);
            sets.sort_unstable();
            sets.dedup();
            assert_eq!(sets.len(), expected);
        }
    }
}

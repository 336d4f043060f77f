use super::*;

/// Every set of `size` kinds of filters, in a fixed order.
pub(crate) fn combinations(size: usize) -> Vec<Vec<FilterKind>> {
    (0..size).fold(vec![Vec::new()], |sets, _| {
        extended(&sets, |set| {
            kinds().filter(|kind| set.last().is_none_or(|last| kind.index > last.index)).collect()
        })
    })
}

/// Each list with each of the elements that may follow it.
fn extended<T: Clone>(lists: &[Vec<T>], following: impl Fn(&[T]) -> Vec<T>) -> Vec<Vec<T>> {
    let longer = |list: &Vec<T>| {
        let longer = |last| list.iter().cloned().chain([last]).collect();
        following(list).into_iter().map(longer).collect::<Vec<_>>()
    };
    lists.iter().flat_map(longer).collect()
}

/// One filter of each kind that some instance passes together, as many as possible of which have an effect: without it, more is found.
pub(crate) fn meeting(survey: &Survey, kinds: &[FilterKind]) -> Option<Vec<Filter>> {
    let mut best: Option<(usize, Vec<Filter>)> = None;
    let products = kinds.iter().fold(vec![Vec::new()], |lists, kind| {
        let candidates = survey.candidates(*kind);
        extended(&lists, |_| candidates.clone())
    });
    for filters in products {
        let found = survey.admitted(&filters).len();
        if found == 0 {
            continue;
        }
        let without = |index: usize| {
            let mut rest = filters.clone();
            rest.remove(index);
            survey.admitted(&rest).len()
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

/// Two filters at two addresses: each finds something at one of the addresses, and no instance there passes both.
pub(crate) fn excluding(survey: &Survey, kinds: &[FilterKind]) -> Option<Query> {
    let &[first, second] = kinds else { return None };
    survey.pairs().find_map(|(one, other)| {
        let filters = vec![survey.filter(first, one)?, survey.filter(second, other)?];
        let addresses = [one.ip, other.ip];
        let at_addresses = survey.ids_where(|instance| addresses.contains(&instance.ip));
        let is_usable =
            Filter::are_in_order(&filters) && survey.admitted(&filters).is_disjoint(&at_addresses);
        is_usable.then(|| Query::new(addresses.map(|ip| survey.spelt(ip))).filtered(filters))
    })
}

/// Filters with the values of one instance, but for one with that of another, at the addresses of both: no instance passes them all.
pub(crate) fn shown_by_all_but(survey: &Survey, odd: FilterKind) -> Option<Query> {
    /// Minimum number of filters: more than other cases combine.
    const ENOUGH: usize = 5;
    survey.pairs().find_map(|(one, other)| {
        let of = |kind| survey.filter(kind, if kind.index == odd.index { other } else { one });
        let filters: Vec<Filter> = kinds().filter_map(of).collect();
        let has_odd = of(odd).is_some_and(|filter| !filter.admits(one, &survey.orders));
        let is_usable = has_odd && filters.len() >= ENOUGH && Filter::are_in_order(&filters);
        let query = Query::new([one, other].map(|instance| survey.spelt(instance.ip)));
        (is_usable && survey.admitted(&filters).is_empty()).then(|| query.filtered(filters))
    })
}

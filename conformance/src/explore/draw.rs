use fastrand::Rng;
use jiff::SignedDuration;

use crate::checks::relation::{FieldValue, Filter, FilterKind, Instance, Query, Survey, kinds};
use crate::contract::Search;

/// Draws a query. Most items and values are those of instances, since others find nothing.
pub(super) fn draw(rng: &mut Rng, survey: &Survey, search: &Search) -> Query {
    const COUNTS: [usize; 8] = [1, 2, 3, 5, 8, 13, 30, 64];
    const MAX_FILTERS: usize = 4;
    let instances: Vec<&Instance> = survey.instances.values().collect();
    let count = COUNTS[rng.usize(..COUNTS.len())];
    let items: Vec<_> = (0..count).filter_map(|_| draw_item(rng, survey, &instances, search)).collect();
    let mut kinds: Vec<_> = kinds().collect();
    rng.shuffle(&mut kinds);
    let kinds = kinds.into_iter().take(rng.usize(..=MAX_FILTERS));
    let drawn: Vec<_> = kinds.filter_map(|kind| draw_filter(rng, kind, survey, &instances)).collect();
    let offset = drawn.iter().find_map(|(_, offset)| *offset);
    let mut query =
        Query { offset, ..Query::new(items) }.filtered(drawn.into_iter().map(|(filter, _)| filter));
    order_bounds(&mut query.filters);
    let pages = rng.usize(2..=4);
    let size = query.expected(survey).len().div_ceil(pages).max(1);
    Query { size: i64::try_from(size).ok(), ..query }
}

/// Simpler queries, the simplest first.
pub(super) fn simpler(query: &Query) -> Vec<Query> {
    let mut simpler = Vec::new();
    // First half of the items, then all but a quarter, all but an eighth and so on.
    let mut part = query.items.len();
    while part > 1 {
        part = part.div_ceil(2);
        for begin in (0..query.items.len()).step_by(part) {
            let end = begin.saturating_add(part).min(query.items.len());
            let items = [&query.items[..begin], &query.items[end..]].concat();
            simpler.push(Query { items, ..query.clone() });
        }
    }
    simpler.extend((0..query.filters.len()).map(|left_out| {
        let mut fewer = query.clone();
        fewer.filters.remove(left_out);
        fewer
    }));
    simpler.extend(query.offset.map(|_| Query { offset: None, ..query.clone() }));
    simpler
}

/// An item of an instance with or without its port, and sometimes with another port.
fn draw_item(rng: &mut Rng, survey: &Survey, instances: &[&Instance], search: &Search) -> Option<String> {
    const ANOTHER_PORT: u8 = 12;
    let instance = instances.get(rng.usize(..instances.len().max(1)))?;
    let own = survey.item(search, instance);
    let item = match (rng.u8(..ANOTHER_PORT), rng.bool()) {
        (0, _) => Some(survey.spelt_with(instance.ip, rng.u16(1..))),
        (_, true) => own,
        (_, false) => None,
    };
    Some(item.unwrap_or_else(|| survey.spelt(instance.ip)))
}

/// A filter with the value of an instance, and an offset for times.
fn draw_filter(
    rng: &mut Rng,
    kind: FilterKind,
    survey: &Survey,
    instances: &[&Instance],
) -> Option<(Filter, Option<i32>)> {
    const OFFSETS: [Option<i32>; 5] = [None, None, Some(0), Some(330), Some(-600)];
    let instance = instances.get(rng.usize(..instances.len().max(1)))?;
    let listed = kind.listed();
    let mut filter = match listed.len() {
        0 => survey.filter(kind, instance)?,
        count => listed.into_iter().nth(rng.usize(..count))?,
    };
    let shift = SignedDuration::from_secs(rng.i64(-1..=1));
    let offset = OFFSETS[rng.usize(..OFFSETS.len())];
    let FieldValue::Time(time) = &mut filter.value else { return Some((filter, None)) };
    *time = time.checked_add(shift).unwrap_or(*time);
    Some((filter, offset))
}

/// Swaps bounds if the upper one is before the lower one, which would be rejected.
fn order_bounds(filters: &mut [Filter]) {
    if Filter::are_in_order(filters) {
        return;
    }
    let mut bounds: Vec<_> = filters.iter_mut().filter(|filter| filter.kind.is_bound()).collect();
    if let [one, other] = &mut bounds[..] {
        std::mem::swap(&mut one.kind, &mut other.kind);
    }
}

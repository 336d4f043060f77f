//! Results of several pages, and `total`.

use super::*;

pub(super) static PROGRAMS: &[Program] = &[active("search.paging.partition", |_| {
    vec![Case::new("more than the largest page", Cost::requests(6), overlapping)]
})];

/// Searches for the maximum number of own addresses, whose instances may fill several pages of the maximum size.
async fn overlapping(probe: &Probe<'_>) -> Result<(), Stop> {
    let search = &probe.contract().search;
    let own = probe.own_addresses(search.distinct_items);
    let request = probe.search(own);
    let first = read(probe, &request).await?;
    if first.exchanges.len() < 2 {
        return Err(lacks_addresses(
            probe,
            "the instances of as many addresses as one search takes fit on its largest page",
            "addresses with several instances each, or more addresses",
        ));
    }
    let second = read(probe, &request).await?;
    let repeated = |result: &ResultSet| result.order.len() - result.instances.len();
    let (one, other) = (repeated(&first), repeated(&second));
    // A new instance moves others to the next page once, but is unlikely to do so twice.
    if one > 0 && other > 0 {
        let expected = format!("pages of {} without an instance in common", search.page_sizes.end());
        let actual = format!("{} occurred twice, and {other} in a second reading", quantity(one, "instance"));
        let exchanges: Vec<_> = first.evidence().into_iter().chain(second.evidence()).collect();
        probe.finding(SearchPaging, &expected, &actual, &exchanges);
    }
    Ok(())
}

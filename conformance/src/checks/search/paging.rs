//! Results of several pages, and `total`.

use super::*;

pub(super) static PROGRAMS: &[Program] = &[
    active("search.paging.end", |_| {
        let cases = [("one page", 6, 1), ("two pages", 4, 2), ("three pages", 4, 3), ("seven pages", 4, 7)];
        rows(Relation::Page, cases, |account, pages| {
            let Account { survey, search, .. } = account;
            let size = survey.page_size(pages).clamp(1, *search.page_sizes.end());
            let last = survey.pages(search, size).last().unwrap_or(*search.pages.start());
            // Pages 257 and 65537 become page 1 if the number is truncated to 8 or 16 bits. One case sends them.
            let wrapping = [1 << 8, 1 << 16].map(|bits| search.pages.start() + bits);
            let wrapping = wrapping.into_iter().filter(|page| pages == 1 && search.pages.contains(page));
            let numbers = [last, last + 1, last + 7, *search.pages.end()].into_iter().chain(wrapping);
            Ok(numbers.map(|number| survey.query().on_page(number, size)).collect())
        })
    }),
    active("search.paging.partition", |_| {
        let mut cases = rows(Relation::Pages, SIZES, |account, size| {
            let query = some_instances(account);
            Ok(vec![account.sized(query, size)])
        });
        let all: [(_, _, Size); 1] = [("every instance at the searched addresses", 4, |count| count / 4 + 1)];
        cases.extend(rows(Relation::Pages, all, |account, size| {
            Ok(vec![account.sized(account.survey.query(), size)])
        }));
        cases.push(Case::new("more than the largest page", Cost::requests(6), overlapping));
        cases
    }),
    active("search.paging.still", |_| {
        let all = [("the largest page", 3, None), ("three pages", 9, Some(3)), ("five pages", 15, Some(5))];
        let mut cases = rows(Relation::Still, all, |account, pages| {
            let size =
                pages.map_or(*account.search.page_sizes.end(), |pages| account.survey.page_size(pages));
            let mut queries = account.pages(account.survey.query(), size);
            queries.truncate(pages.unwrap_or(1));
            Ok(queries)
        });
        let filtered = [
            ("of an order", 3, ORDER_NO),
            ("of a group", 3, GROUP_ID),
            ("of a country", 3, COUNTRY_CODE),
            ("of a status", 3, STATUS),
        ];
        cases.extend(rows(Relation::Still, filtered, |account, property| {
            let filters = kinds_of(&[property]).into_iter().flat_map(|kind| account.survey.candidates(kind));
            let query = account.survey.query().filtered(filters.take(1));
            if query.filters.is_empty() || query.expected(account.survey).len() < 2 {
                let lacks = "no two instances at the searched addresses pass this filter";
                return Err(account.lacks(lacks, "more addresses"));
            }
            Ok(vec![query.on_page(*account.search.pages.start(), *account.search.page_sizes.end())])
        }));
        cases
    }),
    active("search.total.filters", |_| {
        let sets = [combinations(0), combinations(1), combinations(2), vec![shown_kinds().collect()]];
        let case = |(kinds, name): (Vec<FilterKind>, &'static str)| {
            let fields = SearchFilter::names(&kinds);
            let fields = if fields.is_empty() { "no filter".to_owned() } else { fields };
            (format!("{fields}, {name}"), 2, (kinds, name))
        };
        let cases = sets.concat().into_iter().zip(BATCHES.into_iter().cycle()).map(case);
        // Pages of the minimum size, so that `total` differs from the number of instances on a page.
        rows(Relation::Page, cases, |account, (kinds, name)| {
            let query = account.batch(name)?.filtered(account.meeting(&kinds)?);
            let count = query.expected(account.survey).len().clamp(1, 2);
            let numbers = (*account.search.pages.start()..).take(count);
            Ok(numbers.map(|page| query.clone().on_page(page, *account.search.page_sizes.start())).collect())
        })
    }),
];

type Size = fn(usize) -> usize;

const SIZES: [(&str, u32, Size); 8] = [
    ("pages of one", 20, |_| 1),
    ("pages of three", 10, |_| 3),
    ("pages of five", 6, |_| 5),
    ("a size that divides the total", 8, |count| {
        (2..count).find(|size| count.is_multiple_of(*size)).unwrap_or(count)
    }),
    ("a size that does not divide the total", 6, |count| {
        (4..count).find(|size| !count.is_multiple_of(*size)).unwrap_or(count)
    }),
    ("one below the total", 2, |count| count.saturating_sub(1)),
    ("the total", 1, |count| count),
    ("one above the total", 1, |count| count + 1),
];

/// The first addresses, with enough instances for a few small pages.
fn some_instances(Account { survey, .. }: Account<'_>) -> Query {
    const ENOUGH: usize = 13;
    let mut addresses = survey.addresses.clone();
    let first = |count: &usize| {
        survey.ids_where(|instance| survey.addresses[..*count].contains(&instance.ip)).len() >= ENOUGH
    };
    addresses.truncate((1..addresses.len()).find(first).unwrap_or(addresses.len()));
    addresses.sort_unstable();
    Query::new(addresses.into_iter().map(|ip| survey.spelt(ip)))
}

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

//! Results of several pages, and `total`.

use std::collections::BTreeSet;

use serde_json::Value;

use super::SEARCH;
use super::addresses;
use super::cases::{BATCHES, batch, surveyed, surveyed_case};
use crate::check::{AcceptedResponse, Case, Check, Cost, Probe, ResponseClass, Run, Scope, Stop};
use crate::checks::relation::{
    Comparison, Filter, FilterKind, Page, ResultSet, Survey, apply, combinations, lacks_addresses, meeting,
    page, read, survey,
};
use crate::checks::{Requests, UNKNOWN_ADDRESS};
use crate::contract::{Clause, Search, Unspecified};
use crate::quantity::quantity;
use crate::target::Fact;
use crate::wire::{Request, Response};

pub(super) static ECHO: Check = Check {
    id: "search.paging.echo",
    title: "`page` and `pageSize` of the response are those of the request, or their defaults",
    why: "Clients use these values to decide whether to read more pages. Wrong ones end a loop too early or never.",
    clauses: &[Clause::SearchPage, Clause::SearchPageSize, Clause::SearchPaging],
    run: Run::Cases(echo_cases),
    ..SEARCH
};

pub(super) static END: Check = Check {
    id: "search.paging.end",
    title: "the last page has the remaining instances, and a page past it is empty or rejected",
    why: "If a page past the end repeats instances, clients never stop reading.",
    clauses: &[Clause::SearchPaging, Clause::SearchTotal],
    needs: &[Fact::OwnAddresses],
    run: Run::Cases(|_| {
        let cases = [("one page", 1_usize), ("two pages", 2), ("three pages", 3), ("seven pages", 7)];
        surveyed(cases.map(|(label, pages)| (label, if pages == 1 { 6 } else { 4 }, pages)), end)
    }),
    ..SEARCH
};

pub(super) static PARTITION: Check = Check {
    id: "search.paging.partition",
    title: "pages neither overlap nor leave gaps, whether or not their size divides the total",
    why: "An export that reads page by page misses instances or has duplicates.",
    clauses: &[Clause::SearchPaging, Clause::SearchTotal],
    needs: &[Fact::OwnAddresses],
    run: Run::Cases(|_| {
        let some = SIZES.map(|(label, requests, size)| (label, requests, Some(size)));
        let all = [("every instance at the searched addresses", 4, None)];
        let mut cases = surveyed(some.into_iter().chain(all), partitioned);
        cases.push(Case::new("more than the largest page", Cost::requests(6), overlapping));
        cases
    }),
    ..SEARCH
};

pub(super) static STILL: Check = Check {
    id: "search.paging.still",
    title: "the order of instances is the same in every response",
    why: "If the order changes between two pages, instances move from one page to another and are missed.",
    clauses: &[Clause::SearchPaging],
    needs: &[Fact::OwnAddresses],
    run: Run::Cases(|_| {
        let all = [("the largest page", 3, None), ("three pages", 9, Some(3)), ("five pages", 15, Some(5))];
        let filtered = [
            ("of an order", FilterKind::Order),
            ("of a group", FilterKind::Group),
            ("of a country", FilterKind::Country),
            ("of a status", FilterKind::Status),
        ];
        let all = all.map(|(label, requests, pages)| (label, requests, (pages, None)));
        let filtered = filtered.map(|(label, kind)| (label, 3, (None, Some(kind))));
        surveyed(all.into_iter().chain(filtered), stable)
    }),
    ..SEARCH
};

pub(super) static TOTAL_FILTERS: Check = Check {
    id: "search.total.filters",
    title: "`total` counts matches on all pages after filtering",
    why: "Callers display `total` as the number of their instances and compute the number of pages from it.",
    clauses: &[Clause::SearchTotal],
    needs: &[Fact::OwnAddresses],
    run: Run::Cases(total_cases),
    ..SEARCH
};

pub(super) static TOTAL_NOTHING: Check = Check {
    id: "search.total.nothing",
    title: "`total` is 0 when nothing matches",
    why: "A caller that waits for new instances takes a `total` above 0 as a sign that they exist.",
    clauses: &[Clause::SearchTotal],
    run: Run::Cases(|_| {
        let case = |(label, count): (&'static str, u8)| {
            Case::for_data(label, Cost::requests(1), count, total_nothing)
        };
        [("one address", 1), ("several addresses", 7)].into_iter().map(case).collect()
    }),
    ..SEARCH
};

type PageChoice = fn(&Search) -> (Option<i64>, Option<i64>);

fn echo_cases(_: &Scope<'_>) -> Vec<Case> {
    const PAGE_CHOICES: [(&str, PageChoice); 6] = [
        ("neither", |_| (None, None)),
        ("page alone", |search| (Some(*search.pages.start()), None)),
        ("pageSize alone", |search| (None, Some(search.default_page_size + 1))),
        ("the smallest size", |search| (Some(*search.pages.start()), Some(*search.page_sizes.start()))),
        ("the largest size", |search| (Some(*search.pages.start()), Some(*search.page_sizes.end()))),
        ("another size than the default", |search| {
            (Some(*search.pages.start()), Some(search.default_page_size + 1))
        }),
    ];
    let case = |(label, choice)| Case::for_data(label, Cost::requests(2), choice, echo_of_choice);
    let pages = surveyed_case("each page of three", 3, echo_of_pages).needs([Fact::OwnAddresses]);
    PAGE_CHOICES.into_iter().map(case).chain([pages]).collect()
}

async fn echo_of_choice(probe: &Probe<'_>, choice: PageChoice) -> Result<(), Stop> {
    let (number, size) = choice(&probe.contract().search);
    for plain in [probe.any_search(), probe.search([UNKNOWN_ADDRESS])] {
        echo(probe, &plain, number, size).await?;
    }
    Ok(())
}

async fn echo_of_pages(probe: &Probe<'_>) -> Result<(), Stop> {
    let survey = survey(probe).await?;
    // One more than a third, so that the last page is not full.
    let size = survey.page_size(3) + 1;
    for number in survey.pages(&probe.contract().search, size) {
        echo(probe, &survey.request, Some(number), Some(size)).await?;
    }
    Ok(())
}

/// The response has the page and the page size of the request. A wrong default cites the clause of that default.
async fn echo(
    probe: &Probe<'_>,
    plain: &Request,
    number: Option<i64>,
    size: Option<i64>,
) -> Result<(), Stop> {
    let search = &probe.contract().search;
    let asked = [
        (Clause::SearchPage, &search.page.name, number, search.default_page),
        (Clause::SearchPageSize, &search.page_size.name, size, search.default_page_size),
    ];
    let request = asked.iter().fold(plain.clone(), |request, (_, name, value, _)| match value {
        Some(value) => request.field(name, *value),
        None => request.without_field(name),
    });
    let accepted = probe.control(&request).await?;
    for (clause, name, value, default) in asked {
        let clause = if value.is_some() { Clause::SearchPaging } else { clause };
        let expected = value.unwrap_or(default);
        if shown(&accepted.response, name) != Some(expected) {
            let actual = accepted.response.at(&format!("/data/{name}"));
            let actual = actual.map_or_else(|| "nothing".to_owned(), ToString::to_string);
            probe.finding(clause, &format!("data.{name} is {expected}"), &actual, &[&accepted.exchange]);
        }
    }
    Ok(())
}

fn shown(response: &Response, name: &str) -> Option<i64> {
    response.at(&format!("/data/{name}")).and_then(Value::as_i64)
}

async fn end(probe: &Probe<'_>, pages: usize) -> Result<(), Stop> {
    let search = &probe.contract().search;
    let survey = survey(probe).await?;
    let mut comparison = Comparison::with(survey);
    let count = survey.instances.len();
    let total = u64::try_from(count).unwrap_or(u64::MAX);
    // With this size the last page is full only when the size divides the total.
    let max = usize::try_from(*search.page_sizes.end()).unwrap_or(usize::MAX);
    let size = count.div_ceil(pages).clamp(1, max);
    let last = count.div_ceil(size);
    let number = |page: usize| *search.pages.start() + i64::try_from(page).unwrap_or(0) - 1;
    let size_field = i64::try_from(size).unwrap_or(i64::MAX);
    let end = page(probe, &survey.request, number(last), size_field).await?;
    let rest = count - (last - 1) * size;
    if end.items.len() != rest {
        let expected = format!("{} on the last page, {last}, of {size} each", quantity(rest, "instance"));
        comparison.differs(Clause::SearchPaging, expected, end.items.len().to_string(), &[&end.exchange]);
    }
    // Pages 257 and 65537 become page 1 if the number is truncated to 8 or 16 bits. One case sends them.
    let wrapping = [1_usize << 8, 1 << 16].map(|bits| number(bits + 1));
    let wrapping = wrapping.into_iter().filter(|page| pages == 1 && search.pages.contains(page));
    for past in [number(last + 1), number(last + 7), *search.pages.end()].into_iter().chain(wrapping) {
        let request = survey.request.clone().field(&search.page.name, past);
        let request = request.field(&search.page_size.name, size_field);
        let (exchange, class) = probe.send(&request).await?;
        let response = match (&exchange.result, class) {
            (Ok(response), ResponseClass::Accepted) => response.clone(),
            (_, ResponseClass::ServerError(what)) => {
                let expected = format!("page {past}, past the last one, is empty or rejected");
                probe.finding(Clause::SearchPaging, &expected, &what, &[&exchange]);
                continue;
            }
            (_, class) => {
                let text = format!("rejected: {}", class.description());
                probe.observe(Unspecified::SearchPagePastEnd, &text);
                continue;
            }
        };
        let echoed = (shown(&response, &search.page.name), shown(&response, &search.page_size.name));
        let read = Page::read(probe, AcceptedResponse { response, exchange })?;
        let expected = |what: &str| format!("{what} on page {past}, past the last one");
        let evidence = [&read.exchange];
        if !read.items.is_empty() {
            let actual = read.items.len().to_string();
            comparison.differs(Clause::SearchPaging, expected("no instance"), actual, &evidence);
        }
        if echoed != (Some(past), Some(size_field)) {
            let expected = expected("page and pageSize as requested");
            comparison.differs(Clause::SearchPaging, expected, format!("{echoed:?}"), &evidence);
        }
        if read.total != total {
            let expected = expected(&format!("total {total}"));
            comparison.differs(Clause::SearchTotal, expected, read.total.to_string(), &evidence);
        }
    }
    comparison.conclude(probe).await
}

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

async fn partitioned(probe: &Probe<'_>, size: Option<Size>) -> Result<(), Stop> {
    let survey = survey(probe).await?;
    let mut comparison = Comparison::with(survey);
    let (request, expected) = match size {
        Some(_) => {
            let (items, ids) = some(survey);
            (probe.search(items), ids)
        }
        None => (survey.request.clone(), survey.ids()),
    };
    let count = expected.len();
    let size = size.map_or(count / 4 + 1, |size| size(count));
    let what = quantity(count, "instance");
    partition(probe, &mut comparison, Clause::SearchPaging, &what, &request, &expected, size).await?;
    comparison.conclude(probe).await
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
        probe.finding(Clause::SearchPaging, &expected, &actual, &exchanges);
    }
    Ok(())
}

/// The first addresses, enough for a few small pages.
fn some(survey: &Survey) -> (Vec<String>, BTreeSet<i64>) {
    const ENOUGH: usize = 13;
    let mut taken = BTreeSet::new();
    let mut ids = BTreeSet::new();
    for address in &survey.addresses {
        taken.insert(*address);
        ids = survey.ids_where(|instance| taken.contains(&instance.ip));
        if ids.len() >= ENOUGH {
            break;
        }
    }
    (taken.iter().map(|ip| survey.spelt(*ip)).collect(), ids)
}

/// Reads a result in pages of one size. Each page except the last must be full, no two may overlap, together they must contain
/// the expected instances, and each must have the same total. Returns the ids in the order of the responses.
pub(super) async fn partition(
    probe: &Probe<'_>,
    comparison: &mut Comparison<'_>,
    clause: Clause,
    what: &str,
    request: &Request,
    expected: &BTreeSet<i64>,
    size: usize,
) -> Result<Vec<i64>, Stop> {
    let search = &probe.contract().search;
    let size = size.max(1);
    let count = expected.len().div_ceil(size).max(1);
    let first = *search.pages.start();
    let (mut ids, mut pages) = (Vec::new(), Vec::new());
    for number in (first..).take(count) {
        let read = page(probe, request, number, i64::try_from(size).unwrap_or(i64::MAX)).await?;
        ids.extend(read.ids());
        pages.push(read);
    }
    let exchanges: Vec<_> = pages.iter().map(|page| &page.exchange).collect();
    let found: BTreeSet<i64> = ids.iter().copied().collect();
    let lengths: Vec<_> = pages.iter().map(|page| page.items.len()).collect();
    let wanted: Vec<_> =
        (0..count).map(|page| size.min(expected.len() - (page * size).min(expected.len()))).collect();
    if found != *expected {
        let expected_text =
            format!("pages of {size} of {what} have {}", quantity(expected.len(), "instance"));
        let missing = expected.difference(&found).count();
        let added = found.difference(expected).count();
        let actual = format!("{}: {missing} missing, {added} too many", quantity(found.len(), "instance"));
        comparison.differs(clause, expected_text, actual, &exchanges);
    }
    if lengths != wanted || found.len() != ids.len() {
        let expected_text = format!("pages of {size} of {what} have {wanted:?} instances, each of them once");
        let actual = format!("{lengths:?}, {} of them repeated", ids.len() - found.len());
        comparison.differs(Clause::SearchPaging, expected_text, actual, &exchanges);
    }
    let totals: Vec<_> = pages.iter().map(|page| page.total).collect();
    if totals.iter().any(|total| usize::try_from(*total) != Ok(expected.len())) {
        let expected_text = format!("total {} on each page of {size} of {what}", expected.len());
        comparison.differs(Clause::SearchTotal, expected_text, format!("{totals:?}"), &exchanges);
    }
    Ok(ids)
}

/// Reads each page several times: one page of the maximum size, or this number of pages with all instances.
async fn stable(probe: &Probe<'_>, (pages, kind): (Option<usize>, Option<FilterKind>)) -> Result<(), Stop> {
    const REPEATS: usize = 2;
    let search = &probe.contract().search;
    let survey = survey(probe).await?;
    let filters: Vec<_> =
        kind.into_iter().flat_map(|kind| survey.candidates(kind).into_iter().take(1)).collect();
    if kind.is_some() && survey.count(&filters) < 2 {
        return Err(lacks_addresses(
            probe,
            "no two instances at the searched addresses pass this filter",
            "more addresses",
        ));
    }
    let request = apply(search, survey.request.clone(), &filters);
    let mut comparison = Comparison::with(survey);
    let size = pages.map_or(*search.page_sizes.end(), |pages| survey.page_size(pages));
    for number in survey.pages(search, size).take(pages.unwrap_or(1)) {
        let before = page(probe, &request, number, size).await?;
        for _ in 0..REPEATS {
            let again = page(probe, &request, number, size).await?;
            if again.ids() != before.ids() {
                let expected =
                    format!("page {number} of {size} each time in the same order: {:?}", before.ids());
                let exchanges = [&before.exchange, &again.exchange];
                comparison.differs(Clause::SearchPaging, expected, format!("{:?}", again.ids()), &exchanges);
            }
        }
    }
    comparison.conclude(probe).await
}

fn total_cases(scope: &Scope<'_>) -> Vec<Case> {
    let search = &scope.contract.search;
    let sets = [combinations(0), combinations(1), combinations(2), vec![FilterKind::SHOWN.to_vec()]].concat();
    let case = |(kinds, name): (Vec<FilterKind>, &'static str)| {
        let fields: Vec<_> = kinds.iter().map(|kind| kind.field(search)).collect();
        let fields = if fields.is_empty() { "no filter".to_owned() } else { fields.join(" & ") };
        (format!("{fields}, {name}"), 2, (kinds, name))
    };
    let cases = sets.into_iter().zip(BATCHES.into_iter().cycle()).map(case);
    surveyed(cases, total)
}

/// Reads pages of the minimum size, so that `total` differs from the number of instances on a page.
async fn total(probe: &Probe<'_>, (kinds, name): (Vec<FilterKind>, &str)) -> Result<(), Stop> {
    let search = &probe.contract().search;
    let survey = survey(probe).await?;
    let batch = batch(probe, survey, name)?;
    let Some(filters) = meeting(survey, &kinds) else {
        return Err(lacks_addresses(
            probe,
            "no instance at the searched addresses has values for these filters",
            "more addresses",
        ));
    };
    let mut comparison = Comparison::with(survey);
    let expected = batch.admitted(survey, &filters).len();
    let request = apply(search, probe.search(batch.items.clone()), &filters);
    for number in (*search.pages.start()..).take(expected.clamp(1, 2)) {
        let page = page(probe, &request, number, *search.page_sizes.start()).await?;
        if usize::try_from(page.total) != Ok(expected) {
            let expected = format!("total {expected} for {} among {name}", Filter::describe_all(&filters));
            comparison.differs(Clause::SearchTotal, expected, page.total.to_string(), &[&page.exchange]);
        }
    }
    comparison.conclude(probe).await
}

async fn total_nothing(probe: &Probe<'_>, count: u8) -> Result<(), Stop> {
    let found = read(probe, &probe.search(addresses::several_unknown(count))).await?;
    if !found.instances.is_empty() {
        return Err(probe.skip("an address that is reserved for documentation has an instance"));
    }
    if found.total() != 0 {
        let expected = "total 0 for unused addresses";
        probe.finding(Clause::SearchTotal, expected, &found.total().to_string(), &found.evidence());
    }
    Ok(())
}

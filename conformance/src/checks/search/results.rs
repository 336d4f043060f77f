//! What no row says about results: bounds, `maxBatchSize`, orders, a second account's filters, and more instances than fit on a page.

use std::cmp::Ordering;

use jiff::Timestamp;

use super::*;

pub(super) static PROGRAMS: &[Program] = &[
    active("search.activated-range.beyond", |_| {
        surveyed([("reversed by one step", 18, ())], reversed_by_one_step)
    }),
    active("search.max-batch-no-effect.limits", |_| Case::single(Cost::requests(8), max_batch)),
    active("search.order-number.held", |_| {
        let label = |index| format!("order {}", index + 1);
        let case = |index| Case::for_data(label(index), Cost::requests(3), index, order_held);
        (0..MAX_ORDERS).map(case).collect()
    }),
    active("search.intersection.second-account", |_| {
        let case =
            |kind: FilterKind| Case::for_data(kind.phrase(), Cost::requests(3), kind, of_second_account);
        shown_kinds().map(case).collect()
    }),
    active("search.paging.partition", |_| {
        vec![Case::new("more than the largest page", Cost::requests(6), overlapping)]
    }),
];

async fn reversed_by_one_step(probe: &Probe<'_>, (): ()) -> Result<(), Stop> {
    let account = Account::read(probe).await?;
    for time in account.chosen()? {
        let time = Timestamp::from_nanosecond(time).map_err(|error| Stop::Error(error.to_string()))?;
        let Ok(before) = time.checked_sub(account.survey.step()) else { continue };
        let why = format!("{ACTIVATED_TO} {before} is just earlier than {ACTIVATED_FROM} {time}");
        let [good, bad] = [time, before].map(|to| {
            let bounds = kinds().filter(|kind| kind.is_bound()).zip([time, to]);
            let filters = bounds.map(|(kind, time)| kind.with(FieldValue::Time(time)));
            account.survey.query().filtered(filters).request(probe)
        });
        probe.control_once(&good).await?;
        probe.rejects(SearchActivatedOrder, &why, &bad).await?;
    }
    Ok(())
}

async fn max_batch(probe: &Probe<'_>) -> Result<(), Stop> {
    const CLAUSE: Clause = SearchMaxBatchNoEffect;
    let account = Account::read(probe).await?;
    let (survey, max) = (account.survey, account.search.distinct_items);
    let declaring = |wanted: Ordering| {
        let declared =
            |instance: &&Instance| usize::try_from(instance.max_batch?).ok().map(|own| own.cmp(&max));
        survey.instances.values().find(|instance| declared(instance) == Some(wanted))
    };
    let with = |instance: &Instance, count: usize| {
        let own = survey.spelt(instance.ip);
        let others = addresses::distinct(count + 1).into_iter().filter(|item| *item != own);
        let items = [own.clone()].into_iter().chain(others).take(count);
        Query { cites: Some(CLAUSE), ..Query::new(items) }
    };
    let (low, high) = (declaring(Ordering::Less), declaring(Ordering::Greater));
    if low.is_none() && high.is_none() {
        let lacks = "no instance at the searched addresses declares a maxBatchSize";
        return Err(account.lacks(lacks, "addresses of such instances"));
    }
    if let Some(instance) = low {
        relate(probe, survey, Relation::Contains, &[with(instance, max)]).await?;
    }
    if let Some(instance) = high {
        let [good, bad] = [max, max + 1].map(|count| with(instance, count).request(probe));
        let why = format!("{} addresses, one of an instance that declares {:?}", max + 1, instance.max_batch);
        probe.control_once(&good).await?;
        probe.rejects(CLAUSE, &why, &bad).await?;
    }
    Ok(())
}

const MAX_ORDERS: usize = 5;

async fn order_held(probe: &Probe<'_>, index: usize) -> Result<(), Stop> {
    let search = &probe.contract().search;
    let Some(order) = probe.facts().orders.get(index) else {
        return Err(probe.skip_lacking("fewer orders were supplied", "more orders", Fact::Orders));
    };
    let items: Vec<_> = order.addresses.iter().take(search.distinct_items).collect();
    let everything = probe.search(items.iter().map(|item| item.as_str()));
    let what = format!("the addresses of order {}", order.number);
    let asked = everything.clone().field(ORDER_NO, order.number.as_str());
    let found = read_accepted(probe, SearchOrderNumber, &what, &asked).await?;
    let Some(found) = found else { return Ok(()) };
    let missing: Vec<_> = items.iter().filter(|item| !holds(&found, item)).collect();
    let whole = read(probe, &everything).await?;
    let (judged, references) = (found.evidence(), whole.evidence());
    if let Some(item) = missing.first().filter(|item| holds(&whole, item)) {
        let expected = format!("{what} find an instance at each of them");
        let actual = format!("none at {} of {}, {item} among them", missing.len(), items.len());
        probe.finding_beside(SearchOrderNumber, &expected, &actual, &judged, &references);
    }
    let others = found.ids().difference(&whole.ids()).count();
    if others > 0 {
        let with = format!("a search for {what} with `{ORDER_NO}`");
        let expected = format!("{with} finds no instance that the search without it does not find");
        let actual = quantity(others, "other instance");
        probe.finding_beside(SearchOrderNumber, &expected, &actual, &judged, &references);
    }
    Ok(())
}

fn holds(found: &ResultSet, item: &str) -> bool {
    let Some((ip, port)) = address_of(item) else { return true };
    let is_there = |port: Option<i64>, held: i64| port.is_none_or(|port| port == held);
    found.instances.values().any(|instance| instance.ip == ip && is_there(port, instance.port))
}

async fn of_second_account(probe: &Probe<'_>, kind: FilterKind) -> Result<(), Stop> {
    const MAX: usize = 100;
    let second = probe.required(Fact::SecondToken, |facts| facts.second_token.as_ref())?;
    let foreign = probe.facts().foreign_addresses.iter().take(MAX).cloned();
    let foreign = foreign.filter(|item| address_of(item).is_some());
    let token = Some(second.expose().to_owned());
    let (name, cites) = (Some("the addresses of the second account"), Some(SearchIntersection));
    let query = Query { token, name, cites, ..Query::new(foreign) };
    let survey = Survey::alone(probe, &query).await?;
    let filters = survey.instances.values().filter_map(|instance| survey.filter(kind, instance));
    let queries = filters.map(|filter| query.clone().filtered([filter]));
    let mut narrow = queries.filter(|query| query.expected(&survey).len() < survey.instances.len());
    let Some(query) = narrow.next() else {
        let lacks = "no such filter leaves out an instance of the second account";
        return Err(probe.skip_lacking(lacks, "addresses of its instances", Fact::ForeignAddresses));
    };
    relate(probe, &survey, Relation::Survey, &[query]).await
}

/// Searches for the maximum number of own addresses, whose instances may fill several pages of the maximum size.
async fn overlapping(probe: &Probe<'_>) -> Result<(), Stop> {
    let search = &probe.contract().search;
    let request = probe.search(probe.own_addresses(search.distinct_items));
    let first = read(probe, &request).await?;
    if first.exchanges.len() < 2 {
        let lacks = "the instances of as many addresses as one search takes fit on its largest page";
        let add = "addresses with several instances each, or more addresses";
        return Err(lacks_addresses(probe, lacks, add));
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

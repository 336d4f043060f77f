//! Limits on `ips`, duplicates, and batches that are rejected as a whole.

use std::cmp::Ordering;

use super::rules::LARGEST_PAGE;
use super::*;

pub(super) static PROGRAMS: &[Program] = &[
    active("search.ips-raw-limit.boundaries", |scope| {
        let beside = filters().take(1).chain([SECOND_PAGE, LARGEST_PAGE, A_RANGE]).map(|company| {
            let edit = Set(IPS, Value::Items("\"2001:db8::250\", up to raw+1"));
            invalid(format!("one above the limit, beside {}", company.0), [edit]).beside(company)
        });
        cases(SearchIpsRawLimit, stated("search.ips-raw-limit.boundaries", scope).into_iter().chain(beside))
    }),
    active("search.ips-dedup-limit.repeats", |_| {
        let cases = [
            ("each item twice", 6, (2, false)),
            ("each item twice and respelled", 6, (2, true)),
            ("each item three times", 6, (3, false)),
        ];
        rows(Relation::Survey, cases, |Account { survey, search, .. }, (times, is_respelled)| {
            let repeated = survey.batches(search).iter().map(|batch| {
                // The spelling that is known to match comes first, since the service uses the first one.
                let again = batch.items.iter().rev().cloned();
                let third = batch.items.iter().filter(|_| times > 2).cloned();
                let respelled = batch.items.iter().filter(|_| is_respelled).filter_map(|item| respell(item));
                let mut query = batch.clone().citing(SearchIpsDedupLimit);
                query.items.extend(again.chain(third).chain(respelled));
                query
            });
            Ok(repeated.collect())
        })
    }),
    active("search.ips-all-or-nothing.position", |scope| cases(SearchIpsAllOrNothing, all_or_nothing(scope))),
    active("search.max-batch-no-effect.limits", |_| Case::single(Cost::requests(8), max_batch)),
    active("search.ips-first-text.respelled", |_| {
        let each = |(label, with_port): (&'static str, bool)| {
            [("the other spelling first", true), ("the known spelling first", false)]
                .map(|(order, is_first)| (format!("{label}, {order}"), 2, (with_port, is_first)))
        };
        let cases = [("addresses", false), ("addresses with ports", true)].into_iter().flat_map(each);
        rows(Relation::FirstText, cases, first_text)
    }),
];

/// Batches of a few items: `+` stands for a valid one.
const SHAPES: [(&str, &[&str]); 5] = [
    ("alone", &["203.0.113"]),
    ("several alone", &["203.0.113", "203.0.113.0/24", "no-address"]),
    ("among valid items", &["+", "203.0.113", "+"]),
    ("behind valid items", &["+", "+", "203.0.113"]),
    ("twice among valid items", &["203.0.113", "+", "203.0.113"]),
];

/// Members beside which the items are tested.
const BESIDE: [Company; 3] = [
    ("an activation time", &[Set(ACTIVATED_FROM, Value::Word("2020-01-01T00:00:00Z"))]),
    ("a page size", &[Set(PAGE_SIZE, Value::Number(5))]),
    ("the second page", &[Set(PAGE_SIZE, Value::Number(1)), Set(PAGE, Value::Number(2))]),
];

fn all_or_nothing(scope: &Scope<'_>) -> Vec<Row> {
    let stated = stated("search.ips-all-or-nothing.position", scope).into_iter();
    let company = || filters().chain(BESIDE);
    let shaped = company().flat_map(|(member, edits)| {
        SHAPES.map(|(shape, items)| {
            let label = format!("{shape}, beside {member}");
            let row = invalid(format!("an item is not an address: {label}"), [own_in(items)]).labelled(label);
            let valid: Vec<_> = [own_in(&["+", "+", "+"])].into_iter().chain(edits.to_vec()).collect();
            row.changing(format!("own addresses, beside {member}"), valid, 0).doubtful()
        })
    });
    let beside = company().flat_map(|company| {
        let (member, _) = company;
        let empty = invalid(format!("an empty set, beside {member}"), [field(IPS, json!([]))]);
        let too_many = Set(IPS, Value::Items("max+1 addresses"));
        [empty, invalid(format!("one distinct item too many, beside {member}"), [too_many])]
            .map(|row| row.beside(company))
    });
    stated.chain(shaped).chain(beside).collect()
}

/// Items of which `+` stands for an own address: a service may reject a page past the last one, or an unknown country.
fn own_in(items: &'static [&'static str]) -> Edit {
    with(move |probe, request| {
        let own = probe.own_addresses(3).into_iter().map(str::to_owned).chain(addresses::distinct(3));
        let mut own = own.take(3);
        let item =
            |item: &&str| if *item == "+" { own.next().unwrap_or_default() } else { (*item).to_owned() };
        Ok(request.field(IPS, items.iter().map(item).collect::<Vec<_>>()))
    })
}

/// S([A', A]) = S([A']), whatever A' finds.
fn first_text(
    account: Account<'_>,
    (with_port, is_respelled_first): (bool, bool),
) -> Result<Vec<Query>, Stop> {
    const MAX: usize = 20;
    let Account { survey, search, .. } = account;
    let items = survey.values(|instance| {
        let item = if with_port { survey.item(search, instance) } else { Some(survey.spelt(instance.ip)) };
        item.filter(|_| instance.ip.is_ipv6())
    });
    let pairs = items.into_iter().take(MAX).filter_map(|item| Some((respell(&item)?, item)));
    let pairs = pairs.filter(|(respelled, item)| respelled != item);
    let first = pairs.map(|(respelled, item)| if is_respelled_first { respelled } else { item });
    let query = Query::new(first).citing(SearchIpsFirstText);
    let lacks =
        || account.lacks("no searched IPv6 address has an instance", "an IPv6 address with an instance");
    if query.items.is_empty() { Err(lacks()) } else { Ok(vec![query]) }
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
        Query::new([own.clone()].into_iter().chain(others).take(count)).citing(CLAUSE)
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

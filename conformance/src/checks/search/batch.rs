//! Limits on `ips`, duplicates, and batches that are rejected as a whole.

use serde_json::json;

use super::addresses::{self, respell};
use super::cases::{
    A_RANGE, Change, FILTERS, LARGEST_PAGE, SECOND_PAGE, control, control_or_skip, invalid, surveyed,
};
use crate::check::{Case, Check, Cost, Probe, Run, Scope, Stop};
use crate::checks::relation::{Comparison, Instance, accepts_search, read_accepted, survey};
use crate::checks::{Requests, UNKNOWN_ADDRESS};
use crate::contract::{Clause, OperationId, Search};
use crate::target::Fact;

pub(super) static RAW_LIMIT_BOUNDARIES: Check = Check {
    id: "search.ips-raw-limit.boundaries",
    title: "raw items are counted before duplicates are removed, and `ips` is an array",
    why: "A lower limit rejects batches that the contract allows. Without a limit a single request can occupy the server.",
    operation: Some(OperationId::Search),
    clauses: &[Clause::SearchIpsRawLimit],
    needs: &[],
    run: Run::Cases(raw_limit_cases),
};

pub(super) static DEDUP_LIMIT_BOUNDARIES: Check = Check {
    id: "search.ips-dedup-limit.boundaries",
    title: "the limit on distinct items counts addresses with their ports, after duplicates are removed",
    why: "Callers send lists with repeated entries. Counted wrongly, a batch that fits is rejected, \
          or one that does not fit is searched in part.",
    operation: Some(OperationId::Search),
    clauses: &[Clause::SearchIpsDedupLimit],
    needs: &[],
    run: Run::Cases(|_| DISTINCT.into_iter().map(distinct_case).collect()),
};

pub(super) static DEDUP_LIMIT_REPEATS: Check = Check {
    id: "search.ips-dedup-limit.repeats",
    title: "repeating or respelling an item changes neither the instances nor `total`",
    why: "An instance that is listed once for each repetition is counted, renewed or billed more than once by the caller.",
    operation: Some(OperationId::Search),
    clauses: &[Clause::SearchIpsDedupLimit, Clause::SearchTotal],
    needs: &[Fact::OwnAddresses],
    run: Run::Cases(|_| {
        let cases = [
            ("each item twice", 6, false),
            ("each item twice and respelled", 6, true),
            (THREE_TIMES, 6, false),
        ];
        surveyed(
            cases.map(|(label, requests, with)| (label.to_owned(), requests, (label, with))),
            |probe, data| Box::pin(repeats(probe, data)),
        )
    }),
};

pub(super) static ALL_OR_NOTHING: Check = Check {
    id: "search.ips-all-or-nothing.position",
    title: "one invalid item, an empty set or a set over the limit rejects the whole batch",
    why: "When an invalid item is dropped silently, its instance is missing from the result and looks deleted.",
    operation: Some(OperationId::Search),
    clauses: &[Clause::SearchIpsAllOrNothing],
    needs: &[],
    run: Run::Cases(all_or_nothing_cases),
};

pub(super) static MAX_BATCH_LIMITS: Check = Check {
    id: "search.max-batch-no-effect.limits",
    title: "a declared `maxBatchSize` neither lowers nor raises the limit on distinct items",
    why: "Otherwise the accepted size of a batch depends on the instances that it happens to match.",
    operation: Some(OperationId::Search),
    clauses: &[Clause::SearchMaxBatchNoEffect],
    needs: &[Fact::OwnAddresses],
    run: Run::Cases(|_| Case::single(Cost::requests(8), |probe| Box::pin(max_batch(probe)))),
};

fn raw_limit_cases(_: &Scope<'_>) -> Vec<Case> {
    const INVALID: [(&str, Change); 8] = [
        ("an empty array", |search, good| good.field(&search.ips.name, json!([]))),
        ("one above the limit, all the same", |search, good| {
            good.field(&search.ips.name, vec![UNKNOWN_ADDRESS; search.raw_items.end() + 1])
        }),
        ("one above the limit, of two addresses", |search, good| {
            let pair = [UNKNOWN_ADDRESS, "2001:db8::250"].into_iter().cycle();
            good.field(&search.ips.name, pair.take(search.raw_items.end() + 1).collect::<Vec<_>>())
        }),
        ("a string", |search, good| good.field(&search.ips.name, UNKNOWN_ADDRESS)),
        ("an object", |search, good| good.field(&search.ips.name, json!({"0": UNKNOWN_ADDRESS}))),
        ("a number", |search, good| good.field(&search.ips.name, 1)),
        ("true", |search, good| good.field(&search.ips.name, true)),
        ("a string of several addresses", |search, good| {
            good.field(&search.ips.name, format!("{UNKNOWN_ADDRESS},203.0.113.249"))
        }),
    ];
    let full = |label, item: fn(&Search, usize) -> String| {
        Case::with(label, Cost::requests(1), item, |probe, item| {
            Box::pin(async move {
                let search = &probe.contract().search;
                let most = *search.raw_items.end();
                let request = probe.search((0..most).map(|index| item(search, index)));
                let why = format!("{most} raw items, few of them distinct");
                accepts_search(probe, Clause::SearchIpsRawLimit, &why, &request).await.map(drop)
            })
        })
    };
    let mut cases = invalid(Clause::SearchIpsRawLimit, &INVALID);
    for others in [FILTERS[0], SECOND_PAGE, LARGEST_PAGE, A_RANGE] {
        let items: Items = |search, _| vec!["2001:db8::250".to_owned(); search.raw_items.end() + 1];
        cases.push(too_few_or_many(Clause::SearchIpsRawLimit, "one above the limit", items, others));
    }
    cases.push(full("the limit, all the same", |_, _| UNKNOWN_ADDRESS.to_owned()));
    cases.push(full("the limit, of the longest items", |search, index| {
        let last = search.ports.end() - i64::try_from(index % 100).unwrap_or(0);
        format!("[2001:0db8:ffff:ffff:ffff:ffff:ffff:ffff]:{last}")
    }));
    cases.push(full("the limit, of many addresses and ports", |search, index| {
        let port = addresses::port(search, index / 3 % 100);
        match index % 3 {
            0 => format!("198.18.0.{}", index / 3 % 100),
            1 => format!("198.18.0.1:{port}"),
            _ => format!("[2001:db8::1]:{port}"),
        }
    }));
    cases
}

/// Makes items for a limit.
type Items = fn(&Search, usize) -> Vec<String>;

/// Batches around the limit on distinct items: a label, whether they are within it, and the items.
const DISTINCT: [(&str, bool, Items); 19] = [
    ("addresses", true, |_, most| addresses::distinct(most)),
    ("ports of two addresses", true, addresses::ports),
    ("addresses and ports", true, mixed),
    ("addresses, each twice", true, |_, most| again(addresses::distinct(most))),
    ("ports, each twice", true, |search, most| again(addresses::ports(search, most))),
    ("addresses, those of IPv6 respelled as well", true, |_, most| with_respelled(addresses::distinct(most))),
    ("ports, those of IPv6 respelled as well", true, |search, most| {
        with_respelled(addresses::ports(search, most))
    }),
    ("addresses of IPv6", true, |_, most| addresses::of_family(most, true)),
    ("addresses of IPv6, one of them in capitals as well", true, |_, most| {
        let items = addresses::of_family(most, true);
        let capitals = items.first().map(|item| item.to_uppercase()).unwrap_or_default();
        one_more(items, &capitals)
    }),
    ("one more address of IPv6", false, |_, most| addresses::of_family(most + 1, true)),
    ("one more address of IPv4", false, |_, most| addresses::of_family(most + 1, false)),
    ("one more address", false, |_, most| one_more(addresses::distinct(most), UNKNOWN_ADDRESS)),
    ("one more port of two addresses", false, |search, most| addresses::ports(search, most + 1)),
    ("one more of addresses and ports", false, |search, most| mixed(search, most + 1)),
    ("one more, an address with and without a port", false, |search, most| {
        let items = addresses::distinct(most);
        let ported = format!("{}:{}", items[0], search.ports.start());
        one_more(items, &ported)
    }),
    ("one more after all others came twice", false, |_, most| {
        one_more(again(addresses::distinct(most)), UNKNOWN_ADDRESS)
    }),
    ("one more before duplicates", false, |_, most| {
        let duplicates = addresses::distinct(most);
        addresses::distinct(most + 1).into_iter().chain(duplicates).collect()
    }),
    ("one more, as many raw items as there may be", false, |search, most| {
        addresses::distinct(most + 1).into_iter().cycle().take(*search.raw_items.end()).collect()
    }),
    ("one more among respelled duplicates", false, |search, most| {
        one_more(with_respelled(addresses::ports(search, most)), UNKNOWN_ADDRESS)
    }),
];

/// Addresses of both families, some of them with ports.
fn mixed(search: &Search, count: usize) -> Vec<String> {
    let half = count / 2;
    addresses::distinct(half).into_iter().chain(addresses::ports(search, count - half)).collect()
}

fn again(items: Vec<String>) -> Vec<String> {
    let repeated = items.clone();
    items.into_iter().chain(repeated).collect()
}

fn with_respelled(items: Vec<String>) -> Vec<String> {
    let respelled: Vec<_> = items.iter().filter_map(|item| respell(item)).collect();
    items.into_iter().chain(respelled).collect()
}

fn one_more(items: Vec<String>, last: &str) -> Vec<String> {
    items.into_iter().chain([last.to_owned()]).collect()
}

fn distinct_case((label, is_allowed, items): (&'static str, bool, Items)) -> Case {
    let data = (label, is_allowed, items);
    let case = Case::with(label, Cost::requests(1), data, |probe, (label, is_allowed, items)| {
        Box::pin(async move {
            const CLAUSE: Clause = Clause::SearchIpsDedupLimit;
            let search = &probe.contract().search;
            let most = search.distinct_items;
            let good = probe.any_search();
            let request = probe.search(items(search, most));
            let why = format!("{} distinct items: {label}", if is_allowed { most } else { most + 1 });
            if is_allowed {
                probe.control_once(&good).await?;
                return probe.accepts(CLAUSE, &why, &request).await.map(drop);
            }
            probe.rejects_after_control(CLAUSE, &why, &good, &request).await
        })
    });
    control(case)
}

const THREE_TIMES: &str = "each item three times";

async fn repeats(probe: &Probe<'_>, (label, with_respelling): (&str, bool)) -> Result<(), Stop> {
    let search = &probe.contract().search;
    let survey = survey(probe).await?;
    let mut comparison = Comparison::with(survey);
    for batch in survey.batches(search) {
        // The spelling that is known to match stands first: it is the one that is kept.
        let mut items: Vec<_> = batch.items.iter().chain(batch.items.iter().rev()).cloned().collect();
        if label == THREE_TIMES {
            items.extend(batch.items.iter().cloned());
        }
        if with_respelling {
            items.extend(batch.items.iter().filter_map(|item| respell(item)));
        }
        let what = format!("{}, {label},", batch.name);
        let request = probe.search(items);
        if let Some(found) = read_accepted(probe, Clause::SearchIpsDedupLimit, &what, &request).await? {
            comparison.same(Clause::SearchIpsDedupLimit, &what, &batch.ids, &found);
            comparison.total(Clause::SearchTotal, &what, batch.ids.len(), &found);
        }
    }
    comparison.conclude(probe).await
}

fn all_or_nothing_cases(scope: &Scope<'_>) -> Vec<Case> {
    const INVALID: [(&str, &str); 4] = [
        ("a network", "203.0.113.0/24"),
        ("port 0", "203.0.113.250:0"),
        ("an empty item", ""),
        ("a fragment", "203.0.113"),
    ];
    // A place from the number of valid items.
    type Place = fn(usize) -> usize;
    const PLACES: [(&str, Place); 3] =
        [("first", |_| 0), ("in the middle", |count| count / 2), ("last", |count| count)];
    let mut cases = Vec::new();
    // Another document may allow it.
    let is_invalid = |what: &str| what != "port 0" || !scope.contract.search.ports.contains(&0);
    for (what, item) in INVALID.into_iter().filter(|(what, _)| is_invalid(what)) {
        for (where_, place) in PLACES {
            let label = format!("{what}, {where_}");
            cases.push(batch_case(label, (item, place, |_, most| addresses::distinct(most - 1))));
        }
    }
    let beyond =
        |label: &str, most: Items| batch_case(label.to_owned(), ("203.0.113.0/24", |count| count, most));
    cases.push(beyond("an invalid item after as many distinct ones as there may be", |_, most| {
        addresses::distinct(most)
    }));
    cases.push(beyond("an invalid item after thousands of repetitions", |search, most| {
        addresses::distinct(most).into_iter().cycle().take(search.raw_items.end() - 1).collect()
    }));
    for (place, at) in
        [("a quarter", (|count| count / 4) as Place), ("three quarters", |count| count * 3 / 4)]
    {
        let label = format!("a network, after {place} of the items");
        cases.push(batch_case(label, ("203.0.113.0/24", at, |_, most| addresses::distinct(most - 1))));
    }
    cases.push(beyond("an invalid item after items with ports", |search, most| {
        addresses::ports(search, most - 1)
    }));
    for (others, change) in FILTERS.into_iter().chain(OTHER_PARAMETERS) {
        for (label, shape) in [
            ("alone", &[""; 1][..]),
            ("several alone", &["", "203.0.113.0/24", "no-address"]),
            ("among valid items", &["+", "", "+"]),
            ("behind valid items", &["+", "+", ""]),
            ("twice among valid items", &["", "+", ""]),
        ] {
            let case = with_other_parameters(format!("{label}, beside {others}"), shape, change);
            cases.push(case.sharing(format!("own addresses, beside {others}"), Cost::requests(1)));
        }
    }
    cases.extend(invalid(
        Clause::SearchIpsAllOrNothing,
        &[
            ("one distinct item too many", |search, good| {
                good.field(&search.ips.name, addresses::distinct(search.distinct_items + 1))
            }),
            ("an empty set", |search, good| good.field(&search.ips.name, json!([]))),
        ],
    ));
    for others in FILTERS.into_iter().chain(OTHER_PARAMETERS) {
        for (label, items) in [
            ("an empty set", (|_, _| Vec::new()) as Items),
            ("one distinct item too many", |_, most| addresses::distinct(most + 1)),
        ] {
            cases.push(too_few_or_many(Clause::SearchIpsAllOrNothing, label, items, others));
        }
    }
    cases
}

/// The limits hold whatever else a search carries.
fn too_few_or_many(
    clause: Clause,
    what: &str,
    items: Items,
    (others, change): (&'static str, Change),
) -> Case {
    let label = format!("{what}, beside {others}");
    let data = (clause, label.clone(), items, change);
    let control = format!("beside {others}");
    let case = Case::with(label, Cost::requests(1), data, |probe, (clause, label, items, change)| {
        Box::pin(async move {
            let search = &probe.contract().search;
            let most = search.distinct_items;
            let good = change(search, probe.any_search());
            control_or_skip(probe, &good).await?;
            let bad = good.field(&search.ips.name, items(search, most));
            probe.rejects(clause, &label, &bad).await
        })
    });
    case.sharing(control, Cost::requests(1))
}

/// What else a search may carry, under which its items are judged all the same.
const OTHER_PARAMETERS: [(&str, Change); 3] = [
    ("an activation time", |search, good| good.field(&search.activated_from.name, "2020-01-01T00:00:00Z")),
    ("a page size", |search, good| good.field(&search.page_size.name, 5)),
    ("the second page", |search, good| good.field(&search.page_size.name, 1).field(&search.page.name, 2)),
];

/// A batch with an invalid item beside another member: `+` stands for a valid item and an empty text for the invalid one.
fn with_other_parameters(label: String, shape: &'static [&'static str], change: Change) -> Case {
    Case::with(label, Cost::requests(1), (shape, change), |probe, (shape, change)| {
        Box::pin(async move {
            // A page past the last may be rejected, and so may an unknown country, so that own addresses are better.
            let mut valid =
                probe.own_addresses(shape.len().max(3)).into_iter().map(str::to_owned).collect::<Vec<_>>();
            if valid.len() < 3 {
                valid.extend(addresses::distinct(3));
            }
            let search = &probe.contract().search;
            let good = change(search, probe.search(valid.iter().map(String::as_str)));
            control_or_skip(probe, &good).await?;
            let mut valid = valid.iter();
            let mut item = |kind: &&'static str| match *kind {
                "+" => valid.next().cloned().unwrap_or_default(),
                "" => "203.0.113".to_owned(),
                other => other.to_owned(),
            };
            let items: Vec<String> = shape.iter().map(&mut item).collect();
            let why = format!("an item is no address: {items:?}");
            let bad = change(search, probe.search(items));
            probe.rejects(Clause::SearchIpsAllOrNothing, &why, &bad).await
        })
    })
}

pub(super) static FIRST_TEXT: Check = Check {
    id: "search.ips-first-text.respelled",
    title: "a batch with several spellings of an address gives the result of the first spelling alone",
    why: "If a service knows an address in one spelling only, the order of a list decides what is found, in a way that callers \
          can't foresee.",
    operation: Some(OperationId::Search),
    clauses: &[Clause::SearchIpsFirstText],
    needs: &[Fact::OwnAddresses],
    run: Run::Cases(|_| {
        let each = |(label, with_port): (&'static str, bool)| {
            [("the other spelling first", true), ("the known spelling first", false)]
                .map(|(order, is_first)| (format!("{label}, {order}"), 2, (with_port, is_first)))
        };
        let cases = [("addresses", false), ("addresses with ports", true)].into_iter().flat_map(each);
        surveyed(cases, |probe, data| Box::pin(first_text(probe, data)))
    }),
};

/// S([A', A]) = S([A']), whatever A' finds.
async fn first_text(probe: &Probe<'_>, (with_port, is_respelled_first): (bool, bool)) -> Result<(), Stop> {
    const CLAUSE: Clause = Clause::SearchIpsFirstText;
    const MOST: usize = 20;
    let search = &probe.contract().search;
    let survey = survey(probe).await?;
    let items = survey.values(|instance| {
        let item = if with_port { survey.item(search, instance) } else { Some(survey.spelt(instance.ip)) };
        item.filter(|_| instance.ip.is_ipv6())
    });
    let pairs = items.into_iter().take(MOST).filter_map(|item| Some((respell(&item)?, item)));
    let pairs = pairs.filter(|(respelled, item)| respelled != item);
    let ordered =
        pairs.map(|(respelled, item)| if is_respelled_first { (respelled, item) } else { (item, respelled) });
    let (first, second): (Vec<String>, Vec<String>) = ordered.unzip();
    if first.is_empty() {
        return Err(probe.skip_lacking(
            "no surveyed address is IPv6",
            "an IPv6 address with an instance",
            Fact::OwnAddresses,
        ));
    }
    let mut comparison = Comparison::with(survey);
    let alone = format!("the first spellings alone: {first:?}");
    let Some(alone) = read_accepted(probe, CLAUSE, &alone, &probe.search(first.clone())).await? else {
        return Ok(());
    };
    let both: Vec<String> = first.into_iter().chain(second).collect();
    let what = format!("each address in two spellings, the first ones first: {both:?}");
    if let Some(found) = read_accepted(probe, CLAUSE, &what, &probe.search(both)).await? {
        comparison.same(CLAUSE, &what, &alone.ids(), &found);
    }
    comparison.conclude(probe).await
}

/// An invalid item, its place among the valid ones, and these.
fn batch_case(label: String, data: (&'static str, fn(usize) -> usize, Items)) -> Case {
    Case::with(label, Cost::requests(2), data, |probe, (item, place, items)| {
        Box::pin(async move {
            let search = &probe.contract().search;
            let mut items = items(search, search.distinct_items);
            let good = probe.search(items.clone());
            let (count, place) = (items.len(), place(items.len()));
            items.insert(place, item.to_owned());
            let why = format!("{item:?} stands at place {place} among {count} valid items");
            probe
                .rejects_after_control(Clause::SearchIpsAllOrNothing, &why, &good, &probe.search(items))
                .await
        })
    })
}

async fn max_batch(probe: &Probe<'_>) -> Result<(), Stop> {
    const CLAUSE: Clause = Clause::SearchMaxBatchNoEffect;
    let most = probe.contract().search.distinct_items;
    let survey = survey(probe).await?;
    let declared = |test: fn(i64, i64) -> bool| {
        let limit = i64::try_from(most).unwrap_or(i64::MAX);
        survey
            .instances
            .values()
            .find(|instance| instance.max_batch.is_some_and(|declared| test(declared, limit)))
    };
    let with = |instance: &Instance, count: usize| {
        let own = survey.spelt(instance.ip);
        let others = addresses::distinct(count + 1).into_iter().filter(|item| *item != own);
        Some(own.clone()).into_iter().chain(others).take(count).collect::<Vec<_>>()
    };
    let low = declared(|declared, limit| declared < limit);
    let high = declared(|declared, limit| declared > limit);
    if low.is_none() && high.is_none() {
        return Err(probe.skip_lacking(
            "no surveyed instance declares a maxBatchSize",
            "addresses of such instances",
            Fact::OwnAddresses,
        ));
    }
    if let Some(instance) = low {
        let why = format!("{most} addresses, one of an instance that declares {:?}", instance.max_batch);
        if let Some(found) = read_accepted(probe, CLAUSE, &why, &probe.search(with(instance, most))).await? {
            let missing = !found.instances.contains_key(&instance.id);
            if missing && survey.holds_still(probe).await? {
                probe.finding(CLAUSE, &format!("{why}: it is found"), "it is not", &found.evidence());
            }
        }
    }
    if let Some(instance) = high {
        let (good, bad) = (probe.search(with(instance, most)), probe.search(with(instance, most + 1)));
        let why =
            format!("{} addresses, one of an instance that declares {:?}", most + 1, instance.max_batch);
        probe.rejects_after_control(CLAUSE, &why, &good, &bad).await?;
    }
    Ok(())
}

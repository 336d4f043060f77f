//! Limits on `ips`, duplicates, and batches that are rejected as a whole.

use std::cmp::Ordering;

use serde_json::json;

use super::SEARCH;
use super::addresses::{self, respell};
use super::cases::{A_RANGE, Change, FILTERS, LARGEST_PAGE, Member, SECOND_PAGE, invalid};
use super::row::{self, Row};
use super::surveyed::{Account, SURVEYED, rows};
use crate::check::{Case, Check, Cost, Probe, Run, Scope, Stop};
use crate::checks::relation::{Instance, Query, Relation, relate};
use crate::checks::{Requests, UNKNOWN_ADDRESS};
use crate::contract::part::{ACTIVATED_FROM, IPS, PAGE, PAGE_SIZE};
use crate::contract::{Clause, Search};

pub(super) static CHECKS: &[Check] = &[
    Check {
        id: "search.ips-raw-limit.boundaries",
        title: "raw items are counted before duplicates are removed, and `ips` is an array",
        why: "A lower limit rejects batches that the contract allows. Without a limit a single request can occupy the server.",
        clauses: &[Clause::SearchIpsRawLimit],
        run: Run::Cases(raw_limit_cases),
        ..SEARCH
    },
    Check {
        id: "search.ips-dedup-limit.boundaries",
        title: "the limit on distinct items counts addresses with their ports, after duplicates are removed",
        why: "Callers send lists with repeated entries. If the service counts them wrongly, \
              it rejects a batch that fits, or searches only a part of one that does not.",
        clauses: &[Clause::SearchIpsDedupLimit],
        run: Run::Cases(|scope| row::cases(DISTINCT.map(|row| distinct(scope, row)))),
        ..SEARCH
    },
    Check {
        id: "search.ips-dedup-limit.repeats",
        title: "repeating or respelling an item changes neither the instances nor `total`",
        why: "An instance that is listed once for each repetition is counted, renewed or billed more than once by the caller.",
        clauses: &[Clause::SearchIpsDedupLimit, Clause::SearchTotal],
        run: Run::Cases(|_| {
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
                    let respelled =
                        batch.items.iter().filter(|_| is_respelled).filter_map(|item| respell(item));
                    let mut query = Query::from(batch).citing(Clause::SearchIpsDedupLimit);
                    query.items.extend(again.chain(third).chain(respelled));
                    query
                });
                Ok(repeated.collect())
            })
        }),
        ..SURVEYED
    },
    Check {
        id: "search.ips-all-or-nothing.position",
        title: "one invalid item, an empty set or a set over the limit rejects the whole batch",
        why: "When an invalid item is dropped silently, its instance is missing from the result and looks deleted.",
        clauses: &[Clause::SearchIpsAllOrNothing],
        run: Run::Cases(all_or_nothing_cases),
        ..SEARCH
    },
    Check {
        id: "search.max-batch-no-effect.limits",
        title: "a declared `maxBatchSize` neither lowers nor raises the limit on distinct items",
        why: "If it did, the accepted size of a batch would depend on the instances that it happens to match.",
        clauses: &[Clause::SearchMaxBatchNoEffect],
        run: Run::Cases(|_| Case::single(Cost::requests(8), max_batch)),
        ..SURVEYED
    },
    Check {
        id: "search.ips-first-text.respelled",
        title: "a batch with several spellings of an address gives the result of the first spelling alone",
        why: "If a service knows an address in one spelling only, the order of a list decides what is found, which callers can't \
              predict.",
        clauses: &[Clause::SearchIpsFirstText],
        run: Run::Cases(|_| {
            let each = |(label, with_port): (&'static str, bool)| {
                [("the other spelling first", true), ("the known spelling first", false)]
                    .map(|(order, is_first)| (format!("{label}, {order}"), 2, (with_port, is_first)))
            };
            let cases = [("addresses", false), ("addresses with ports", true)].into_iter().flat_map(each);
            rows(Relation::FirstText, cases, first_text)
        }),
        ..SURVEYED
    },
];

fn raw_limit_cases(scope: &Scope<'_>) -> Vec<Case> {
    const INVALID: [(&str, Change); 8] = [
        ("an empty array", |_, good| good.field(IPS, json!([]))),
        ("one above the limit, all identical", |search, good| {
            good.field(IPS, vec![UNKNOWN_ADDRESS; search.raw_items.end() + 1])
        }),
        ("one above the limit, of two addresses", |search, good| {
            let pair = [UNKNOWN_ADDRESS, "2001:db8::250"].into_iter().cycle();
            good.field(IPS, pair.take(search.raw_items.end() + 1).collect::<Vec<_>>())
        }),
        ("a string", |_, good| good.field(IPS, UNKNOWN_ADDRESS)),
        ("an object", |_, good| good.field(IPS, json!({"0": UNKNOWN_ADDRESS}))),
        ("a number", |_, good| good.field(IPS, 1)),
        ("true", |_, good| good.field(IPS, true)),
        ("a string of several addresses", |_, good| {
            good.field(IPS, format!("{UNKNOWN_ADDRESS},203.0.113.249"))
        }),
    ];
    let max = *scope.contract.search.raw_items.end();
    let full = |label, item: RawItem| {
        let row = Row::accepts_alone(Clause::SearchIpsRawLimit, label);
        let row = row.sending(format!("{max} raw items, few of them distinct"), move |probe, _| {
            Ok(probe.search((0..max).map(|index| item(&probe.contract().search, index))))
        });
        row.case()
    };
    let mut cases = invalid(Clause::SearchIpsRawLimit, &INVALID);
    for others in [FILTERS[0], SECOND_PAGE, LARGEST_PAGE, A_RANGE] {
        let items: Items = |search, _| vec!["2001:db8::250".to_owned(); search.raw_items.end() + 1];
        cases.push(too_few_or_many(Clause::SearchIpsRawLimit, "one above the limit", items, others));
    }
    cases.push(full("the limit, all identical", |_, _| UNKNOWN_ADDRESS.to_owned()));
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

type RawItem = fn(&Search, usize) -> String;

/// Creates items for the limit on distinct items.
type Items = fn(&Search, usize) -> Vec<String>;

/// Batches around the limit on distinct items: label, whether they are within it, and items.
const DISTINCT: [(&str, bool, Items); 20] = [
    ("addresses", true, |_, max| addresses::distinct(max)),
    ("ports of two addresses", true, addresses::ports),
    ("addresses of IPv4, each with a port", true, |_, max| {
        addresses::of_family(max, false).into_iter().map(|address| format!("{address}:8080")).collect()
    }),
    ("addresses and ports", true, mixed),
    ("addresses, each twice", true, |_, max| again(addresses::distinct(max))),
    ("ports, each twice", true, |search, max| again(addresses::ports(search, max))),
    ("addresses, those of IPv6 respelled as well", true, |_, max| with_respelled(addresses::distinct(max))),
    ("ports, those of IPv6 respelled as well", true, |search, max| {
        with_respelled(addresses::ports(search, max))
    }),
    ("addresses of IPv6", true, |_, max| addresses::of_family(max, true)),
    ("addresses of IPv6, one of them in capitals as well", true, |_, max| {
        let items = addresses::of_family(max, true);
        let capitals = items.first().map(|item| item.to_uppercase()).unwrap_or_default();
        one_more(items, &capitals)
    }),
    ("one more address of IPv6", false, |_, max| addresses::of_family(max + 1, true)),
    ("one more address of IPv4", false, |_, max| addresses::of_family(max + 1, false)),
    ("one more address", false, |_, max| one_more(addresses::distinct(max), UNKNOWN_ADDRESS)),
    ("one more port of two addresses", false, |search, max| addresses::ports(search, max + 1)),
    ("one more of addresses and ports", false, |search, max| mixed(search, max + 1)),
    ("one more, an address with and without a port", false, |search, max| {
        let items = addresses::distinct(max);
        let ported = format!("{}:{}", items[0], search.ports.start());
        one_more(items, &ported)
    }),
    ("one more after all others came twice", false, |_, max| {
        one_more(again(addresses::distinct(max)), UNKNOWN_ADDRESS)
    }),
    ("one more before duplicates", false, |_, max| {
        let duplicates = addresses::distinct(max);
        addresses::distinct(max + 1).into_iter().chain(duplicates).collect()
    }),
    ("one more, as many raw items as there may be", false, |search, max| {
        addresses::distinct(max + 1).into_iter().cycle().take(*search.raw_items.end()).collect()
    }),
    ("one more among respelled duplicates", false, |search, max| {
        one_more(with_respelled(addresses::ports(search, max)), UNKNOWN_ADDRESS)
    }),
];

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

fn distinct(scope: &Scope<'_>, (label, is_allowed, items): (&'static str, bool, Items)) -> Row {
    let max = scope.contract.search.distinct_items;
    let why = format!("{} distinct items: {label}", if is_allowed { max } else { max + 1 });
    let row = Row::accepts_or_rejects(Clause::SearchIpsDedupLimit, label, is_allowed);
    row.sending(why, move |probe, _| Ok(probe.search(items(&probe.contract().search, max))))
}

fn all_or_nothing_cases(_: &Scope<'_>) -> Vec<Case> {
    const INVALID: [(&str, &str); 4] = [
        ("a network", "203.0.113.0/24"),
        ("port 0", "203.0.113.250:0"),
        ("an empty item", ""),
        ("a fragment", "203.0.113"),
    ];
    // The place of the invalid item, from the number of valid ones.
    type Place = fn(usize) -> usize;
    const PLACES: [(&str, Place); 3] =
        [("first", |_| 0), ("in the middle", |count| count / 2), ("last", |count| count)];
    let mut cases = Vec::new();
    for (what, item) in INVALID {
        for (where_, place) in PLACES {
            let label = format!("{what}, {where_}");
            cases.push(batch_case(label, (item, place, |_, max| addresses::distinct(max - 1))));
        }
    }
    let beyond =
        |label: &str, items: Items| batch_case(label.to_owned(), ("203.0.113.0/24", |count| count, items));
    cases.push(beyond("an invalid item after the maximum number of distinct items", |_, max| {
        addresses::distinct(max)
    }));
    cases.push(beyond("an invalid item after thousands of repetitions", |search, max| {
        addresses::distinct(max).into_iter().cycle().take(search.raw_items.end() - 1).collect()
    }));
    for (place, at) in
        [("a quarter", (|count| count / 4) as Place), ("three quarters", |count| count * 3 / 4)]
    {
        let label = format!("a network, after {place} of the items");
        cases.push(batch_case(label, ("203.0.113.0/24", at, |_, max| addresses::distinct(max - 1))));
    }
    cases.push(beyond("an invalid item after items with ports", |search, max| {
        addresses::ports(search, max - 1)
    }));
    for (others, change) in FILTERS.into_iter().chain(OTHER_PARAMETERS) {
        for (label, shape) in [
            ("alone", &[""; 1][..]),
            ("several alone", &["", "203.0.113.0/24", "no-address"]),
            ("among valid items", &["+", "", "+"]),
            ("behind valid items", &["+", "+", ""]),
            ("twice among valid items", &["", "+", ""]),
        ] {
            cases.push(shaped(format!("{label}, beside {others}"), shape, (others, change)));
        }
    }
    cases.extend(invalid(
        Clause::SearchIpsAllOrNothing,
        &[
            ("one distinct item too many", |search, good| {
                good.field(IPS, addresses::distinct(search.distinct_items + 1))
            }),
            ("an empty set", |_, good| good.field(IPS, json!([]))),
        ],
    ));
    for others in FILTERS.into_iter().chain(OTHER_PARAMETERS) {
        for (label, items) in [
            ("an empty set", (|_, _| Vec::new()) as Items),
            ("one distinct item too many", |_, max| addresses::distinct(max + 1)),
        ] {
            cases.push(too_few_or_many(Clause::SearchIpsAllOrNothing, label, items, others));
        }
    }
    cases
}

/// A case for a batch beyond a limit, beside another member.
fn too_few_or_many(clause: Clause, what: &str, items: Items, (others, change): Member) -> Case {
    let label = format!("{what}, beside {others}");
    let row = Row::rejects(clause, &*label).sending(label, move |probe, good| {
        let search = &probe.contract().search;
        Ok(good.field(IPS, items(search, search.distinct_items)))
    });
    row.changing_doubtful(Some(format!("beside {others}")), move |probe, good| {
        change(&probe.contract().search, good)
    })
    .case()
}

/// Parameters beside which the items are tested.
const OTHER_PARAMETERS: [(&str, Change); 3] = [
    ("an activation time", |_, good| good.field(ACTIVATED_FROM, "2020-01-01T00:00:00Z")),
    ("a page size", |_, good| good.field(PAGE_SIZE, 5)),
    ("the second page", |_, good| good.field(PAGE_SIZE, 1).field(PAGE, 2)),
];

/// A case for a batch with an invalid item beside another member: `+` stands for a valid item, and an empty text for an invalid
/// one. The valid ones are own addresses, since the service may reject a page past the last one or an unknown country.
fn shaped(label: String, shape: &'static [&'static str], (others, change): Member) -> Case {
    let own = |probe: &Probe<'_>| -> Vec<String> {
        let own = probe.own_addresses(3).into_iter().map(str::to_owned);
        own.chain(addresses::distinct(3)).take(3).collect()
    };
    let why = format!("an item is not an address: {label}");
    let row = Row::rejects(Clause::SearchIpsAllOrNothing, label).sending(why, move |probe, good| {
        let mut valid = own(probe).into_iter();
        let items = shape.iter().map(|kind| match *kind {
            "+" => valid.next().unwrap_or_default(),
            "" => "203.0.113".to_owned(),
            other => other.to_owned(),
        });
        Ok(good.field(IPS, items.collect::<Vec<_>>()))
    });
    let control = format!("own addresses, beside {others}");
    row.changing_doubtful(Some(control), move |probe, _| {
        change(&probe.contract().search, probe.search(own(probe)))
    })
    .case()
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
    let query = Query::new(first).citing(Clause::SearchIpsFirstText);
    let lacks =
        || account.lacks("no searched IPv6 address has an instance", "an IPv6 address with an instance");
    if query.items.is_empty() { Err(lacks()) } else { Ok(vec![query]) }
}

fn batch_case(label: String, (item, place, items): (&'static str, fn(usize) -> usize, Items)) -> Case {
    let valid = move |probe: &Probe<'_>| {
        let search = &probe.contract().search;
        items(search, search.distinct_items)
    };
    let why = format!("{item:?} among valid items: {label}");
    let row = Row::rejects(Clause::SearchIpsAllOrNothing, label).sending(why, move |probe, _| {
        let mut items = valid(probe);
        items.insert(place(items.len()), item.to_owned());
        Ok(probe.search(items))
    });
    row.changing("", move |probe, _| probe.search(valid(probe))).unshared().case()
}

async fn max_batch(probe: &Probe<'_>) -> Result<(), Stop> {
    const CLAUSE: Clause = Clause::SearchMaxBatchNoEffect;
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
        probe.rejects_after_control(CLAUSE, &why, &good, &bad).await?;
    }
    Ok(())
}

//! Limits on `ips`, duplicates, and batches that are rejected as a whole.

use std::cmp::Ordering;

use super::rules::LARGEST_PAGE;
use super::*;

pub(super) static PROGRAMS: &[Program] = &[
    active("search.ips-raw-limit.boundaries", raw_limit_cases),
    active("search.ips-dedup-limit.boundaries", |scope| {
        cases(SearchIpsDedupLimit, DISTINCT.map(|row| distinct(scope, row)))
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
    active("search.ips-all-or-nothing.position", |_| cases(SearchIpsAllOrNothing, all_or_nothing())),
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

fn raw_limit_cases(scope: &Scope<'_>) -> Vec<Case> {
    let max = *scope.contract.search.raw_items.end();
    let rejected = [
        ("an empty array", field(IPS, json!([]))),
        ("one above the limit, all identical", field(IPS, vec![UNKNOWN_ADDRESS; max + 1])),
        ("one above the limit, of two addresses", {
            let pair = [UNKNOWN_ADDRESS, "2001:db8::250"].into_iter().cycle();
            field(IPS, pair.take(max + 1).collect::<Vec<_>>())
        }),
        // One of them is left when they are counted in 16 bits.
        ("as many as wrap in 16 bits, all identical", field(IPS, vec!["::1"; (((max >> 16) + 1) << 16) + 1])),
        ("a string", field(IPS, UNKNOWN_ADDRESS)),
        ("an object", field(IPS, json!({"0": UNKNOWN_ADDRESS}))),
        ("a number", field(IPS, 1)),
        ("true", field(IPS, true)),
        ("a string of several addresses", field(IPS, format!("{UNKNOWN_ADDRESS},203.0.113.249"))),
    ];
    let beside = filters().take(1).chain([SECOND_PAGE, LARGEST_PAGE, A_RANGE]).map(|company| {
        let edit = field(IPS, vec!["2001:db8::250"; max + 1]);
        invalid(format!("one above the limit, beside {}", company.0), [edit]).beside(company)
    });
    let full: [(&str, RawItem); 3] = [
        ("the limit, all identical", |_, _| UNKNOWN_ADDRESS.to_owned()),
        ("the limit, of the longest items", |search, index| {
            let last = search.ports.end() - i64::try_from(index % 100).unwrap_or(0);
            format!("[2001:0db8:ffff:ffff:ffff:ffff:ffff:ffff]:{last}")
        }),
        ("the limit, of many addresses and ports", |search, index| {
            let port = addresses::port(search, index / 3 % 100);
            match index % 3 {
                0 => format!("198.18.0.{}", index / 3 % 100),
                1 => format!("198.18.0.1:{port}"),
                _ => format!("[2001:db8::1]:{port}"),
            }
        }),
    ];
    let full = full.map(|(label, item)| {
        let items: Vec<_> = (0..max).map(|index| item(&scope.contract.search, index)).collect();
        valid(format!("{max} raw items, few of them distinct"), [field(IPS, items)]).labelled(label)
    });
    let rejected = rejected.map(|(label, edit)| invalid(label, [edit]));
    cases(SearchIpsRawLimit, rejected.into_iter().chain(beside).chain(full))
}

type RawItem = fn(&Search, usize) -> String;

type Items = fn(&Search, usize) -> Vec<String>;

/// Batches around the limit on distinct items: label, whether they are within it, and items.
const DISTINCT: [(&str, bool, Items); 21] = [
    ("addresses", true, |_, max| addresses::distinct(max)),
    ("ports of two addresses", true, addresses::ports),
    ("addresses of IPv4, each with a port", true, |_, max| {
        addresses::of_family(max, false).into_iter().map(|address| format!("{address}:8080")).collect()
    }),
    ("addresses and ports", true, mixed),
    ("addresses, each twice", true, |_, max| again(addresses::distinct(max))),
    ("addresses, as many raw items as there may be", true, |search, max| {
        addresses::distinct(max).into_iter().cycle().take(*search.raw_items.end()).collect()
    }),
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
    valid_if(is_allowed, why, [Set(IPS, Value::Items(items))]).labelled(label)
}

const NETWORK: &str = "203.0.113.0/24";

/// Where an invalid item stands, from the number of valid ones.
type Place = fn(usize) -> usize;

/// Invalid items among as many valid ones as there may be: label, item, place, and the valid ones.
fn one_invalid() -> Vec<(String, &'static str, Place, Items)> {
    let almost: Items = |_, max| addresses::distinct(max - 1);
    let items = [
        ("a network", NETWORK),
        ("port 0", "203.0.113.250:0"),
        ("an empty item", ""),
        ("a fragment", "203.0.113"),
    ];
    let places: [(&str, Place); 3] =
        [("first", |_| 0), ("in the middle", |count| count / 2), ("last", |count| count)];
    let placed = items
        .into_iter()
        .flat_map(|(what, item)| places.map(|(at, place)| (format!("{what}, {at}"), item, place, almost)));
    let further: [(&str, Place, Items); 5] = [
        (
            "an invalid item after the maximum number of distinct items",
            |count| count,
            |_, max| addresses::distinct(max),
        ),
        (
            "an invalid item after thousands of repetitions",
            |count| count,
            |search, max| {
                addresses::distinct(max).into_iter().cycle().take(search.raw_items.end() - 1).collect()
            },
        ),
        ("a network, after a quarter of the items", |count| count / 4, almost),
        ("a network, after three quarters of the items", |count| count * 3 / 4, almost),
        (
            "an invalid item after items with ports",
            |count| count,
            |search, max| addresses::ports(search, max - 1),
        ),
    ];
    placed.chain(further.map(|(label, place, items)| (label.to_owned(), NETWORK, place, items))).collect()
}

/// Batches of a few items: `+` stands for a valid one.
const SHAPES: [(&str, &[&str]); 5] = [
    ("alone", &["203.0.113"]),
    ("several alone", &["203.0.113", NETWORK, "no-address"]),
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

fn all_or_nothing() -> Vec<Row> {
    let placed = one_invalid().into_iter().map(|(label, item, place, items)| {
        let inserted = with(move |probe, request| {
            let search = &probe.contract().search;
            let mut items = items(search, search.distinct_items);
            items.insert(place(items.len()), item.to_owned());
            Ok(request.field(IPS, items))
        });
        let row = invalid(format!("{item:?} among valid items: {label}"), [inserted]).labelled(&*label);
        row.changing(format!("valid items, {label}"), [Set(IPS, Value::Items(items))], 0)
    });
    let company = || filters().chain(BESIDE);
    let shaped = company().flat_map(|(member, edits)| {
        SHAPES.map(|(shape, items)| {
            let label = format!("{shape}, beside {member}");
            let row = invalid(format!("an item is not an address: {label}"), [own_in(items)]).labelled(label);
            let valid: Vec<_> = [own_in(&["+", "+", "+"])].into_iter().chain(edits.to_vec()).collect();
            row.changing(format!("own addresses, beside {member}"), valid, 0).doubtful()
        })
    });
    let too_many =
        |label: &str| invalid(label, [Set(IPS, Value::Items(|_, max| addresses::distinct(max + 1)))]);
    let empty = |label: &str| invalid(label, [field(IPS, json!([]))]);
    let alone = [too_many("one distinct item too many"), empty("an empty set")];
    let beside = company().flat_map(|company| {
        let (member, _) = company;
        let empty = empty(&format!("an empty set, beside {member}"));
        [empty, too_many(&format!("one distinct item too many, beside {member}"))]
            .map(|row| row.beside(company))
    });
    placed.chain(shaped).chain(alone).chain(beside).collect()
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

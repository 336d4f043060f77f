//! The words of expressions in rows of searches, which stand for what the addresses of an account have.

use std::sync::LazyLock;

use jiff::Timestamp;
use jiff::tz::Offset;
use minijinja::{Environment, Value as Known, context};

use super::rules::json;
use super::*;
use crate::contract::{Contract, Kind};

/// The functions of expressions, by the embedded document. Other words stand for what the account has, or for limits of the document.
pub(super) static FUNCTIONS: LazyLock<Environment<'static>> = LazyLock::new(|| {
    let mut words = Environment::new();
    let Ok(Contract { search, .. }) = Contract::embedded() else { return words };
    words.add_function("addresses", addresses::distinct);
    words.add_function("cycle", |items: Vec<String>, count: usize| {
        items.into_iter().cycle().take(count).collect::<Vec<_>>()
    });
    words.add_function("longest", |count: usize| addresses::longest(search, count));
    words.add_function("near", |values: Vec<String>, label: &str| {
        let near = near("value").chain(near("one value")).find(|near| near.label == label);
        let near = values.iter().filter_map(|value| Some(near?.of(value)).filter(|near| near != value));
        // An empty filter is unspecified.
        near.filter(|near| !near.is_empty()).collect::<BTreeSet<_>>().into_iter().collect::<Vec<_>>()
    });
    words.add_function("of_three_kinds", |count: usize| addresses::of_three_kinds(search, count));
    // The largest batch, with an item at a place; the last one is -1.
    words.add_function("placed", |item: String, place: i64| {
        let mut items = others(search.distinct_items, std::slice::from_ref(&item));
        items.insert(usize::try_from(place).unwrap_or(usize::MAX).min(items.len()), item);
        items
    });
    words.add_function("ports_of_two", |count: usize| addresses::ports(search, count));
    words.add_function("product", |firsts: Vec<Known>, seconds: Vec<Known>| {
        let pairs =
            |first: Known| seconds.iter().map(move |second| Known::from(vec![first.clone(), second.clone()]));
        firsts.into_iter().flat_map(pairs).collect::<Vec<_>>()
    });
    words.add_function("respelled", |items: Vec<String>| {
        let other = |item: String| respell(&item).filter(|other| *other != item);
        items.into_iter().filter_map(other).collect::<Known>()
    });
    // At most so many elements, from the first to nearly the last.
    words.add_function("spread", |list: Vec<Known>, most: usize| {
        let step = list.len().div_ceil(most.max(1)).max(1);
        list.into_iter().step_by(step).collect::<Vec<_>>()
    });
    words.add_function("unused", |count: usize| addresses::unused(count).collect::<Vec<_>>());
    words.add_function("with_port", |addresses: Vec<String>| {
        addresses.iter().map(|address| format!("{address}:8080")).collect::<Vec<_>>()
    });
    words
});

/// The words that an expression uses, functions among them.
pub(super) fn used(expression: &str) -> BTreeSet<String> {
    const OPERATORS: [&str; 9] = ["and", "else", "false", "if", "in", "is", "none", "not", "true"];
    // MiniJinja 3.0.5 does not name the words of a list that is cut (`list[:2]`), so that all words outside of texts are looked at,
    // but for names of members and filters.
    let outside = expression.split('"').step_by(2);
    let words = outside.flat_map(|part| part.split(|c: char| !c.is_alphanumeric() && !"_.|".contains(c)));
    let words = words.filter_map(|word| word.split(['.', '|']).next());
    let is_word = |word: &&str| word.starts_with(char::is_alphabetic) && !OPERATORS.contains(word);
    words.filter(is_word).map(str::to_owned).collect()
}

/// Unused addresses that fill a batch of so many items.
pub(super) fn others(max: usize, taken: &[String]) -> Vec<String> {
    let free = addresses::distinct(max).into_iter().filter(|item| !taken.contains(item));
    free.take(max.saturating_sub(taken.len())).collect()
}

/// Maximum number of values of a filter that are searched for one by one.
const MAX_VALUES: usize = 8;

const DAY_IN_NANOSECONDS: i128 = 24 * 60 * 60 * 1_000_000_000;

/// The words that [`Account::word`] knows. `_IPv4` or `_IPv6` behind some of them leaves only those addresses.
pub(super) const KNOWN: &str = "batches candidates chosen day elsewhere first held instances largest limit midnights most near new_year orders own ported \
                                ports product placed range raw respelled similar spread step times unknown unused values wrapped";

impl Account<'_> {
    /// What a word of an expression stands for. None for a function.
    pub(super) fn word(self, word: &str) -> Result<Option<Known>, Stop> {
        let Account { probe, survey, search } = self;
        let (name, is_v6) = family(word);
        let is_of = |ip: &IpAddr| is_v6.is_none_or(|is_v6| ip.is_ipv6() == is_v6);
        let of_each = |values: &dyn Fn(FilterKind) -> Known| {
            Known::from_pairs(kinds().map(|kind| (kind.0.property.name.as_str(), values(kind))))
        };
        let held = || survey.values(|instance| Some(instance.ip).filter(is_of));
        let ported =
            |instance: &Instance| Some((Some(instance.ip).filter(is_of)?, survey.item(search, instance)?));
        let codes = |kind: FilterKind| survey.values(|instance| kind.shown(instance));
        Ok(Some(match name {
            // The items of each batch.
            "batches" => survey.batches(search).iter().map(|batch| batch.items.clone()).collect(),
            // The values of each filter that some instance passes.
            "candidates" => {
                of_each(&|kind| survey.candidates(kind).into_iter().map(|one| one.value).collect())
            }
            "chosen" => self.chosen()?.into(),
            "day" => DAY_IN_NANOSECONDS.into(),
            // The values of other filters that this one does not have.
            "elsewhere" => of_each(&|kind| {
                let own = codes(kind);
                let others =
                    kinds().filter(|other| other.is_free_text() && other.index != kind.index).flat_map(codes);
                others.filter(|code| !own.contains(code)).collect()
            }),
            "first" => (*search.pages.start()).into(),
            // The addresses that have instances, those with the most first.
            "held" => held().into_iter().map(|ip| survey.spelt(ip)).collect(),
            "instances" => survey.instances.len().into(),
            "largest" => (*search.page_sizes.end()).into(),
            "limit" => search.distinct_items.into(),
            "midnights" => self.midnights()?.into(),
            "most" => (*search.pages.end()).into(),
            // The beginning of the year of an activation, since offsets move it into another year. In a list, as there may be none.
            "new_year" => {
                let chosen = self.chosen()?;
                chosen.get(chosen.len() / 2).and_then(|time| new_year(*time)).into_iter().collect()
            }
            "orders" => probe.facts().orders.iter().map(|order| &order.number).collect(),
            // As many of the account's addresses as one search takes.
            "own" => {
                let own: BTreeSet<&str> = probe.own_addresses(search.distinct_items).into_iter().collect();
                own.into_iter().collect()
            }
            // The items with port that find instances, those with the most first.
            "ported" => survey.values(ported).into_iter().map(|(_, item)| item).collect(),
            // An address, and the items of all of its ports. A search for these also contains the address itself.
            "ports" => {
                let held = survey.values(|instance| Some(ported(instance)?.0));
                let ports = |ip: IpAddr| (ip, survey.with_ports(search, |instance| instance.ip == ip));
                let mut fitting = self.some(held)?.into_iter().map(ports);
                let skip = || probe.skip("each searched address has more ports than one search takes items");
                let (ip, all) =
                    fitting.find(|(_, all)| all.len() < search.distinct_items).ok_or_else(skip)?;
                context! { bare => survey.spelt(ip), all }
            }
            "raw" => (*search.raw_items.end()).into(),
            // Other addresses that share a half with one of the searched ones.
            "similar" => {
                const MAX_ADDRESSES: usize = 20;
                let some = survey.addresses.iter().take(MAX_ADDRESSES);
                let similar: BTreeSet<IpAddr> = some.flat_map(with_same_half).collect();
                similar.iter().map(ToString::to_string).collect()
            }
            "step" => survey.step().as_nanos().into(),
            // Every activation time that a bound can have, ascending.
            "times" => self.times()?.into(),
            "unknown" => match held().first() {
                Some(own) => addresses::unknown(probe.facts(), *own).to_string().into(),
                None => Known::UNDEFINED,
            },
            // What each filter is tried with: the values that the document lists, or those of the instances.
            "values" => of_each(&|kind| {
                if kind.null.is_some() {
                    // The groups of the instances and of the account, and no group.
                    let own = probe.facts().own_groups.iter().copied().take(MAX_VALUES);
                    let seen = survey.instances.values().map(|instance| instance.value(kind).clone());
                    let own = seen.chain(own.map(FieldValue::Number)).chain([FieldValue::Null]);
                    return own.collect::<BTreeSet<_>>().into_iter().collect();
                }
                let mut values = kind.listed();
                if values.is_empty() {
                    values = survey.filters(kind);
                    values.truncate(MAX_VALUES);
                }
                values.into_iter().map(|filter| filter.value).collect()
            }),
            "wrapped" => of_each(&|kind| self.wrapped(kind)),
            _ => return Ok(None),
        }))
    }

    /// Numbers that are equal to a known one only if their upper bits or their precision are lost.
    fn wrapped(self, kind: FilterKind) -> Known {
        let held = self.survey.numbers(&kind.property.name);
        // Above 2^53, a 64-bit float stands for several integers.
        let large = held.iter().filter(|number| **number > 1 << 53).take(1);
        let neighbours = large.flat_map(|number| [number.saturating_sub(1), number.saturating_add(1)]);
        let neighbours = neighbours.filter(|other| !held.contains(other));
        let wrapped = held.iter().take(2).filter_map(|number| number.checked_add(1 << 32));
        wrapped.chain(neighbours).collect()
    }

    fn times(self) -> Result<Vec<i128>, Stop> {
        let times: BTreeSet<_> = self.survey.instances.values().filter_map(activation).collect();
        let lacks = "no instance at the searched addresses was activated at a time that a bound can have";
        if times.is_empty() {
            return Err(self.lacks(lacks, "addresses of activated instances"));
        }
        Ok(times.into_iter().collect())
    }

    /// Some activation times, from the first to the last, with the one of the most fractional digits and one at midnight, where days begin.
    pub(super) fn chosen(self) -> Result<Vec<i128>, Stop> {
        const BETWEEN: usize = 6;
        let times = self.times()?;
        let exact = self.survey.instances.values();
        let exact = exact.filter_map(|instance| Some((instance.digits, activation(instance)?)));
        let finest = exact.max_by_key(|(digits, _)| *digits).map(|(_, time)| time);
        let between = (0..=BETWEEN).filter_map(|part| times.get((times.len() - 1) * part / BETWEEN).copied());
        let midnight = times.iter().copied().find(|time| time % DAY_IN_NANOSECONDS == 0);
        let chosen: BTreeSet<_> = between.chain(finest).chain(midnight).collect();
        Ok(chosen.into_iter().collect())
    }

    /// Midnights before activations. A bound at midnight is an instant, and does not stand for the day that begins or ends with it.
    fn midnights(self) -> Result<Vec<i128>, Stop> {
        let before = |time: i128| time - time.rem_euclid(DAY_IN_NANOSECONDS);
        let times = self.times()?.into_iter().filter(|time| before(*time) != *time);
        let midnights: Vec<_> = times.map(before).collect::<BTreeSet<_>>().into_iter().collect();
        let reason = "all instances at the searched addresses were activated at midnight";
        let last = midnights.len().checked_sub(1).ok_or_else(|| self.probe.skip(reason))?;
        let some = BTreeSet::from([midnights[0], midnights[last / 2], midnights[last]]);
        Ok(some.into_iter().collect())
    }
}

/// A word without the address family behind it, and whether that is IPv6.
pub(super) fn family(word: &str) -> (&str, Option<bool>) {
    match word.rsplit_once('_') {
        Some((name, "IPv4")) => (name, Some(false)),
        Some((name, "IPv6")) => (name, Some(true)),
        _ => (word, None),
    }
}

/// The activation of an instance, in nanoseconds, if a bound can have it.
fn activation(instance: &Instance) -> Option<i128> {
    let shown = kinds().find(|kind| kind.is_bound())?.shown(instance)?;
    if let FieldValue::Time(time) = shown { Some(time.as_nanosecond()) } else { None }
}

fn new_year(near: i128) -> Option<i128> {
    let year = Offset::UTC.to_datetime(Timestamp::from_nanosecond(near).ok()?).year();
    let begin = jiff::civil::DateTime::new(year, 1, 1, 0, 0, 0, 0).ok()?;
    Some(Offset::UTC.to_timestamp(begin).ok()?.as_nanosecond())
}

/// Addresses that share a half with this one.
fn with_same_half(ip: &IpAddr) -> [IpAddr; 2] {
    match ip {
        IpAddr::V4(ip) => [0x0001_0000_u32, 0x1].map(|bit| Ipv4Addr::from_bits(ip.to_bits() ^ bit).into()),
        IpAddr::V6(ip) => [1_u128 << 96, 1 << 32].map(|bit| Ipv6Addr::from_bits(ip.to_bits() ^ bit).into()),
    }
}

/// The value of a filter in expressions, where times are nanoseconds.
impl From<FieldValue> for Known {
    fn from(value: FieldValue) -> Self {
        match value {
            FieldValue::Null | FieldValue::List(_) | FieldValue::Other(_) => ().into(),
            FieldValue::Number(number) => number.into(),
            FieldValue::Text(text) => text.into(),
            FieldValue::Time(time) => time.as_nanosecond().into(),
        }
    }
}

/// The filter with the value of an expression; none for an undefined one.
pub(super) fn filter(kind: FilterKind, value: Known) -> Result<Option<Filter>, Stop> {
    if value.is_undefined() {
        return Ok(None);
    }
    let wrong = || Stop::Error(format!("a row of searches: {} can't be {value}", kind.property.name));
    let value = match value.as_str() {
        _ if value.is_none() => FieldValue::Null,
        Some(text) => FieldValue::Text(text.to_owned()),
        None if kind.is_time() => {
            let nanoseconds = i128::try_from(value.clone()).map_err(|_| wrong())?;
            FieldValue::Time(Timestamp::from_nanosecond(nanoseconds).map_err(|_| wrong())?)
        }
        None if kind.property.schema.kind == Kind::Integer => {
            FieldValue::Number(i64::try_from(value.clone()).map_err(|_| wrong())?)
        }
        None => FieldValue::Other(json(&value)),
    };
    Ok(Some(kind.with(value)))
}

//! The text of the rules of a search, and what its template knows of the document.

use std::sync::LazyLock;

use minijinja::{Environment, Value as Known, context};

use super::*;
use crate::checks::template::{unknown, value, with_shared};
use crate::checks::token::WrongToken;
use crate::contract::{Contract, Kind, boundaries};
use crate::grammar::{by_reason, date_times, ip_endpoints, ip_ports, json_integers};

/// The text of the rules, whose loops over the document and over lists are written out. Blank lines stand between rules alone.
pub(crate) fn rules() -> &'static str {
    static RULES: LazyLock<String> = LazyLock::new(|| {
        let Ok(contract) = Contract::embedded() else { return String::new() };
        let written = written(&contract.search).unwrap_or_else(|error| format!("{error:#}"));
        let mut rules = String::new();
        for line in written.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#')) {
            let is_rule = !line.starts_with(' ') && !rules.is_empty();
            rules.push_str(&format!("{}{line}\n", if is_rule { "\n" } else { "" }));
        }
        rules
    });
    &RULES
}

fn written(search: &'static Search) -> Result<String, minijinja::Error> {
    let name = |kind: FilterKind| kind.0.property.name.as_str();
    let of_document = kinds().map(|kind| {
        context! {
            name => name(kind), label => kind.label(), clause => kind.clause.id(),
            is_shown => kind.field.is_some(), is_free_text => kind.is_free_text(),
            is_text => kind.property.schema.kind == Kind::String, has_null => kind.null.is_some(), has_open_case => kind.has_open_case,
        }
    });
    let mut words = Environment::new();
    words.add_filter("json", |value: Known| json(&value));
    words.add_filter("quoted", |value: Known| serde_json::to_string(&value).unwrap_or_default());
    words.add_test("setting", |parts: &str, name: &str| {
        parts.split(" & ").any(|part| part.split('=').next() == Some(name))
    });
    words.add_test("in_order", |one: &str, other: &str| !matches!((instant(one), instant(other)), (Some(one), Some(other)) if one > other));
    // For each row of a list of near misses: its label, and what it makes of these texts. What is itself one of them is no miss.
    words.add_function("near", |list: &str, of: Vec<String>| {
        let ways = near(list).map(|near| {
            let texts = of.iter().map(|text| near.of(text)).filter(|text| !of.contains(text));
            context! { label => near.label, texts => texts.collect::<Vec<_>>() }
        });
        ways.collect::<Vec<_>>()
    });
    words.add_function("combinations", |size: usize| {
        combinations(size).iter().map(|kinds| FilterKind::names(kinds)).collect::<Vec<_>>()
    });
    words.add_function("limits", |member: &str| limits(search, member));
    words.add_function("spellings", |list: &str| spellings(search, list));
    let known = context! {
        kinds => of_document.collect::<Vec<_>>(), filters => filters(), statuses => search.statuses.clone(), batches => BATCHES.to_vec(),
        bounds => kinds().filter(|kind| kind.is_bound()).map(name).collect::<Vec<_>>(),
        shown => FilterKind::names(&shown_kinds().collect::<Vec<_>>()),
        ports => context! { min => search.ports.start(), max => search.ports.end() },
        some_items => addresses::distinct(4), wrong_tokens => value(WrongToken::all().collect::<Vec<_>>()),
    };
    words.render_str(&with_shared(include_str!("rules.txt")), known)
}

/// The filters but for bounds, with a value that the document lists, the number for null, an order of the account, or its example. Those
/// with fewer possible values come first.
fn filters() -> Vec<Known> {
    let mut kinds: Vec<_> = kinds().filter(|kind| !kind.is_bound()).collect();
    kinds.sort_by_key(|kind| (kind.is_free_text(), kind.null.is_some(), kind.field.is_none()));
    let filters = kinds.into_iter().flat_map(|kind| {
        let (name, schema) = (kind.0.property.name.as_str(), &kind.0.property.schema);
        let values = match (kind.null, &schema.example) {
            (Some(null), _) => vec![null.to_string(), (null + 1).to_string()],
            _ if kind.field.is_none() => vec!["an order".to_owned()],
            _ if !schema.values.is_empty() => vec!["listed".to_owned()],
            (None, example) => vec![example.clone().unwrap_or_default().to_string()],
        };
        let labels = [kind.phrase(), format!("the id of {}", kind.phrase())];
        let labelled = labels.into_iter().zip(values);
        labelled.map(move |(label, value)| context! { label, parts => format!("{name}={value}") })
    });
    filters.collect()
}

/// The boundary values of a member, but for a limit that cites nothing, because the contract leaves it open.
fn limits(search: &Search, member: &str) -> Result<Vec<Known>, minijinja::Error> {
    let mut properties = search.operation.body.iter();
    let property = properties.find(|property| property.name == member);
    let property = property.ok_or_else(|| unknown("member", member))?;
    let limits = boundaries(&property.schema).into_iter();
    let cited = limits.filter(|limit| property.citations.clause(limit.keyword).is_some());
    let known = cited.map(|limit| {
        // The label of a limit does not depend on its value.
        let is_limit = matches!(limit.keyword, "minimum" | "maximum");
        let (text, json) = (limit.text(), limit.value.to_string());
        let label = if is_limit { limit.reason } else { &*text };
        context! { label, text, json, reason => limit.reason, is_allowed => limit.allowed }
    });
    Ok(known.collect())
}

/// Valid and malformed values by their reason: items, ports of items, times, and integers of a member as JSON.
fn spellings(search: &Search, list: &str) -> Result<Known, minijinja::Error> {
    let spellings = match list {
        "items" => ip_endpoints(&search.ports),
        "ports" => ip_ports(&search.ports),
        "times" => date_times(),
        PAGE => json_integers(&search.pages),
        PAGE_SIZE => json_integers(&search.page_sizes),
        _ => {
            let kind = kind_of(list).ok_or_else(|| unknown("list", list))?;
            let min = kind.property.schema.minimum.unwrap_or_default();
            // Large numbers are not judged, since an unknown group may be rejected or find nothing. An empty filter is unspecified.
            let is_below =
                |text: &str| !text.parse::<f64>().is_ok_and(|number| number >= 1.0 && number.fract() == 0.0);
            let is_empty = |text: &str| text.trim_matches(['"', ' ']).is_empty();
            let mut integers = json_integers(&(min..=i64::MAX));
            integers.retain(|one| is_below(&one.text) && one.text != "1e400" && !is_empty(&one.text));
            integers
        }
    };
    Ok(value(by_reason(spellings)))
}

/// A value as JSON in ASCII, which shows every character.
pub(super) fn json(value: &Known) -> String {
    let text = serde_json::to_string(value).unwrap_or_default();
    let shown = text.encode_utf16().map(|unit| match u8::try_from(unit) {
        Ok(byte) if byte.is_ascii() => char::from(byte).to_string(),
        _ => format!("\\u{unit:04x}"),
    });
    shown.collect()
}

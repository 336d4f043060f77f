//! Rows that are a template of MiniJinja: loops over forms of an extraction, values that follow from the document, and facts.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use minijinja::value::Serde;
use minijinja::{Environment, Error, ErrorKind, UndefinedBehavior, Value};
use serde::Serialize;
use serde_json::{Value as Json, json};

use super::extract::access::HEADERS;
use super::extract::region::{NAMED_FIRST, OF_POOL};
use super::extraction::{Extraction, Region, Transport};
use super::near::near;
use super::requests::protocol_to_name;
use super::row::fact;
use super::token::WrongToken;
use crate::check::Scope;
use crate::contract::part::{LB, NUM};
use crate::contract::{Contract, Extract, OperationId, boundaries};
use crate::grammar::{Spelling, integer_texts};
use crate::names::kept;
use crate::target::{Facts, GatewayPool, RejectionReason};

/// What several rules have in common, which they include.
const SHARED: [(&str, &str); 4] = [
    ("limits", include_str!("extract/limits.txt")),
    ("lacking", include_str!("extract/lacking.txt")),
    ("repetitions", include_str!("extract/repetitions.txt")),
    ("tokens", include_str!("tokens.txt")),
];

static TEMPLATES: LazyLock<Environment<'static>> = LazyLock::new(|| {
    let mut templates = Environment::new();
    let Ok(Contract { extract, .. }) = Contract::embedded() else { return templates };
    templates.set_undefined_behavior(UndefinedBehavior::Strict);
    // With escapes for what divides a row and its values.
    templates.add_filter("json", |text: &str| {
        Json::from(text).to_string().replace('|', "\\u007c").replace('×', "\\u00d7")
    });
    // In a label or in words, where a line break would end the row, and a bar between spaces a part of it.
    templates.add_filter("shown", |text: &str| {
        text.replace('\n', "␤").replace('\r', "␍").replace('\t', "␉").replace('\0', "␀").replace(" |", "␠|")
    });
    templates.add_function("forms", move |name: &str| {
        let forms = Extraction::named(extract, name).ok_or_else(|| unknown("forms", name))?;
        Ok::<_, Error>(value(forms.iter().map(of_form).collect::<Vec<_>>()))
    });
    templates.add_function("integers", move |name: &str| value(integer_texts(&extract.range(name))));
    templates.add_function("unlisted", move |name: &str| value(unlisted(extract, name)));
    templates.add_function("codes", move |names: Vec<String>| value(codes(extract, names)));
    templates.add_function("near", |list: &str, text: &str| {
        let texts: Vec<_> = near(list).map(|near| near.of(text)).collect();
        if texts.is_empty() { Err(unknown("texts", list)) } else { Ok(texts) }
    });
    templates.add_function("fact", |key: &str| {
        fact(key).map(|fact| fact.to_string()).ok_or_else(|| unknown("fact", key))
    });
    templates
});

pub(super) fn value(value: impl Serialize) -> Value {
    Value::from(Serde(value))
}

pub(crate) fn unknown(what: &str, name: &str) -> Error {
    Error::new(ErrorKind::InvalidOperation, format!("unknown {what} `{name}`"))
}

/// The rows of a text, or its mistake.
pub(super) fn filled(text: &'static str, scope: &Scope<'_>) -> Result<&'static str, Error> {
    if !text.contains("{%") && !text.contains("{{") {
        return Ok(text);
    }
    Ok(kept(&TEMPLATES.render_str(&with_shared(text), known(scope))?))
}

/// MiniJinja has `include` only with a feature that nothing else needs.
pub(super) fn with_shared(text: &str) -> String {
    let include = |text: String, (name, shared): &(&str, &str)| {
        text.replace(&format!("{{% include \"{name}\" %}}"), shared)
    };
    SHARED.iter().fold(text.to_owned(), include)
}

/// A form of an extraction; `in_query` is the label of that with the token in the query.
fn of_form(form: &Extraction) -> Json {
    let others = Transport::ALL.into_iter().filter(|other| *other != form.transport());
    let others = others.map(|other| [other.name(), other.words()]);
    json!({
        "label": form.label(),
        "name": form.name(),
        "place": form.transport().name(),
        "other_places": others.collect::<Vec<_>>(),
        "in_query": form.sent_in(Transport::Query).label(),
        "clause": form.clause(),
        "protocol": form.protocol,
        "names_no_region": form.region == Region::Usual,
        "is_text": form.is_text(),
        "has_id": form.has_id(),
        "is_bare": form.is_bare(),
        "is_combined": form.is_combined(),
    })
}

/// What rows may use beside the functions above.
fn known(Scope { contract, facts }: &Scope<'_>) -> Value {
    let extract = &contract.extract;
    let range = |name: &str| {
        let range = extract.range(name);
        json!({ "min": range.start(), "max": range.end() })
    };
    let default_protocol = extract.protocol.default_text();
    let separators = extract.separators.iter().map(|of| json!({ "code": of.code, "text": of.text }));
    /// Where no region with gateways is known: a pair that differs is rejected for any country.
    const ANY_COUNTRY: &str = "USA";
    value(json!({
        "num": range(NUM),
        "lb": range(LB),
        "longest_sb": extract.separator_bytes,
        "separators": separators.collect::<Vec<_>>(),
        "default_separator": extract.lb.default_text(),
        "custom": extract.custom_separator,
        "return_types": [&extract.json, &extract.text],
        "protocols": extract.protocols,
        "own_protocol": protocol_to_name(extract, facts).unwrap_or(&default_protocol),
        "default_protocol": default_protocol,
        "default_region": extract.regions.default_text(),
        "places": BTreeMap::from(Transport::ALL.map(|place| (place.name(), place.words()))),
        "headers": HEADERS,
        "rounds": NAMED_FIRST.len(),
        "of_pool": OF_POOL,
        "wrong_tokens": WrongToken::all().collect::<Vec<_>>(),
        "operations": contract.plain.keys().chain([&OperationId::Search]).map(|id| id.id()).collect::<Vec<_>>(),
        "rejected_tokens": rejected_tokens(facts),
        "egress_ip": facts.egress_ip,
        "entitled_protocols": facts.entitled_protocols,
        "region": facts.plentiful_region.as_deref().unwrap_or(ANY_COUNTRY),
        "scarce_region": facts.scarce_region,
        "empty_region": facts.empty_region,
        "other_regions": other_regions(extract, facts),
        "more_than_scarce": more_than_scarce(extract, facts),
    }))
}

/// The rejected tokens of the facts. Without the fact, a plan still shows a case.
fn rejected_tokens(facts: &Facts) -> Vec<Json> {
    let shown = |(at, (reason, note)): (usize, (RejectionReason, &str))| {
        let note = if note.is_empty() { String::new() } else { format!(" ({note})") };
        json!({ "at": at, "reason": reason.name(), "clause": reason.clause(), "note": note })
    };
    let tokens = facts.rejected_tokens.iter().map(|token| (token.reason, token.note.as_str()));
    let unknown = facts.rejected_tokens.is_empty().then_some((RejectionReason::Revoked, ""));
    tokens.chain(unknown).enumerate().map(shown).collect()
}

/// Values of a parameter that its enum lacks.
fn unlisted(extract: &Extract, name: &str) -> Vec<String> {
    let parameter = extract.operation.parameters.iter().find(|parameter| parameter.name == name);
    let boundaries = parameter.into_iter().flat_map(|parameter| boundaries(&parameter.schema));
    boundaries.filter(|value| !value.allowed).map(|value| value.text()).collect()
}

/// Values of `lb` that are not listed, these names among them. A service that reads only one digit takes some for listed values.
fn codes(extract: &Extract, names: Vec<String>) -> Vec<Spelling> {
    let range = extract.range(LB);
    let mut values = integer_texts(&range);
    let listed = extract.lb.schema.values.iter().filter_map(|code| code.as_str());
    let longer = listed.flat_map(|code| [format!("{code}0"), format!("1{code}"), code.repeat(2)]);
    for value in unlisted(extract, LB).into_iter().chain(longer).chain(names) {
        let is_listed = value.parse().is_ok_and(|number: i64| range.contains(&number));
        if !is_listed && values.iter().all(|known| known.text != value) {
            values.push(Spelling::malformed(value, "not a listed value"));
        }
    }
    values
}

/// Regions with known gateways beside the default one and those of other facts: a service may forget about the protocol in one of them.
fn other_regions(extract: &Extract, facts: &Facts) -> Vec<String> {
    const MAX: usize = 12;
    let default = extract.regions.default_text();
    let taken = [&facts.plentiful_region, &facts.scarce_region, &facts.empty_region].map(Option::as_ref);
    let others = facts.known_gateways.iter().map(|pool| &pool.region);
    let others = others.filter(|other| **other != default && !taken.contains(&Some(*other)));
    others.collect::<BTreeSet<_>>().into_iter().take(MAX).cloned().collect()
}

/// For each protocol, one more than the known gateways of the scarce region, but at most the largest `num`.
fn more_than_scarce(extract: &Extract, facts: &Facts) -> BTreeMap<String, i64> {
    /// More gateways than a scarce region is likely to have, within the budget of a small run. If the region has more, the cases with the
    /// maximum `num` get a partial result.
    const FEW: usize = 5;
    let max = *extract.num_range.end();
    let number = |protocol: &String| {
        let is_scarce = |pool: &&GatewayPool| {
            Some(&pool.region) == facts.scarce_region.as_ref() && pool.protocol == *protocol
        };
        let num = facts.known_gateways.iter().find(is_scarce).map_or(FEW, |pool| pool.gateways.len() + 1);
        i64::try_from(num).unwrap_or(max).min(max)
    };
    extract.protocols.iter().map(|protocol| (protocol.clone(), number(protocol))).collect()
}

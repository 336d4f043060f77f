//! Combinations of valid parameters. One extraction uses many of them, and its response is judged for each: two gateways show
//! what single requests would take a dozen for. Only when a combination is rejected, its parameters are sent one by one to find
//! the violated clause.

use super::*;
use crate::checks::extraction::Region;
use crate::checks::extraction::cause::{ACCEPT, words};
use crate::wire::QuerySpelling;

pub(super) static PROGRAMS: &[Program] = &[active("extract.envelope.combinations", |scope| {
    let rows = combinations(scope).into_iter().map(|form| row(&scope.contract.extract, form));
    cases(ExtractEnvelope, rows)
})];

/// Gateways of a combination: two need a separator, and two extractions rarely return the same two.
const COUNT: u32 = 2;

/// A custom separator with characters that are special in URLs and JSON, between spaces, which a service may trim.
const CUSTOM: &str = " &=+%\u{e9} ";

/// Each separator once, and JSON with each place of the id. The other parameters rotate, so that each meets several others.
fn combinations(scope: &Scope<'_>) -> Vec<Extraction> {
    use Transport::{Bearer, Header, Query};
    const TOKENS: [&[Transport]; 5] =
        [&[Bearer], &[Query, Header, Bearer], &[Header], &[Query], &[Query, Bearer]];
    const IDS: [&[Place]; 3] = [&[Place::Header], &[Place::Query], &[Place::Query, Place::Header]];
    const REGIONS: [Region; 4] = [Region::Alias, Region::Unnamed, Region::Equal, Region::DefaultByName];
    let extract = &scope.contract.extract;
    // The default protocol unless the account may not use it, and those that the tester supplied.
    let default = protocol_to_name(extract, scope.facts).cloned();
    let default = default.unwrap_or_else(|| extract.protocol.default_text());
    let entitled = extract.protocols.iter().filter(|name| scope.facts.entitled_protocols.contains(name));
    let others = entitled.filter(|name| **name != default).cloned().map(Some);
    let protocols: Vec<_> = [Some(default.clone()), None].into_iter().chain(others).collect();
    let custom = Separator { code: extract.custom_separator.clone(), text: CUSTOM.to_owned() };
    let text = |separator| Extraction { separator: Some(separator), ..Extraction::TEXT };
    let texts = extract.separators.iter().cloned().chain([custom]).map(text);
    let json = [Asked::Json, Asked::JsonByName, Asked::Json];
    let json = json.map(|form| Extraction { form, ..Extraction::PLAIN });
    let combined = texts.chain(json).enumerate().map(|(turn, form)| Extraction {
        tokens: TOKENS[turn % TOKENS.len()],
        region: REGIONS[turn % REGIONS.len()],
        protocol: protocols[turn % protocols.len()].clone(),
        ids: IDS[turn % IDS.len()],
        ..form
    });
    let encoded = [QuerySpelling::EncodedValues, QuerySpelling::Encoded].map(|spelling| Extraction {
        separator: extract.separators.last().cloned(),
        tokens: &[Query, Header],
        region: Region::Equal,
        protocol: Some(default.clone()),
        ids: &[Place::Query],
        spelling,
        ..Extraction::TEXT
    });
    combined.chain(encoded).collect()
}

fn row(extract: &Extract, form: Extraction) -> Row {
    let judges: &[Judge] = if form.is_text() { &[Judge::SeparatedText] } else { &[Judge::Response] };
    let ids = form.ids.iter().enumerate().map(|(number, place)| Edit::Id(*place, number));
    // The parameter decides the form, whatever the header prefers.
    let media = if form.is_text() { "application/json" } else { "text/plain" };
    let preferred = Edit::Header(ACCEPT, format!("{media}, */*;q=0.1"));
    let edits: Vec<_> = [set(NUM, COUNT), preferred].into_iter().chain(ids).collect();
    let again = Then::Again(Some(ExtractIdempotent), "sent again".to_owned(), Vec::new());
    // Then only the id that counts is the same.
    let other = |why, edits| Then::Again(Some(ExtractRequestIdSource), why, edits);
    let then = match form.ids {
        [] => vec![],
        [Place::Header] => {
            let why = format!("the id of {REQUEST_ID_HEADER} sent as {REQUEST_ID}");
            vec![again, other(why, vec![Edit::NoHeaderId, Edit::Id(Place::Query, 0)])]
        }
        [_, _, ..] => {
            let why = format!("the same {REQUEST_ID} beside another {REQUEST_ID_HEADER}");
            vec![again, other(why, vec![Edit::Id(Place::Header, 2)])]
        }
        [_] => vec![again],
    };
    let words = format!("{}, beside {ACCEPT}: {media}", words(extract, &form));
    let row = accept("", words, edits).labelled(label(&form)).in_form(form);
    row.giving(COUNT, Unless::Cause, judges).then(then)
}

/// Unique by the form and the place of the id. The other parameters depend on facts, which labels must not.
fn label(form: &Extraction) -> String {
    let asked = match (&form.separator, form.form) {
        (Some(separator), _) => format!("lb={}", separator.code),
        (None, Asked::JsonByName) => "json by name".to_owned(),
        (None, _) => "json".to_owned(),
    };
    let id = match form.ids {
        [] => "no id",
        [Place::Query] => "id in query",
        [_] => "id in header",
        _ => "two ids",
    };
    let spelling = match form.spelling {
        QuerySpelling::Usual => "",
        QuerySpelling::EncodedValues => "/encoded values",
        QuerySpelling::Encoded => "/encoded query",
    };
    format!("{asked}/{id}{spelling}")
}

//! Combinations of valid parameters. One extraction uses many of them, and its response is judged for each: two gateways show
//! what single requests would take a dozen for. Only when a combination is rejected, its parameters are sent one by one to find
//! the violated clause.

use super::EXTRACT;
use super::content::{Judge, is_undecided, undecided};
use super::extraction::{Asked, Extraction, Place, Region, Transport};
use crate::check::{AcceptedResponse, Check, Decision, Probe, ResponseClass, Run, Scope, Stop, accepted};
use crate::checks::requests::protocol_to_name;
use crate::checks::row::{Edit, Row, Then, Unless, accept, cases, set};
use crate::contract::Clause::{
    self, ExtractCountryAlias, ExtractCountryEqual, ExtractIdempotent, ExtractProtocol,
    ExtractRegionsDefault, ExtractRequestIdSource, ExtractReturnType, ExtractSeparator, ExtractTokenEqual,
    ExtractTokenTransport,
};
use crate::contract::part::{LB, NUM, PROTOCOL, REQUEST_ID, REQUEST_ID_HEADER, RETURN_TYPE};
use crate::contract::{Extract, Separator};
use crate::wire::{Exchange, QuerySpelling, Request};

pub(super) static CHECKS: &[Check] = &[Check {
    id: "extract.envelope.combinations",
    title: "valid parameters are accepted together, and each has its effect",
    why: "Callers use several parameters at once; a parameter that works only alone is of no use to them.",
    clauses: &[
        Clause::ExtractCount,
        ExtractCountryAlias,
        ExtractCountryEqual,
        Clause::ExtractEnvelope,
        ExtractIdempotent,
        ExtractProtocol,
        ExtractRegionsDefault,
        ExtractRequestIdSource,
        ExtractReturnType,
        ExtractSeparator,
        ExtractTokenEqual,
        ExtractTokenTransport,
    ],
    run: Run::Cases(|scope| {
        let rows = combinations(scope).into_iter().map(|form| row(&scope.contract.extract, form));
        cases(Clause::ExtractEnvelope, rows)
    }),
    ..EXTRACT
}];

/// Gateways of a combination: two need a separator, and two extractions rarely return the same two.
const COUNT: u32 = 2;

/// A custom separator with characters that are special in URLs and JSON.
const CUSTOM: &str = "&=+% \u{e9}";

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
    let edits: Vec<_> = [set(NUM, COUNT)].into_iter().chain(ids).collect();
    let again = Then::Again(ExtractIdempotent, "sent again".to_owned(), Vec::new());
    // Then only the id that counts is the same.
    let other = |why, edits| Then::Again(ExtractRequestIdSource, why, edits);
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
    let row = accept("", words(extract, &form), edits).labelled(label(&form)).in_form(form);
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

const fn spelling_name(form: &Extraction) -> &'static str {
    match form.spelling {
        QuerySpelling::Usual => "",
        QuerySpelling::EncodedValues => ", with each byte of the query's values percent-encoded",
        QuerySpelling::Encoded => ", with each byte of the query percent-encoded",
    }
}

fn words(extract: &Extract, form: &Extraction) -> String {
    let words: Vec<_> = parts(extract, form).into_iter().map(|(_, words, _)| words).collect();
    format!("{}{}", words.join(", "), spelling_name(form))
}

/// The valid use of a parameter: its clause, its description, and what takes it over from one extraction to another.
type Part = (Clause, String, fn(&mut Extraction, &Extraction));

/// The parameters that an extraction uses.
fn parts(extract: &Extract, form: &Extraction) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    if form.form != Asked::Json {
        let name = if form.is_text() { &extract.text } else { &extract.json };
        let words = format!("{RETURN_TYPE}={name}");
        parts.push((ExtractReturnType, words, |to, from| to.form = from.form));
    }
    if let Some(separator) = &form.separator {
        let words = format!("{LB}={}", separator.code);
        let take = |to: &mut Extraction, from: &Extraction| {
            (to.form, to.separator) = (from.form, from.separator.clone());
        };
        parts.push((ExtractSeparator, words, take));
    }
    let clause = if form.tokens.len() == 1 { ExtractTokenTransport } else { ExtractTokenEqual };
    let words = format!("the token in {}", Transport::names(form.tokens));
    parts.push((clause, words, |to, from| to.tokens = from.tokens));
    let region = match form.region {
        Region::Alias => Some((ExtractCountryAlias, "country in place of regions")),
        Region::Equal => Some((ExtractCountryEqual, "regions and country that are equal")),
        Region::DefaultByName => Some((ExtractRegionsDefault, "the default regions by its name")),
        Region::Unnamed => Some((ExtractRegionsDefault, "no regions")),
        Region::Usual | Region::Default => None,
    };
    parts.extend(
        region.map(|(clause, words)| -> Part {
            (clause, words.to_owned(), |to, from| to.region = from.region)
        }),
    );
    if let Some(protocol) = &form.protocol {
        let words = format!("{PROTOCOL}={protocol}");
        parts.push((ExtractProtocol, words, |to, from| to.protocol.clone_from(&from.protocol)));
    }
    let place = match form.ids {
        [] => return parts,
        [Place::Query] => REQUEST_ID.to_owned(),
        [_] => REQUEST_ID_HEADER.to_owned(),
        _ => format!("{REQUEST_ID} and another in {REQUEST_ID_HEADER}"),
    };
    parts.push((ExtractRequestIdSource, format!("a request id in {place}"), |to, from| to.ids = from.ids));
    parts
}

/// Sends a combination. When it is rejected, reports a parameter that is rejected alone, or without which it is accepted.
pub(in crate::checks) async fn find_cause(
    probe: &Probe<'_>,
    form: &Extraction,
    what: &str,
    request: &Request,
) -> Result<Option<AcceptedResponse>, Stop> {
    let (rejected, class) = probe.send(request).await?;
    if is_undecided(&class) {
        return Err(undecided(probe, &class));
    }
    if class.decision() == Decision::Accepted {
        return Ok(accepted(&rejected, &class));
    }
    let report = |clause, expected: &str, actual: &ResponseClass, exchanges: &[&Exchange]| {
        probe.finding(clause, &format!("accepted: {expected}"), actual.description(), exchanges);
        Ok(None)
    };
    Extraction::PLAIN.control(probe).await?;
    let spelling = spelling_name(form);
    // A service that does not decode the query rejects every parameter in it.
    let plain = Extraction { spelling: form.spelling, ..Extraction::PLAIN };
    if plain != Extraction::PLAIN
        && let Err((exchange, class)) = is_accepted(probe, &plain).await?
    {
        return report(Clause::ExtractEnvelope, &format!("an extraction{spelling}"), &class, &[&exchange]);
    }
    let parts = parts(&probe.contract().extract, form);
    for (clause, words, take) in &parts {
        let mut alone = plain.clone();
        take(&mut alone, form);
        let Err((exchange, class)) = is_accepted(probe, &alone).await? else { continue };
        // The default region and its absence are controls for each other.
        let other = match alone.region {
            Region::Unnamed => Some(Region::DefaultByName),
            Region::DefaultByName => Some(Region::Unnamed),
            _ => None,
        };
        if let Some(region) = other
            && is_accepted(probe, &Extraction { region, ..Extraction::PLAIN }).await?.is_err()
        {
            return Err(probe.skip("the account gets nothing of the default region"));
        }
        return report(*clause, &format!("{words}{spelling}"), &class, &[&exchange]);
    }
    for (clause, words, take) in &parts {
        let mut rest = form.clone();
        take(&mut rest, &plain);
        // A text without its separator is no other extraction.
        let is_other = rest.is_text() || rest.separator.is_none();
        if is_other && let Ok(other) = is_accepted(probe, &rest).await? {
            let expected = format!("{what}; it is without {words}");
            return report(*clause, &expected, &class, &[&rejected, &other]);
        }
    }
    report(Clause::ExtractEnvelope, what, &class, &[&rejected])
}

/// Sends an extraction of the minimum number of gateways. The inner error is a rejection.
async fn is_accepted(
    probe: &Probe<'_>,
    form: &Extraction,
) -> Result<Result<Exchange, (Exchange, ResponseClass)>, Stop> {
    let (exchange, class) = probe.send(&form.request(probe)).await?;
    match class.decision() {
        Decision::Accepted => Ok(Ok(exchange)),
        _ if is_undecided(&class) => Err(undecided(probe, &class)),
        _ => Ok(Err((exchange, class))),
    }
}

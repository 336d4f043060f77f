//! Combinations of valid parameters. One extraction uses many of them, and its response is judged for each: two gateways show
//! what single requests would take a dozen for. Only when a combination is rejected, its parameters are sent one by one to find
//! the violated clause.

use std::fmt;

use super::EXTRACT;
use super::content;
use super::forms::{Context, Transport};
use super::request_id::Place;
use super::row::{Credential, Drop, Edit, set};
use super::text::{judge_form, judge_separator};
use crate::check::{AcceptedResponse, Case, Check, Cost, Decision, Probe, ResponseClass, Run, Scope, Stop};
use crate::checks::requests::{Requests, protocol_to_name};
use crate::contract::Clause::{
    self, ExtractCountryAlias, ExtractCountryEqual, ExtractIdempotent, ExtractProtocol,
    ExtractRegionsDefault, ExtractRequestIdSource, ExtractReturnType, ExtractSeparator, ExtractTokenEqual,
    ExtractTokenTransport,
};
use crate::contract::part::{
    COUNTRY, LB, NUM, PROTOCOL, REGIONS, REQUEST_ID, REQUEST_ID_HEADER, RETURN_TYPE, SB,
};
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
    run: Run::Cases(|scope| combinations(scope).into_iter().map(case).collect()),
    ..EXTRACT
}];

/// Gateways of a combination: two need a separator, and two extractions rarely return the same two.
const COUNT: u32 = 2;

/// A custom separator with characters that are special in URLs and JSON.
const CUSTOM: &str = "&=+% \u{e9}";

/// A valid use of one parameter.
#[derive(Debug, Clone)]
struct Use {
    clause: Clause,
    description: String,
    edits: Vec<Edit>,
    kind: Kind,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Kind {
    Separator(Separator),
    JsonByName,
    Token,
    /// The region, in the way that must be accepted exactly when the other one is.
    DefaultRegion {
        is_named: bool,
    },
    Id(IdPlace),
    Other,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum IdPlace {
    Query,
    Header,
    /// A different id in each; the one in the query counts.
    Both,
}

/// The parameters of one request.
#[derive(Debug, Clone)]
struct Combination {
    uses: Vec<Use>,
    spelling: QuerySpelling,
}

#[derive(Clone)]
struct Ids {
    query: String,
    header: String,
}

/// Each separator once, and JSON with each place of the id. The other parameters rotate, so that each meets several others.
fn combinations(scope: &Scope<'_>) -> Vec<Combination> {
    const TOKENS: [&[Transport]; 5] = [
        &[Transport::Bearer],
        &[Transport::Query, Transport::Header, Transport::Bearer],
        &[Transport::Header],
        &[Transport::Query],
        &[Transport::Query, Transport::Bearer],
    ];
    const IDS: [Option<IdPlace>; 3] = [Some(IdPlace::Header), Some(IdPlace::Query), Some(IdPlace::Both)];
    let extract = &scope.contract.extract;
    let default_region = extract.regions.default_text();
    let region = scope.facts.plentiful_region.clone().unwrap_or_else(|| default_region.clone());
    let equal = Use::new(
        ExtractCountryEqual,
        "regions and country that are equal",
        [Drop(REGIONS), set(REGIONS, &region), set(COUNTRY, &region)],
    );
    let regions = [
        Use::new(ExtractCountryAlias, "country in place of regions", [Drop(REGIONS), set(COUNTRY, &region)]),
        Use::default_region(false, &default_region),
        equal.clone(),
        Use::default_region(true, &default_region),
    ];
    let custom = Separator { code: extract.custom_separator.clone(), text: CUSTOM.to_owned() };
    let separators = extract.separators.iter().cloned().chain([custom]);
    let texts = separators.map(|separator| vec![Use::text(extract), Use::separator(extract, separator)]);
    let json = [vec![], vec![Use::json(extract)], vec![]];
    // The default protocol unless the account may not use it, and those that the tester supplied.
    let default = protocol_to_name(extract, scope.facts).cloned();
    let default = default.unwrap_or_else(|| extract.protocol.default_text());
    let entitled =
        extract.protocols.iter().filter(|protocol| scope.facts.entitled_protocols.contains(protocol));
    let protocols: Vec<_> = [Some(default.clone()), None]
        .into_iter()
        .chain(entitled.filter(|protocol| **protocol != default).cloned().map(Some))
        .collect();
    let combination = |(turn, form): (usize, Vec<Use>)| {
        let token = Use::token(TOKENS[turn % TOKENS.len()]);
        let region = regions[turn % regions.len()].clone();
        let protocol = protocols[turn % protocols.len()].as_ref().map(Use::protocol);
        let id = IDS[turn % IDS.len()].map(Use::id);
        let uses = form.into_iter().chain([token, region]).chain(protocol).chain(id);
        Combination { uses: uses.collect(), spelling: QuerySpelling::Usual }
    };
    let encoded = [QuerySpelling::EncodedValues, QuerySpelling::Encoded].map(|spelling| {
        let last = extract.separators.last().cloned().map(|last| Use::separator(extract, last));
        let token = Use::token(&[Transport::Query, Transport::Header]);
        let others = [equal.clone(), Use::protocol(&default), Use::id(IdPlace::Query), token];
        let uses = [Use::text(extract)].into_iter().chain(last).chain(others);
        Combination { uses: uses.collect(), spelling }
    });
    let encoded = encoded.to_vec();
    texts.chain(json).enumerate().map(combination).chain(encoded).collect()
}

fn case(combination: Combination) -> Case {
    // Repetitions return the same gateways, and a rejected combination leaves its gateways to the requests that find the cause.
    let cost = Cost::extraction(1 + combination.repetitions(), COUNT);
    Case::for_data(combination.label(), cost, combination, combined)
}

async fn combined(probe: &Probe<'_>, combination: Combination) -> Result<(), Stop> {
    let ids = Ids::fresh(probe);
    let (exchange, class) = probe.send(&combination.request(probe, COUNT, &ids)?).await?;
    match (class.decision(), &exchange.result) {
        (Decision::Accepted, Ok(response)) => {
            let accepted = AcceptedResponse { response: response.clone(), exchange: exchange.clone() };
            judge(probe, &combination, &ids, &accepted).await
        }
        _ if content::is_undecided(&class) => Err(content::undecided(probe, &class)),
        _ => find_cause(probe, &combination, (&exchange, &class)).await,
    }
}

/// Judges the response for each parameter.
async fn judge(
    probe: &Probe<'_>,
    combination: &Combination,
    ids: &Ids,
    accepted: &AcceptedResponse,
) -> Result<(), Stop> {
    let AcceptedResponse { exchange, response } = accepted;
    for (clause, why, request) in combination.again(probe, ids)? {
        content::judge_repeated(probe, clause, &why, accepted, &request).await?;
    }
    if let Some(separator) = combination.separator() {
        judge_form(probe, exchange, response, "text is requested");
        if !content::is_envelope(response) {
            judge_separator(probe, accepted, &separator.text).await?;
        }
    } else {
        content::judge_count(probe, exchange, response, i64::from(COUNT));
    }
    Ok(())
}

/// Finds a parameter that is rejected alone, or without which the combination is accepted, and reports its clause.
async fn find_cause(
    probe: &Probe<'_>,
    combination: &Combination,
    (rejected, class): (&Exchange, &ResponseClass),
) -> Result<(), Stop> {
    Context::PLAIN.control(probe).await?;
    // A service that does not decode the query rejects every parameter in it.
    if combination.spelling != QuerySpelling::Usual
        && let Err((exchange, class)) = is_accepted(probe, [], combination.spelling).await?
    {
        let expected = format!("accepted: an extraction{}", combination.spelling_name());
        probe.finding(Clause::ExtractEnvelope, &expected, class.description(), &[&exchange]);
        return Ok(());
    }
    for alone in &combination.uses {
        let Err((exchange, class)) = is_accepted(probe, [alone.clone()], combination.spelling).await? else {
            continue;
        };
        // The default region and its absence are controls for each other.
        if let Kind::DefaultRegion { is_named } = alone.kind
            && let other = Use::default_region(!is_named, &probe.contract().extract.regions.default_text())
            && is_accepted(probe, [other], QuerySpelling::Usual).await?.is_err()
        {
            return Err(probe.skip("the account gets nothing of the default region"));
        }
        let spelling = combination.spelling_name();
        let expected = format!("accepted: {}{spelling}", alone.description);
        probe.finding(alone.clause, &expected, class.description(), &[&exchange]);
        return Ok(());
    }
    let what = combination.description();
    for left_out in &combination.uses {
        let rest = combination.uses.iter().filter(|used| used.description != left_out.description).cloned();
        if let Ok(other) = is_accepted(probe, rest, combination.spelling).await? {
            let expected = format!("accepted: {what}; it is without {}", left_out.description);
            probe.finding(left_out.clause, &expected, class.description(), &[rejected, &other]);
            return Ok(());
        }
    }
    probe.finding(Clause::ExtractEnvelope, &format!("accepted: {what}"), class.description(), &[rejected]);
    Ok(())
}

/// Sends an extraction of the minimum number of gateways with these parameters. The inner error is a rejection.
async fn is_accepted(
    probe: &Probe<'_>,
    uses: impl IntoIterator<Item = Use>,
    spelling: QuerySpelling,
) -> Result<Result<Exchange, (Exchange, ResponseClass)>, Stop> {
    let combination = Combination { uses: uses.into_iter().collect(), spelling };
    let min = *probe.contract().extract.num_range.start();
    let (exchange, class) = probe.send(&combination.request(probe, min, &Ids::fresh(probe))?).await?;
    match class.decision() {
        Decision::Accepted => Ok(Ok(exchange)),
        _ if content::is_undecided(&class) => Err(content::undecided(probe, &class)),
        _ => Ok(Err((exchange, class))),
    }
}

impl Ids {
    fn fresh(probe: &Probe<'_>) -> Self {
        Self { query: probe.fresh_request_id(), header: probe.fresh_request_id() }
    }
}

impl Combination {
    fn separator(&self) -> Option<&Separator> {
        self.uses.iter().find_map(|used| match &used.kind {
            Kind::Separator(separator) => Some(separator),
            _ => None,
        })
    }

    fn id(&self) -> Option<IdPlace> {
        self.uses.iter().find_map(|used| match used.kind {
            Kind::Id(place) => Some(place),
            _ => None,
        })
    }

    fn has(&self, kind: &Kind) -> bool {
        self.uses.iter().any(|used| used.kind == *kind)
    }

    /// Unique by the form and the place of the id. The other parameters depend on facts, which labels must not.
    fn label(&self) -> String {
        let form = match self.separator() {
            Some(separator) => format!("lb={}", separator.code),
            None if self.has(&Kind::JsonByName) => "json by name".to_owned(),
            None => "json".to_owned(),
        };
        let id = match self.id() {
            None => "no id",
            Some(IdPlace::Query) => "id in query",
            Some(IdPlace::Header) => "id in header",
            Some(IdPlace::Both) => "two ids",
        };
        match self.spelling {
            QuerySpelling::Usual => format!("{form}/{id}"),
            QuerySpelling::EncodedValues => format!("{form}/{id}/encoded values"),
            QuerySpelling::Encoded => format!("{form}/{id}/encoded query"),
        }
    }

    const fn spelling_name(&self) -> &'static str {
        match self.spelling {
            QuerySpelling::Usual => "",
            QuerySpelling::EncodedValues => ", with each byte of the query's values percent-encoded",
            QuerySpelling::Encoded => ", with each byte of the query percent-encoded",
        }
    }

    fn description(&self) -> String {
        let parts: Vec<_> = self.uses.iter().map(|used| used.description.as_str()).collect();
        format!("{}{}", parts.join(", "), self.spelling_name())
    }

    fn request(&self, probe: &Probe<'_>, num: impl fmt::Display, ids: &Ids) -> Result<Request, Stop> {
        let mut request = probe.extract_without_token().query(NUM, num);
        for used in &self.uses {
            request = used.edits.iter().try_fold(request, |request, edit| edit.apply(probe, request))?;
        }
        request = match self.id() {
            None => request,
            Some(IdPlace::Query) => Place::Query.carry(request, &ids.query),
            Some(IdPlace::Header) => Place::Header.carry(request, &ids.header),
            Some(IdPlace::Both) => Place::Header.carry(Place::Query.carry(request, &ids.query), &ids.header),
        };
        let has_token = self.has(&Kind::Token);
        let own = Edit::Token(Transport::Query, Credential::Own);
        let request = if has_token { request } else { own.apply(probe, request)? };
        Ok(request.spelling(self.spelling))
    }

    /// The number of repetitions of the extraction that its request id allows.
    fn repetitions(&self) -> u32 {
        match self.id() {
            None => 0,
            Some(IdPlace::Query) => 1,
            Some(IdPlace::Header | IdPlace::Both) => 2,
        }
    }

    /// The repetitions: the same request, then one in which only the id that counts is the same.
    fn again(&self, probe: &Probe<'_>, ids: &Ids) -> Result<Vec<(Clause, String, Request)>, Stop> {
        let Some(place) = self.id() else { return Ok(Vec::new()) };
        let same = (ExtractIdempotent, "sent again".to_owned(), self.request(probe, COUNT, ids)?);
        let (why, other, ids) = match place {
            IdPlace::Query => return Ok(vec![same]),
            IdPlace::Header => {
                let why = format!("the id of {REQUEST_ID_HEADER} sent as {REQUEST_ID}");
                let others = self.uses.iter().filter(|used| !matches!(used.kind, Kind::Id(_))).cloned();
                let uses = others.chain([Use::id(IdPlace::Query)]).collect();
                (why, Self { uses, ..self.clone() }, Ids { query: ids.header.clone(), ..ids.clone() })
            }
            IdPlace::Both => {
                let why = format!("the same {REQUEST_ID} beside another {REQUEST_ID_HEADER}");
                (why, self.clone(), Ids { header: probe.fresh_request_id(), ..ids.clone() })
            }
        };
        Ok(vec![same, (ExtractRequestIdSource, why, other.request(probe, COUNT, &ids)?)])
    }
}

impl Use {
    fn new(clause: Clause, description: impl Into<String>, edits: impl Into<Vec<Edit>>) -> Self {
        Self { clause, description: description.into(), edits: edits.into(), kind: Kind::Other }
    }

    fn json(extract: &Extract) -> Self {
        let edits = [set(RETURN_TYPE, &extract.json)];
        let by_name = Self::new(ExtractReturnType, format!("{RETURN_TYPE}={}", extract.json), edits);
        Self { kind: Kind::JsonByName, ..by_name }
    }

    fn text(extract: &Extract) -> Self {
        let edits = [set(RETURN_TYPE, &extract.text)];
        Self::new(ExtractReturnType, format!("{RETURN_TYPE}={}", extract.text), edits)
    }

    /// With the form, since JSON has no separator.
    fn separator(extract: &Extract, separator: Separator) -> Self {
        let mut edits = vec![set(RETURN_TYPE, &extract.text), set(LB, &separator.code)];
        edits.extend((separator.code == extract.custom_separator).then(|| set(SB, &separator.text)));
        let used = Self::new(ExtractSeparator, format!("{LB}={}", separator.code), edits);
        Self { kind: Kind::Separator(separator), ..used }
    }

    fn token(transports: &[Transport]) -> Self {
        let names: Vec<_> = transports.iter().map(|transport| transport.name()).collect();
        let clause = if transports.len() == 1 { ExtractTokenTransport } else { ExtractTokenEqual };
        let edits: Vec<_> = transports.iter().map(|place| Edit::Token(*place, Credential::Own)).collect();
        let used = Self::new(clause, format!("the token in {}", names.join(" and ")), edits);
        Self { kind: Kind::Token, ..used }
    }

    fn default_region(is_named: bool, default: &String) -> Self {
        let used = match is_named {
            true => {
                Self::new(ExtractRegionsDefault, "the default regions by its name", [set(REGIONS, default)])
            }
            false => Self::new(ExtractRegionsDefault, "no regions", [Drop(REGIONS)]),
        };
        Self { kind: Kind::DefaultRegion { is_named }, ..used }
    }

    fn protocol(protocol: &String) -> Self {
        Self::new(ExtractProtocol, format!("{PROTOCOL}={protocol}"), [set(PROTOCOL, protocol)])
    }

    fn id(place: IdPlace) -> Self {
        let place_name = match place {
            IdPlace::Query => REQUEST_ID.to_owned(),
            IdPlace::Header => REQUEST_ID_HEADER.to_owned(),
            IdPlace::Both => format!("{REQUEST_ID} and another in {REQUEST_ID_HEADER}"),
        };
        let used = Self::new(ExtractRequestIdSource, format!("a request id in {place_name}"), []);
        Self { kind: Kind::Id(place), ..used }
    }
}

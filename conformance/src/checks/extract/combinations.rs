//! Combinations of valid parameters. One extraction uses many of them, and its response is judged for each: two gateways show
//! what single requests would take a dozen for. Only when a combination is rejected, its parameters are sent one by one to find
//! the violated clause.

use std::fmt;

use super::EXTRACT;
use super::content;
use super::forms::{Context, Transport};
use super::text::{judge_form, judge_separator};
use crate::check::{AcceptedResponse, Case, Check, Cost, Decision, Probe, ResponseClass, Run, Scope, Stop};
use crate::checks::requests::{Requests, protocol_to_name};
use crate::contract::{Clause, Extract, Separator};
use crate::wire::{Exchange, QuerySpelling, Request};

pub(super) static COMBINATIONS: Check = Check {
    id: "extract.envelope.combinations",
    title: "valid parameters are accepted together, and each has its effect",
    why: "Callers use several parameters at once; a parameter that works only alone is of no use to them.",
    clauses: &[
        Clause::ExtractCount,
        Clause::ExtractCountryAlias,
        Clause::ExtractCountryEqual,
        Clause::ExtractEnvelope,
        Clause::ExtractIdempotent,
        Clause::ExtractProtocol,
        Clause::ExtractRegionsDefault,
        Clause::ExtractRequestIdSource,
        Clause::ExtractReturnType,
        Clause::ExtractSeparator,
        Clause::ExtractTokenEqual,
        Clause::ExtractTokenTransport,
    ],
    run: Run::Cases(|scope| combinations(scope).into_iter().map(case).collect()),
    ..EXTRACT
};

/// Gateways of a combination: two need a separator, and two extractions rarely return the same two.
const NUM: u32 = 2;

/// A custom separator with characters that are special in URLs and JSON.
const CUSTOM: &str = "&=+% \u{e9}";

/// A valid use of one parameter.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Use {
    /// JSON, which is the default, by its name.
    Json,
    Text,
    Separator(Separator),
    Token(&'static [Transport]),
    Region(RegionUse),
    Protocol(String),
    Id(IdPlace),
}

/// How the region is named. `Absent` means the default one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RegionUse {
    Alias,
    Both,
    Absent,
    Default,
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
    const REGIONS: [RegionUse; 4] =
        [RegionUse::Alias, RegionUse::Absent, RegionUse::Both, RegionUse::Default];
    const IDS: [Option<IdPlace>; 3] = [Some(IdPlace::Header), Some(IdPlace::Query), Some(IdPlace::Both)];
    let extract = &scope.contract.extract;
    let custom = Separator { code: extract.custom_separator.clone(), text: CUSTOM.to_owned() };
    let separators = extract.separators.iter().cloned().chain([custom]);
    let texts = separators.map(|separator| vec![Use::Text, Use::Separator(separator)]);
    let json = [vec![], vec![Use::Json], vec![]];
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
        let token = Use::Token(TOKENS[turn % TOKENS.len()]);
        let region = Use::Region(REGIONS[turn % REGIONS.len()]);
        let protocol = protocols[turn % protocols.len()].clone().map(Use::Protocol);
        let id = IDS[turn % IDS.len()].map(Use::Id);
        let uses = form.into_iter().chain([token, region]).chain(protocol).chain(id);
        Combination { uses: uses.collect(), spelling: QuerySpelling::Usual }
    };
    let encoded = [QuerySpelling::EncodedValues, QuerySpelling::Encoded].map(|spelling| {
        let last = extract.separators.last().cloned().map(Use::Separator);
        let region = [Use::Region(RegionUse::Both), Use::Protocol(default.clone())];
        let token = Use::Token(&[Transport::Query, Transport::Header]);
        let uses = [Use::Text].into_iter().chain(last).chain(region).chain([Use::Id(IdPlace::Query), token]);
        Combination { uses: uses.collect(), spelling }
    });
    let encoded = encoded.to_vec();
    texts.chain(json).enumerate().map(combination).chain(encoded).collect()
}

fn case(combination: Combination) -> Case {
    let repetitions = u32::try_from(combination.repetitions().len()).unwrap_or(u32::MAX);
    // Repetitions return the same gateways, and a rejected combination leaves its gateways to the requests that find the cause.
    let cost = Cost::extraction(1 + repetitions, NUM);
    Case::for_data(combination.label(), cost, combination, combined)
}

async fn combined(probe: &Probe<'_>, combination: Combination) -> Result<(), Stop> {
    let ids = Ids::fresh(probe);
    let (exchange, class) = probe.send(&combination.request(probe, NUM, &ids)).await?;
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
    for (clause, why, request) in combination.again(probe, ids) {
        content::judge_repeated(probe, clause, &why, accepted, &request).await?;
    }
    if let Some(separator) = combination.separator() {
        judge_form(probe, exchange, response, "text is requested");
        if !content::is_envelope(response) {
            judge_separator(probe, accepted, &separator.text).await?;
        }
    } else {
        content::judge_count(probe, exchange, response, i64::from(NUM));
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
    let extract = &probe.contract().extract;
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
        if let Some(other) = alone.counterpart()
            && is_accepted(probe, [other], QuerySpelling::Usual).await?.is_err()
        {
            return Err(probe.skip("the account gets nothing of the default region"));
        }
        let spelling = combination.spelling_name();
        let expected = format!("accepted: {}{spelling}", alone.description(extract));
        probe.finding(alone.clause(), &expected, class.description(), &[&exchange]);
        return Ok(());
    }
    let what = combination.description(extract);
    for left_out in &combination.uses {
        let rest = combination.uses.iter().filter(|used| *used != left_out).cloned();
        if let Ok(other) = is_accepted(probe, rest, combination.spelling).await? {
            let expected = format!("accepted: {what}; it is without {}", left_out.description(extract));
            probe.finding(left_out.clause(), &expected, class.description(), &[rejected, &other]);
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
    let (exchange, class) = probe.send(&combination.request(probe, min, &Ids::fresh(probe))).await?;
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
        self.uses.iter().find_map(|used| match used {
            Use::Separator(separator) => Some(separator),
            _ => None,
        })
    }

    fn id(&self) -> Option<IdPlace> {
        self.uses.iter().find_map(|used| match used {
            Use::Id(place) => Some(*place),
            _ => None,
        })
    }

    /// Unique by the form and the place of the id. The other parameters depend on facts, which labels must not.
    fn label(&self) -> String {
        let form = match self.uses.first() {
            Some(Use::Text) => self.separator().map_or_else(String::new, |of| format!("lb={}", of.code)),
            Some(Use::Json) => "json by name".to_owned(),
            _ => "json".to_owned(),
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

    fn description(&self, extract: &Extract) -> String {
        let parts: Vec<_> = self.uses.iter().map(|used| used.description(extract)).collect();
        format!("{}{}", parts.join(", "), self.spelling_name())
    }

    fn request(&self, probe: &Probe<'_>, num: impl fmt::Display, ids: &Ids) -> Request {
        let extract = &probe.contract().extract;
        let request = probe.extract_without_token().query(&extract.num.name, num);
        let request = self.uses.iter().fold(request, |request, used| used.apply(probe, request, ids));
        let request = request.spelling(self.spelling);
        if self.uses.iter().any(|used| matches!(used, Use::Token(_))) {
            return request;
        }
        Transport::Query.carry(probe, request, probe.token().expose())
    }

    /// The repetitions of the extraction that its request id allows.
    fn repetitions(&self) -> &'static [Repetition] {
        match self.id() {
            None => &[],
            Some(IdPlace::Query) => &[Repetition::Same],
            Some(IdPlace::Header) => &[Repetition::Same, Repetition::HeaderInQuery],
            Some(IdPlace::Both) => &[Repetition::Same, Repetition::OtherHeader],
        }
    }

    fn again(&self, probe: &Probe<'_>, ids: &Ids) -> Vec<(Clause, String, Request)> {
        let extract = &probe.contract().extract;
        let (header, query) = (&extract.request_id_header.name, &extract.request_id.name);
        let repeat = |repetition: &Repetition| match repetition {
            Repetition::Same => {
                (Clause::ExtractIdempotent, "sent again".to_owned(), self.request(probe, NUM, ids))
            }
            Repetition::HeaderInQuery => {
                let moved = Ids { query: ids.header.clone(), header: ids.header.clone() };
                let by_query = Self { uses: self.with_id(IdPlace::Query), spelling: self.spelling };
                let why = format!("the id of {header} sent as {query}");
                (Clause::ExtractRequestIdSource, why, by_query.request(probe, NUM, &moved))
            }
            Repetition::OtherHeader => {
                let other = Ids { query: ids.query.clone(), header: probe.fresh_request_id() };
                let why = format!("the same {query} beside another {header}");
                (Clause::ExtractRequestIdSource, why, self.request(probe, NUM, &other))
            }
        };
        self.repetitions().iter().map(repeat).collect()
    }

    fn with_id(&self, place: IdPlace) -> Vec<Use> {
        let others = self.uses.iter().filter(|used| !matches!(used, Use::Id(_))).cloned();
        others.chain([Use::Id(place)]).collect()
    }
}

#[derive(Debug, Clone, Copy)]
enum Repetition {
    Same,
    HeaderInQuery,
    OtherHeader,
}

impl Use {
    const fn clause(&self) -> Clause {
        match self {
            Self::Json | Self::Text => Clause::ExtractReturnType,
            Self::Separator(_) => Clause::ExtractSeparator,
            Self::Token([_]) => Clause::ExtractTokenTransport,
            Self::Token(_) => Clause::ExtractTokenEqual,
            Self::Region(RegionUse::Alias) => Clause::ExtractCountryAlias,
            Self::Region(RegionUse::Both) => Clause::ExtractCountryEqual,
            Self::Region(RegionUse::Absent | RegionUse::Default) => Clause::ExtractRegionsDefault,
            Self::Protocol(_) => Clause::ExtractProtocol,
            Self::Id(_) => Clause::ExtractRequestIdSource,
        }
    }

    /// The use that must be accepted exactly when this one is.
    const fn counterpart(&self) -> Option<Self> {
        match self {
            Self::Region(RegionUse::Absent) => Some(Self::Region(RegionUse::Default)),
            Self::Region(RegionUse::Default) => Some(Self::Region(RegionUse::Absent)),
            _ => None,
        }
    }

    fn description(&self, extract: &Extract) -> String {
        let Extract { return_type, lb, regions, country, protocol, request_id, request_id_header, .. } =
            extract;
        match self {
            Self::Json => format!("{}={}", return_type.name, extract.json),
            Self::Text => format!("{}={}", return_type.name, extract.text),
            Self::Separator(Separator { code, .. }) => format!("{}={code}", lb.name),
            Self::Token(transports) => {
                let names: Vec<_> = transports.iter().map(|transport| transport.name()).collect();
                format!("the token in {}", names.join(" and "))
            }
            Self::Region(RegionUse::Alias) => format!("{} in place of {}", country.name, regions.name),
            Self::Region(RegionUse::Both) => format!("{} and {} that are equal", regions.name, country.name),
            Self::Region(RegionUse::Absent) => format!("no {}", regions.name),
            Self::Region(RegionUse::Default) => format!("the default {} by its name", regions.name),
            Self::Protocol(value) => format!("{}={value}", protocol.name),
            Self::Id(IdPlace::Query) => format!("a request id in {}", request_id.name),
            Self::Id(IdPlace::Header) => format!("a request id in {}", request_id_header.name),
            Self::Id(IdPlace::Both) => {
                format!("a request id in {} and another in {}", request_id.name, request_id_header.name)
            }
        }
    }

    fn apply(&self, probe: &Probe<'_>, request: Request, ids: &Ids) -> Request {
        let extract = &probe.contract().extract;
        match self {
            Self::Json => request.query(&extract.return_type.name, &extract.json),
            Self::Text => request.query(&extract.return_type.name, &extract.text),
            // JSON has no separator.
            Self::Separator(Separator { code, text }) => {
                let request = request.query(&extract.return_type.name, &extract.text);
                let request = request.query(&extract.lb.name, code);
                if *code == extract.custom_separator {
                    request.query(&extract.sb.name, text)
                } else {
                    request
                }
            }
            Self::Token(transports) => {
                let token = probe.token().expose();
                transports.iter().fold(request, |request, transport| transport.carry(probe, request, token))
            }
            Self::Region(used) => {
                let (regions, country) = (&extract.regions.name, &extract.country.name);
                let default = extract.regions.default_text();
                let value = probe.facts().plentiful_region.clone().unwrap_or_else(|| default.clone());
                let request = request.without_query(regions);
                match used {
                    RegionUse::Alias => request.query(country, value),
                    RegionUse::Both => request.query(regions, &value).query(country, &value),
                    RegionUse::Absent => request,
                    RegionUse::Default => request.query(regions, default),
                }
            }
            Self::Protocol(protocol) => request.query(&extract.protocol.name, protocol),
            Self::Id(place) => {
                let (query, header) = (&extract.request_id.name, &extract.request_id_header.name);
                match place {
                    IdPlace::Query => request.query(query, &ids.query),
                    IdPlace::Header => request.header(header, &ids.header),
                    IdPlace::Both => request.query(query, &ids.query).header(header, &ids.header),
                }
            }
        }
    }
}

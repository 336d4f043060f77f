//! A known request id does not give gateways to a caller that may not extract.

use super::access::{NO_ENTITLEMENT, NO_VERIFICATION, NO_WHITELIST, UnmetRequirement, is_alive};
use super::forms::{Context, Transport, rejects};
use crate::check::{Case, Check, Cost, Probe, Run, Scope, Stop};
use crate::checks::Requests;
use crate::checks::token::WrongToken;
use crate::contract::{Clause, OperationId};
use crate::wire::Request;

pub(super) static REPLAYED: Check = Check {
    id: "extract.idempotent.access",
    title: "a known request id returns no gateways to a caller without access",
    why: "Whoever learns a request id, which logs and proxies show, gets the gateways of its extraction.",
    operation: Some(OperationId::Extract),
    clauses: &[
        Clause::AllTokenRequired,
        Clause::ExtractEntitlement,
        Clause::ExtractRealName,
        Clause::ExtractWhitelist,
    ],
    needs: &[],
    run: Run::Cases(cases),
};

/// Who sends the request id again.
#[derive(Debug, Clone, Copy)]
enum Caller {
    WithoutToken,
    Wrong(WrongToken),
    Lacking(UnmetRequirement),
}

impl Caller {
    const fn label(self) -> &'static str {
        match self {
            Self::WithoutToken => "absent token",
            Self::Wrong(wrong) => wrong.label(),
            Self::Lacking(lack) => lack.label,
        }
    }
}

fn cases(_: &Scope<'_>) -> Vec<Case> {
    let text = Context { is_text: true, ..Context::PLAIN };
    let header = Context { transport: Transport::Header, ..Context::PLAIN };
    let wrong = [WrongToken::Empty, WrongToken::Unknown, WrongToken::Altered].map(Caller::Wrong);
    let lacking = [NO_WHITELIST, NO_VERIFICATION, NO_ENTITLEMENT].map(Caller::Lacking);
    let callers: Vec<_> = [Caller::WithoutToken].into_iter().chain(wrong).chain(lacking).collect();
    let case = |(context, caller, in_header): (Context, Caller, bool)| {
        let place = if in_header { "header" } else { "query" };
        let label = format!("{}/{} id in {place}", context.label(), caller.label());
        let needs = match caller {
            Caller::Lacking(lack) => Some(lack.fact),
            Caller::WithoutToken | Caller::Wrong(_) => None,
        };
        let shared = context.clone();
        let data = (context, caller, in_header);
        let case =
            Case::with(label, Cost::extraction(3, 1), data, |probe, data| Box::pin(replayed(probe, data)));
        shared.share(case.needs(needs))
    };
    let forms = [(Context::PLAIN, false), (Context::PLAIN, true), (text, false), (header, false)];
    let each = |(context, in_header): (Context, bool)| {
        callers.iter().map(move |caller| (context.clone(), *caller, in_header)).collect::<Vec<_>>()
    };
    forms.into_iter().flat_map(each).map(case).collect()
}

async fn replayed(
    probe: &Probe<'_>,
    (context, caller, in_header): (Context, Caller, bool),
) -> Result<(), Stop> {
    let extract = &probe.contract().extract;
    let id = probe.fresh_request_id();
    let with_id = |request: Request| {
        if in_header {
            request.header(&extract.request_id_header.name, &id)
        } else {
            request.query(&extract.request_id.name, &id)
        }
    };
    let (clause, reason, request) = match caller {
        Caller::WithoutToken => {
            (Clause::AllTokenRequired, "the token is absent", context.without_token(probe))
        }
        Caller::Wrong(wrong) => {
            let token = wrong.text(probe)?;
            (Clause::AllTokenRequired, wrong.reason(), context.with_token(probe, &token))
        }
        Caller::Lacking(lack) => {
            let token = probe.required(lack.fact, lack.token)?;
            is_alive(probe, token, lack.fact).await?;
            (lack.clause, lack.reason, context.with_token(probe, token.expose()))
        }
    };
    context.control(probe).await?;
    context.accepted(probe, &with_id(context.request(probe))).await?;
    let why = format!("{reason}, with the request id of an extraction that was accepted, {}", context.name());
    rejects(probe, clause, &why, &with_id(request)).await
}

pub(super) static DISTINCT: Check = Check {
    id: "extract.idempotent.distinct",
    title: "request ids that differ in one character stand for two extractions",
    why: "A caller whose ids have a long common part gets the gateways of an earlier extraction and no others.",
    operation: Some(OperationId::Extract),
    clauses: &[Clause::ExtractIdempotent],
    needs: &[],
    run: Run::Cases(|_| {
        let case = |differing: IdPair| {
            let data = differing;
            Case::with(data.label, Cost::extraction(3, 5), data, |probe, data| {
                Box::pin(distinct(probe, data))
            })
        };
        ID_PAIRS.map(case).into()
    }),
};

/// Two request ids that are nearly the same.
#[derive(Debug, Clone, Copy)]
struct IdPair {
    label: &'static str,
    /// Characters of each; a service may limit them at any length.
    length: usize,
    /// The characters in which they differ: at the end, or at the beginning.
    characters: [&'static str; 2],
    at_beginning: bool,
    /// Letter case of an id is not spoken of, so that it is worth a warning.
    is_doubtful: bool,
}

const ID_PAIRS: [IdPair; 7] = [
    IdPair::new("last of 22", 22, ["1", "2"]),
    IdPair::new("last of 36", 36, ["1", "2"]),
    IdPair::new("last of 65", 65, ["1", "2"]),
    IdPair::new("last of 129", 129, ["1", "2"]),
    IdPair { at_beginning: true, ..IdPair::new("first of 22", 22, ["1", "2"]) },
    IdPair::new("a hyphen more", 22, ["", "-"]),
    IdPair { is_doubtful: true, ..IdPair::new("letter case", 22, ["a", "A"]) },
];

impl IdPair {
    const fn new(label: &'static str, length: usize, characters: [&'static str; 2]) -> Self {
        Self { label, length, characters, at_beginning: false, is_doubtful: false }
    }

    /// The pair, with `fresh` as what they have in common.
    fn ids(&self, fresh: &str) -> [String; 2] {
        let common: String =
            fresh.chars().chain("-".repeat(self.length).chars()).take(self.length - 1).collect();
        self.characters.map(|character| {
            if self.at_beginning { format!("{character}{common}") } else { format!("{common}{character}") }
        })
    }
}

/// A known id with another `num` may be handled in any way, but a new one is a new extraction.
async fn distinct(probe: &Probe<'_>, differing: IdPair) -> Result<(), Stop> {
    let extract = &probe.contract().extract;
    let least = *extract.num_range.start();
    let two = || probe.extract().query(&extract.num.name, least + 1);
    let fresh = two().query(&extract.request_id.name, probe.fresh_request_id());
    let control = probe.control(&fresh).await?;
    if super::content::count(probe, &control.response) < 2 {
        return Err(probe.skip("there are too few gateways for two at once"));
    }
    let [first_id, second_id] = differing.ids(&probe.fresh_request_id());
    let first = probe.extract().query(&extract.request_id.name, first_id);
    let Ok(one) = probe.control(&first).await else {
        return Err(probe.skip(&format!("a request id of {} characters is not accepted", differing.length)));
    };
    let second = two().query(&extract.request_id.name, second_id);
    let (exchange, is_accepted) = probe.is_accepted(&second).await?;
    let came = exchange.result.as_ref().ok().map_or(0, |response| super::content::count(probe, response));
    if is_accepted && came > 1 {
        return Ok(());
    }
    // A partial result with the gateway of the other id may be a replay that counts its headers anew.
    let is_other = |response| {
        super::content::gateways(probe, &exchange.request, response)
            != super::content::gateways(probe, &one.exchange.request, &one.response)
    };
    if is_accepted
        && exchange
            .result
            .as_ref()
            .is_ok_and(|response| super::content::is_partial(probe, response) && is_other(response))
    {
        return Err(probe.skip("the service had fewer gateways than were asked for just then, and said so"));
    }
    let expected = format!("an extraction of its own for a new request id, {}", differing.label);
    let actual = if is_accepted {
        format!("{came} of 2 entries, as many as the other id asked for")
    } else {
        "rejected".to_owned()
    };
    if differing.is_doubtful {
        probe.warning(Clause::ExtractIdempotent, &expected, &actual, &[&exchange]);
    } else {
        probe.finding(Clause::ExtractIdempotent, &expected, &actual, &[&exchange]);
    }
    Ok(())
}

pub(super) static TRANSPORTS: Check = Check {
    id: "extract.idempotent.transports",
    title: "a request id stands for the same extraction in whatever way the token is sent",
    why: "A caller that repeats an interrupted extraction through another client takes and pays for a second set of gateways.",
    operation: Some(OperationId::Extract),
    clauses: &[Clause::ExtractIdempotent],
    needs: &[],
    run: Run::Cases(|_| {
        let [query, header, bearer] = Transport::ALL;
        let case = |(first, second): (Transport, Transport)| {
            let label = format!("{} then {}", first.label(), second.label());
            let cost = Cost::extraction(2, SEVERAL);
            let case = Case::with(label, cost, (first, second), |probe, data| Box::pin(by_two(probe, data)));
            let by = |transport| Context { transport, ..Context::PLAIN };
            by(second).share(by(first).share(case))
        };
        [(query, header), (query, bearer), (header, query), (bearer, query)].map(case).into()
    }),
};

/// Entries: enough that two extractions hardly choose the same by chance.
const SEVERAL: u32 = 4;

async fn by_two(probe: &Probe<'_>, (first, second): (Transport, Transport)) -> Result<(), Stop> {
    let extract = &probe.contract().extract;
    let id = probe.fresh_request_id();
    let by = |transport| Context { transport, ..Context::PLAIN };
    by(first).control(probe).await?;
    by(second).control(probe).await?;
    let request = |transport| {
        let request = by(transport).request(probe).query(&extract.num.name, SEVERAL);
        request.query(&extract.request_id.name, &id)
    };
    let before = by(first).accepted(probe, &request(first)).await?;
    let why = format!("sent again with the token in {}", second.name());
    let again = request(second).giving_again(super::content::gateways(
        probe,
        &before.exchange.request,
        &before.response,
    ));
    let Some(after) = probe.accepts(Clause::ExtractIdempotent, &why, &again).await? else {
        return Ok(());
    };
    if super::content::gateways(probe, &before.exchange.request, &before.response)
        != super::content::gateways(probe, &after.exchange.request, &after.response)
    {
        let expected = format!("the same gateways: {why}");
        let exchanges = [&before.exchange, &after.exchange];
        probe.finding(Clause::ExtractIdempotent, &expected, "other gateways", &exchanges);
    }
    Ok(())
}

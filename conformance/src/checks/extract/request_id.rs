//! The request id: its source, and that it stands for one extraction.

use super::EXTRACT;
use super::content::{self, gateways};
use super::forms::{Context, Transport};
use super::row::{Edit, accept, cases, each};
use crate::check::{
    AcceptedResponse, Case, CaseFn, Check, Cost, Probe, ResponseClass, Run, Scope, Stop, accepted,
};
use crate::checks::Requests;
use crate::contract::Clause;
use crate::contract::part::{NUM, REQUEST_ID, REQUEST_ID_HEADER, RETURN_TYPE};
use crate::quantity::quantity;
use crate::target::Fact;
use crate::wire::{Exchange, Request};

/// Entries of the cheapest repetitions. Two extractions of a large pool rarely return the same two.
const FEW: u32 = 2;

/// Entries of the others: two extractions rarely return the same ones by chance.
pub(super) const SEVERAL: u32 = 4;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Query,
    Header,
}

impl Place {
    pub(super) const fn label(self) -> &'static str {
        match self {
            Self::Query => "query",
            Self::Header => "header",
        }
    }

    /// The request with a request id at this place.
    pub(super) fn carry(self, request: Request, id: &str) -> Request {
        match self {
            Self::Query => request.query(REQUEST_ID, id),
            Self::Header => request.header(REQUEST_ID_HEADER, id),
        }
    }
}

/// A repetition: form, number of entries, and place of the request id.
type Repetition = (Context, u32, Place);

/// The cheapest repetitions, and one of each form. The first request of a repetition is its control.
fn repetitions(
    scope: &Scope<'_>,
    place: Place,
    run: impl for<'p> CaseFn<'p, (Repetition,)> + Copy,
) -> Vec<Case> {
    let contexts = Context::all_without_id(&scope.contract.extract);
    let is_cheap = |context: &&Context| **context == Context::PLAIN || context.is_combined();
    let few: Vec<_> = contexts.iter().filter(is_cheap).map(|context| (context.clone(), FEW)).collect();
    // A service may handle a single entry in another way. The same one three times is no coincidence either.
    let one = (Context::PLAIN, u32::try_from(*scope.contract.extract.num_range.start()).unwrap_or(1));
    let several = [one].into_iter().chain(contexts.into_iter().map(|context| (context, SEVERAL)));
    let case = |(context, num): (Context, u32)| {
        let label = format!("{}/num={num}", context.label());
        let sent = if num == FEW { 2 } else { 3 };
        // The repetitions return the same gateways.
        Case::for_data(label, Cost::extraction(sent, num), (context, num, place), run)
    };
    few.into_iter().chain(several).map(case).collect()
}

pub(super) static CHECKS: &[Check] = &[
    Check {
        id: "extract.idempotent.query",
        title: "a repeated `request_id` in the query stands for the same extraction",
        why: "A caller that repeats an interrupted extraction with its request id takes and pays for a second set of gateways.",
        clauses: &[Clause::ExtractIdempotent],
        run: Run::Cases(|scope| repetitions(scope, Place::Query, repeated)),
        ..EXTRACT
    },
    Check {
        id: "extract.idempotent.header",
        title: "a repeated `X-Request-Id` header stands for the same extraction",
        why: "Callers that send the request id as a header take and pay for a second set of gateways when they repeat an \
              interrupted extraction.",
        clauses: &[Clause::ExtractIdempotent, Clause::ExtractRequestIdSource],
        // No form has a request id in the query, which would take precedence.
        run: Run::Cases(|scope| repetitions(scope, Place::Header, repeated)),
        ..EXTRACT
    },
    Check {
        id: "extract.idempotent.concurrent",
        title: "two concurrent calls with one request id stand for one extraction",
        why: "A caller that retries after a timeout, while its first call is still being served, takes and pays for two sets of \
              gateways.",
        clauses: &[Clause::ExtractIdempotent],
        run: Run::Cases(|scope| {
            let places = [Place::Query, Place::Header];
            let contexts = Context::in_query(&scope.contract.extract).into_iter();
            let contexts = contexts.filter(|context| !context.extra.request_id);
            let case = |data: (Context, Place)| {
                let label = format!("{}/{}", data.0.label(), data.1.label());
                let cost = Cost::extraction(2, 2 * SEVERAL);
                Case::for_data(label, cost, data, concurrent)
            };
            contexts.flat_map(|context| places.map(|place| (context.clone(), place))).map(case).collect()
        }),
        ..EXTRACT
    },
    Check {
        id: "extract.idempotent.interleaved",
        title: "a request id is remembered while other calls are made in between",
        why: "A service that stores only the last request id returns a second set of gateways to every caller with several \
              extractions in flight.",
        clauses: &[Clause::ExtractIdempotent],
        run: Run::Cases(|_| {
            vec![
                Case::new("two ids in turns", Cost::extraction(6, 2 + 2 * SEVERAL), in_turns),
                Case::new("after other ids", Cost::extraction(2 + OTHERS, OTHERS + SEVERAL), after_others),
                Case::new("of other letters", Cost::extraction(2, SEVERAL), of_other_letters),
                Case::new("after rejections", Cost::extraction(4, SEVERAL), after_rejections),
            ]
        }),
        ..EXTRACT
    },
    Check {
        id: "extract.idempotent.maximum",
        title: "a repeated request id returns all gateways of the largest extraction",
        why: "If the service stores only a part of the response, the caller loses gateways that it has paid for.",
        clauses: &[Clause::ExtractIdempotent],
        run: Run::Cases(|scope| {
            let max = u32::try_from(*scope.contract.extract.num_range.end()).unwrap_or(u32::MAX);
            Case::single(Cost::extraction(2, max), maximum)
        }),
        ..EXTRACT
    },
    Check {
        id: "extract.idempotent.per-account",
        title: "a request id of one account does not affect another account",
        why: "Two customers with the same request id get each other's gateways, or none.",
        clauses: &[Clause::AllOwnAccount, Clause::ExtractIdempotent],
        needs: &[Fact::SecondToken],
        run: Run::Cases(|_| {
            let case = |(label, place, is_text): (&'static str, Place, bool)| {
                Case::for_data(label, Cost::extraction(4, 2 + SEVERAL), (place, is_text), per_account)
            };
            let cases = [
                ("query", Place::Query, false),
                ("header", Place::Header, false),
                ("text", Place::Query, true),
            ];
            cases.map(case).into()
        }),
        ..EXTRACT
    },
    Check {
        id: "extract.request-id-source.absent",
        title: "an extraction without a request id is accepted, and is a new one each time",
        why: "A caller that sends no request id is rejected, or gets the gateways of an earlier call.",
        clauses: &[Clause::ExtractRequestIdSource],
        run: Run::Cases(|_| Case::single(Cost::extraction(5, 7), absent)),
        ..EXTRACT
    },
    Check {
        id: "extract.request-id-source.header",
        title: "a request id in the header is accepted, alone and beside one in the query",
        why: "Callers and proxies that add `X-Request-Id` to every request can't extract at all.",
        clauses: &[Clause::ExtractRequestIdSource],
        run: Run::Cases(|scope| {
            let row = accept("header", "a request id in the header", [Edit::Id(Place::Header)]);
            cases(Clause::ExtractRequestIdSource, each(&Context::all(&scope.contract.extract), [row]))
        }),
        ..EXTRACT
    },
    Check {
        id: "extract.request-id-source.precedence",
        title: "the request id of the query takes precedence over that of the header",
        why: "Behind a proxy that adds a header of its own to every call, a repeated request id in the query takes and pays for \
              a second set of gateways.",
        clauses: &[Clause::ExtractRequestIdSource],
        run: Run::Cases(|scope| repetitions(scope, Place::Header, precedence)),
        ..EXTRACT
    },
];

async fn repeated(probe: &Probe<'_>, (context, num, place): Repetition) -> Result<(), Stop> {
    let id = probe.fresh_request_id();
    let base = context.request(probe).query(NUM, num);
    let request = place.carry(base.clone(), &id);
    let name = context.name();
    let mut again = vec![(Clause::ExtractIdempotent, format!("sent again, {name}"), request.clone())];
    if num != FEW {
        again.push(match place {
            Place::Query => {
                (Clause::ExtractIdempotent, format!("sent a third time, {name}"), request.clone())
            }
            Place::Header => (
                Clause::ExtractRequestIdSource,
                format!("the id of the header sent in the query, {name}"),
                Place::Query.carry(base, &id),
            ),
        });
    }
    judge(probe, &context, &request, &again).await
}

/// Sends a request and then others that repeat the same extraction, and reports those with another result.
async fn judge(
    probe: &Probe<'_>,
    context: &Context,
    first: &Request,
    again: &[(Clause, String, Request)],
) -> Result<(), Stop> {
    let first = context.accepted(probe, first).await?;
    for (clause, why, request) in again {
        content::judge_repeated(probe, *clause, why, &first, request).await?;
    }
    Ok(())
}

/// An extraction of several entries with a request id, in the plain form.
fn with_id(probe: &Probe<'_>, id: &str) -> Request {
    probe.extract().query(NUM, SEVERAL).query(REQUEST_ID, id)
}

async fn concurrent(probe: &Probe<'_>, (context, place): (Context, Place)) -> Result<(), Stop> {
    let several = context.request(probe).query(NUM, SEVERAL);
    let request = place.carry(several, &probe.fresh_request_id());
    let (first, second) = futures::future::join(probe.send(&request), probe.send(&request)).await;
    let ((first, first_class), (second, second_class)) = (first?, second?);
    let accepted = |exchange: &Exchange| {
        let response = exchange.result.as_ref().ok()?;
        Some(gateways(probe, &exchange.request, response))
    };
    let is_accepted = [&first_class, &second_class].map(|class| *class == ResponseClass::Accepted);
    if is_accepted == [false; 2] {
        context.control(probe).await?;
    }
    // A service may reject one of the two while the other is in flight.
    if is_accepted == [true; 2] && accepted(&first) != accepted(&second) {
        let expected = format!("the same gateways for both calls, {}", context.name());
        probe.finding(Clause::ExtractIdempotent, &expected, "different gateways", &[&first, &second]);
    }
    Ok(())
}

/// Number of calls with other ids between two with the same id.
const OTHERS: u32 = 12;

async fn in_turns(probe: &Probe<'_>) -> Result<(), Stop> {
    let [first, second] = [(); 2].map(|()| with_id(probe, &probe.fresh_request_id()));
    let before = [probe.control(&first).await?, probe.control(&second).await?];
    for (before, request) in before.iter().zip([&first, &second]) {
        same_as(probe, before, request, "sent again after another id").await?;
        // A service that rotates through its pool may return the same gateways again, but not after one more extraction.
        probe.control(&probe.extract()).await?;
    }
    Ok(())
}

async fn after_others(probe: &Probe<'_>) -> Result<(), Stop> {
    let request = with_id(probe, &probe.fresh_request_id());
    let before = probe.control(&request).await?;
    for _ in 0..OTHERS {
        probe.control(&probe.extract().query(REQUEST_ID, probe.fresh_request_id())).await?;
    }
    same_as(probe, &before, &request, &format!("sent again after {OTHERS} other ids")).await
}

/// A service may reject an id that is not ASCII. One that accepts it must recognize it.
async fn of_other_letters(probe: &Probe<'_>) -> Result<(), Stop> {
    let request = with_id(probe, &format!("\u{e9}\u{4e2d}{}", probe.fresh_request_id()));
    let Ok(before) = probe.control(&request).await else {
        return Err(probe.skip("a request id that is not ASCII is not accepted"));
    };
    same_as(probe, &before, &request, "sent again, an id that is not ASCII").await
}

/// The rejected calls in between have no id, so they stand for no extraction.
async fn after_rejections(probe: &Probe<'_>) -> Result<(), Stop> {
    let request = with_id(probe, &probe.fresh_request_id());
    let before = probe.control(&request).await?;
    probe.send_once(&probe.extract().without_query(NUM).as_invalid()).await?;
    probe.send_once(&probe.extract_without_token().as_invalid()).await?;
    same_as(probe, &before, &request, "sent again after rejected calls").await
}

async fn same_as(
    probe: &Probe<'_>,
    before: &AcceptedResponse,
    request: &Request,
    why: &str,
) -> Result<(), Stop> {
    content::judge_repeated(probe, Clause::ExtractIdempotent, why, before, request).await
}

/// The default region may have too few gateways, and no fact says otherwise.
async fn maximum(probe: &Probe<'_>) -> Result<(), Stop> {
    let extract = &probe.contract().extract;
    let request = with_id(probe, &probe.fresh_request_id()).query(NUM, extract.num_range.end());
    let first = if probe.facts().has(Fact::PlentifulRegion) {
        probe.control(&request).await?
    } else {
        let (exchange, class) = probe.send_once(&request).await?;
        accepted(&exchange, &class).ok_or_else(|| {
            probe.skip(&format!("the default region returned no gateways: {}", class.description()))
        })?
    };
    same_as(probe, &first, &request, "sent again").await
}

async fn per_account(probe: &Probe<'_>, (place, is_text): (Place, bool)) -> Result<(), Stop> {
    let second = probe.required(Fact::SecondToken, |facts| facts.second_token.as_ref())?;
    let extract = &probe.contract().extract;
    let min = *extract.num_range.start();
    let id = probe.fresh_request_id();
    let in_form = |request: Request| match is_text {
        true => request.query(RETURN_TYPE, &extract.text),
        false => request,
    };
    let several = in_form(probe.extract()).query(NUM, SEVERAL);
    let first = place.carry(several, &id);
    let by_second = || Transport::Query.carry(probe, in_form(probe.extract_without_token()), second.expose());

    // The control of the second account.
    probe.control(&place.carry(by_second(), &probe.fresh_request_id())).await?;
    let before = probe.control(&first).await?;
    let why = "the second account sends an id that the first one has used";
    let other = place.carry(by_second(), &id);
    if let Some(accepted) = probe.accepts(Clause::ExtractIdempotent, why, &other).await? {
        let count = content::count(probe, &accepted.response);
        if i64::try_from(count).is_ok_and(|count| count > min) {
            let actual = format!("{}, as the first account requested", quantity(count, "entry"));
            let exchanges = [&before.exchange, &accepted.exchange];
            probe.finding(Clause::AllOwnAccount, "an extraction of its own", &actual, &exchanges);
        }
    }
    same_as(probe, &before, &first, "sent again by the first account").await
}

async fn absent(probe: &Probe<'_>) -> Result<(), Stop> {
    let extract = &probe.contract().extract;
    let min = *extract.num_range.start();
    // The control has an id, in case the service wrongly requires one.
    probe.control_once(&probe.extract().query(REQUEST_ID, probe.fresh_request_id())).await?;
    let plain = probe.extract();
    let text = plain.clone().query(RETURN_TYPE, &extract.text);
    // If the server gave all these calls the same id, they would stand for one extraction.
    let mut sent = Vec::new();
    for num in [min, (min + 1).min(*extract.num_range.end())] {
        for (form, request) in [("as JSON", &plain), ("as text", &text)] {
            let request = request.clone().query(NUM, num);
            let why = format!("no request id, {NUM}={num}, {form}");
            let Some(accepted) = probe.accepts(Clause::ExtractRequestIdSource, &why, &request).await? else {
                continue;
            };
            let count = i64::try_from(content::count(probe, &accepted.response)).unwrap_or(i64::MAX);
            sent.push(accepted.exchange);
            if count > num {
                let expected = format!("at most {}, {form}", quantity(num, "entry"));
                let actual =
                    format!("{}, as an earlier call without an id requested", quantity(count, "entry"));
                let exchanges: Vec<_> = sent.iter().collect();
                probe.finding(Clause::ExtractRequestIdSource, &expected, &actual, &exchanges);
            }
        }
    }
    Ok(())
}

async fn precedence(probe: &Probe<'_>, (context, num, _): Repetition) -> Result<(), Stop> {
    let [in_query, in_header, other] = [(); 3].map(|()| probe.fresh_request_id());
    let base = context.request(probe).query(NUM, num);
    let query_alone = Place::Query.carry(base, &in_query);
    let both = Place::Header.carry(query_alone.clone(), &in_header);
    let another_header = Place::Header.carry(query_alone.clone(), &other);
    let (clause, name) = (Clause::ExtractRequestIdSource, context.name());
    let mut again =
        vec![(clause, format!("the id of the query beside another header, {name}"), another_header)];
    if num != FEW {
        again.push((clause, format!("the id of the query alone, {name}"), query_alone));
    }
    judge(probe, &context, &both, &again).await
}

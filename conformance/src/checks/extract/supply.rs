//! Too few gateways: partial results and shortages.

use super::EXTRACT;
use super::content::{self, has_retry_after};
use super::forms::Context;
use super::gateways::gives_gateways;
use crate::check::{
    Case, Check, Cost, ObservedExchange, PassiveFinding, Probe, ResponseClass, Run, Scope, Severity, Stop,
};
use crate::checks::token::rejected_alike;
use crate::checks::{Requests, State};
use crate::contract::part::{COUNTRY, NUM, REGIONS, REQUEST_ID, REQUEST_ID_HEADER, RETURN_TYPE};
use crate::contract::{Clause, Extract, Unspecified};
use crate::quantity::quantity;
use crate::target::{Fact, GatewayPool};
use crate::wire::{Exchange, Request, Response};

pub(super) static CHECKS: &[Check] = &[
    Check {
        id: "extract.partial.headers",
        title: "a partial result is flagged, and its counts agree with `num` and `data`",
        why: "A caller that can't distinguish a partial result from a full one starts work with too few gateways.",
        clauses: &[Clause::ExtractPartial],
        needs: &[Fact::ScarceRegion],
        run: Run::Cases(partial_cases),
        ..EXTRACT
    },
    Check {
        id: "extract.partial.watched",
        title: "a result with fewer than `num` entries is flagged, and none has more",
        why: "Callers expect `num` entries unless the response is flagged; missing or additional ones are lost, or billed twice.",
        clauses: &[Clause::ExtractCount, Clause::ExtractPartial],
        run: Run::Passive(judge_count),
        ..EXTRACT
    },
    Check {
        id: "extract.shortage-retry-after.empty-region",
        title: "a shortage has Retry-After, and that of a plain-text extraction has the JSON error envelope, too",
        why: "Callers that do not know how long to wait give up, or retry immediately, which makes the shortage worse.",
        clauses: &[Clause::ExtractErrorEnvelope, Clause::ExtractShortageRetryAfter],
        needs: &[Fact::EmptyRegion],
        run: Run::Cases(|scope| {
            let extract = &scope.contract.extract;
            let min = *extract.num_range.start();
            let names = [REGIONS, COUNTRY];
            // The checks of `empty_region` test the shortage with `regions`, without a gateway for a control.
            let each = |context: Context| {
                let by_both = context == Context::PLAIN || context.is_combined();
                let names = names.into_iter().skip(usize::from(!by_both));
                names.map(move |name| (context.clone(), name, min)).collect::<Vec<_>>()
            };
            let many = (Context::PLAIN, REGIONS, *extract.num_range.end());
            let case = |data: (Context, &'static str, i64)| {
                let label = format!("{}/{} {}", data.0.label(), data.1, num_label(extract, data.2));
                let shared = data.0.clone();
                let is_plain = shared == Context::PLAIN;
                // A shortage with status 503 needs a control, since the service may just be busy.
                let case = Case::for_data(label, Cost::extraction(3, 1), data, shortage);
                if is_plain { case } else { shared.share(case) }
            };
            Context::all(extract).into_iter().flat_map(each).chain([many]).map(case).collect()
        }),
        ..EXTRACT
    },
];

/// More gateways than a scarce region is likely to have, within the budget of a small run. If the region has more, the cases
/// with the maximum `num` get a partial result.
const FEW: usize = 5;

/// The `num` of an extraction from the scarce region.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ExtractionSize {
    /// One more than the region has, if the tester says how many it has; else [`FEW`].
    MoreThanThereAre(i64),
    Maximum(i64),
}

impl ExtractionSize {
    const fn num(self) -> i64 {
        match self {
            Self::MoreThanThereAre(num) | Self::Maximum(num) => num,
        }
    }

    /// Does not depend on the document or on facts.
    const fn label(self) -> &'static str {
        match self {
            Self::MoreThanThereAre(_) => "a few",
            Self::Maximum(_) => "the largest",
        }
    }
}

fn partial_cases(scope: &Scope<'_>) -> Vec<Case> {
    let extract = &scope.contract.extract;
    let max = *extract.num_range.end();
    let few = Context::all(extract).into_iter().map(|context| {
        let num = more_than_scarce(scope, &context);
        (context, ExtractionSize::MoreThanThereAre(num))
    });
    let all = Context::in_query(extract).into_iter().map(|context| (context, ExtractionSize::Maximum(max)));
    let case = |(context, wanted): (Context, ExtractionSize)| {
        let label = format!("{}/{NUM}={}", context.label(), wanted.label());
        let is_repeated = context.extra.request_id && matches!(wanted, ExtractionSize::MoreThanThereAre(_));
        // A repetition returns the same gateways.
        let cost =
            Cost::extraction(1 + u32::from(is_repeated), u32::try_from(wanted.num()).unwrap_or(u32::MAX));
        Case::for_data(label, cost, (context, wanted), partial)
    };
    few.chain(all).map(case).collect()
}

/// One more than the known gateways of the scarce region and the protocol of a form, but at most the largest `num`; [`FEW`] if none
/// are known.
pub(super) fn more_than_scarce(scope: &Scope<'_>, context: &Context) -> i64 {
    let (facts, default) = (scope.facts, scope.contract.extract.protocol.default_text());
    let protocol = context.extra.protocol.as_ref().unwrap_or(&default);
    let is_scarce = |pool: &&GatewayPool| {
        Some(&pool.region) == facts.scarce_region.as_ref() && pool.protocol == *protocol
    };
    let num = facts.known_gateways.iter().find(is_scarce).map_or(FEW, |pool| pool.gateways.len() + 1);
    let max = *scope.contract.extract.num_range.end();
    i64::try_from(num).unwrap_or(max).min(max)
}

/// Compares the headers of the response with its own entries, so it needs no control.
async fn partial(probe: &Probe<'_>, (context, wanted): (Context, ExtractionSize)) -> Result<(), Stop> {
    let num = wanted.num();
    let region = probe.facts().scarce_region.as_deref().unwrap_or_default();
    let request = context.request(probe).query(REGIONS, region).query(NUM, num);
    let (exchange, class) = probe.send_once(&request).await?;
    let none = || no_partial_result(probe, num);
    if exchange.result.is_ok() && class != ResponseClass::Accepted {
        // The form may be rejected for a reason of its own.
        context.control(probe).await?;
        probe.observe(Unspecified::ExtractShortRegion, &format!("a shortage, {}", context.name()));
        return Err(none());
    }
    let response = judge_partial(probe, &context.name(), (&exchange, &class), num).ok_or_else(none)?;
    if context.extra.request_id && matches!(wanted, ExtractionSize::MoreThanThereAre(_)) {
        // The repeated extraction is the same partial result.
        let repeated = request.clone().giving_again(content::gateways(probe, &request, response));
        let (again, class) = probe.send_once(&repeated).await?;
        judge_partial(probe, &format!("{}, repeated", context.name()), (&again, &class), num);
    }
    Ok(())
}

pub(super) fn no_partial_result(probe: &Probe<'_>, num: i64) -> Stop {
    let variable = Fact::ScarceRegion.variable();
    probe.skip(&format!(
        "the scarce region returned no partial result of {num}; if it has as many gateways, correct {variable}"
    ))
}

/// Judges the headers of a response to a request for `num` gateways, and returns it, if it has fewer.
pub(super) fn judge_partial<'a>(
    probe: &Probe<'_>,
    form: &str,
    (exchange, class): (&'a Exchange, &ResponseClass),
    num: i64,
) -> Option<&'a Response> {
    let response = exchange.result.as_ref().ok().filter(|_| *class == ResponseClass::Accepted)?;
    let count = i64::try_from(content::count(probe, response)).unwrap_or(i64::MAX);
    if count >= num {
        return None;
    }
    let extract = &probe.contract().extract;
    for header in wrong_headers(extract, response, (num, count)) {
        let expected = format!("{}, {form}", header.expected);
        probe.finding(Clause::ExtractPartial, &expected, &header.actual(), &[exchange]);
    }
    if let Some(flag) = response.header(&extract.partial_flag).filter(|flag| !content::denies(flag)) {
        let seen = format!("a partial result is flagged as {flag}");
        probe.observe(Unspecified::ExtractFullResultHeaders, &seen);
    }
    Some(response)
}

/// A wrong header of a partial result.
struct WrongHeader<'a> {
    name: &'a str,
    expected: String,
    actual: Option<String>,
    /// Whether it is the flag, which says that the result is full. The contract does not say how it is spelt.
    is_denial: bool,
}

/// The headers that do not say how many entries were requested and returned, and that this is a partial result.
fn wrong_headers<'a>(
    extract: &'a Extract,
    response: &Response,
    (num, count): (i64, i64),
) -> Vec<WrongHeader<'a>> {
    let count_of = |name: &'a str, expected: i64| {
        let actual = response.header(name);
        let is_right = actual.as_deref().and_then(|count| count.parse().ok()) == Some(expected);
        let expected = format!("{name}: {expected}");
        (!is_right).then_some(WrongHeader { name, expected, actual, is_denial: false })
    };
    let (name, flag) = (&*extract.partial_flag, response.header(&extract.partial_flag));
    let is_denial = flag.as_deref().is_some_and(content::denies);
    let wrong_flag = (flag.is_none() || is_denial).then(|| {
        let expected = if is_denial { "a flag".to_owned() } else { name.to_owned() };
        WrongHeader { name, expected, actual: flag, is_denial }
    });
    let counts = [count_of(&extract.requested_count, num), count_of(&extract.returned_count, count)];
    counts.into_iter().flatten().chain(wrong_flag).collect()
}

impl WrongHeader<'_> {
    fn actual(&self) -> String {
        self.actual
            .as_ref()
            .map_or_else(|| "no such header".to_owned(), |value| format!("{}: {value}", self.name))
    }
}

/// Whether the request is for the default region, or for one that was supplied as having gateways. The response to an unknown
/// region is unspecified, and a region without gateways may be handled as unknown.
fn is_region_with_gateways(observed: &ObservedExchange<'_>) -> bool {
    let (extract, facts) = (&observed.contract.extract, observed.facts);
    let default = extract.regions.default_text();
    let mut known = [&facts.plentiful_region, &facts.scarce_region].into_iter().flatten().chain([&default]);
    let named = [REGIONS, COUNTRY].into_iter().find_map(|name| observed.request.query_value(name));
    named.is_none_or(|named| known.any(|region| region == named))
}

/// A request id may stand for an earlier extraction with another `num`, so other checks judge such calls.
fn judge_count(observed: &ObservedExchange<'_>) -> Option<Vec<PassiveFinding>> {
    let extract = &observed.contract.extract;
    let has_id = observed.request.query_value(REQUEST_ID).is_some()
        || observed.request.headers().iter().any(|(name, _)| name.eq_ignore_ascii_case(REQUEST_ID_HEADER));
    if has_id || *observed.class != ResponseClass::Accepted {
        return None;
    }
    // The check that sends an invalid request judges its response.
    let num: i64 = observed.request.query_value(NUM)?.parse().ok()?;
    let num = Some(num).filter(|num| extract.num_range.contains(num))?;
    let count = i64::try_from(observed.response.at("/data")?.as_array()?.len()).ok()?;
    if count == 0 && !is_region_with_gateways(observed) {
        return None;
    }
    let mut findings = Vec::new();
    if count > num {
        let (expected, actual) = (format!("at most {}", quantity(num, "entry")), quantity(count, "entry"));
        findings.push(PassiveFinding::fail(Clause::ExtractCount, "more", expected, actual));
    }
    if count < num {
        let finding = |header: WrongHeader<'_>| {
            let reason = format!("because {count} of {} were returned", quantity(num, "entry"));
            let (expected, actual) = (format!("{}, {reason}", header.expected), header.actual());
            // `extract.partial.headers` fails for a denial where a partial result is certain.
            let (key, severity) = match header.is_denial {
                true => ("denied", Severity::Warn),
                false => (header.name, Severity::Fail),
            };
            PassiveFinding { severity, ..PassiveFinding::fail(Clause::ExtractPartial, key, expected, actual) }
        };
        findings.extend(wrong_headers(extract, observed.response, (num, count)).into_iter().map(finding));
    }
    Some(findings)
}

/// The label of a number; that of the maximum does not depend on the document.
fn num_label(extract: &Extract, num: i64) -> String {
    let num = if num == *extract.num_range.end() { "the largest".to_owned() } else { num.to_string() };
    format!("{NUM}={num}")
}

async fn shortage(probe: &Probe<'_>, (context, name, num): (Context, &'static str, i64)) -> Result<(), Stop> {
    let region = probe.facts().empty_region.as_deref().unwrap_or_default();
    State::check_empty_region(probe)?;
    if context != Context::PLAIN {
        context.control(probe).await?;
    }
    let short = || {
        let request = context.request(probe).without_query(REGIONS).query(name, region);
        request.query(NUM, num).giving_nothing()
    };
    let (mut exchange, class) = probe.send_once(&short()).await?;
    // The service may just be busy.
    if matches!(class, ResponseClass::Throttled(_)) {
        if has_retry_after(&exchange) {
            probe.control(&probe.extract()).await?;
        } else {
            exchange = probe.confirm_unavailable(short, || probe.extract()).await?;
        }
    }
    match class {
        ResponseClass::Accepted => {
            if gives_gateways(probe, &exchange) {
                State::note_gateway_of_empty_region(probe)?;
            }
            let seen = format!("an empty region returns a success, {}", context.name());
            probe.observe(Unspecified::ExtractShortRegion, &seen);
            let variable = Fact::EmptyRegion.variable();
            return Err(probe.skip(&format!(
                "the empty region caused no shortage; if it has gateways, correct {variable}"
            )));
        }
        ResponseClass::ServerError(what) | ResponseClass::Timeout(what) => {
            return Err(probe.inconclusive(&format!("no shortage occurred: {what}")));
        }
        _ => {}
    }
    if exchange.result.is_err() {
        return Ok(());
    }
    if has_retry_after(&exchange) {
        if context.is_text && !has_code(&exchange) {
            return judge_text(probe, &context, &exchange, short).await;
        }
        return Ok(());
    }
    // A response with the header means a shortage, even if its value is malformed. Without it the region may be unknown.
    let has_header = exchange.result.as_ref().is_ok_and(|response| response.header("Retry-After").is_some());
    if !has_header
        && is_like_unknown(probe, &exchange, &short().without_query(name).query(name, UNKNOWN_REGION)).await?
    {
        let seen = format!("an empty region gets the same response as an unknown one, {}", context.name());
        probe.observe(Unspecified::ExtractUnknownRegion, &seen);
        return Err(probe.skip("the empty region gets the same response as an unknown one"));
    }
    let header = exchange.result.as_ref().ok().and_then(|response| response.header("Retry-After"));
    let actual = header.map_or_else(|| "no such header".to_owned(), |value| format!("Retry-After: {value}"));
    let expected =
        format!("Retry-After with seconds or an HTTP date, {}, with the region in `{name}`", context.name());
    probe.finding(Clause::ExtractShortageRetryAfter, &expected, &actual, &[&exchange]);
    Ok(())
}

/// A proxy may throttle with a page of its own. A shortage that never has a code as text, and always has one as JSON, is that of
/// the service.
async fn judge_text(
    probe: &Probe<'_>,
    context: &Context,
    text: &Exchange,
    short: impl Fn() -> Request,
) -> Result<(), Stop> {
    const REPEATS: usize = 3;
    let extract = &probe.contract().extract;
    for _ in 0..REPEATS {
        let (json, _) = probe.send_once(&short().query(RETURN_TYPE, &extract.json)).await?;
        let (again, _) = probe.send_once(&short()).await?;
        if !has_retry_after(&json) || !has_code(&json) || !has_retry_after(&again) || has_code(&again) {
            return Ok(());
        }
    }
    let expected = format!("code and message in the JSON body of a shortage, {}", context.name());
    probe.finding(
        Clause::ExtractErrorEnvelope,
        &expected,
        "a body without a code; as JSON the shortage has one",
        &[text],
    );
    Ok(())
}

fn has_code(exchange: &Exchange) -> bool {
    exchange.result.as_ref().is_ok_and(|response| response.at("/code").is_some_and(|code| !code.is_null()))
}

/// A code that ISO 3166 leaves to users, which is in no directory of regions.
pub(super) const UNKNOWN_REGION: &str = "QQQ";

/// Whether the empty region gets the same response as an unknown one, which is not a shortage. Whether a service handles a region
/// without gateways as unknown is unspecified.
async fn is_like_unknown(probe: &Probe<'_>, empty: &Exchange, request: &Request) -> Result<bool, Stop> {
    let (unknown, class) = probe.send_once(request).await?;
    if class == ResponseClass::Accepted || has_retry_after(&unknown) {
        return Ok(false);
    }
    Ok(rejected_alike(empty, &unknown))
}

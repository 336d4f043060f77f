//! Too few gateways: partial results and shortages.

use super::content;
use super::forms::{Context, default_of};
use crate::check::{
    Case, Check, Cost, ObservedExchange, PassiveFinding, Probe, ResponseClass, Run, Scope, Severity, Stop,
};
use crate::checks::Requests;
use crate::checks::token::rejected_alike;
use crate::contract::{Clause, Extract, OperationId, Unspecified};
use crate::quantity::quantity;
use crate::target::Fact;
use crate::wire::{Exchange, Request, Response, RetryAfter};

pub(super) static PARTIAL: Check = Check {
    id: "extract.partial.headers",
    title: "a partial result is flagged, and its counts agree with `num` and `data`",
    why: "A caller that can't tell a partial result from a full one starts work that it has too few gateways for.",
    operation: Some(OperationId::Extract),
    clauses: &[Clause::ExtractPartial],
    needs: &[Fact::ScarceRegion],
    run: Run::Cases(partial_cases),
};

/// More gateways than a scarce region may have, within the budget of a small run. A region may have more: then the most that
/// a call may ask for shows the rest.
const FEW: i64 = 5;

fn partial_cases(scope: &Scope<'_>) -> Vec<Case> {
    let extract = &scope.contract.extract;
    let most = *extract.num_range.end();
    let few = [(Context::PLAIN, FEW.min(most))].into_iter();
    let all = Context::in_query(extract).into_iter().map(|context| (context, most));
    // Each other transport, and a repetition, with few.
    let named = Context::all(extract).into_iter().filter(|context| *context != Context::PLAIN);
    let few = few.chain(named.map(|context| (context, FEW.min(most))));
    let case = |data: (Context, i64)| {
        let label = format!("{}/{}", data.0.label(), num_label(extract, data.1));
        let sent = if data.0.extra.request_id && data.1 == FEW { 2 } else { 1 };
        // A repetition gives the same gateways again.
        let cost = Cost::extraction(sent, u32::try_from(data.1).unwrap_or(u32::MAX));
        Case::with(label, cost, data, |probe, data| Box::pin(partial(probe, data)))
    };
    few.chain(all).map(case).collect()
}

/// The largest number has the same label whatever the document says.
fn num_label(extract: &Extract, num: i64) -> String {
    let num = if num == *extract.num_range.end() { "the largest".to_owned() } else { num.to_string() };
    format!("{}={num}", extract.num.name)
}

/// What comes is judged by what it says of itself, so that it needs no control.
async fn partial(probe: &Probe<'_>, (context, num): (Context, i64)) -> Result<(), Stop> {
    let extract = &probe.contract().extract;
    let region = probe.facts().scarce_region.as_deref().unwrap_or_default();
    let request = context.request(probe).query(&extract.regions.name, region).query(&extract.num.name, num);
    let (exchange, class) = probe.send_once(&request).await?;
    let none = || probe.skip(&format!("the scarce region returned no partial result of {num}"));
    let Ok(response) = &exchange.result else { return Err(none()) };
    if class != ResponseClass::Accepted {
        // Another form may be rejected for reasons of its own.
        context.control(probe).await?;
        probe.observe(Unspecified::ExtractShortRegion, &format!("a shortage, {}", context.name()));
        return Err(none());
    }
    let came = i64::try_from(content::count(probe, response)).unwrap_or(i64::MAX);
    if came >= num {
        return Err(none());
    }
    judge_headers(probe, &context.name(), &exchange, response, (num, came));
    if context.extra.request_id && num == FEW {
        // The same extraction is as partial as before.
        let repeated = request.clone().giving_again(content::gateways(probe, &request, response));
        let (again, class) = probe.send_once(&repeated).await?;
        if let (ResponseClass::Accepted, Ok(response)) = (class, &again.result) {
            let came = i64::try_from(content::count(probe, response)).unwrap_or(i64::MAX);
            if came < num {
                let form = format!("{}, repeated", context.name());
                judge_headers(probe, &form, &again, response, (num, came));
            }
        }
    }
    Ok(())
}

/// How the flag is spelt is open, as long as it does not deny what it flags.
fn judge_headers(
    probe: &Probe<'_>,
    form: &str,
    exchange: &Exchange,
    response: &Response,
    (num, came): (i64, i64),
) {
    let extract = &probe.contract().extract;
    let report = |expected: String, actual: &str| {
        probe.finding(Clause::ExtractPartial, &format!("{expected}, {form}"), actual, &[exchange]);
    };
    for (name, expected) in [(&extract.requested_count, num), (&extract.returned_count, came)] {
        let actual = response.header(name);
        if actual.as_deref().and_then(|count| count.parse().ok()) != Some(expected) {
            let actual =
                actual.map_or_else(|| "no such header".to_owned(), |actual| format!("{name}: {actual}"));
            report(format!("{name}: {expected}"), &actual);
        }
    }
    let name = &extract.partial_flag;
    match response.header(name) {
        None => report(name.clone(), "no such header"),
        Some(flag) if content::denies(&flag) => report("a flag".to_owned(), &format!("{name}: {flag}")),
        Some(flag) => {
            let seen = format!("a partial result is flagged as {flag}");
            probe.observe(Unspecified::ExtractFullResultHeaders, &seen);
        }
    }
}

pub(super) static PARTIAL_WATCHED: Check = Check {
    id: "extract.partial.watched",
    title: "no result falls short of `num` without a flag, and none exceeds it",
    why: "Callers rely on `num` entries unless a response says otherwise; missing or additional ones are lost, or billed twice.",
    operation: Some(OperationId::Extract),
    clauses: &[Clause::ExtractCount, Clause::ExtractPartial],
    needs: &[],
    run: Run::Passive(judge_count),
};

/// The default region, or one that the tester supplied for its gateways. The response to an unknown region is open, and so is
/// whether one without gateways is short of them or unknown.
fn is_region_with_gateways(observed: &ObservedExchange<'_>) -> bool {
    let (extract, facts) = (&observed.contract.extract, observed.facts);
    let default = default_of(&extract.regions);
    let mut known = [&facts.plentiful_region, &facts.scarce_region].into_iter().flatten().chain([&default]);
    let named = [&extract.regions.name, &extract.country.name]
        .into_iter()
        .find_map(|name| observed.request.query_value(name));
    named.is_none_or(|named| known.any(|region| region == named))
}

/// A request id may stand for an earlier extraction with another num, so such calls are left to checks of their own.
fn judge_count(observed: &ObservedExchange<'_>) -> Option<Vec<PassiveFinding>> {
    let extract = &observed.contract.extract;
    let header = &extract.request_id_header.name;
    let has_id = observed.request.query_value(&extract.request_id.name).is_some()
        || observed.request.headers().iter().any(|(name, _)| name.eq_ignore_ascii_case(header));
    if has_id || *observed.class != ResponseClass::Accepted {
        return None;
    }
    // What must be rejected is judged by the check that sends it.
    let asked: i64 = observed.request.query_value(&extract.num.name)?.parse().ok()?;
    let asked = Some(asked).filter(|asked| extract.num_range.contains(asked))?;
    let came = i64::try_from(observed.response.at("/data")?.as_array()?.len()).ok()?;
    if came == 0 && !is_region_with_gateways(observed) {
        return None;
    }
    let finding = |clause: Clause, key: &str, expected: String, actual: String| PassiveFinding {
        clause,
        key: key.to_owned(),
        severity: Severity::Fail,
        expected,
        actual,
    };
    let mut findings = Vec::new();
    if came > asked {
        let expected = format!("at most {}", quantity(asked, "entry"));
        findings.push(finding(Clause::ExtractCount, "more", expected, quantity(came, "entry")));
    }
    if came < asked {
        for (name, expected) in [(&extract.requested_count, asked), (&extract.returned_count, came)] {
            let actual = observed.response.header(name);
            if actual.as_deref().and_then(|count| count.parse().ok()) != Some(expected) {
                let actual = actual.unwrap_or_else(|| "no such header".to_owned());
                let expected =
                    format!("{name}: {expected}, because {came} of {} came", quantity(asked, "entry"));
                findings.push(finding(Clause::ExtractPartial, name, expected, actual));
            }
        }
        let name = &extract.partial_flag;
        let expected = format!("{name}, because {came} of {} came", quantity(asked, "entry"));
        match observed.response.header(name) {
            None => {
                findings.push(finding(Clause::ExtractPartial, name, expected, "no such header".to_owned()));
            }
            // How the flag is spelt is open; the scarce region, where a partial result is sure, has a check of its own.
            Some(flag) if content::denies(&flag) => findings.push(PassiveFinding {
                severity: Severity::Warn,
                ..finding(Clause::ExtractPartial, "denied", expected, format!("{name}: {flag}"))
            }),
            Some(_) => {}
        }
    }
    Some(findings)
}

pub(super) static SHORTAGE: Check = Check {
    id: "extract.shortage-retry-after.empty-region",
    title: "a shortage carries Retry-After",
    why: "Callers that do not know how long to wait either give up or retry at once, which makes the shortage worse.",
    operation: Some(OperationId::Extract),
    clauses: &[Clause::ExtractShortageRetryAfter],
    needs: &[Fact::EmptyRegion],
    run: Run::Cases(|scope| {
        let extract = &scope.contract.extract;
        let least = *extract.num_range.start();
        let names = [extract.regions.name.clone(), extract.country.name.clone()];
        // The checks of `empty_region` look at the shortage by `regions`, and take no gateway for a control.
        let each = |context: Context| {
            let by_both = context == Context::PLAIN || context.is_combined();
            let names = names.clone().into_iter().skip(usize::from(!by_both));
            names.map(move |name| (context.clone(), name, least)).collect::<Vec<_>>()
        };
        let many = (Context::PLAIN, extract.regions.name.clone(), *extract.num_range.end());
        let case = |data: (Context, String, i64)| {
            let label = format!("{}/{} {}", data.0.label(), data.1, num_label(extract, data.2));
            let shared = data.0.clone();
            let is_plain = shared == Context::PLAIN;
            // A shortage as 503 has a control beside it, in case the service is just busy.
            let case = Case::with(label, Cost::extraction(3, 1), data, |probe, data| {
                Box::pin(shortage(probe, data))
            });
            if is_plain { case } else { shared.share(case) }
        };
        Context::all(extract).into_iter().flat_map(each).chain([many]).map(case).collect()
    }),
};

async fn shortage(probe: &Probe<'_>, (context, name, num): (Context, String, i64)) -> Result<(), Stop> {
    let extract = &probe.contract().extract;
    let region = probe.facts().empty_region.as_deref().unwrap_or_default();
    if context != Context::PLAIN {
        context.control(probe).await?;
    }
    let short = || {
        let request = context.request(probe).without_query(&extract.regions.name).query(&name, region);
        request.query(&extract.num.name, num).giving_nothing()
    };
    let (mut exchange, class) = probe.send_once(&short()).await?;
    // It may just be busy.
    if matches!(class, ResponseClass::Throttled(_)) {
        if tells_when(&exchange) {
            probe.control(&probe.extract()).await?;
        } else {
            exchange = probe.confirm_unavailable(short, || probe.extract()).await?;
        }
    }
    match class {
        ResponseClass::Accepted => {
            let seen = format!("an empty region returns a success, {}", context.name());
            probe.observe(Unspecified::ExtractShortRegion, &seen);
            return Err(probe.skip("the empty region caused no shortage"));
        }
        ResponseClass::ServerError(what) | ResponseClass::Timeout(what) => {
            return Err(probe.inconclusive(&format!("no shortage occurred: {what}")));
        }
        _ => {}
    }
    if exchange.result.is_err() || tells_when(&exchange) {
        return Ok(());
    }
    // Whoever sends the header means a shortage, also where nobody can read it; without it the region may be unknown.
    let has_header = exchange.result.as_ref().is_ok_and(|response| response.header("Retry-After").is_some());
    if !has_header
        && is_like_unknown(probe, &exchange, &short().without_query(&name).query(&name, UNKNOWN_REGION))
            .await?
    {
        let seen = format!("an empty region gets the same response as an unknown one, {}", context.name());
        probe.observe(Unspecified::ExtractUnknownRegion, &seen);
        return Err(probe.skip("the empty region gets the same response as an unknown one"));
    }
    let came = exchange.result.as_ref().ok().and_then(|response| response.header("Retry-After"));
    let actual = came.map_or_else(|| "no such header".to_owned(), |value| format!("Retry-After: {value}"));
    let expected = format!("Retry-After with seconds or an HTTP date, {}, by {name}", context.name());
    probe.finding(Clause::ExtractShortageRetryAfter, &expected, &actual, &[&exchange]);
    Ok(())
}

/// A region that no directory has: three letters that ISO 3166 leaves to users.
pub(super) const UNKNOWN_REGION: &str = "QQQ";

/// Whether a region without gateways is short of them or unknown is open. One that is handled like an unknown region, which
/// is no shortage either, is unknown.
async fn is_like_unknown(probe: &Probe<'_>, empty: &Exchange, request: &Request) -> Result<bool, Stop> {
    let (unknown, class) = probe.send_once(request).await?;
    if class == ResponseClass::Accepted || tells_when(&unknown) {
        return Ok(false);
    }
    Ok(rejected_alike(empty, &unknown))
}

/// Whether a response has a Retry-After that can be parsed.
pub(in crate::checks) fn tells_when(exchange: &Exchange) -> bool {
    let response = exchange.result.as_ref().ok();
    let header = response.and_then(|response| response.header("Retry-After"));
    header.is_some_and(|value| RetryAfter::parse(&value).is_some())
}

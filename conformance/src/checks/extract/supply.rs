//! Too few gateways: partial results and shortages.

use super::*;
use crate::checks::extraction::content::{DENIED, has_retry_after};
use crate::checks::token::{outline, rejected_alike};

pub(super) static PROGRAMS: &[Program] = &[passive("extract.partial.watched", judge_count)];

/// A request id may stand for an earlier extraction with another `num`, so other checks judge such calls.
fn judge_count(observed: &ObservedExchange<'_>) -> Option<Vec<PassiveFinding>> {
    observed.response.at("/data")?.as_array()?;
    if !request_ids(observed.contract, observed.request).is_empty() {
        return None;
    }
    // `extract.partial.headers` fails for a denial where a partial result is certain.
    let doubtful = |finding: PassiveFinding| match finding.key == DENIED {
        true => PassiveFinding { severity: Severity::Warn, ..finding },
        false => finding,
    };
    Some(Served::observed(observed)?.count()?.into_iter().map(doubtful).collect())
}

pub(super) async fn shortage(probe: &Probe<'_>, row: Arc<Row>) -> Result<(), Stop> {
    let (form, short) = (row.form(), || row.request(probe).giving_nothing());
    let name = if short().query_value(COUNTRY).is_some() { COUNTRY } else { REGIONS };
    State::check_empty_region(probe)?;
    if form != Extraction::PLAIN {
        form.control(probe).await?;
    }
    let unknown = || short().without_query(name).query(name, UNKNOWN_REGION);
    let less = probe.contract().extract.num_range.start() - 1;
    let invalid = || short().query(NUM, less).as_invalid();
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
            let says_more = |response: &Response| content::is_partial(probe, response);
            let is_told = has_retry_after(&exchange) || exchange.result.as_ref().is_ok_and(says_more);
            if gives_gateways(probe, &exchange) {
                State::note_gateway_of_empty_region(probe)?;
            } else if !is_told
                && let (other, class) = probe.send_once(&unknown()).await?
                && class.decision() == Decision::Rejected
                && !has_retry_after(&other)
            {
                // A region that no directory has is rejected, so this one is known, and short of gateways.
                let expected = format!("Retry-After, or the headers of a partial result, {}", form.name());
                let actual = "a success without gateways that says nothing of either";
                probe.finding(ExtractShortageRetryAfter, &expected, actual, &[&exchange]);
                return Ok(());
            }
            let seen = format!("an empty region returns a success, {}", form.name());
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
        let json = &probe.contract().extract.json;
        let beside = || if form.is_text() { short().query(RETURN_TYPE, json) } else { invalid() };
        return judge_envelope(probe, &form, &exchange, short, beside).await;
    }
    // A response with the header means a shortage, even if its value is malformed. Without it the region may be unknown.
    let header = exchange.result.as_ref().ok().and_then(|response| response.header("Retry-After"));
    let others = [("an unknown region", unknown(), true), ("an invalid `num`", invalid(), false)];
    for (other, request, is_region) in others.into_iter().filter(|_| header.is_none()) {
        if let Some(seen) = seen_beside(probe, &exchange, &request, is_region).await? {
            let seen = format!("an empty region {seen} {other}");
            probe.observe(Unspecified::ExtractUnknownRegion, &format!("{seen}, {}", form.name()));
            return Err(probe.skip(&seen));
        }
    }
    let actual = header.map_or_else(|| "no such header".to_owned(), |value| format!("Retry-After: {value}"));
    let expected =
        format!("Retry-After with seconds or an HTTP date, {}, with the region in `{name}`", form.name());
    probe.finding(ExtractShortageRetryAfter, &expected, &actual, &[&exchange]);
    Ok(())
}

/// A proxy may throttle with a page of its own. A shortage that never has a code, beside a response that always has one (its own as JSON, or
/// the rejection of an invalid request), is that of the service.
async fn judge_envelope(
    probe: &Probe<'_>,
    form: &Extraction,
    first: &Exchange,
    short: impl Fn() -> Request,
    beside: impl Fn() -> Request,
) -> Result<(), Stop> {
    const REPEATS: usize = 3;
    if has_code(first) {
        return Ok(());
    }
    for _ in 0..REPEATS {
        let (coded, _) = probe.send_once(&beside()).await?;
        let (again, _) = probe.send_once(&short()).await?;
        if !has_code(&coded) || !has_retry_after(&again) || has_code(&again) {
            return Ok(());
        }
    }
    let expected = format!("code and message in the JSON body of a shortage, {}", form.name());
    let actual = "a body without a code; as JSON, or for an invalid request, there is one";
    probe.finding(ExtractErrorEnvelope, &expected, actual, &[first]);
    Ok(())
}

fn has_code(exchange: &Exchange) -> bool {
    exchange.result.as_ref().is_ok_and(|response| response.at("/code").is_some_and(|code| !code.is_null()))
}

/// A code that ISO 3166 leaves to users, which is in no directory of regions.
pub(super) const UNKNOWN_REGION: &str = "QQQ";

/// How the response to the empty region compares with that to another request, where it says that the region is taken for an unknown
/// one. Whether a service does that is unspecified, and so is how it handles an unknown one. For either no gateway is looked for, and so
/// there is no shortage: the response is that of an invalid `num`, or has another code than the shortage that an unknown region gets. A
/// 404 may be the shortage without its header.
async fn seen_beside(
    probe: &Probe<'_>,
    empty: &Exchange,
    request: &Request,
    is_region: bool,
) -> Result<Option<&'static str>, Stop> {
    let (other, class) = probe.send_once(request).await?;
    Ok(match (outline(empty), outline(&other)) {
        _ if class == ResponseClass::Accepted => None,
        (Some((400, Some(own))), Some((503, Some(short)))) if is_region && has_retry_after(&other) => {
            (own != short).then_some("gets another code than the shortage of")
        }
        _ if has_retry_after(&other) => None,
        _ => rejected_alike(empty, &other).then_some("gets the same response as"),
    })
}

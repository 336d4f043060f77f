use super::shape;
use crate::check::{Case, Check, Cost, Probe, ResponseClass, Run, Stop};
use crate::checks::Requests;
use crate::contract::{Clause, OperationId, Unspecified};
use crate::target::Fact;
use crate::wire::{Exchange, RetryAfter};

pub(super) static CHECK: Check = Check {
    id: "extract.shortage-retry-after.empty-region",
    title: "a shortage says when to come back",
    why: "",
    operation: Some(OperationId::Extract),
    clauses: &[Clause::ExtractShortageRetryAfter],
    needs: &[Fact::EmptyRegion],
    run: Run::Cases(|_| Case::single(Cost::extraction(22, 14), |probe| Box::pin(run(probe)))),
};

async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    let extract = &probe.contract().extract;
    let region = probe.facts().empty_region.as_deref().unwrap_or_default();
    let mut cases = Vec::new();
    for shape in shape::usable(probe).await? {
        let short = shape.good(probe).without_query(&extract.regions.name);
        cases.push((shape.name.clone(), short.clone().query(&extract.regions.name, region)));
        cases.push((
            format!("{}, by {}", shape.name, extract.country.name),
            short.query(&extract.country.name, region),
        ));
    }
    let many = probe
        .extract()
        .query(&extract.regions.name, region)
        .query(&extract.num.name, extract.num_range.end());
    cases.push(("of many gateways".to_owned(), many));
    let mut shortages = 0;
    for (name, request) in cases {
        // Another id, as the one of the shape stands for an extraction that was made.
        let request = match request.query_value(&extract.request_id.name) {
            Some(_) => request.query(&extract.request_id.name, probe.fresh_request_id()),
            None => request,
        };
        let (mut exchange, class) = probe.send_once(&request).await?;
        // It may just be busy.
        if matches!(class, ResponseClass::Throttled(_)) {
            if tells_when(&exchange) {
                probe.control(&probe.extract()).await?;
            } else {
                exchange = probe.confirm_unavailable(|| request.clone(), || probe.extract()).await?;
            }
        }
        let Ok(answer) = &exchange.result else { continue };
        match class {
            ResponseClass::Accepted => {
                let seen = format!("an empty region gives a success, {name}");
                probe.observe(Unspecified::ExtractShortRegion, &seen);
                continue;
            }
            ResponseClass::ServerError(what) => {
                return Err(probe.inconclusive(&format!("no shortage came: {what}")));
            }
            _ => {}
        }
        shortages += 1;
        if tells_when(&exchange) {
            continue;
        }
        let came = answer.header("Retry-After").map(|value| format!("Retry-After: {value}"));
        let actual = came.unwrap_or_else(|| "no such header".to_owned());
        let expected = format!("Retry-After with seconds or an HTTP date, {name}");
        probe.finding(Clause::ExtractShortageRetryAfter, &expected, &actual, &[&exchange]);
    }
    if shortages == 0 {
        return Err(probe.skip("the empty region gave no shortage"));
    }
    Ok(())
}

fn tells_when(exchange: &Exchange) -> bool {
    let answer = exchange.result.as_ref().ok();
    let header = answer.and_then(|answer| answer.header("Retry-After"));
    header.is_some_and(|value| RetryAfter::parse(&value).is_ok())
}

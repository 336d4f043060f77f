use super::count;
use super::shape::Kind;
use crate::check::{Case, Check, Cost, Probe, ResponseClass, Run, Scope, Stop};
use crate::contract::{Clause, OperationId};
use crate::wire::{Exchange, Request};

pub(super) static CHECK: Check = Check {
    id: "extract.regions-default.global",
    title: "regions may be left out and may be sent as its default",
    why: "",
    operation: Some(OperationId::Extract),
    clauses: &[Clause::ExtractRegionsDefault],
    needs: &[],
    run: Run::Cases(cases),
};

fn cases(scope: &Scope<'_>) -> Vec<Case> {
    let case = |kind: Kind| {
        let cost = Cost::extraction(6, 3 * SEVERAL_COUNT);
        Case::with(kind.label().to_owned(), cost, kind, |probe, kind| Box::pin(run(probe, kind)))
    };
    Kind::all(&scope.contract.extract).into_iter().map(case).collect()
}

/// An answer does not show which region its gateways are of. So this holds the request without the parameter against the one
/// with the default: it is accepted too, and gives as many.
async fn run(probe: &Probe<'_>, kind: Kind) -> Result<(), Stop> {
    let extract = &probe.contract().extract;
    let regions = &extract.regions;
    let default = regions.schema.default.as_ref().and_then(|default| default.as_str()).unwrap_or_default();
    let shape = kind.usable(probe).await?;
    let several = || shape.anew(probe).query(&extract.num.name, SEVERAL.min(*extract.num_range.end()));
    let (sent, named) = twice(probe, || several().query(&regions.name, default)).await?;
    let (mut absent, unnamed) = twice(probe, || several().without_query(&regions.name)).await?;
    if named.is_some() && is_busy(&absent) {
        let (without, with) =
            (|| several().without_query(&regions.name), || several().query(&regions.name, default));
        absent = probe.confirm_unavailable(without, with).await?;
    }
    let exchanges = [&sent, &absent];
    match (named, unnamed) {
        (Some(named), Some(unnamed)) if unnamed < named => {
            // Others extract as well, so that a region may have had fewer just then.
            let (_, once_more) = twice(probe, || several().without_query(&regions.name)).await?;
            if once_more != Some(unnamed) {
                return Err(probe.inconclusive("the number of gateways changed meanwhile: run it again"));
            }
            let expected = format!("{named} entries, as with {}={default}, {}", regions.name, shape.name);
            probe.finding(
                Clause::ExtractRegionsDefault,
                &expected,
                &format!("{unnamed} entries"),
                &exchanges,
            );
        }
        (Some(_), None) => {
            // The service is not short of gateways, as the default still gives some.
            probe.control(&several().query(&regions.name, default)).await?;
            let expected = format!("accepted without {}, {}", regions.name, shape.name);
            probe.finding(Clause::ExtractRegionsDefault, &expected, "not a success", &exchanges);
        }
        (None, _) => {
            let why = format!("{}={default}, {}", regions.name, shape.name);
            let named = several().query(&regions.name, default);
            probe.accepts(Clause::ExtractRegionsDefault, &why, &named).await?;
        }
        _ => {}
    }
    Ok(())
}

/// Enough that a region with a few gateways does not have them.
const SEVERAL: i64 = 20;

/// The same, for costs.
const SEVERAL_COUNT: u32 = SEVERAL as u32;

/// Sends a request up to two times, since a shortage may pass; gives how many entries came with a success.
async fn twice(probe: &Probe<'_>, request: impl Fn() -> Request) -> Result<(Exchange, Option<usize>), Stop> {
    let (mut exchange, mut class) = probe.send_until_served(&request).await?;
    if class != ResponseClass::Accepted {
        (exchange, class) = probe.send_until_served(&request).await?;
    }
    // A shortage may come as 503; 429 says nothing of the region.
    if exchange.result.as_ref().is_ok_and(|answer| answer.status == 429) {
        return Err(probe.inconclusive("the service throttles: run it again later, or with --rate"));
    }
    let accepted = exchange.result.as_ref().ok().filter(|_| class == ResponseClass::Accepted);
    let came = accepted.map(|answer| count::came(probe, answer));
    Ok((exchange, came))
}

fn is_busy(exchange: &Exchange) -> bool {
    exchange.result.as_ref().is_ok_and(|answer| answer.status == 503)
}

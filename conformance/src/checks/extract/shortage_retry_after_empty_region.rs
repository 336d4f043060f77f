use crate::check::{Check, Cost, Judgement, Probe, Run, Stop};
use crate::contract::OperationId;
use crate::target::Fact;
use crate::wire::RetryAfter;

pub(super) static CHECK: Check = Check {
    id: "extract.shortage-retry-after.empty-region",
    title: "a shortage says when to come back",
    operation: Some(OperationId::Extract),
    clauses: &["extract.shortage-retry-after"],
    needs: &[Fact::EmptyRegion],
    cost: Cost::extraction(2, 2),
    run: Run::Probe(|probe| Box::pin(run(probe))),
};

async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    let extract = &probe.contract().extract;
    let region = probe.facts().empty_region.as_deref().unwrap_or_default();
    probe.ground(&probe.extract()).await?;
    let (exchange, judgement) =
        probe.send_once(&probe.extract().query(&extract.regions.name, region)).await?;
    let Ok(answer) = &exchange.result else {
        return Err(probe.inconclusive(judgement.description()));
    };
    if judgement == Judgement::Accepted {
        probe.observe("open.extract.short-region", "an empty region gives an empty success");
        return Err(probe.skip("the empty region gave a success and no shortage"));
    }
    let actual = match answer.header("Retry-After") {
        None => "no such header".to_owned(),
        Some(value) if RetryAfter::parse(&value).is_err() => format!("Retry-After: {value}"),
        Some(_) => return Ok(()),
    };
    let expected = "Retry-After with seconds or an HTTP date";
    probe.finding("extract.shortage-retry-after", expected, &actual, &[&exchange]);
    Ok(())
}

use super::count::{entries, judge};
use crate::check::{Check, Cost, Judgement, Probe, Run, Stop};
use crate::contract::OperationId;
use crate::target::Fact;

pub(super) static CHECK: Check = Check {
    id: "extract.partial.headers",
    title: "a partial result is flagged, and its counts agree with num and data",
    operation: Some(OperationId::Extract),
    clauses: &["extract.count", "extract.partial"],
    needs: &[Fact::ScarceRegion],
    cost: Cost::extraction(2, 101),
    run: Run::Probe(|probe| Box::pin(run(probe))),
};

async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    let extract = &probe.contract().extract;
    let most = *extract.num_range.end();
    let region = probe.facts().scarce_region.as_deref().unwrap_or_default();
    probe.ground(&probe.extract()).await?;
    let request = probe.extract().query(&extract.regions.name, region).query(&extract.num.name, most);
    let (exchange, judgement) = probe.send_once(&request).await?;
    let Ok(answer) = &exchange.result else {
        return Err(probe.inconclusive(judgement.description()));
    };
    if judgement != Judgement::Accepted {
        probe.observe("open.extract.short-region", &format!("a shortage: {}", judgement.description()));
        return Err(probe.skip("the scarce region gave a shortage and no partial result"));
    }
    let came = entries(answer).ok_or_else(|| probe.inconclusive("the answer has no data"))?.len();
    if i64::try_from(came).is_ok_and(|came| came >= most) {
        judge(probe, &exchange, answer, most);
        return Err(probe.skip("the region that was supplied as scarce gave all that was asked for"));
    }
    probe.observe("open.extract.short-region", "a partial result");
    for (name, expected) in
        [("X-Proxy-Requested-Count", most.to_string()), ("X-Proxy-Returned-Count", came.to_string())]
    {
        let actual = answer.header(name);
        if actual
            .as_deref()
            .and_then(|value| value.parse::<u64>().ok())
            .map(|count| count.to_string())
            .as_ref()
            != Some(&expected)
        {
            let actual =
                actual.map_or_else(|| "no such header".to_owned(), |value| format!("{name}: {value}"));
            probe.finding("extract.partial", &format!("{name}: {expected}"), &actual, &[&exchange]);
        }
    }
    match answer.header("X-Proxy-Partial") {
        None => probe.finding("extract.partial", "X-Proxy-Partial", "no such header", &[&exchange]),
        Some(flag) => probe
            .observe("open.extract.full-result-headers", &format!("the flag of a partial result is {flag}")),
    }
    Ok(())
}

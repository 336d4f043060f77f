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
    let came = i64::try_from(came).unwrap_or(i64::MAX);
    if came >= most {
        judge(probe, &exchange, answer, most);
        return Err(probe.skip("the region that was supplied as scarce gave all that was asked for"));
    }
    probe.observe("open.extract.short-region", "a partial result");
    let counts = [(&extract.requested_count, most), (&extract.returned_count, came)];
    for (name, expected) in counts {
        let actual = answer.header(name);
        if actual.as_deref().and_then(|count| count.parse().ok()) != Some(expected) {
            let actual =
                actual.map_or_else(|| "no such header".to_owned(), |actual| format!("{name}: {actual}"));
            probe.finding("extract.partial", &format!("{name}: {expected}"), &actual, &[&exchange]);
        }
    }
    match answer.header(&extract.partial_flag) {
        None => probe.finding("extract.partial", &extract.partial_flag, "no such header", &[&exchange]),
        Some(flag) => {
            probe.observe(
                "open.extract.full-result-headers",
                &format!("a partial result is flagged as {flag}"),
            );
        }
    }
    Ok(())
}

use super::count;
use crate::check::{Check, Cost, Judgement, Probe, Run, Stop};
use crate::contract::OperationId;
use crate::target::Fact;

pub(super) static CHECK: Check = Check {
    id: "extract.num-range.maximum",
    title: "the largest num is accepted and never exceeded",
    operation: Some(OperationId::Extract),
    clauses: &["extract.count", "extract.num-range"],
    needs: &[Fact::PlentifulRegion],
    cost: Cost::extraction(1, 100),
    run: Run::Probe(|probe| Box::pin(run(probe))),
};

async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    let extract = &probe.contract().extract;
    let most = *extract.num_range.end();
    let request = probe.extract().query(&extract.num.name, most);
    probe.ground(&probe.extract()).await?;
    let (exchange, judgement) = probe.send_once(&request).await?;
    let Ok(answer) = &exchange.result else {
        return Err(probe.inconclusive(judgement.description()));
    };
    if judgement != Judgement::Accepted {
        if answer.header("Retry-After").is_some() {
            return Err(probe.inconclusive("the plentiful region is short of gateways right now"));
        }
        let expected = format!("accepted: {}={most}, the largest value", extract.num.name);
        probe.finding("extract.num-range", &expected, judgement.description(), &[&exchange]);
        return Ok(());
    }
    count::judge(probe, &exchange, answer, most);
    Ok(())
}

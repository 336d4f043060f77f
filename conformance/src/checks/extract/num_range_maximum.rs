use super::count;
use crate::check::{Case, Check, Cost, Decision, Judgement, Probe, Run, Stop};
use crate::contract::{Clause, OperationId};
use crate::target::Fact;

pub(super) static CHECK: Check = Check {
    id: "extract.num-range.maximum",
    title: "the largest num is accepted and never exceeded",
    why: "",
    operation: Some(OperationId::Extract),
    clauses: &[Clause::ExtractCount, Clause::ExtractNumRange],
    needs: &[Fact::PlentifulRegion],
    run: Run::Cases(|_| Case::single(Cost::extraction(3, 201), |probe| Box::pin(run(probe)))),
};

async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    let extract = &probe.contract().extract;
    let most = *extract.num_range.end();
    probe.ground(&probe.extract()).await?;
    for form in [&extract.json, &extract.text] {
        let request = probe.extract().query(&extract.num.name, most).query(&extract.return_type.name, form);
        let (exchange, judgement) = probe.send_briefly(&request).await?;
        if let (Judgement::Accepted, Ok(answer)) = (&judgement, &exchange.result) {
            count::judge(probe, &exchange, answer, most);
            continue;
        }
        if judgement.verdict() != Decision::Refused {
            return Err(probe.inconclusive(&format!("nothing was decided: {}", judgement.description())));
        }
        let expected = format!("accepted: {}={most}, the largest value, as {form}", extract.num.name);
        probe.finding(Clause::ExtractNumRange, &expected, judgement.description(), &[&exchange]);
    }
    Ok(())
}

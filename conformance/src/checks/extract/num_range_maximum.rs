use super::count;
use crate::check::{Case, Check, Cost, Decision, Probe, ResponseClass, Run, Stop};
use crate::checks::Requests;
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
    probe.control_once(&probe.extract()).await?;
    for form in [&extract.json, &extract.text] {
        let request = probe.extract().query(&extract.num.name, most).query(&extract.return_type.name, form);
        let (exchange, class) = probe.send_briefly(&request).await?;
        if let (ResponseClass::Accepted, Ok(answer)) = (&class, &exchange.result) {
            count::judge(probe, &exchange, answer, most);
            continue;
        }
        if class.decision() != Decision::Rejected {
            return Err(probe.inconclusive(&format!("nothing was decided: {}", class.description())));
        }
        let expected = format!("accepted: {}={most}, the largest value, as {form}", extract.num.name);
        probe.finding(Clause::ExtractNumRange, &expected, class.description(), &[&exchange]);
    }
    Ok(())
}

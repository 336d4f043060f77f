use crate::check::{Case, Check, Cost, Probe, Run, Stop};
use crate::checks::Requests;
use crate::contract::{Clause, OperationId, Unspecified};

pub(super) static CHECK: Check = Check {
    id: "extract.envelope.open",
    title: "what the contract leaves open in an extraction is answered in one way or the other",
    why: "",
    operation: Some(OperationId::Extract),
    clauses: &[Clause::ExtractEnvelope],
    needs: &[],
    run: Run::Cases(|_| Case::single(Cost::extraction(9, 12), |probe| Box::pin(run(probe)))),
};

async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    let extract = &probe.contract().extract;
    let good = probe.extract();
    probe.control_once(&good).await?;
    let repeated = good.clone().add_query(&extract.num.name, extract.num_range.start());
    let empty = good.clone().query(&extract.protocol.name, "");
    let unknown_region = good.clone().query(&extract.regions.name, "QQQ");
    let json_with_lb = good.clone().query(&extract.lb.name, &extract.custom_separator);
    let id = probe.fresh_request_id();
    let first = good.clone().query(&extract.request_id.name, &id);
    let other = first.clone().query(&extract.num.name, extract.num_range.start() + 1);
    probe.control_once(&first).await?;
    let cases = [
        (Unspecified::ExtractRepeatedParameter, "num is sent twice with one value", repeated),
        (Unspecified::ExtractEmptyParameter, "protocol is empty", empty),
        (Unspecified::ExtractUnknownRegion, "the region QQQ, which no directory has", unknown_region),
        (Unspecified::ExtractUnusedSeparator, "lb=6 without sb, for a JSON answer", json_with_lb),
        (Unspecified::ExtractRequestIdOtherParameters, "a known request id with another num", other),
    ];
    for (unspecified, why, request) in cases {
        probe.tolerates(Clause::ExtractEnvelope, unspecified, why, &request).await?;
    }
    Ok(())
}

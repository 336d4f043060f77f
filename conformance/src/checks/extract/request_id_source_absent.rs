use super::count;
use crate::check::{Case, Check, Cost, Probe, Run, Stop};
use crate::checks::Requests;
use crate::contract::{Clause, OperationId};

pub(super) static CHECK: Check = Check {
    id: "extract.request-id-source.absent",
    title: "an extraction without a request id is accepted, each time",
    why: "",
    operation: Some(OperationId::Extract),
    clauses: &[Clause::ExtractRequestIdSource],
    needs: &[],
    run: Run::Cases(|_| Case::single(Cost::extraction(5, 7), |probe| Box::pin(run(probe)))),
};

async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    let extract = &probe.contract().extract;
    let id = &extract.request_id.name;
    let least = *extract.num_range.start();
    // With an id of its own the call is accepted, whether or not one is needed.
    probe.control_once(&probe.extract().query(id, probe.fresh_request_id())).await?;
    let plain = probe.extract();
    let text = plain.clone().query(&extract.return_type.name, &extract.text);
    // Calls that share an id that the server made would stand for one extraction.
    for num in [least, (least + 1).min(*extract.num_range.end())] {
        for (form, request) in [("in JSON", &plain), ("in text", &text)] {
            let request = request.clone().query(&extract.num.name, num);
            let why = format!("no request id, {}={num}, {form}", extract.num.name);
            let Some(accepted) = probe.accepts(Clause::ExtractRequestIdSource, &why, &request).await? else {
                continue;
            };
            let came = i64::try_from(count::came(probe, &accepted.answer)).unwrap_or(i64::MAX);
            if came > num {
                let expected = format!("at most {num} entries, {form}");
                let actual = format!("{came} entries, as an earlier call without an id asked for");
                probe.finding(Clause::ExtractRequestIdSource, &expected, &actual, &[&accepted.exchange]);
            }
        }
    }
    Ok(())
}

use super::count;
use super::shape;
use super::transport::Transport;
use crate::check::{Case, Check, Cost, Probe, Run, Stop};
use crate::checks::Requests;
use crate::contract::{Clause, OperationId};

pub(super) static CHECK: Check = Check {
    id: "extract.count.most",
    title: "an extraction returns no more entries than num",
    why: "",
    operation: Some(OperationId::Extract),
    clauses: &[Clause::ExtractCount],
    needs: &[],
    run: Run::Cases(|_| Case::single(Cost::extraction(19, 34), |probe| Box::pin(run(probe)))),
};

async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    let extract = &probe.contract().extract;
    let least = *extract.num_range.start();
    for asked in least..=(least + 2).min(*extract.num_range.end()) {
        let accepted = probe.control(&probe.extract().query(&extract.num.name, asked)).await?;
        count::judge(probe, &accepted.exchange, &accepted.answer, asked);
    }
    let asked = (least + 1).min(*extract.num_range.end());
    for shape in shape::usable(probe).await? {
        for transport in Transport::ALL {
            let request = shape.anew(probe).without_query(&extract.api_key.name);
            let request =
                transport.carry(probe, request, probe.token().expose()).query(&extract.num.name, asked);
            let accepted = probe.control(&request).await?;
            count::judge(probe, &accepted.exchange, &accepted.answer, asked);
        }
    }
    Ok(())
}

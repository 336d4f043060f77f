use super::shape;
use crate::check::{Case, Check, Cost, Probe, Run, Stop};
use crate::contract::{Clause, OperationId};

pub(super) static CHECK: Check = Check {
    id: "extract.sb-required.absent",
    title: "lb=6 is refused without sb and with an empty one",
    why: "",
    operation: Some(OperationId::Extract),
    clauses: &[Clause::ExtractSbRequired],
    needs: &[],
    run: Run::Cases(|_| Case::single(Cost::extraction(28, 20), |probe| Box::pin(run(probe)))),
};

async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    let extract = &probe.contract().extract;
    let sb = &extract.sb.name;
    let most = (*extract.num_range.start() + 2).min(*extract.num_range.end());
    for shape in shape::usable_in_text(probe).await? {
        for num in [*extract.num_range.start(), most] {
            let custom = || {
                let request = shape.anew(probe).query(&extract.num.name, num);
                request.query(&extract.lb.name, &extract.custom_separator)
            };
            let good = custom().query(sb, "|");
            let why = format!("{sb} is absent, {}={num}, {}", extract.num.name, shape.name);
            probe.rejects_after_control(Clause::ExtractSbRequired, &why, &good, &custom()).await?;
            let why = format!("{sb} is empty, {}={num}, {}", extract.num.name, shape.name);
            probe
                .rejects_after_control(Clause::ExtractSbRequired, &why, &good, &custom().query(sb, ""))
                .await?;
        }
    }
    Ok(())
}

use super::text;
use crate::check::{Case, Check, Cost, Probe, Run, Stop};
use crate::checks::Requests;
use crate::contract::{Clause, OperationId};

pub(super) static CHECK: Check = Check {
    id: "extract.separator.custom",
    title: "lb=6 puts the text of sb between entries, whatever its characters",
    why: "",
    operation: Some(OperationId::Extract),
    clauses: &[Clause::ExtractSeparator],
    needs: &[],
    run: Run::Cases(|_| Case::single(Cost::extraction(6, 16), |probe| Box::pin(run(probe)))),
};

async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    let extract = &probe.contract().extract;
    let good = text::request(probe).query(&extract.lb.name, &extract.custom_separator);
    probe.control_once(&probe.extract()).await?;
    // Characters that URLs, shells, regular expressions and JSON treat in ways of their own, and wide ones.
    for separator in ["|", " ", "&=+%", "$1.*", "A\u{20ac}\u{1f6aa}"] {
        let request = good.clone().query(&extract.sb.name, separator);
        let why = format!("{}={separator:?}", extract.sb.name);
        if let Some(accepted) = probe.accepts(Clause::ExtractSeparator, &why, &request).await? {
            text::judge(probe, &accepted, separator).await?;
        }
    }
    Ok(())
}

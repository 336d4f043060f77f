use serde_json::json;

use super::shape;
use crate::check::{Check, Cost, Probe, Run, Stop};
use crate::contract::{Clause, OperationId, boundaries};

pub(super) static CHECK: Check = Check {
    id: "extract.separator-range.boundaries",
    title: "an lb outside the list is refused",
    operation: Some(OperationId::Extract),
    clauses: &[Clause::ExtractSeparatorRange],
    needs: &[],
    cost: Cost::extraction(52, 12),
    run: Run::Probe(|probe| Box::pin(run(probe))),
};

async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    let extract = &probe.contract().extract;
    let lb = &extract.lb;
    let codes: Vec<i64> = lb.schema.values.iter().filter_map(|code| code.as_str()?.parse().ok()).collect();
    let (least, most) = (codes.iter().min().copied().unwrap_or(0), codes.iter().max().copied().unwrap_or(0));
    let outside = [least - 1, most + 1, -least, most * 10].into_iter().map(|code| code.to_string());
    let outside = outside.filter(|code| !lb.schema.values.contains(&json!(code)));
    let unlisted = boundaries(&lb.schema).into_iter().filter(|case| !case.allowed).map(|case| case.text());
    let outside: Vec<String> = outside.chain(unlisted).collect();
    // lb applies to text answers only.
    for shape in shape::usable_in_text(probe).await? {
        let text = || shape.anew(probe);
        let good = text();
        for code in &outside {
            let why = format!("{}={code} is not in the list, {}", lb.name, shape.name);
            let bad = text().query(&lb.name, code);
            probe.refuses(Clause::ExtractSeparatorRange, &why, &good, &bad).await?;
        }
        let custom = text().query(&lb.name, &extract.custom_separator).query(&extract.sb.name, "|");
        let why = format!("{}={} is in the list, {}", lb.name, extract.custom_separator, shape.name);
        probe.accepts(Clause::ExtractSeparatorRange, &why, &custom).await?;
    }
    Ok(())
}

use serde_json::json;

use super::shape::Kind;
use crate::check::{Case, Check, Cost, Probe, Run, Scope, Stop};
use crate::contract::{Clause, OperationId, boundaries};

pub(super) static CHECK: Check = Check {
    id: "extract.separator-range.boundaries",
    title: "an lb outside the list is refused",
    why: "",
    operation: Some(OperationId::Extract),
    clauses: &[Clause::ExtractSeparatorRange],
    needs: &[],
    run: Run::Cases(cases),
};

/// `lb` applies to text answers only.
fn cases(scope: &Scope<'_>) -> Vec<Case> {
    let extract = &scope.contract.extract;
    let (lb, custom) = (&extract.lb, &extract.custom_separator);
    let codes: Vec<i64> = lb.schema.values.iter().filter_map(|code| code.as_str()?.parse().ok()).collect();
    let (least, most) = (codes.iter().min().copied().unwrap_or(0), codes.iter().max().copied().unwrap_or(0));
    let outside = [least - 1, most + 1, -least, most * 10].into_iter().map(|code| code.to_string());
    let outside = outside.filter(|code| !lb.schema.values.contains(&json!(code)));
    let unlisted = boundaries(&lb.schema).into_iter().filter(|case| !case.allowed).map(|case| case.text());
    let codes: Vec<String> = outside.chain(unlisted).chain([custom.clone()]).collect();
    let of_kind = |kind: Kind| codes.iter().map(move |code| (kind.clone(), code.clone()));
    let case = |data: (Kind, String)| {
        let label = format!("{}/lb={}", data.0.label(), data.1);
        let is_listed = data.1 == *custom;
        // The form, and the same in text.
        let (key, control) = match &data.0 {
            Kind::RequestId => (label.clone(), Cost::extraction(2, 2)),
            kind => (kind.label().to_owned(), Cost::extraction(2, 2)),
        };
        let cost = if is_listed { Cost::extraction(1, 1) } else { Cost::requests(1) };
        Case::with(label, cost, data, |probe, data| Box::pin(run(probe, data))).control(key, control)
    };
    Kind::all_in_text(extract).into_iter().flat_map(of_kind).map(case).collect()
}

async fn run(probe: &Probe<'_>, (kind, code): (Kind, String)) -> Result<(), Stop> {
    let extract = &probe.contract().extract;
    let lb = &extract.lb.name;
    let shape = kind.usable_in_text(probe).await?;
    let request = shape.anew(probe).query(lb, &code);
    if code == extract.custom_separator {
        let why = format!("{lb}={code} is in the list, {}", shape.name);
        probe.accepts(Clause::ExtractSeparatorRange, &why, &request.query(&extract.sb.name, "|")).await?;
        return Ok(());
    }
    let why = format!("{lb}={code} is not in the list, {}", shape.name);
    probe.rejects_after_control(Clause::ExtractSeparatorRange, &why, &shape.anew(probe), &request).await
}

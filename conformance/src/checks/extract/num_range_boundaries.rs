use super::shape::Kind;
use crate::check::{Case, Check, Cost, Probe, Run, Scope, Stop};
use crate::contract::{Clause, OperationId, boundaries};

pub(super) static CHECK: Check = Check {
    id: "extract.num-range.boundaries",
    title: "num is refused outside its bounds",
    why: "",
    operation: Some(OperationId::Extract),
    clauses: &[Clause::ExtractNumRange],
    needs: &[],
    run: Run::Cases(cases),
};

/// The smallest value is the control, and the largest one takes many gateways, so it has a check of its own.
fn cases(scope: &Scope<'_>) -> Vec<Case> {
    let extract = &scope.contract.extract;
    let outside = boundaries(&extract.num.schema).into_iter().filter(|case| !case.allowed);
    let outside =
        outside.map(|case| (case.text(), case.reason)).chain([("-1".to_owned(), "a negative number")]);
    let of_kind = |(value, reason): (String, &'static str)| {
        Kind::all(extract).into_iter().map(move |kind| (kind, value.clone(), reason))
    };
    let case = |data: (Kind, String, &'static str)| {
        let label = format!("{}/num={}", data.0.label(), data.1);
        let kind = data.0.clone();
        let case = Case::with(label, Cost::requests(1), data, |probe, data| Box::pin(run(probe, data)));
        kind.control(case)
    };
    outside.flat_map(of_kind).map(case).collect()
}

async fn run(probe: &Probe<'_>, (kind, value, reason): (Kind, String, &'static str)) -> Result<(), Stop> {
    let num = &probe.contract().extract.num;
    let shape = kind.usable(probe).await?;
    let bad = shape.anew(probe).query(&num.name, &value);
    let why = format!("{}={value}, {reason}, {}", num.name, shape.name);
    probe.rejects_after_control(Clause::ExtractNumRange, &why, &shape.good(probe), &bad).await
}

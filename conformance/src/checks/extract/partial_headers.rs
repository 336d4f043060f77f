use super::count;
use super::shape::Kind;
use crate::check::{Case, Check, Cost, Probe, ResponseClass, Run, Scope, Stop};
use crate::contract::{Clause, OperationId, Unspecified};
use crate::target::Fact;
use crate::wire::{Answer, Exchange};

pub(super) static CHECK: Check = Check {
    id: "extract.partial.headers",
    title: "a partial result is flagged, and its counts agree with num and data",
    why: "",
    operation: Some(OperationId::Extract),
    clauses: &[Clause::ExtractPartial],
    needs: &[Fact::ScarceRegion],
    run: Run::Cases(cases),
};

fn cases(scope: &Scope<'_>) -> Vec<Case> {
    let most = u32::try_from(*scope.contract.extract.num_range.end()).unwrap_or(u32::MAX);
    let case = |kind: Kind| {
        let cost = Cost::extraction(2, most.saturating_add(1));
        Case::with(kind.label().to_owned(), cost, kind, |probe, kind| Box::pin(run(probe, kind)))
    };
    Kind::all(&scope.contract.extract).into_iter().map(case).collect()
}

async fn run(probe: &Probe<'_>, kind: Kind) -> Result<(), Stop> {
    let extract = &probe.contract().extract;
    let most = *extract.num_range.end();
    let region = probe.facts().scarce_region.as_deref().unwrap_or_default();
    let shape = kind.usable(probe).await?;
    let request = shape
        .good(probe)
        .without_query(&extract.request_id.name)
        .query(&extract.regions.name, region)
        .query(&extract.num.name, most);
    let (exchange, class) = probe.send_once(&request).await?;
    let none = || probe.skip("the scarce region gave no partial result");
    let Ok(answer) = &exchange.result else { return Err(none()) };
    if class != ResponseClass::Accepted {
        probe.observe(Unspecified::ExtractShortRegion, &format!("a shortage, {}", shape.name));
        return Err(none());
    }
    let came = i64::try_from(count::came(probe, answer)).unwrap_or(i64::MAX);
    if came >= most {
        return Err(none());
    }
    judge(probe, &shape.name, &exchange, answer, came);
    Ok(())
}

/// How the flag is spelt is open, as long as it does not deny what it flags.
fn judge(probe: &Probe<'_>, form: &str, exchange: &Exchange, answer: &Answer, came: i64) {
    let extract = &probe.contract().extract;
    let most = *extract.num_range.end();
    for (name, expected) in [(&extract.requested_count, most), (&extract.returned_count, came)] {
        let actual = answer.header(name);
        if actual.as_deref().and_then(|count| count.parse().ok()) != Some(expected) {
            let actual =
                actual.map_or_else(|| "no such header".to_owned(), |actual| format!("{name}: {actual}"));
            probe.finding(
                Clause::ExtractPartial,
                &format!("{name}: {expected}, {form}"),
                &actual,
                &[exchange],
            );
        }
    }
    let name = &extract.partial_flag;
    match answer.header(name) {
        None => {
            probe.finding(Clause::ExtractPartial, &format!("{name}, {form}"), "no such header", &[exchange])
        }
        Some(flag) if count::denies(&flag) => {
            probe.finding(
                Clause::ExtractPartial,
                &format!("a flag, {form}"),
                &format!("{name}: {flag}"),
                &[exchange],
            );
        }
        Some(flag) => {
            probe.observe(
                Unspecified::ExtractFullResultHeaders,
                &format!("a partial result is flagged as {flag}"),
            );
        }
    }
}

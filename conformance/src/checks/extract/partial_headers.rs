use super::count;
use super::shape;
use crate::check::{Check, Cost, Judgement, Probe, Run, Stop};
use crate::contract::{Clause, OperationId, Unspecified};
use crate::target::Fact;
use crate::wire::{Answer, Exchange};

pub(super) static CHECK: Check = Check {
    id: "extract.partial.headers",
    title: "a partial result is flagged, and its counts agree with num and data",
    operation: Some(OperationId::Extract),
    clauses: &[Clause::ExtractPartial],
    needs: &[Fact::ScarceRegion],
    cost: Cost::extraction(8, 404),
    run: Run::Probe(|probe| Box::pin(run(probe))),
};

async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    let extract = &probe.contract().extract;
    let most = *extract.num_range.end();
    let region = probe.facts().scarce_region.as_deref().unwrap_or_default();
    let mut partial = 0;
    for shape in shape::usable(probe).await? {
        let request = shape
            .good(probe)
            .without_query(&extract.request_id.name)
            .query(&extract.regions.name, region)
            .query(&extract.num.name, most);
        let (exchange, judgement) = probe.first_answer(&request).await?;
        let Ok(answer) = &exchange.result else { continue };
        if judgement != Judgement::Accepted {
            probe.observe(Unspecified::ExtractShortRegion, &format!("a shortage, {}", shape.name));
            continue;
        }
        let came = i64::try_from(count::came(probe, answer)).unwrap_or(i64::MAX);
        if came >= most {
            continue;
        }
        partial += 1;
        judge(probe, &shape.name, &exchange, answer, came);
    }
    if partial == 0 {
        return Err(probe.skip("the scarce region gave no partial result"));
    }
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

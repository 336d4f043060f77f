//! `num`: required, from 1 to 100, and never exceeded.

use serde_json::Value;

use super::EXTRACT;
use super::content::{self, Judge};
use super::extraction::{Extraction, named_region};
use crate::check::{Case, Check, Cost, Decision, Probe, Run, Stop, accepted};
use crate::checks::Requests;
use crate::checks::row::{Drop, Max, Min, Unless, accept, cases, each, flow, in_two, reject, set, values};
use crate::checks::token::rejected_alike;
use crate::contract::Clause;
use crate::contract::part::{NUM, PROTOCOL, REGIONS};
use crate::grammar::{Spelling, integer_texts};
use crate::target::Fact;
use crate::wire::Exchange;

pub(super) static CHECKS: &[Check] = &[
    Check {
        id: "extract.count.most",
        title: "an extraction returns at most `num` entries",
        why: "Gateways beyond `num` are billed to or locked for an account that did not request them, and a caller that reads \
              `num` entries loses track of the others.",
        clauses: &[Clause::ExtractCount],
        run: Run::Cases(|scope| {
            let extract = &scope.contract.extract;
            let min = *extract.num_range.start();
            // Most other extractions request the minimum, and `extract.partial.watched` judges those.
            let few = (min + 1..=(min + 2).min(*extract.num_range.end())).map(|num| (Extraction::PLAIN, num));
            let others = Extraction::all(extract).into_iter().filter(|form| *form != Extraction::PLAIN);
            let row = |(form, num): (Extraction, i64)| {
                let row = accept(format!("num={num}"), "", [set(NUM, num)]).in_form(form);
                row.giving(u32::try_from(num).unwrap_or(u32::MAX), Unless::Control, &[Judge::Response])
            };
            // A scarce region must not return more gateways than requested either.
            let region = scope.facts.scarce_region.clone().unwrap_or_default();
            let scarce = accept("scarce-region", "", [set(REGIONS, region)]).needing(Fact::ScarceRegion);
            let scarce = scarce.giving(1, Unless::Shortage, &[Judge::Response]);
            let rows = few.chain(others.map(|form| (form, min + 1))).map(row);
            cases(Clause::ExtractCount, rows.chain(each(&named_region(extract), [scarce])))
        }),
        ..EXTRACT
    },
    Check {
        id: "extract.num-range.boundaries",
        title: "`num` outside its range or not an integer is rejected",
        why: "If an invalid value is read as the nearest bound, as zero or by its lower bits, the caller gets another number of \
              gateways than requested, without an error.",
        clauses: &[Clause::ExtractNumRange],
        run: Run::Cases(|scope| {
            let extract = &scope.contract.extract;
            let forms = Extraction::all(extract);
            // The most likely mistakes are tested in every form, all others in two forms.
            let likely = [Min(-1), "-1".into(), Max(1)].map(|value| value.text(scope.contract, NUM));
            let (near, far): (Vec<_>, Vec<_>) =
                integer_texts(&extract.num_range).into_iter().partition(|value| likely.contains(&value.text));
            let beside_separator = near.iter().map(|Spelling { text, name, reason, .. }| {
                let why = format!("{NUM}={text}, {reason}, beside a custom separator");
                let row = reject(format!("{NUM}={name}, beside a custom separator"), why, [set(NUM, text)]);
                row.separated(*extract.num_range.start()).in_form(Extraction::TEXT)
            });
            // A service may report both errors or one.
            let wrong = [set(NUM, Min(-1)), set(PROTOCOL, "https")];
            let both = reject("num and protocol", "num and protocol are both wrong", wrong);
            let rows = each(&forms, values(NUM, near.clone())).into_iter();
            let rows = rows.chain(in_two(&forms, values(NUM, far))).chain(beside_separator).chain([both]);
            cases(Clause::ExtractNumRange, rows)
        }),
        ..EXTRACT
    },
    Check {
        id: "extract.num-range.maximum",
        title: "the largest `num` is accepted and never exceeded",
        why: "A limit below the documented one breaks callers that extract in full batches.",
        clauses: &[Clause::ExtractCount, Clause::ExtractNumRange],
        run: Run::Cases(|scope| {
            let extract = &scope.contract.extract;
            let max = u32::try_from(*extract.num_range.end()).unwrap_or(u32::MAX);
            let simple = [Extraction::PLAIN, Extraction::TEXT];
            let of_default = flow("default region", Cost::extraction(2, max), maximum_of_default);
            let forms = Extraction::all(extract).into_iter();
            let forms = forms.filter(|form| simple.contains(form) || form.is_combined());
            let cases = forms.map(flow("", Cost::extraction(1, max), maximum));
            let cases = cases.map(|case| case.needs([Fact::PlentifulRegion]));
            cases.chain(simple.clone().map(of_default)).collect()
        }),
        ..EXTRACT
    },
    Check {
        id: "extract.num-range.minimum",
        title: "the smallest `num` is accepted",
        why: "A caller that needs one gateway has to extract and pay for more.",
        clauses: &[Clause::ExtractNumRange],
        run: Run::Cases(|_| Case::single(Cost::extraction(2, 3), minimum)),
        ..EXTRACT
    },
    Check {
        id: "extract.num-required.absent",
        title: "an extraction without `num` is rejected",
        why: "A service that assumes a number returns gateways to a caller whose request is wrong, and the caller does not \
              notice its mistake.",
        clauses: &[Clause::ExtractNumRequired],
        run: Run::Cases(|scope| {
            let rows = [
                reject("absent", "num is absent", [Drop(NUM)]),
                reject("empty", "num is empty", [set(NUM, "")]),
            ];
            cases(Clause::ExtractNumRequired, each(&Extraction::all(&scope.contract.extract), rows))
        }),
        ..EXTRACT
    },
];

async fn maximum(probe: &Probe<'_>, context: Extraction) -> Result<(), Stop> {
    let max = *probe.contract().extract.num_range.end();
    let (exchange, class) = probe.send_briefly(&context.request(probe).query(NUM, max)).await?;
    if let Some(served) = accepted(&exchange, &class) {
        content::judge(probe, "", &exchange, &served.response);
        return Ok(());
    }
    if class.decision() != Decision::Rejected && context.is_combined() {
        return Err(probe.skip("this form returns fewer gateways than the maximum"));
    }
    if class.decision() != Decision::Rejected {
        return Err(content::undecided(probe, &class));
    }
    context.control(probe).await?;
    let expected = format!("accepted: {NUM}={max}, the largest value, {}", context.name());
    probe.finding(Clause::ExtractNumRange, &expected, class.description(), &[&exchange]);
    Ok(())
}

/// The default region may have too few gateways, and no fact says otherwise. But then the response says when to try again, and
/// differs from the one to a number beyond the range.
async fn maximum_of_default(probe: &Probe<'_>, context: Extraction) -> Result<(), Stop> {
    let max = *probe.contract().extract.num_range.end();
    let base = context.request(probe).without_query(REGIONS);
    // A shortage may have the status of a busy service, so this does not wait for it to pass.
    let (exchange, class) = probe.send_once(&base.clone().query(NUM, max)).await?;
    if let Some(served) = accepted(&exchange, &class) {
        content::judge(probe, "", &exchange, &served.response);
        return Ok(());
    }
    // Another check judges the form of the header.
    if class.decision() != Decision::Rejected || content::retry_after(&exchange).is_some() {
        return Err(probe.skip("the default region has fewer gateways than the maximum"));
    }
    let (beyond, _) = probe.send_once(&base.query(NUM, max + 1).as_invalid()).await?;
    if !rejected_alike(&exchange, &beyond) || complaint(&exchange) != complaint(&beyond) {
        return Err(
            probe.skip("the maximum of the default region is rejected for another reason than its size")
        );
    }
    context.control(probe).await?;
    let expected =
        format!("accepted: {NUM}={max}, the largest value, in the default region, {}", context.name());
    let actual = format!("{}, as for {NUM}={}", class.description(), max + 1);
    probe.finding(Clause::ExtractNumRange, &expected, &actual, &[&exchange, &beyond]);
    Ok(())
}

/// What a rejection says, without the numbers in it. A service may have one code for all rejections, a used-up quota among them.
fn complaint(exchange: &Exchange) -> Option<String> {
    let response = exchange.result.as_ref().ok()?;
    let said = response.at("/message").and_then(Value::as_str).map_or_else(|| response.text(), Into::into);
    Some(said.replace(|c: char| c.is_ascii_digit(), ""))
}

/// The control of this case is the next value, since the controls of all other checks are extractions of the minimum.
async fn minimum(probe: &Probe<'_>) -> Result<(), Stop> {
    let min = *probe.contract().extract.num_range.start();
    probe.control_once(&probe.extract().query(NUM, min + 1)).await?;
    let why = format!("{NUM}={min}, the smallest value");
    probe.accepts(Clause::ExtractNumRange, &why, &probe.extract().query(NUM, min)).await?;
    Ok(())
}

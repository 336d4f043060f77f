//! `num`: required, from 1 to 100, and never exceeded.

use super::content;
use super::forms::{Context, default_of};
use super::separator_input::invalid_beside_custom;
use crate::check::{Case, Check, Cost, Decision, Probe, ResponseClass, Run, Scope, Stop};
use crate::checks::Requests;
use crate::contract::{Clause, OperationId};
use crate::grammar::integer_texts;
use crate::target::Fact;

pub(super) static COUNT: Check = Check {
    id: "extract.count.most",
    title: "an extraction returns at most `num` entries",
    why: "Gateways beyond `num` are billed or locked for an account that never asked for them, and a caller that reads \
          `num` entries loses track of the others.",
    operation: Some(OperationId::Extract),
    clauses: &[Clause::ExtractCount],
    needs: &[],
    run: Run::Cases(|scope| {
        let extract = &scope.contract.extract;
        let least = *extract.num_range.start();
        // The fewest are what most other extractions ask for, and `extract.partial.watched` counts those.
        let few = (least + 1..=(least + 2).min(*extract.num_range.end())).map(|num| (Context::PLAIN, num));
        let others = Context::all(extract).into_iter().filter(|context| *context != Context::PLAIN);
        let case = |data: (Context, i64)| {
            let label = format!("{}/num={}", data.0.label(), data.1);
            let gateways = u32::try_from(data.1).unwrap_or(u32::MAX);
            Case::with(label, Cost::extraction(1, gateways), data, |probe, data| Box::pin(most(probe, data)))
        };
        let scarce = Context::in_query(extract).into_iter().filter(|context| !context.extra.region);
        let scarce = scarce.map(|context| {
            let label = format!("{}/scarce-region", context.label());
            let case = Case::with(label, Cost::extraction(1, 1), context, |probe, context| {
                Box::pin(most_of_scarce(probe, context))
            });
            case.needs([Fact::ScarceRegion])
        });
        few.chain(others.map(|context| (context, least + 1))).map(case).chain(scarce).collect()
    }),
};

async fn most(probe: &Probe<'_>, (context, asked): (Context, i64)) -> Result<(), Stop> {
    let request = context.request(probe).query(&probe.contract().extract.num.name, asked);
    let accepted = context.accepted(probe, &request).await?;
    content::judge_count(probe, &accepted.exchange, &accepted.response, asked);
    Ok(())
}

/// A region with a few gateways gives no more of them than are asked for either; a shortage gives none.
async fn most_of_scarce(probe: &Probe<'_>, context: Context) -> Result<(), Stop> {
    let extract = &probe.contract().extract;
    let region = probe.facts().scarce_region.as_deref().unwrap_or_default();
    let request = context.request(probe).query(&extract.regions.name, region);
    let (exchange, class) = probe.send_once(&request).await?;
    let (ResponseClass::Accepted, Ok(response)) = (&class, &exchange.result) else {
        return context.control(probe).await;
    };
    content::judge_count(probe, &exchange, response, *extract.num_range.start());
    Ok(())
}

pub(super) static BOUNDARIES: Check = Check {
    id: "extract.num-range.boundaries",
    title: "`num` outside 1 to 100 or not an integer is rejected",
    why: "A value out of range that is taken for its nearest bound, for zero or for its lower bits gives a caller another \
          number of gateways than it asked for, without an error.",
    operation: Some(OperationId::Extract),
    clauses: &[Clause::ExtractNumRange],
    needs: &[],
    run: Run::Cases(|scope| {
        let extract = &scope.contract.extract;
        // What is wrong most often meets every form, everything else two of them.
        let (start, end) = (*extract.num_range.start(), *extract.num_range.end());
        let near = [start - 1, -1, end + 1].map(|number| number.to_string());
        let (near, far): (Vec<_>, Vec<_>) =
            integer_texts(&extract.num_range).into_iter().partition(|value| near.contains(&value.text));
        let contexts = Context::all(extract);
        let everywhere =
            near.iter().flat_map(|value| contexts.iter().map(|context| (context.clone(), value.clone())));
        let beside_country = near.iter().map(|value| {
            let what = format!("{}={}, beside {}", extract.num.name, value.name, extract.country.name);
            let why = format!(
                "{}={}, {}, beside {}",
                extract.num.name, value.text, value.reason, extract.country.name
            );
            let text = value.text.clone();
            Context::PLAIN.invalid(what, Clause::ExtractNumRange, why, move |probe, request| {
                let extract = &probe.contract().extract;
                let region = request.query_value(&extract.regions.name).map(str::to_owned);
                let region = region.unwrap_or_else(|| default_of(&extract.regions));
                let request =
                    request.without_query(&extract.regions.name).query(&extract.country.name, region);
                request.query(&extract.num.name, &text)
            })
        });
        let beside_separator = near.iter().map(|value| {
            let name = extract.num.name.clone();
            let what = format!("{name}={}, beside a custom separator", value.name);
            let why = format!("{name}={}, {}, beside a custom separator", value.text, value.reason);
            let text = value.text.clone();
            invalid_beside_custom(extract, what, Clause::ExtractNumRange, why, move |request| {
                request.query(&name, &text)
            })
        });
        // Services like to tell of both.
        let (num, protocol) = (extract.num.name.clone(), extract.protocol.name.clone());
        let (what, why) = (format!("{num} and {protocol}"), format!("{num} and {protocol} are both wrong"));
        let both = Context::PLAIN.invalid(what, Clause::ExtractNumRange, why, move |_, request| {
            request.query(&num, start - 1).query(&protocol, "https")
        });
        let pairs = everywhere.chain(Context::one_for_each(&contexts, far));
        pairs
            .map(|(context, value)| context.invalid_value(&extract.num, &value, Clause::ExtractNumRange))
            .chain(beside_country)
            .chain(beside_separator)
            .chain([both])
            .collect()
    }),
};

pub(super) static MAXIMUM: Check = Check {
    id: "extract.num-range.maximum",
    title: "the largest `num` is accepted and never exceeded",
    why: "A limit below the documented one breaks callers that extract in full batches.",
    operation: Some(OperationId::Extract),
    clauses: &[Clause::ExtractCount, Clause::ExtractNumRange],
    needs: &[Fact::PlentifulRegion],
    run: Run::Cases(|scope| {
        let extract = &scope.contract.extract;
        let most = u32::try_from(*extract.num_range.end()).unwrap_or(u32::MAX);
        let form =
            |context: &Context| matches!(context.label().as_str(), "json" | "text") || context.is_combined();
        let case = |context: Context| {
            Case::with(context.label(), Cost::extraction(1, most), context, |probe, context| {
                Box::pin(maximum(probe, context))
            })
        };
        Context::all(extract).into_iter().filter(form).map(case).collect()
    }),
};

async fn maximum(probe: &Probe<'_>, context: Context) -> Result<(), Stop> {
    let extract = &probe.contract().extract;
    let most = *extract.num_range.end();
    let request = context.request(probe).query(&extract.num.name, most);
    let (exchange, class) = probe.send_briefly(&request).await?;
    if let (ResponseClass::Accepted, Ok(response)) = (&class, &exchange.result) {
        content::judge_count(probe, &exchange, response, most);
        return Ok(());
    }
    if class.decision() != Decision::Rejected && context.is_combined() {
        return Err(probe.skip("as many gateways can't be had in this form"));
    }
    if class.decision() != Decision::Rejected {
        return Err(probe.inconclusive(&format!("nothing was decided: {}", class.description())));
    }
    context.control(probe).await?;
    let expected = format!("accepted: {}={most}, the largest value, {}", extract.num.name, context.name());
    probe.finding(Clause::ExtractNumRange, &expected, class.description(), &[&exchange]);
    Ok(())
}

pub(super) static MINIMUM: Check = Check {
    id: "extract.num-range.minimum",
    title: "the smallest `num` is accepted",
    why: "A caller that needs one gateway has to extract and pay for more.",
    operation: Some(OperationId::Extract),
    clauses: &[Clause::ExtractNumRange],
    needs: &[],
    run: Run::Cases(|_| Case::single(Cost::extraction(2, 3), |probe| Box::pin(minimum(probe)))),
};

/// Every other check depends on the smallest value; this one depends on the next.
async fn minimum(probe: &Probe<'_>) -> Result<(), Stop> {
    let extract = &probe.contract().extract;
    let least = *extract.num_range.start();
    if least >= *extract.num_range.end() {
        return Err(probe.skip("`num` has one value only"));
    }
    probe.control_once(&probe.extract().query(&extract.num.name, least + 1)).await?;
    let why = format!("{}={least}, the smallest value", extract.num.name);
    probe.accepts(Clause::ExtractNumRange, &why, &probe.extract().query(&extract.num.name, least)).await?;
    Ok(())
}

pub(super) static REQUIRED: Check = Check {
    id: "extract.num-required.absent",
    title: "an extraction without `num` is rejected",
    why: "A service that guesses a number hands out gateways to a caller whose request was built wrongly, and the caller \
          does not notice its mistake.",
    operation: Some(OperationId::Extract),
    clauses: &[Clause::ExtractNumRequired],
    needs: &[],
    run: Run::Cases(required),
};

fn required(scope: &Scope<'_>) -> Vec<Case> {
    let extract = &scope.contract.extract;
    let case = |(context, is_empty): (Context, bool)| {
        let name = extract.num.name.clone();
        let (what, reason) = if is_empty { ("empty", "num is empty") } else { ("absent", "num is absent") };
        context.invalid(what, Clause::ExtractNumRequired, reason, move |_, request| {
            if is_empty { request.query(&name, "") } else { request.without_query(&name) }
        })
    };
    Context::all(extract)
        .into_iter()
        .flat_map(|context| [(context.clone(), false), (context, true)])
        .map(case)
        .collect()
}

//! `num`: required, from 1 to 100, and never exceeded.

use super::*;

pub(super) static PROGRAMS: &[Program] = &[
    active("extract.count.most", |scope| {
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
        let scarce = scarce.giving(1, Unless::Nothing, &[Judge::Response]);
        let rows = few.chain(others.map(|form| (form, min + 1))).map(row);
        cases(ExtractCount, rows.chain(each(&named_region(extract), [scarce])))
    }),
    active("extract.num-range.boundaries", |scope| {
        let extract = &scope.contract.extract;
        let forms = Extraction::all(extract);
        // The most likely mistakes are tested in every form, all others in two forms.
        let likely = [Min(-1), "-1".into(), Max(1)].map(|value| value.text(scope.contract, scope.facts, NUM));
        let (near, far): (Vec<_>, Vec<_>) =
            integer_texts(&extract.num_range).into_iter().partition(|value| likely.contains(&value.text));
        let beside_separator = near.iter().map(|Spelling { text, name, reason, .. }| {
            let why = format!("{NUM}={text}, {reason}, beside a custom separator");
            let row = reject(format!("{NUM}={name}, beside a custom separator"), why, [set(NUM, text)]);
            row.separated(*extract.num_range.start()).in_form(Extraction::TEXT)
        });
        let rows = each(&forms, values(NUM, near.clone())).into_iter();
        let rows = rows.chain(in_two(&forms, values(NUM, far))).chain(beside_separator);
        let rows = rows.chain(stated("extract.num-range.boundaries", scope));
        cases(ExtractNumRange, rows)
    }),
    active("extract.num-range.minimum", |_| {
        // The controls of all other checks are extractions of the minimum, so this one is the next value.
        let row = accept("", format!("{NUM} is the smallest value"), [set(NUM, Min(0))]);
        let row = row.labelled("").changing("num=2", [set(NUM, Min(1))], 2);
        cases(ExtractNumRange, [row.costing(Cost::extraction(2, 3))])
    }),
];

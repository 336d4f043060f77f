use super::combination;
use crate::check::{Case, Check, Cost, Probe, Run, Stop};
use crate::checks::Requests;
use crate::checks::relation::{
    Batch, Comparison, Filter, FilterKind, Page, apply, combinations, meeting, page, survey,
};
use crate::contract::{Clause, OperationId};
use crate::target::Fact;

pub(super) static CHECK: Check = Check {
    id: "search.total.filters",
    title: "total counts what the filters leave, whatever the page",
    why: "",
    operation: Some(OperationId::Search),
    clauses: &[Clause::SearchTotal],
    needs: &[Fact::OwnAddresses],
    run: Run::Cases(|_| Case::single(Cost::requests(65), |probe| Box::pin(run(probe)))),
};

/// Pages of one instance: the total can't be mistaken for what is on them.
async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    let search = &probe.contract().search;
    let survey = survey(probe).await?;
    let mut comparison = Comparison::with(survey);
    let batches = survey.batches(search);
    let sets = [combinations(0), combinations(1), combinations(2)].concat();
    let sets = sets.into_iter().chain([FilterKind::ALL[1..].to_vec()]);
    for (index, (kinds, batch)) in sets.zip(batches.iter().cycle()).enumerate() {
        let Some(filters) = meeting(survey, &kinds) else { continue };
        let expected = survey.admitted(&filters).intersection(&batch.ids).count();
        let request = apply(search, probe.search(batch.items.clone()), &filters);
        let first = page(probe, &request, *search.pages.start(), *search.page_sizes.start()).await?;
        judge(&mut comparison, expected, &filters, batch, &first);
        // Of pairs every other one: pages of pairs are read as a whole elsewhere.
        if expected > 1 && (kinds.len() != 2 || index.is_multiple_of(2)) {
            let second = page(probe, &request, *search.pages.start() + 1, *search.page_sizes.start()).await?;
            judge(&mut comparison, expected, &filters, batch, &second);
        }
    }
    comparison.conclude(probe).await
}

fn judge(comparison: &mut Comparison<'_>, expected: usize, filters: &[Filter], batch: &Batch, page: &Page) {
    if usize::try_from(page.total) != Ok(expected) {
        let expected =
            format!("total {expected} for {} among {}", combination::describe(filters), batch.name);
        comparison.differs(Clause::SearchTotal, expected, page.total.to_string(), &[&page.exchange]);
    }
}

use crate::check::{Case, Check, Cost, Probe, Run, Stop};
use crate::checks::relation::{Comparison, page, survey};
use crate::contract::{Clause, OperationId};
use crate::target::Fact;

pub(super) static CHECK: Check = Check {
    id: "search.page-size.most",
    title: "a page holds as many instances as asked for, up to the largest size",
    why: "",
    operation: Some(OperationId::Search),
    clauses: &[Clause::SearchPageSize, Clause::SearchPaging, Clause::SearchTotal],
    needs: &[Fact::OwnAddresses],
    run: Run::Cases(|_| Case::single(Cost::requests(10), |probe| Box::pin(run(probe)))),
};

async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    let search = &probe.contract().search;
    let survey = survey(probe).await?;
    let mut comparison = Comparison::with(survey);
    let most = usize::try_from(*search.page_sizes.end()).unwrap_or(usize::MAX);
    let least = usize::try_from(*search.page_sizes.start()).unwrap_or(1);
    let count = survey.instances.len();
    for size in [least, count.saturating_sub(1), count, count + 1, most] {
        let size = size.clamp(least, most);
        let first =
            page(probe, &survey.request, *search.pages.start(), i64::try_from(size).unwrap_or(i64::MAX))
                .await?;
        if first.items.len() != size.min(count) {
            let expected = format!("{} of {count} instances on a page of {size}", size.min(count));
            let actual = first.items.len().to_string();
            comparison.differs(Clause::SearchPageSize, expected, actual, &[&first.exchange]);
        }
    }
    comparison.conclude(probe).await
}

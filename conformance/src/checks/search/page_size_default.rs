use crate::check::{Case, Check, Cost, Probe, Run, Stop};
use crate::checks::relation::{Comparison, Page, page, survey};
use crate::contract::{Clause, OperationId};
use crate::target::Fact;

pub(super) static CHECK: Check = Check {
    id: "search.page-size.default",
    title: "without pageSize a page holds the default number of instances",
    why: "",
    operation: Some(OperationId::Search),
    clauses: &[Clause::SearchPageSize, Clause::SearchPage],
    needs: &[Fact::OwnAddresses],
    run: Run::Cases(|_| Case::single(Cost::requests(9), |probe| Box::pin(run(probe)))),
};

async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    let search = &probe.contract().search;
    let survey = survey(probe).await?;
    let mut comparison = Comparison::with(survey);
    let size = search.default_page_size;
    for number in survey.pages(search, size).take(2) {
        let explicit = page(probe, &survey.request, number, size).await?;
        let without = survey.request.clone().field(&search.page.name, number);
        let what = format!("page {number} without pageSize");
        let Some(accepted) = probe.accepts(Clause::SearchPageSize, &what, &without).await? else { continue };
        let default = Page::read(probe, accepted)?;
        if default.ids() != explicit.ids() {
            let expected = format!("{what} holds what it holds with {size}: {:?}", explicit.ids());
            let exchanges = [&explicit.exchange, &default.exchange];
            comparison.differs(Clause::SearchPageSize, expected, format!("{:?}", default.ids()), &exchanges);
        }
    }
    comparison.conclude(probe).await
}

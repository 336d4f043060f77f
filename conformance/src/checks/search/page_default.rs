use crate::check::{Case, Check, Cost, Probe, Run, Stop};
use crate::checks::Requests;
use crate::checks::relation::{Comparison, Page, page, survey};
use crate::contract::{Clause, OperationId};
use crate::target::Fact;

pub(super) static CHECK: Check = Check {
    id: "search.page.default",
    title: "without page the first page comes",
    why: "",
    operation: Some(OperationId::Search),
    clauses: &[Clause::SearchPage],
    needs: &[Fact::OwnAddresses],
    run: Run::Cases(|_| Case::single(Cost::requests(8), |probe| Box::pin(run(probe)))),
};

async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    let search = &probe.contract().search;
    let plain = probe.any_search();
    probe.control_once(&plain).await?;
    let sized = plain.field(&search.page_size.name, search.default_page_size);
    if probe.accepts(Clause::SearchPage, "a pageSize without page", &sized).await?.is_none() {
        return Ok(());
    }
    let survey = survey(probe).await?;
    let mut comparison = Comparison::with(survey);
    let size = survey.page_size(3);
    let explicit = page(probe, &survey.request, search.default_page, size).await?;
    let without = survey.request.clone().field(&search.page_size.name, size);
    if let Some(accepted) = probe.accepts(Clause::SearchPage, "a search without page", &without).await? {
        let default = Page::read(probe, accepted)?;
        if default.ids() != explicit.ids() {
            let expected =
                format!("without page, what page {} holds: {:?}", search.default_page, explicit.ids());
            let exchanges = [&explicit.exchange, &default.exchange];
            comparison.differs(Clause::SearchPage, expected, format!("{:?}", default.ids()), &exchanges);
        }
    }
    comparison.conclude(probe).await
}

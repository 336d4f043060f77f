use crate::check::{Case, Check, Cost, Probe, Run, Stop};
use crate::checks::relation::{Comparison, page, survey};
use crate::contract::{Clause, OperationId};
use crate::target::Fact;

pub(super) static CHECK: Check = Check {
    id: "search.paging.still",
    title: "the order of instances holds still",
    why: "",
    operation: Some(OperationId::Search),
    clauses: &[Clause::SearchPaging],
    needs: &[Fact::OwnAddresses],
    run: Run::Cases(|_| Case::single(Cost::requests(17), |probe| Box::pin(run(probe)))),
};

async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    let search = &probe.contract().search;
    let survey = survey(probe).await?;
    let mut comparison = Comparison::with(survey);
    let most = *search.page_sizes.end();
    let size = survey.page_size(3);
    let whole = survey.pages(search, most).map(|number| (number, most)).take(1);
    for (number, size) in whole.chain(survey.pages(search, size).map(|number| (number, size))) {
        let before = page(probe, &survey.request, number, size).await?;
        for _ in 0..REPEATS {
            let again = page(probe, &survey.request, number, size).await?;
            if again.ids() != before.ids() {
                let expected =
                    format!("page {number} of {size} each time in the same order: {:?}", before.ids());
                let exchanges = [&before.exchange, &again.exchange];
                comparison.differs(Clause::SearchPaging, expected, format!("{:?}", again.ids()), &exchanges);
            }
        }
    }
    comparison.conclude(probe).await
}

/// How often each page is read again.
const REPEATS: usize = 2;

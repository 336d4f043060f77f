use crate::check::{Accepted, Case, Check, Cost, Probe, ResponseClass, Run, Stop};
use crate::checks::relation::{Comparison, Page, page, survey};
use crate::contract::{Clause, OperationId, Unspecified};
use crate::target::Fact;
use crate::wire::Answer;

pub(super) static CHECK: Check = Check {
    id: "search.paging.end",
    title: "the exact last page is full, and what is past it is empty or refused",
    why: "",
    operation: Some(OperationId::Search),
    clauses: &[Clause::SearchPaging, Clause::SearchTotal],
    needs: &[Fact::OwnAddresses],
    run: Run::Cases(|_| Case::single(Cost::requests(17), |probe| Box::pin(run(probe)))),
};

async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    let search = &probe.contract().search;
    let survey = survey(probe).await?;
    let mut comparison = Comparison::with(survey);
    let count = survey.instances.len();
    let total = u64::try_from(count).unwrap_or(u64::MAX);
    for pages in [1, 2, 3] {
        // With this size the last page is full only when the size divides the total.
        let size =
            count.div_ceil(pages).clamp(1, usize::try_from(*search.page_sizes.end()).unwrap_or(usize::MAX));
        let last = count.div_ceil(size);
        let number = |page: usize| *search.pages.start() + i64::try_from(page).unwrap_or(0) - 1;
        let size_field = i64::try_from(size).unwrap_or(i64::MAX);
        let end = page(probe, &survey.request, number(last), size_field).await?;
        if end.items.len() != count - (last - 1) * size {
            let expected =
                format!("{} instances on the last page, {last}, of {size} each", count - (last - 1) * size);
            comparison.differs(Clause::SearchPaging, expected, end.items.len().to_string(), &[&end.exchange]);
        }
        for past in [number(last + 1), number(last + 7), *search.pages.end()] {
            let request = survey
                .request
                .clone()
                .field(&search.page.name, past)
                .field(&search.page_size.name, size_field);
            let (exchange, class) = probe.send(&request).await?;
            let answer = match (&exchange.result, class) {
                (Ok(answer), ResponseClass::Accepted) => answer.clone(),
                (_, ResponseClass::ServerError(what)) => {
                    let expected = format!("page {past}, past the last one, is empty or refused");
                    probe.finding(Clause::SearchPaging, &expected, &what, &[&exchange]);
                    continue;
                }
                (_, class) => {
                    probe.observe(
                        Unspecified::SearchPagePastEnd,
                        &format!("refused: {}", class.description()),
                    );
                    continue;
                }
            };
            let (echo_page, echo_size) =
                (echo(&answer, &search.page.name), echo(&answer, &search.page_size.name));
            let read = Page::read(probe, Accepted { answer, exchange })?;
            let expected = |what: &str| format!("{what} on page {past}, past the last one");
            let evidence = [&read.exchange];
            if !read.items.is_empty() {
                comparison.differs(
                    Clause::SearchPaging,
                    expected("no instance"),
                    read.items.len().to_string(),
                    &evidence,
                );
            }
            if (echo_page, echo_size) != (Some(past), Some(size_field)) {
                let actual = format!("page {echo_page:?}, pageSize {echo_size:?}");
                comparison.differs(
                    Clause::SearchPaging,
                    expected("page and pageSize as asked"),
                    actual,
                    &evidence,
                );
            }
            if read.total != total {
                comparison.differs(
                    Clause::SearchTotal,
                    expected(&format!("total {total}")),
                    read.total.to_string(),
                    &evidence,
                );
            }
        }
    }
    comparison.conclude(probe).await
}

fn echo(answer: &Answer, name: &str) -> Option<i64> {
    answer.at(&format!("/data/{name}"))?.as_i64()
}

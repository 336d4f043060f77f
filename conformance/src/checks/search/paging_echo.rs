use serde_json::Value;

use crate::check::{Accepted, Case, Check, Cost, Probe, Run, Stop};
use crate::checks::NOBODYS_ADDRESS;
use crate::checks::Requests;
use crate::checks::relation::survey;
use crate::contract::{Clause, OperationId};

pub(super) static CHECK: Check = Check {
    id: "search.paging.echo",
    title: "page and pageSize come back as asked, or as their defaults",
    why: "",
    operation: Some(OperationId::Search),
    clauses: &[Clause::SearchPage, Clause::SearchPageSize, Clause::SearchPaging],
    needs: &[],
    run: Run::Cases(|_| Case::single(Cost::requests(16), |probe| Box::pin(run(probe)))),
};

async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    let search = &probe.contract().search;
    let (page, size) = (&search.page.name, &search.page_size.name);
    let first = *search.pages.start();
    let sizes = [*search.page_sizes.start(), *search.page_sizes.end(), search.default_page_size + 1];
    for plain in [probe.any_search(), probe.search([NOBODYS_ADDRESS])] {
        let accepted = probe.control(&plain).await?;
        let defaults = [
            (Clause::SearchPage, page, search.default_page),
            (Clause::SearchPageSize, size, search.default_page_size),
        ];
        for (clause, name, expected) in defaults {
            echo(probe, clause, &accepted, name, expected);
        }
        for asked in sizes {
            let accepted = probe.control(&plain.clone().field(page, first).field(size, asked)).await?;
            echo(probe, Clause::SearchPaging, &accepted, page, first);
            echo(probe, Clause::SearchPaging, &accepted, size, asked);
        }
    }
    if probe.facts().own_addresses.is_empty() {
        return Ok(());
    }
    let Ok(survey) = survey(probe).await else { return Ok(()) };
    // One more than a third, so that the last page is not full.
    let size_asked = survey.page_size(3) + 1;
    for number in survey.pages(search, size_asked) {
        let request = survey.request.clone().field(page, number).field(size, size_asked);
        let accepted = probe.control(&request).await?;
        echo(probe, Clause::SearchPaging, &accepted, page, number);
        echo(probe, Clause::SearchPaging, &accepted, size, size_asked);
    }
    Ok(())
}

/// The answer names both as the request does.
fn echo(probe: &Probe<'_>, clause: Clause, accepted: &Accepted, name: &str, expected: i64) {
    let actual = accepted.answer.at(&format!("/data/{name}"));
    if actual.and_then(Value::as_i64) != Some(expected) {
        let actual = actual.map_or_else(|| "nothing".to_owned(), ToString::to_string);
        probe.finding(clause, &format!("data.{name} is {expected}"), &actual, &[&accepted.exchange]);
    }
}

//! Filters of a second account.

use super::*;

pub(super) static PROGRAMS: &[Program] = &[active("search.intersection.second-account", |_| {
    let case = |kind: FilterKind| Case::for_data(kind.phrase(), Cost::requests(3), kind, of_second_account);
    shown_kinds().map(case).collect()
})];

async fn of_second_account(probe: &Probe<'_>, kind: FilterKind) -> Result<(), Stop> {
    const MAX: usize = 100;
    let second = probe.required(Fact::SecondToken, |facts| facts.second_token.as_ref())?;
    let foreign = probe.facts().foreign_addresses.iter().take(MAX).cloned();
    let foreign = foreign.filter(|item| address_of(item).is_some());
    let token = Some(second.expose().to_owned());
    let query = Query { token, name: Some("the addresses of the second account"), ..Query::new(foreign) };
    let survey = Survey::alone(probe, &query).await?;
    let filters = survey.instances.values().filter_map(|instance| survey.filter(kind, instance));
    let queries = filters.map(|filter| query.clone().filtered([filter]).citing(SearchIntersection));
    let mut narrow = queries.filter(|query| query.expected(&survey).len() < survey.instances.len());
    let Some(query) = narrow.next() else {
        let lacks = "no such filter leaves out an instance of the second account";
        return Err(probe.skip_lacking(lacks, "addresses of its instances", Fact::ForeignAddresses));
    };
    relate(probe, &survey, Relation::Survey, &[query]).await
}

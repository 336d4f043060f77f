//! Fields of an instance do not depend on the other instances of a result.

use super::known::CHANGEABLE;
use super::*;

pub(super) static PROGRAMS: &[Program] = &[active("search.instance.consistent", |_| {
    let ways: [(_, _, Way); 3] = [
        ("alone", SOME, |account| {
            some(account).map(|instance| Query::new([account.survey.spelt(instance.ip)])).collect()
        }),
        ("beside a filter", SOME, |account| {
            let kinds = shown_kinds().filter(|kind| !kind.is_bound());
            let shown =
                some(account).zip(kinds).map(|(instance, kind)| Some(kind.with(kind.shown(instance)?)));
            shown.map(|filter| account.survey.query().filtered(filter)).collect()
        }),
        ("on small pages", SOME, |account| {
            let count = account.survey.instances.len().div_ceil(3).min(SOME as usize);
            (*account.search.pages.start()..)
                .take(count)
                .map(|number| Query { page: Some(number), size: Some(3), ..account.survey.query() })
                .collect()
        }),
    ];
    surveyed(ways, compare)
})];

const SOME: u32 = 4;

type Way = fn(Account<'_>) -> Vec<Query>;

/// Some instances, spread over the whole survey.
fn some(account: Account<'_>) -> impl Iterator<Item = &Instance> {
    let instances = &account.survey.instances;
    instances.values().step_by((instances.len() / SOME as usize).max(1)).take(SOME as usize)
}

async fn compare(probe: &Probe<'_>, way: Way) -> Result<(), Stop> {
    let account = Account::read(probe).await?;
    let queries = way(account);
    let first = differing(account, &queries).await?;
    if first.is_empty() {
        return Ok(());
    }
    let mut again = differing(account, &queries).await?;
    again.retain(|name, (difference, instances)| {
        // A replica that lags behind returns an instance in an old state, and later in the current one.
        let is_same = first.get(name).is_some_and(|(before, _)| before.actual == difference.actual);
        // The service may still cache a result from before a change of one instance.
        is_same && !(CHANGEABLE.contains(name) && instances.len() < 2)
    });
    report(probe, account.survey, again.into_values().map(|(difference, _)| difference).collect()).await
}

/// The first instance that differs in a field, and all that do.
type Differing<'a> = BTreeMap<&'a str, (Difference, BTreeSet<i64>)>;

/// The differences of instances from the survey, by field.
async fn differing<'a>(
    Account { probe, survey, .. }: Account<'a>,
    queries: &[Query],
) -> Result<Differing<'a>, Stop> {
    let mut differing = Differing::new();
    for query in queries {
        let request = query.request(probe);
        let (instances, exchanges) = match (query.page, query.size) {
            (Some(number), Some(size)) => {
                let page = page(probe, &request, number, size).await?;
                (page.items, vec![page.exchange])
            }
            _ => {
                let found = read(probe, &request).await?;
                (found.instances.into_values().collect(), found.exchanges)
            }
        };
        for shown in &instances {
            let Some(known) = survey.instances.get(&shown.id) else { continue };
            for name in known.differing(shown) {
                let [before, now] = [known, shown].map(|instance| {
                    instance.field(name).map_or_else(|| "nothing".to_owned(), ToString::to_string)
                });
                let (id, found_by) = (shown.id, query.describe());
                let difference = || Difference {
                    clause: SearchInstance,
                    expected: format!("instance {id} with {name} {before}, found by {found_by}"),
                    actual: format!("{name} {now}"),
                    exchanges: exchanges.clone(),
                    references: None,
                };
                let entry = differing.entry(name).or_insert_with(|| (difference(), BTreeSet::new()));
                entry.1.insert(shown.id);
            }
        }
    }
    Ok(differing)
}

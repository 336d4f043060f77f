//! Searches as rows of text below their rule: a relation, the label of the case and the number of its requests, and behind bars which
//! searches it judges. Sizes and pages are expressions of MiniJinja.

use std::sync::{Arc, LazyLock};

use minijinja::{Environment, Expression, Value as Known, context};

use super::surveyed::surveyed;
use super::*;
use crate::checks::row::fact;

/// The first words of these rows.
pub(in crate::checks) const RELATIONS: [(&str, Relation); 5] = [
    ("finds", Relation::Survey),
    ("pages", Relation::Pages),
    ("page", Relation::Page),
    ("still", Relation::Still),
    ("default", Relation::Default),
];

static WORDS: LazyLock<Environment<'static>> = LazyLock::new(Environment::new);

/// The searches of a row.
struct Searches {
    relation: Relation,
    items: &'static str,
    /// Filters that some instance passes together.
    filters: Vec<FilterKind>,
    writing: Writing,
    size: Option<Expression<'static, 'static>>,
    /// A list of pages.
    page: Option<Expression<'static, 'static>>,
    cites: Option<Clause>,
}

/// The case of a row; none when it can't be read.
pub(in crate::checks) fn case(line: &'static str) -> Option<Case> {
    let (head, parts) = line.split_once(" | ")?;
    let (word, label) = head.split_once(' ')?;
    let (_, relation) = RELATIONS.into_iter().find(|(name, _)| *name == word)?;
    let mut parts = parts.split(" | ");
    let requests = parts.next()?.parse().ok()?;
    let (items, writing, mut needs) = (EVERYTHING, Writing::Plain, Vec::new());
    let mut row =
        Searches { relation, items, filters: Vec::new(), writing, size: None, page: None, cites: None };
    let expression = |text: &'static str| {
        let expression = WORDS.compile_expression(text).ok()?;
        let words = expression.undeclared_variables(false);
        words.iter().all(|word| KNOWN.contains(&word.as_str())).then_some(expression)
    };
    for part in parts {
        match part.split_once(' ').unwrap_or((part, "")) {
            ("batch", name) => row.items = BATCHES.into_iter().find(|batch| *batch == name)?,
            _ if [SOME_INSTANCES, FULL_BATCH].contains(&part) => row.items = part,
            ("filter", names) => {
                let known = |name| kinds().find(|kind| kind.property.name == name);
                row.filters = names.split(" & ").map(known).collect::<Option<_>>()?;
            }
            ("needs", key) => needs.push(fact(key)?),
            ("null", "filters") => row.writing = Writing::NullFilter,
            ("size", text) => row.size = Some(expression(text)?),
            ("page", text) => row.page = Some(expression(text)?),
            ("of", id) => row.cites = Some(Clause::from_id(id)?),
            _ => return None,
        }
    }
    Some(surveyed([(label, requests, Arc::new(row))], judge).pop()?.needs(needs))
}

/// What expressions may use.
const KNOWN: [&str; 9] =
    ["count", "first", "last", "most", "largest", "small", "divisor", "no_divisor", "range"];

const EVERYTHING: &str = "everything";
/// The first addresses, with enough instances for a few small pages.
const SOME_INSTANCES: &str = "some instances";
/// Everything among as many items as there may be.
const FULL_BATCH: &str = "a full batch";

async fn judge(probe: &Probe<'_>, row: Arc<Searches>) -> Result<(), Stop> {
    let account = Account::read(probe).await?;
    relate(probe, account.survey, row.relation, &row.queries(account)?).await
}

impl Searches {
    fn queries(&self, account: Account<'_>) -> Result<Vec<Query>, Stop> {
        let Account { survey, search, .. } = account;
        let mut query = match self.items {
            EVERYTHING | FULL_BATCH => survey.query(),
            SOME_INSTANCES => some_instances(survey),
            name => account.batch(name)?,
        };
        if self.items == FULL_BATCH {
            query.items.extend(account.fill(&query.items));
        }
        if !self.filters.is_empty() {
            query = query.filtered(account.meeting(&self.filters)?);
        }
        query = Query { writing: self.writing, cites: self.cites, ..query };
        let count = i64::try_from(query.expected(survey).len()).unwrap_or(i64::MAX);
        let ((first, most), (smallest, largest)) =
            (search.pages.clone().into_inner(), search.page_sizes.clone().into_inner());
        let divides = |size: &i64| count % size == 0;
        let quarter = count / 4 + 1;
        let known = context! {
            count, first, most, largest,
            divisor => (2..count).find(divides).unwrap_or(count),
            no_divisor => (4..count).find(|size| !divides(size)).unwrap_or(count),
            // About three to six pages, the last of which is not full.
            small => if divides(&quarter) { quarter + 1 } else { quarter },
        };
        let wrong = |error: minijinja::Error| Stop::Error(format!("a row of searches: {error:#}"));
        let value = |text: &Option<Expression<'_, '_>>, known: &Known| {
            text.as_ref().map(|text| text.eval(known)).transpose().map_err(wrong)
        };
        if let Some(size) = value(&self.size, &known)? {
            let size = i64::try_from(size).map_err(wrong)?;
            query.size = Some(size.clamp(smallest.max(1), largest));
        }
        let pages = count.max(1).saturating_add(query.size.unwrap_or(search.default_page_size) - 1)
            / query.size.unwrap_or(search.default_page_size);
        let last = first + pages - 1;
        let Some(numbers) = value(&self.page, &context! { last, ..known.clone() })? else {
            return Ok(vec![query]);
        };
        let numbers = numbers.try_iter().map_err(wrong)?.map(i64::try_from).collect::<Result<Vec<_>, _>>();
        let mut numbers = numbers.map_err(wrong)?;
        numbers.retain(|number| search.pages.contains(number));
        let is_short = match self.relation {
            Relation::Default => numbers.iter().any(|number| *number > last),
            Relation::Still => count < 2 && !self.filters.is_empty(),
            _ => false,
        };
        if is_short {
            return Err(account.lacks("the searched addresses have too few such instances", "more addresses"));
        }
        Ok(numbers.into_iter().map(|page| Query { page: Some(page), ..query.clone() }).collect())
    }
}

fn some_instances(survey: &Survey) -> Query {
    const ENOUGH: usize = 13;
    let mut addresses = survey.addresses.clone();
    let first = |count: &usize| {
        survey.ids_where(|instance| survey.addresses[..*count].contains(&instance.ip)).len() >= ENOUGH
    };
    addresses.truncate((1..addresses.len()).find(first).unwrap_or(addresses.len()));
    addresses.sort_unstable();
    Query::new(addresses.into_iter().map(|ip| survey.spelt(ip)))
}

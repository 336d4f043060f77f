//! Searches as rows of text below their rule: a relation, the label of the case and the number of its requests, and behind bars which
//! searches it judges. What these are chosen from are expressions of MiniJinja, whose words stand in `words.rs`.

use std::sync::Arc;

use minijinja::{Error, Expression, Value as Known};

use super::words::{self, FUNCTIONS};
use super::*;
use crate::checks::row::fact;

struct Searches {
    relation: Relation,
    batch: &'static str,
    codes: BTreeMap<&'static str, Code>,
    /// Whether the list of elements may be empty, and then nothing is judged.
    may_be_none: bool,
    filters: Filters,
    /// Further filters with their values.
    values: Vec<(FilterKind, Code)>,
    writing: Writing,
    cites: Option<Clause>,
    is_open: bool,
    /// Whether only the first search is sent that must find nothing.
    finds_nothing: bool,
    /// Why the case is skipped where no search can be made, and what to add.
    lacks: (&'static str, &'static str),
}

enum Filters {
    /// Those that some instance passes together.
    Meeting(Vec<FilterKind>),
    /// Two of which each finds an instance at two addresses, and none passes both.
    Excluding(Vec<FilterKind>),
    /// All, with the values of an instance, but for the value of this one, which is that of another instance.
    AllBut(FilterKind),
    /// The one that most instances pass.
    Widest,
}

/// An expression with the words that it uses.
struct Code {
    expression: Expression<'static, 'static>,
    words: BTreeSet<String>,
}

/// The words of expressions about one search: the element of the list, its place in it, and the items of the batch.
const OF_ONE: [&str; 3] = ["it", "at", "items"];
/// Those that depend on the number of instances that it finds.
const OF_COUNT: [&str; 7] = ["it", "at", "count", "small", "divisor", "no_divisor", "sizes"];
const OF_PAGE: [&str; 8] = ["it", "at", "count", "small", "divisor", "no_divisor", "sizes", "last"];
/// The parts that are expressions, and their words beside those of the account.
const CODES: [(&str, &[&str]); 7] = [
    // Whether there is what the searches are made from.
    ("given", &[]),
    // A list, for each of whose elements there is a search.
    ("each", &[]),
    ("items", &OF_ONE),
    ("offset", &OF_ONE),
    ("size", &OF_COUNT),
    // A list of pages.
    ("page", &OF_PAGE),
    // Whether a filter is null.
    ("null", &OF_ONE),
];

/// The case of a row; none when it can't be read.
pub(crate) fn case(line: &'static str) -> Option<Case> {
    let (head, parts) = line.split_once(" | ")?;
    let (word, label) = head.split_once(' ')?;
    let relation = Relation::of_rows(word)?;
    let mut parts = parts.split(" | ");
    let requests = parts.next()?.parse().ok()?;
    let mut needs = Vec::new();
    let mut row = Searches {
        relation,
        batch: EVERYTHING,
        codes: BTreeMap::new(),
        may_be_none: false,
        filters: Filters::Meeting(Vec::new()),
        values: Vec::new(),
        writing: Writing::Plain,
        cites: None,
        is_open: false,
        finds_nothing: false,
        lacks: ("no suitable one of the searched addresses has an instance", "one"),
    };
    let all = |names: &str| names.split(" & ").map(kind_of).collect::<Option<Vec<_>>>();
    for part in parts {
        match part.split_once(' ').unwrap_or((part, "")) {
            _ if [SOME_INSTANCES, FULL_BATCH].contains(&part) => row.batch = part,
            _ if part == "items last" => row.writing = Writing::ItemsLast,
            _ if part == "the widest filter" => row.filters = Filters::Widest,
            _ if part == "the first that finds nothing" => row.finds_nothing = true,
            ("open", "") => row.is_open = true,
            ("batch", name) => row.batch = BATCHES.into_iter().find(|batch| *batch == name)?,
            ("filter", names) => row.filters = Filters::Meeting(all(names)?),
            ("excluding", names) => row.filters = Filters::Excluding(all(names)?),
            ("all", but) => row.filters = Filters::AllBut(kind_of(but.strip_prefix("but ")?)?),
            ("where", filter) => {
                let (name, text) = filter.split_once(" = ")?;
                row.values.push((kind_of(name)?, Code::read(text, &OF_ONE)?));
            }
            ("of", id) => row.cites = Some(Clause::from_id(id)?),
            ("needs", key) => needs.push(fact(key)?),
            ("or", text) => row.lacks = text.strip_prefix("skip ")?.split_once("; ")?,
            (word, text) => {
                let (name, also) = *CODES.iter().find(|(name, _)| *name == word)?;
                let text = if part == "null filters" { "true" } else { text };
                let text =
                    if name == "null" { text.strip_prefix("filters if ").unwrap_or(text) } else { text };
                row.may_be_none |= text.ends_with(IF_ANY);
                row.codes.insert(name, Code::read(text.strip_suffix(IF_ANY).unwrap_or(text), also)?);
            }
        }
    }
    Some(surveyed([(label, requests, Arc::new(row))], judge).pop()?.needs(needs))
}

const IF_ANY: &str = ", if any";
const EVERYTHING: &str = "everything";
/// The first addresses, with enough instances for a few small pages.
const SOME_INSTANCES: &str = "some instances";
/// Everything among as many items as there may be.
const FULL_BATCH: &str = "a full batch";

async fn judge(probe: &Probe<'_>, row: Arc<Searches>) -> Result<(), Stop> {
    let account = Account::read(probe).await?;
    relate(probe, account.survey, row.relation, &row.queries(account)?).await
}

impl Code {
    /// None for a text with an unknown word, which is neither one of the account nor one of `also`.
    fn read(text: &'static str, also: &[&str]) -> Option<Self> {
        let expression = FUNCTIONS.compile_expression(text).ok()?;
        let words = words::used(text);
        let is_known = |word: &String| {
            also.contains(&&**word)
                || words::KNOWN.split_whitespace().any(|known| known == words::family(word).0)
        };
        words.iter().all(is_known).then_some(Self { expression, words })
    }

    fn value(&self, account: Account<'_>, more: &[(&str, Known)]) -> Result<Known, Stop> {
        let mut known = BTreeMap::new();
        for word in &self.words {
            let value = match more.iter().find(|(name, _)| name == word) {
                Some((_, value)) => Some(value.clone()),
                None => account.word(word)?,
            };
            known.extend(value.map(|value| (word.as_str(), value)));
        }
        self.expression.eval(known).map_err(wrong)
    }
}

fn wrong(error: Error) -> Stop {
    Stop::Error(format!("a row of searches: {error:#}"))
}

fn elements(list: &Known) -> Result<Vec<Known>, Stop> {
    Ok(list.try_iter().map_err(wrong)?.collect())
}

impl Searches {
    fn lacks(&self, account: Account<'_>) -> Stop {
        account.lacks(self.lacks.0, self.lacks.1)
    }

    /// The value of a part; none if the row lacks it.
    fn value(&self, part: &str, account: Account<'_>, more: &[(&str, Known)]) -> Result<Option<Known>, Stop> {
        self.codes.get(part).map(|code| code.value(account, more)).transpose()
    }

    fn queries(&self, account: Account<'_>) -> Result<Vec<Query>, Stop> {
        if self.value("given", account, &[])?.is_some_and(|given| !given.is_true()) {
            return Err(self.lacks(account));
        }
        let each = self.value("each", account, &[])?.map(|each| elements(&each)).transpose()?;
        let each = each.unwrap_or_else(|| vec![Known::UNDEFINED]);
        let mut queries = Vec::new();
        let has_none = each.is_empty();
        for (at, it) in each.into_iter().enumerate() {
            queries.extend(self.of_element(account, &[("it", it), ("at", at.into())])?);
        }
        if self.finds_nothing {
            queries.retain(|query| query.expected(account.survey).is_empty());
            queries.truncate(1);
        }
        if (has_none && !self.may_be_none) || (self.finds_nothing && queries.is_empty()) {
            return Err(self.lacks(account));
        }
        Ok(queries)
    }

    /// The searches for one element of the list: one for each of its pages.
    fn of_element(&self, account: Account<'_>, element: &[(&str, Known)]) -> Result<Vec<Query>, Stop> {
        let Account { survey, search, .. } = account;
        let query = self.of_all_pages(account, element)?;
        let count = i64::try_from(query.expected(survey).len()).unwrap_or(i64::MAX);
        let (smallest, largest) = search.page_sizes.clone().into_inner();
        let divides = |size: &i64| count % size == 0;
        let quarter = count / 4 + 1;
        // Sizes of pages that find it all at once.
        let mut sizes = vec![largest, 100, largest - 1, largest / 2, 200];
        sizes.retain(|size| search.page_sizes.contains(size) && *size > count);
        let sizes = if sizes.is_empty() { vec![largest] } else { sizes };
        let mut known = element.to_vec();
        known.extend([
            ("count", count.into()),
            ("divisor", (2..count).find(divides).unwrap_or(count).into()),
            ("no_divisor", (4..count).find(|size| !divides(size)).unwrap_or(count).into()),
            // About three to six pages, the last of which is not full.
            ("small", if divides(&quarter) { quarter + 1 } else { quarter }.into()),
            ("sizes", sizes.into()),
        ]);
        let size = self.value("size", account, &known)?.filter(|size| !size.is_undefined());
        let size = size.map(|size| i64::try_from(size).map_err(wrong)).transpose()?;
        let query = Query { size: size.map(|size| size.clamp(smallest.max(1), largest)), ..query };
        let size = query.size.unwrap_or(search.default_page_size);
        let last = search.pages.start() + count.max(1).saturating_add(size - 1) / size - 1;
        known.push(("last", last.into()));
        let Some(pages) = self.value("page", account, &known)? else { return Ok(vec![query]) };
        // None is a search without page.
        let number =
            |number: Known| (!number.is_none()).then(|| i64::try_from(number).map_err(wrong)).transpose();
        let mut numbers = elements(&pages)?.into_iter().map(number).collect::<Result<Vec<_>, _>>()?;
        numbers.retain(|number| number.is_none_or(|number| search.pages.contains(&number)));
        let is_short = match self.relation {
            Relation::Default => numbers.iter().flatten().any(|number| *number > last),
            Relation::Still => count < 2 && !query.filters.is_empty(),
            _ => false,
        };
        if is_short {
            return Err(account.lacks("the searched addresses have too few such instances", "more addresses"));
        }
        Ok(numbers.into_iter().map(|page| Query { page, ..query.clone() }).collect())
    }

    fn of_all_pages(&self, account: Account<'_>, element: &[(&str, Known)]) -> Result<Query, Stop> {
        let survey = account.survey;
        let mut query = match self.batch {
            EVERYTHING | FULL_BATCH => survey.query(),
            SOME_INSTANCES => some_instances(survey),
            name => {
                let mut batches = survey.batches(account.search).iter();
                let lacks =
                    || account.lacks(&format!("the searched addresses have no {name}"), "more addresses");
                batches.find(|batch| batch.name == Some(name)).cloned().ok_or_else(lacks)?
            }
        };
        if self.batch == FULL_BATCH {
            query.items.extend(words::others(account.search.distinct_items, &query.items));
        }
        let known = [element, &[("items", query.items.clone().into())]].concat();
        if let Some(items) = self.value("items", account, &known)? {
            let items = elements(&items)?;
            let items: Option<Vec<String>> =
                items.iter().map(|item| item.as_str().map(str::to_owned)).collect();
            query.items = items.filter(|items| !items.is_empty()).ok_or_else(|| self.lacks(account))?;
            query.name = query.name.filter(|_| self.batch != EVERYTHING);
        }
        let lacks = || self.lacks(account);
        match &self.filters {
            Filters::Meeting(kinds) => {
                let lacks = "no instance at the searched addresses has values for all of these filters";
                let lacks = || account.lacks(lacks, "more addresses");
                query.filters = meeting(survey, kinds).ok_or_else(lacks)?;
            }
            Filters::Excluding(kinds) => query = excluding(survey, kinds).ok_or_else(lacks)?,
            Filters::AllBut(odd) => query = shown_by_all_but(survey, *odd).ok_or_else(lacks)?,
            Filters::Widest => {
                let filters = kinds().flat_map(|kind| survey.candidates(kind));
                let widest = filters.max_by_key(|filter| survey.admitted(std::slice::from_ref(filter)).len());
                query.filters.push(widest.ok_or_else(lacks)?);
            }
        }
        for (kind, value) in &self.values {
            query.filters.extend(words::filter(*kind, value.value(account, &known)?)?);
        }
        let offset = self.value("offset", account, &known)?;
        query.offset = offset.map(i32::try_from).transpose().map_err(wrong)?;
        // A batch of items with ports has none if no instance has a port that an item can have.
        let has_port = query.items.iter().any(|item| item.parse::<IpAddr>().is_err());
        let cites = self.cites.filter(|clause| *clause != SearchMatchPort || has_port);
        let is_null = self.value("null", account, &known)?.is_some_and(|null| null.is_true());
        let (writing, is_open) = (if is_null { Writing::NullFilter } else { self.writing }, self.is_open);
        Ok(Query { writing, cites, is_open, ..query })
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

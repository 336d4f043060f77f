use std::ops::RangeInclusive;
use std::sync::Arc;

use serde::{Deserialize, Deserializer};

use super::input::Input;
use super::operation::Operation;
use super::schema::Schema;
use super::source::{ContractError, Node};
use super::{Clause, part};

/// What a property of a search finds (`x-filter`).
#[derive(Debug)]
pub struct SearchFilter {
    /// Its place among the filters of the document.
    pub index: usize,
    /// The property.
    pub property: Input,
    /// The clause that says what it finds.
    pub clause: Clause,
    /// How a value is compared with the field.
    pub matching: Match,
    /// The field of an instance; none where instances do not show it.
    pub field: Option<String>,
    /// Whether the field may be null.
    pub is_nullable: bool,
    /// The number that finds instances whose field is null.
    pub null: Option<i64>,
    /// Whether null finds what an absent property finds.
    pub null_means_all: bool,
    /// Whether letter case is unspecified.
    pub has_open_case: bool,
}

/// How the value of a filter is compared with a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Match {
    /// It is equal.
    Equal,
    /// It is in the list.
    Contains,
    /// It is an inclusive lower bound.
    AtLeast,
    /// It is an inclusive upper bound.
    AtMost,
}

/// How a result is divided into pages (`x-page`), with JSON pointers into a response.
#[derive(Debug, Deserialize)]
pub struct Paging {
    /// The property that is the number of the page.
    pub number: String,
    /// The property that is the maximum number of instances on a page.
    pub size: String,
    /// The instances of the page.
    #[serde(deserialize_with = "pointer")]
    pub items: String,
    /// The number of instances on all pages.
    #[serde(deserialize_with = "pointer")]
    pub total: String,
    /// What the response repeats.
    pub echo: Echo,
    /// The member of an instance that identifies it.
    pub identity: String,
}

/// JSON pointers to number and size of a page in a response.
#[derive(Debug, Deserialize)]
pub struct Echo {
    /// The number.
    #[serde(deserialize_with = "pointer")]
    pub number: String,
    /// The size.
    #[serde(deserialize_with = "pointer")]
    pub size: String,
}

/// The batch search: its body by property, and its limits.
#[derive(Debug)]
#[expect(missing_docs, reason = "each property has its name; the others are described")]
pub struct Search {
    pub operation: Operation,
    pub ips: Input,
    pub status: Input,
    pub page: Input,
    pub page_size: Input,
    /// What each property finds, but for the addresses.
    pub filters: Vec<SearchFilter>,
    /// How a result is divided into pages.
    pub paging: Paging,
    /// Minimum and maximum number of items of `ips`.
    pub raw_items: RangeInclusive<usize>,
    /// Maximum number of items after de-duplication.
    pub distinct_items: usize,
    /// Valid ports of an item.
    pub ports: RangeInclusive<i64>,
    pub pages: RangeInclusive<i64>,
    pub default_page: i64,
    pub page_sizes: RangeInclusive<i64>,
    pub default_page_size: i64,
    pub instance_fields: Arc<[String]>,
    pub statuses: Vec<String>,
}

impl Search {
    pub(super) fn read((operation, node): (Operation, Node<'_>)) -> Result<Self, ContractError> {
        let paging: Paging = node.read("/x-page")?;
        let take = |name: &str| operation.input(name, &node);
        part::FILTERS.into_iter().try_for_each(|name| take(name).map(drop))?;
        let (page, page_size) = (take(&paging.number)?, take(&paging.size)?);
        let (ips, status) = (take(part::IPS)?, take(part::STATUS)?);
        let response = node.get("/responses/200/content/application~1json/schema")?;
        let items = paging.items.replace('/', "/properties/");
        let instance = response.get(&format!("{items}/items/properties"))?;
        let items =
            node.get(&format!("/requestBody/content/application~1json/schema/properties/{}", ips.name))?;
        let default = |schema: &Schema| schema.default.as_ref()?.as_i64();
        Ok(Self {
            filters: filters(&node, &operation.body, &paging, &instance)?,
            raw_items: ips.needs("minItems and maxItems", |ips| Some(ips.min_items?..=ips.max_items?))?,
            distinct_items: items.read("/x-max-distinct")?,
            ports: items.read("/items/x-port/minimum")?..=items.read("/items/x-port/maximum")?,
            pages: page.needs("minimum and maximum", Schema::range)?,
            default_page: page.needs("a default", default)?,
            page_sizes: page_size.needs("minimum and maximum", Schema::range)?,
            default_page_size: page_size.needs("a default", default)?,
            instance_fields: instance.members()?.into_iter().map(|(name, _)| name).collect(),
            statuses: status.needs("an enum of strings", Schema::strings)?,
            operation,
            ips,
            status,
            page,
            page_size,
            paging,
        })
    }
}

/// What `x-filter` says of a property.
#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct DeclaredFilter {
    #[serde(rename = "match")]
    matching: Match,
    field: Option<String>,
    finds_null: Option<i64>,
    when_null: Option<String>,
    letter_case: Option<String>,
}

/// The filters of `x-filter`. Each property of the body is one of them, the addresses, or the number or size of a page.
fn filters(
    node: &Node<'_>,
    properties: &[Input],
    paging: &Paging,
    instance: &Node<'_>,
) -> Result<Vec<SearchFilter>, ContractError> {
    let declared = node.get("/x-filter")?;
    let mut filters = Vec::new();
    for property in properties.iter().filter(|one| ![&paging.number, &paging.size].contains(&&one.name)) {
        let filter = declared.get(&format!("/{}", property.name))?;
        if filter.value["match"] == "address" {
            continue;
        }
        let DeclaredFilter { matching, field, finds_null, when_null, letter_case } = filter.read("")?;
        let schema = field.as_ref().map(|field| instance.get(&format!("/{field}"))).transpose()?;
        if field.is_none() && property.name != part::ORDER_NO {
            let message = "the suite has no fact that tells which instances such a filter finds";
            return Err(filter.wrong(message));
        }
        let clause = property.citations.clause("type");
        filters.push(SearchFilter {
            index: filters.len(),
            property: property.clone(),
            clause: clause.ok_or_else(|| filter.wrong("its property cites no clause"))?,
            matching,
            field,
            is_nullable: schema.is_some_and(|schema| schema.value["nullable"] == true),
            null: finds_null,
            null_means_all: when_null.is_some(),
            has_open_case: letter_case.is_some(),
        });
    }
    Ok(filters)
}

/// A pointer of JSON for a path such as `data.items`.
fn pointer<'de, D: Deserializer<'de>>(path: D) -> Result<String, D::Error> {
    String::deserialize(path).map(|path| format!("/{}", path.replace('.', "/")))
}

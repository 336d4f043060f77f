use std::ops::RangeInclusive;
use std::sync::Arc;

use serde::{Deserialize, Deserializer};

use super::operation::Operation;
use super::schema::Property;
use super::source::{ContractError, Node};
use super::{Clause, part};

/// What a property of a search finds (`x-filter`).
#[derive(Debug)]
pub struct SearchFilter {
    /// Its place among the filters of the document.
    pub index: usize,
    /// The property.
    pub property: Property,
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
pub struct Search {
    /// Method, path and success.
    pub operation: Operation,
    /// The addresses.
    pub ips: Property,
    /// Filter by order number.
    pub order_no: Property,
    /// Filter by group.
    pub group_id: Property,
    /// Filter by country.
    pub country_code: Property,
    /// Filter by city.
    pub city_code: Property,
    /// Filter by status.
    pub status: Property,
    /// Number of the page.
    pub page: Property,
    /// Maximum number of instances on a page.
    pub page_size: Property,
    /// Lower bound on the activation time.
    pub activated_from: Property,
    /// Upper bound on the activation time.
    pub activated_to: Property,
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
    /// Valid values of `page`.
    pub pages: RangeInclusive<i64>,
    /// Default of `page`.
    pub default_page: i64,
    /// Valid values of `pageSize`.
    pub page_sizes: RangeInclusive<i64>,
    /// Default of `pageSize`.
    pub default_page_size: i64,
    /// Every field of an instance.
    pub instance_fields: Arc<[String]>,
    /// Every status.
    pub statuses: Vec<String>,
}

impl Search {
    pub(super) fn read((operation, node): (Operation, Node<'_>)) -> Result<Self, ContractError> {
        operation.has_only(&[], &node)?;

        let paging: Paging = node.get("x-page")?.read()?;
        let take = |name: &str| {
            let found = operation.body.iter().find(|property| property.name == name).cloned();
            found.ok_or_else(|| node.wrong(&format!("expected a body property `{name}`")))
        };
        let (page, page_size) = (take(&paging.number)?, take(&paging.size)?);
        let (ips, status) = (take(part::IPS)?, take(part::STATUS)?);
        let fields = instance(&node, &paging)?.get("properties")?.members()?;

        let schema = node.get("requestBody")?.get("content")?.get("application/json")?.get("schema")?;
        let items = schema.get("properties")?.get(&ips.name)?;
        let port = items.get("items")?.get("x-port")?;
        Ok(Self {
            filters: filters(&node, &operation.body, &paging)?,
            raw_items: ips.schema.item_range()?,
            distinct_items: items.get("x-max-distinct")?.read()?,
            ports: port.get("minimum")?.read()?..=port.get("maximum")?.read()?,
            pages: page.schema.range()?,
            default_page: default(&page, &node)?,
            page_sizes: page_size.schema.range()?,
            default_page_size: default(&page_size, &node)?,
            instance_fields: fields.into_iter().map(|(name, _)| name.to_owned()).collect(),
            statuses: status.schema.strings()?,
            order_no: take(part::ORDER_NO)?,
            group_id: take(part::GROUP_ID)?,
            country_code: take(part::COUNTRY_CODE)?,
            city_code: take(part::CITY_CODE)?,
            activated_from: take(part::ACTIVATED_FROM)?,
            activated_to: take(part::ACTIVATED_TO)?,
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
    properties: &[Property],
    paging: &Paging,
) -> Result<Vec<SearchFilter>, ContractError> {
    let (declared, fields) = (node.get("x-filter")?, instance(node, paging)?.get("properties")?);
    let mut filters = Vec::new();
    for property in properties.iter().filter(|one| ![&paging.number, &paging.size].contains(&&one.name)) {
        let filter = declared.get(&property.name)?;
        if filter.value["match"] == "address" {
            continue;
        }
        let DeclaredFilter { matching, field, finds_null, when_null, letter_case } = filter.read()?;
        let schema = field.as_ref().map(|field| fields.get(field)).transpose()?;
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

/// The schema of an instance.
fn instance<'a>(operation: &Node<'a>, paging: &Paging) -> Result<Node<'a>, ContractError> {
    let envelope =
        operation.get("responses")?.get("200")?.get("content")?.get("application/json")?.get("schema")?;
    let items = paging.items[1..]
        .split('/')
        .try_fold(envelope, |schema, name| schema.get("properties")?.get(name))?;
    items.get("items")
}

/// A pointer of JSON for a path such as `data.items`.
fn pointer<'de, D: Deserializer<'de>>(path: D) -> Result<String, D::Error> {
    String::deserialize(path).map(|path| format!("/{}", path.replace('.', "/")))
}

fn default(property: &Property, node: &Node<'_>) -> Result<i64, ContractError> {
    let default = property.schema.default.as_ref().and_then(serde_json::Value::as_i64);
    default.ok_or_else(|| node.wrong(&format!("expected a default of `{}`", property.name)))
}

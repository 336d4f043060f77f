use std::ops::RangeInclusive;
use std::sync::Arc;

use super::operation::{Operation, OperationId, body_properties};
use super::parameter::Parameter;
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
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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

/// The batch search: its body by property, and its limits.
#[derive(Debug)]
pub struct Search {
    /// Method, path and success.
    pub operation: Operation,
    /// The token.
    pub api_key: Parameter,
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
    body: Vec<Property>,
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
    pub(super) fn read(root: &Node<'_>) -> Result<Self, ContractError> {
        let (operation, mut parameters, node) = Operation::read(root, OperationId::Search)?;
        let api_key = parameters.credential()?;
        parameters.finish()?;

        let properties = body_properties(&node)?;
        let take = |name: &str| {
            let found = properties.iter().find(|property| property.name == name).cloned();
            found.ok_or_else(|| node.wrong(&format!("expected a body property `{name}`")))
        };
        let filters = filters(&node, &properties)?;
        let ips = take(part::IPS)?;
        let order_no = take(part::ORDER_NO)?;
        let group_id = take(part::GROUP_ID)?;
        let country_code = take(part::COUNTRY_CODE)?;
        let city_code = take(part::CITY_CODE)?;
        let status = take(part::STATUS)?;
        let page = take(part::PAGE)?;
        let page_size = take(part::PAGE_SIZE)?;
        let activated_from = take(part::ACTIVATED_FROM)?;
        let activated_to = take(part::ACTIVATED_TO)?;

        let schema = node.get("requestBody")?.get("content")?.get("application/json")?.get("schema")?;
        let items = schema.get("properties")?.get(&ips.name)?;
        Ok(Self {
            raw_items: ips.schema.item_range()?,
            distinct_items: usize::try_from(items.get("x-max-distinct")?.integer()?)
                .map_err(|_| items.wrong("expected x-max-distinct from 0"))?,
            ports: ports(&items.get("items")?)?,
            pages: page.schema.range()?,
            default_page: default(&page, &node)?,
            page_sizes: page_size.schema.range()?,
            default_page_size: default(&page_size, &node)?,
            instance_fields: instance_fields(&node)?.into(),
            statuses: status.schema.strings()?,
            operation,
            api_key,
            ips,
            order_no,
            group_id,
            country_code,
            city_code,
            status,
            page,
            page_size,
            activated_from,
            activated_to,
            filters,
            body: properties,
        })
    }

    /// Every property of the body.
    pub fn properties(&self) -> impl Iterator<Item = &Property> {
        self.body.iter()
    }
}

/// The filters of `x-filter`. Each property of the body is one of them, the addresses, or the number or size of a page.
fn filters(node: &Node<'_>, properties: &[Property]) -> Result<Vec<SearchFilter>, ContractError> {
    let (declared, fields) = (node.get("x-filter")?, instance(node)?.get("properties")?);
    let mut filters = Vec::new();
    for property in
        properties.iter().filter(|property| ![part::PAGE, part::PAGE_SIZE].contains(&&*property.name))
    {
        let filter = declared.get(&property.name)?;
        let matching = match filter.get("match")?.string()? {
            "equal" => Match::Equal,
            "contains" => Match::Contains,
            "at-least" => Match::AtLeast,
            "at-most" => Match::AtMost,
            "address" => continue,
            other => return Err(filter.wrong(&format!("unknown match `{other}`"))),
        };
        let field = filter.optional("field", Node::text)?;
        let schema = field.as_ref().map(|field| fields.get(field)).transpose()?;
        let nullable = schema.map(|schema| schema.optional("nullable", Node::boolean)).transpose()?;
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
            is_nullable: nullable.flatten().unwrap_or(false),
            null: filter.optional("finds-null", Node::integer)?,
            null_means_all: filter.find("when-null").is_some(),
            has_open_case: filter.find("letter-case").is_some(),
        });
    }
    Ok(filters)
}

/// The schema of an instance.
fn instance<'a>(operation: &Node<'a>) -> Result<Node<'a>, ContractError> {
    let envelope =
        operation.get("responses")?.get("200")?.get("content")?.get("application/json")?.get("schema")?;
    let items = operation.get("x-page")?.get("items")?.text()?;
    let items = items.split('.').try_fold(envelope, |schema, name| schema.get("properties")?.get(name))?;
    items.get("items")
}

fn instance_fields(operation: &Node<'_>) -> Result<Vec<String>, ContractError> {
    let fields = instance(operation)?.get("properties")?.members()?;
    Ok(fields.into_iter().map(|(name, _)| name.to_owned()).collect())
}

fn ports(item: &Node<'_>) -> Result<RangeInclusive<i64>, ContractError> {
    let port = item.get("x-port")?;
    Ok(port.get("minimum")?.integer()?..=port.get("maximum")?.integer()?)
}

fn default(property: &Property, node: &Node<'_>) -> Result<i64, ContractError> {
    let default = property.schema.default.as_ref().and_then(serde_json::Value::as_i64);
    default.ok_or_else(|| node.wrong(&format!("expected a default of `{}`", property.name)))
}

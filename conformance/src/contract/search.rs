use std::ops::RangeInclusive;
use std::sync::Arc;

use super::operation::{Operation, OperationId, body_properties};
use super::parameter::Parameter;
use super::part;
use super::schema::Property;
use super::source::{ContractError, Node};

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
    /// Every filter.
    pub const FILTERS: [fn(&Self) -> &Property; 7] = [
        |search| &search.order_no,
        |search| &search.group_id,
        |search| &search.country_code,
        |search| &search.city_code,
        |search| &search.status,
        |search| &search.activated_from,
        |search| &search.activated_to,
    ];

    pub(super) fn read(root: &Node<'_>) -> Result<Self, ContractError> {
        let (operation, mut parameters, node) = Operation::read(root, OperationId::Search)?;
        let api_key = parameters.credential()?;
        parameters.finish()?;

        let mut properties = body_properties(&node)?;
        let mut take = |name: &str| {
            let found = properties.iter().position(|property| property.name == name);
            found
                .map(|index| properties.remove(index))
                .ok_or_else(|| node.wrong(&format!("expected a body property `{name}`")))
        };
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
        if let Some(unknown) = properties.first() {
            return Err(node.wrong(&format!(
                "no check knows the body property `{}`: read it in conformance/src/contract/search.rs and write its checks",
                unknown.name
            )));
        }

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
        })
    }

    /// Every property of the body.
    pub fn properties(&self) -> [&Property; 10] {
        [
            &self.ips,
            &self.order_no,
            &self.group_id,
            &self.country_code,
            &self.city_code,
            &self.status,
            &self.page,
            &self.page_size,
            &self.activated_from,
            &self.activated_to,
        ]
    }
}

fn instance_fields(operation: &Node<'_>) -> Result<Vec<String>, ContractError> {
    let envelope =
        operation.get("responses")?.get("200")?.get("content")?.get("application/json")?.get("schema")?;
    let data = envelope.get("properties")?.get("data")?;
    let instance = data.get("properties")?.get("items")?.get("items")?;
    Ok(instance.get("properties")?.members()?.into_iter().map(|(name, _)| name.to_owned()).collect())
}

fn ports(item: &Node<'_>) -> Result<RangeInclusive<i64>, ContractError> {
    let port = item.get("x-port")?;
    Ok(port.get("minimum")?.integer()?..=port.get("maximum")?.integer()?)
}

fn default(property: &Property, node: &Node<'_>) -> Result<i64, ContractError> {
    let default = property.schema.default.as_ref().and_then(serde_json::Value::as_i64);
    default.ok_or_else(|| node.wrong(&format!("expected a default of `{}`", property.name)))
}

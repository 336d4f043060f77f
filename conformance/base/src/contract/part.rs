//! Names of the parts of requests. Reading the document fails if it lacks one.

/// Number of gateways.
pub const NUM: &str = "num";
/// Countries of the gateways.
pub const REGIONS: &str = "regions";
/// Alias of [`REGIONS`].
pub const COUNTRY: &str = "country";
/// Protocol of the gateways.
pub const PROTOCOL: &str = "protocol";
/// JSON or text.
pub const RETURN_TYPE: &str = "return_type";
/// Separator of a text response.
pub const LB: &str = "lb";
/// The custom separator.
pub const SB: &str = "sb";
/// Idempotency number in the query.
pub const REQUEST_ID: &str = "request_id";
/// Idempotency number in a header.
pub const REQUEST_ID_HEADER: &str = "X-Request-Id";

/// Addresses of a search.
pub const IPS: &str = "ips";
/// Statuses that instances may have.
pub const STATUS: &str = "status";
/// Number of the page, as `x-page` of the document names it.
pub const PAGE: &str = "page";
/// Maximum number of instances on a page.
pub const PAGE_SIZE: &str = "pageSize";

/// Filter: number of an order.
pub const ORDER_NO: &str = "orderNo";
/// Filter: a group.
pub const GROUP_ID: &str = "groupId";
/// Filter: a country.
pub const COUNTRY_CODE: &str = "countryCode";
/// Filter: a city.
pub const CITY_CODE: &str = "cityCode";
/// Filter: earliest time of activation.
pub const ACTIVATED_FROM: &str = "activatedFrom";
/// Filter: latest time of activation.
pub const ACTIVATED_TO: &str = "activatedTo";

/// The filters of a search, beside [`STATUS`].
pub(super) const FILTERS: [&str; 6] =
    [ORDER_NO, GROUP_ID, COUNTRY_CODE, CITY_CODE, ACTIVATED_FROM, ACTIVATED_TO];

//! Names of the parts of requests. Reading the document fails if it lacks one.

/// Number of gateways.
pub(crate) const NUM: &str = "num";
pub(crate) const REGIONS: &str = "regions";
/// Alias of [`REGIONS`].
pub(crate) const COUNTRY: &str = "country";
pub(crate) const PROTOCOL: &str = "protocol";
/// JSON or text.
pub(crate) const RETURN_TYPE: &str = "return_type";
/// Separator of a text response.
pub(crate) const LB: &str = "lb";
/// The custom separator.
pub(crate) const SB: &str = "sb";
/// Idempotency number in the query.
pub(crate) const REQUEST_ID: &str = "request_id";
/// Idempotency number in a header.
pub(crate) const REQUEST_ID_HEADER: &str = "X-Request-Id";

/// Addresses of a search.
pub(crate) const IPS: &str = "ips";
pub(crate) const STATUS: &str = "status";
/// Number of the page, as `x-page` of the document names it.
pub(crate) const PAGE: &str = "page";
/// Maximum number of instances on a page.
pub(crate) const PAGE_SIZE: &str = "pageSize";

pub(crate) const ORDER_NO: &str = "orderNo";
pub(crate) const GROUP_ID: &str = "groupId";
pub(crate) const COUNTRY_CODE: &str = "countryCode";
pub(crate) const CITY_CODE: &str = "cityCode";
pub(crate) const ACTIVATED_FROM: &str = "activatedFrom";
pub(crate) const ACTIVATED_TO: &str = "activatedTo";

/// The filters of a search, beside [`STATUS`].
pub(super) const FILTERS: [&str; 6] =
    [ORDER_NO, GROUP_ID, COUNTRY_CODE, CITY_CODE, ACTIVATED_FROM, ACTIVATED_TO];

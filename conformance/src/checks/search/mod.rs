//! Checks of the static instance search, by topic.

mod account;
mod activated;
mod addresses;
mod batch;
mod body;
mod cases;
mod consistent;
pub(super) mod discovery;
mod envelope;
mod filters;
mod group;
mod input;
mod intersection;
mod known;
mod likeness;
mod matching;
mod page;
mod paging;
mod read_only;
mod rows;
mod status;
mod watched;

pub(super) use read_only::FirstSearches;

use crate::check::Check;
use crate::contract::OperationId;

/// What the checks of this operation have in common.
const SEARCH: Check = Check { operation: Some(OperationId::Search), ..Check::TEMPLATE };

pub(super) static CHECKS: &[&Check] = &[
    &activated::ORDER_REVERSED,
    &activated::RANGE_ALONE,
    &activated::RANGE_BEYOND,
    &activated::RANGE_FORMAT,
    &activated::RANGE_OFFSETS,
    &activated::RANGE_OWN_INSTANT,
    &filters::CITY_EXACT,
    &filters::CITY_NEAR,
    &filters::COUNTRY_EXACT,
    &filters::COUNTRY_NEAR,
    &envelope::SCHEMA,
    &envelope::SUCCESS,
    &envelope::VARIETY,
    &body::FIELD_TYPES,
    &group::GROUP_BOUNDARIES,
    &account::GROUP_FOREIGN,
    &group::GROUP_NULL,
    &group::GROUP_SUM,
    &envelope::HEADERS,
    &consistent::CONSISTENT,
    &known::KNOWN,
    &envelope::INSTANCE_WATCHED,
    &intersection::EVERY,
    &intersection::EXCLUDING,
    &intersection::PAGES,
    &intersection::PAIRS,
    &intersection::PAIRS_PORTS,
    &intersection::SECOND_ACCOUNT,
    &intersection::TRIPLES,
    &watched::INTERSECTION_WATCHED,
    &batch::ALL_OR_NOTHING,
    &batch::DEDUP_LIMIT_BOUNDARIES,
    &batch::DEDUP_LIMIT_REPEATS,
    &batch::FIRST_TEXT,
    &input::IPS_ITEM_FORMS,
    &input::IPS_ITEM_MALFORMED,
    &input::IPS_ITEM_OPEN,
    &input::IPS_PORT_BOUNDARIES,
    &batch::RAW_LIMIT_BOUNDARIES,
    &input::IPS_REQUIRED_ABSENT,
    &body::JSON_BODY_FORMS,
    &body::JSON_BODY_MALFORMED,
    &body::JSON_BODY_OPEN,
    &matching::ANY_PORT_BATCH,
    &matching::ANY_PORT_PORTS,
    &matching::ANY_PORT_SUBSET,
    &matching::PORT_BATCHES,
    &matching::PORT_OTHER,
    &matching::PORT_SUBSET,
    &matching::PORT_UNION,
    &batch::MAX_BATCH_LIMITS,
    &account::NO_REVEAL_ADDRESSES,
    &account::NO_REVEAL_NOTHING,
    &account::NO_REVEAL_REFUSALS,
    &account::NO_REVEAL_SHARED,
    &account::ORDER_FOREIGN,
    &filters::ORDER_HELD,
    &filters::ORDER_NEAR,
    &page::PAGE_SIZE_BOUNDARIES,
    &page::PAGE_SIZE_DEFAULT,
    &page::PAGE_SIZE_MAX,
    &page::PAGE_BOUNDARIES,
    &page::PAGE_DEFAULT,
    &paging::ECHO,
    &paging::END,
    &paging::PARTITION,
    &paging::STILL,
    &read_only::FIRST,
    &read_only::REPEAT,
    &status::STATUS_BOUNDARIES,
    &status::STATUS_SUM,
    &body::TOKEN_SINGLE,
    &paging::TOTAL_FILTERS,
    &paging::TOTAL_NOTHING,
];

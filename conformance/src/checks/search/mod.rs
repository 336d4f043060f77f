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
mod row;
mod status;
mod surveyed;
mod watched;

pub(super) use read_only::FirstSearches;

use crate::check::Check;
use crate::contract::OperationId;

/// What the checks of this operation have in common.
const SEARCH: Check = Check { operation: Some(OperationId::Search), ..Check::TEMPLATE };

pub(super) static CHECKS: &[&Check] = &[
    &filters::CITY_EXACT,
    &filters::CITY_NEAR,
    &filters::COUNTRY_EXACT,
    &filters::COUNTRY_NEAR,
    &envelope::SCHEMA,
    &envelope::SUCCESS,
    &envelope::VARIETY,
    &group::GROUP_BOUNDARIES,
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
    &matching::ANY_PORT_BATCH,
    &matching::ANY_PORT_PORTS,
    &matching::ANY_PORT_SUBSET,
    &matching::PORT_BATCHES,
    &matching::PORT_OTHER,
    &matching::PORT_SUBSET,
    &matching::PORT_UNION,
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
    &paging::TOTAL_FILTERS,
    &paging::TOTAL_NOTHING,
];

pub(super) static TABLES: &[&[Check]] = &[
    account::CHECKS,
    activated::CHECKS,
    batch::CHECKS,
    body::CHECKS,
    input::CHECKS,
    read_only::CHECKS,
    status::CHECKS,
];

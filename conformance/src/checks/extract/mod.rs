//! The checks of the extraction, by topic.

mod access;
mod combinations;
mod content;
pub(super) mod discovery;
mod empty_region;
mod envelope;
mod forms;
mod gateways;
mod limits;
mod link;
mod num;
mod post;
mod protocol;
mod region;
mod replay;
mod request_id;
mod row;
mod separator_input;
mod supply;
mod text;
mod token;

pub(super) use content::count;
pub(super) use forms::{Context, Transport, rejects};
pub(super) use gateways::gives_gateways;

use crate::check::Check;
use crate::contract::OperationId;

/// What the checks of this operation have in common.
pub(super) const EXTRACT: Check = Check { operation: Some(OperationId::Extract), ..Check::TEMPLATE };

pub(super) static CHECKS: &[&Check] = &[
    &empty_region::NOTHING_MORE,
    &empty_region::LINK,
    &empty_region::NUMBERS,
    &empty_region::PROTOCOLS,
    &empty_region::REQUEST_ID,
    &empty_region::RETURN_TYPES,
    &empty_region::SEPARATOR,
    &empty_region::EQUAL,
    &empty_region::TRANSPORT,
    &empty_region::WHITELIST,
    &num::COUNT,
    &region::ALIAS_ALONE,
    &region::ALIAS_EMPTY_REGION,
    &limits::BY_COUNTRY,
    &region::ALIAS_SCARCE_REGION,
    &region::EQUAL,
    &envelope::ADDRESS,
    &envelope::INTERNAL_FIELDS,
    &access::ENTITLEMENT,
    &access::OTHER_PROTOCOL,
    &combinations::COMBINATIONS,
    &envelope::OPEN,
    &envelope::SCHEMA,
    &envelope::SUCCESS,
    &envelope::ERROR,
    &replay::REPLAYED,
    &request_id::CONCURRENT,
    &replay::DISTINCT,
    &request_id::HEADER,
    &request_id::INTERLEAVED,
    &request_id::MAXIMUM,
    &request_id::PER_ACCOUNT,
    &request_id::QUERY,
    &replay::TRANSPORTS,
    &link::ACCEPTED,
    &link::EFFECTS,
    &limits::BY_LINK,
    &num::BOUNDARIES,
    &num::MAXIMUM,
    &num::MINIMUM,
    &num::REQUIRED,
    &supply::PARTIAL,
    &supply::PARTIAL_WATCHED,
    &post::ERROR,
    &protocol::DEFAULT,
    &protocol::LISTED,
    &protocol::UNLISTED,
    &access::REAL_NAME,
    &gateways::EMPTY,
    &gateways::KNOWN,
    &gateways::SCARCE,
    &gateways::KNOWN_WATCHED,
    &region::DEFAULT,
    &request_id::SOURCE_ABSENT,
    &request_id::SOURCE_HEADER,
    &request_id::SOURCE_PRECEDENCE,
    &envelope::EGRESS,
    &envelope::FORGED,
    &envelope::SOURCE,
    &text::FORMS,
    &text::UNLISTED,
    &separator_input::LENGTH,
    &separator_input::REQUIRED,
    &separator_input::RANGE,
    &text::CUSTOM,
    &text::DEFAULT,
    &text::NAMED,
    &supply::SHORTAGE,
    &token::AGREEING,
    &token::DIFFERING,
    &token::TWO_ACCOUNTS,
    &token::EACH,
    &token::REVOKED,
    &token::WRONG,
    &access::FORGED,
    &access::WHITELIST,
    &access::REJECTED,
];

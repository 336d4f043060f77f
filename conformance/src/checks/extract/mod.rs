//! The checks of the extraction, by topic.

mod access;
mod combinations;
mod content;
pub(super) mod discovery;
mod empty_region;
mod envelope;
mod extraction;
mod gateways;
mod limits;
mod link;
mod num;
mod post;
mod protocol;
mod region;
mod replay;
mod request_id;
mod separator_input;
mod supply;
mod text;
mod token;

pub(super) use access::{claiming, is_valid};
pub(super) use combinations::find_cause;
pub(super) use content::{Judge, count, gives_gateways, judge_repeated};
pub(super) use empty_region::must_be_short;
pub(super) use extraction::{Extraction, Place, Transport, by_country, rejects};
pub(super) use link::{by_link, share_link};
pub(super) use text::rejects_even_as_text;

use crate::check::Check;
use crate::contract::OperationId;

/// What the checks of this operation have in common.
pub(super) const EXTRACT: Check = Check { operation: Some(OperationId::Extract), ..Check::TEMPLATE };

pub(super) static CHECKS: &[&[Check]] = &[
    access::CHECKS,
    combinations::CHECKS,
    empty_region::CHECKS,
    envelope::CHECKS,
    gateways::CHECKS,
    limits::CHECKS,
    link::CHECKS,
    num::CHECKS,
    post::CHECKS,
    protocol::CHECKS,
    region::CHECKS,
    replay::CHECKS,
    request_id::CHECKS,
    separator_input::CHECKS,
    supply::CHECKS,
    text::CHECKS,
    token::CHECKS,
];

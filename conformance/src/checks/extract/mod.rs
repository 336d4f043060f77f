//! The checks of the extraction, by topic.

mod access;
mod combinations;
pub(super) mod discovery;
mod empty_region;
mod envelope;
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

use crate::check::Check;
use crate::checks::extraction::{self, content};
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

//! The checks that concern all operations.

mod account;
mod service;

use crate::check::Check;

pub(super) static CHECKS: &[&Check] = &[
    &service::HTTPS,
    &service::NO_SECRETS,
    &account::CONCURRENT,
    &account::EMPTY,
    &account::FOREIGN_ADDRESSES,
    &account::GROUPS,
    &account::GROUPS_EMPTY,
    &account::INSTANCES,
    &account::LISTINGS,
    &service::PREFIX,
    &service::THROTTLED,
    &service::TOKEN_MISSING,
    &service::TOKEN_REVOKED,
];

mod empty_account;
mod envelope_schema;
mod envelope_success;
mod order_ascending;
mod token_single;

use crate::check::Check;

pub(super) static CHECKS: &[&Check] = &[
    &empty_account::CHECK,
    &envelope_schema::CHECK,
    &envelope_success::CHECK,
    &order_ascending::CHECK,
    &token_single::CHECK,
];

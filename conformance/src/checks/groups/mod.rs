mod envelope_schema;
mod order_ascending;

use crate::check::Check;

pub(super) static CHECKS: &[&Check] = &[&envelope_schema::CHECK, &order_ascending::CHECK];

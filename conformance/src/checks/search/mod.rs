mod envelope_schema;
mod match_port_subset;
mod page;

use crate::check::Check;

pub(super) static CHECKS: &[&Check] = &[&envelope_schema::CHECK, &match_port_subset::CHECK];

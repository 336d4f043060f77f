mod envelope_schema;
mod num_range_boundaries;

use crate::check::Check;

pub(super) static CHECKS: &[&Check] = &[&envelope_schema::CHECK, &num_range_boundaries::CHECK];

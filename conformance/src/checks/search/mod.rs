mod activated_order_reversed;
mod activated_range_format;
mod addresses;
mod envelope_schema;
mod envelope_success;
mod group_boundaries;
mod ips_all_or_nothing_position;
mod ips_dedup_limit_boundaries;
mod ips_item_forms;
mod ips_item_malformed;
mod ips_item_open;
mod ips_port_boundaries;
mod ips_raw_limit_boundaries;
mod ips_required_absent;
mod json_body_malformed;
mod json_body_open;
mod match_any_port_subset;
mod match_port_subset;
mod page;
mod page_boundaries;
mod page_size_boundaries;
mod paging_echo;
mod read_only_repeat;
mod status_boundaries;
mod token_single;

use crate::check::Check;

pub(super) static CHECKS: &[&Check] = &[
    &activated_order_reversed::CHECK,
    &activated_range_format::CHECK,
    &envelope_schema::CHECK,
    &envelope_success::CHECK,
    &group_boundaries::CHECK,
    &ips_all_or_nothing_position::CHECK,
    &ips_dedup_limit_boundaries::CHECK,
    &ips_item_forms::CHECK,
    &ips_item_malformed::CHECK,
    &ips_item_open::CHECK,
    &ips_port_boundaries::CHECK,
    &ips_raw_limit_boundaries::CHECK,
    &ips_required_absent::CHECK,
    &json_body_malformed::CHECK,
    &json_body_open::CHECK,
    &match_any_port_subset::CHECK,
    &match_port_subset::CHECK,
    &page_size_boundaries::CHECK,
    &page_boundaries::CHECK,
    &paging_echo::CHECK,
    &read_only_repeat::CHECK,
    &status_boundaries::CHECK,
    &token_single::CHECK,
];

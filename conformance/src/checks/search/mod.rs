mod activated_order_reversed;
mod activated_range_alone;
mod activated_range_beyond;
mod activated_range_format;
mod activated_range_offsets;
mod activated_range_own_instant;
mod addresses;
mod city_exact;
mod city_near;
mod combination;
mod country_exact;
mod country_near;
mod envelope_schema;
mod envelope_success;
mod envelope_variety;
mod fields_types;
mod group_boundaries;
mod group_foreign;
mod group_null;
mod group_sum;
mod instance_watched;
mod instants;
mod intersection_every;
mod intersection_excluding;
mod intersection_pages;
mod intersection_pairs;
mod intersection_pairs_ports;
mod intersection_triples;
mod intersection_watched;
mod ips_all_or_nothing_position;
mod ips_dedup_limit_boundaries;
mod ips_dedup_limit_repeats;
mod ips_item_forms;
mod ips_item_malformed;
mod ips_item_open;
mod ips_port_boundaries;
mod ips_raw_limit_boundaries;
mod ips_required_absent;
mod json_body_malformed;
mod json_body_open;
mod likeness;
mod match_any_port_batch;
mod match_any_port_ports;
mod match_any_port_subset;
mod match_port_batches;
mod match_port_other_port;
mod match_port_subset;
mod match_port_union;
mod max_batch_no_effect_limits;
mod no_reveal_foreign_addresses;
mod no_reveal_nothing_found;
mod no_reveal_refusals;
mod no_reveal_shared_address;
mod order_number_foreign;
mod order_number_held;
mod order_number_near;
mod page_boundaries;
mod page_default;
mod page_size_boundaries;
mod page_size_default;
mod page_size_most;
mod paging;
mod paging_echo;
mod paging_end;
mod paging_partition;
mod paging_still;
mod read_only_repeat;
mod status_boundaries;
mod status_sum;
mod token_single;
mod total_filters;
mod total_nothing;
mod values;

use crate::check::Check;

pub(super) static CHECKS: &[&Check] = &[
    &activated_order_reversed::CHECK,
    &activated_range_alone::CHECK,
    &activated_range_beyond::CHECK,
    &activated_range_format::CHECK,
    &activated_range_offsets::CHECK,
    &activated_range_own_instant::CHECK,
    &city_exact::CHECK,
    &city_near::CHECK,
    &country_exact::CHECK,
    &country_near::CHECK,
    &envelope_schema::CHECK,
    &envelope_success::CHECK,
    &envelope_variety::CHECK,
    &fields_types::CHECK,
    &group_boundaries::CHECK,
    &group_foreign::CHECK,
    &group_null::CHECK,
    &group_sum::CHECK,
    &instance_watched::CHECK,
    &intersection_every::CHECK,
    &intersection_excluding::CHECK,
    &intersection_pages::CHECK,
    &intersection_pairs::CHECK,
    &intersection_pairs_ports::CHECK,
    &intersection_triples::CHECK,
    &intersection_watched::CHECK,
    &ips_all_or_nothing_position::CHECK,
    &ips_dedup_limit_boundaries::CHECK,
    &ips_dedup_limit_repeats::CHECK,
    &ips_item_forms::CHECK,
    &ips_item_malformed::CHECK,
    &ips_item_open::CHECK,
    &ips_port_boundaries::CHECK,
    &ips_raw_limit_boundaries::CHECK,
    &ips_required_absent::CHECK,
    &json_body_malformed::CHECK,
    &json_body_open::CHECK,
    &match_any_port_batch::CHECK,
    &match_any_port_ports::CHECK,
    &match_any_port_subset::CHECK,
    &match_port_batches::CHECK,
    &match_port_other_port::CHECK,
    &match_port_subset::CHECK,
    &match_port_union::CHECK,
    &max_batch_no_effect_limits::CHECK,
    &no_reveal_foreign_addresses::CHECK,
    &no_reveal_nothing_found::CHECK,
    &no_reveal_refusals::CHECK,
    &no_reveal_shared_address::CHECK,
    &order_number_foreign::CHECK,
    &order_number_held::CHECK,
    &order_number_near::CHECK,
    &page_size_boundaries::CHECK,
    &page_size_default::CHECK,
    &page_size_most::CHECK,
    &page_boundaries::CHECK,
    &page_default::CHECK,
    &paging_echo::CHECK,
    &paging_end::CHECK,
    &paging_partition::CHECK,
    &paging_still::CHECK,
    &read_only_repeat::CHECK,
    &status_boundaries::CHECK,
    &status_sum::CHECK,
    &token_single::CHECK,
    &total_filters::CHECK,
    &total_nothing::CHECK,
];

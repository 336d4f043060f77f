mod count;
mod count_most;
mod country_alias_alone;
mod country_alias_empty_region;
mod country_alias_scarce_region;
mod country_equal_differing;
mod endpoint_internal_fields;
mod entitlement_lacking;
mod entitlement_other_protocol;
mod envelope_open;
mod envelope_schema;
mod envelope_success;
mod error_envelope_watched;
mod idempotent_concurrent;
mod idempotent_header;
mod idempotent_interleaved;
mod idempotent_maximum;
mod idempotent_per_account;
mod idempotent_query;
mod link_credential_accepted;
mod num_range_boundaries;
mod num_range_maximum;
mod num_range_minimum;
mod num_required_absent;
mod partial_headers;
mod partial_watched;
mod protocol_default;
mod protocol_listed;
mod protocol_unlisted;
mod real_name_lacking;
mod regions_default_global;
mod repetition;
mod request_id_source_absent;
mod request_id_source_header;
mod request_id_source_precedence;
mod request_ip_egress;
mod request_ip_forged;
mod return_type_forms;
mod return_type_unlisted;
mod sb_length_boundaries;
mod sb_required_absent;
mod separator_custom;
mod separator_default;
mod separator_named;
mod separator_range_boundaries;
mod shape;
mod shortage_retry_after_empty_region;
mod text;
mod token_equal_agreeing;
mod token_equal_differing;
mod token_equal_two_accounts;
mod token_transport_each;
mod token_transport_unknown;
mod transport;
mod whitelist_lacking;

use crate::check::Check;

pub(super) static CHECKS: &[&Check] = &[
    &count_most::CHECK,
    &country_alias_alone::CHECK,
    &country_alias_empty_region::CHECK,
    &country_alias_scarce_region::CHECK,
    &country_equal_differing::CHECK,
    &endpoint_internal_fields::CHECK,
    &entitlement_lacking::CHECK,
    &entitlement_other_protocol::CHECK,
    &envelope_open::CHECK,
    &envelope_schema::CHECK,
    &envelope_success::CHECK,
    &error_envelope_watched::CHECK,
    &idempotent_concurrent::CHECK,
    &idempotent_header::CHECK,
    &idempotent_interleaved::CHECK,
    &idempotent_maximum::CHECK,
    &idempotent_per_account::CHECK,
    &idempotent_query::CHECK,
    &link_credential_accepted::CHECK,
    &num_range_boundaries::CHECK,
    &num_range_maximum::CHECK,
    &num_range_minimum::CHECK,
    &num_required_absent::CHECK,
    &partial_headers::CHECK,
    &partial_watched::CHECK,
    &protocol_default::CHECK,
    &protocol_listed::CHECK,
    &protocol_unlisted::CHECK,
    &real_name_lacking::CHECK,
    &regions_default_global::CHECK,
    &request_id_source_absent::CHECK,
    &request_id_source_header::CHECK,
    &request_id_source_precedence::CHECK,
    &request_ip_egress::CHECK,
    &request_ip_forged::CHECK,
    &return_type_forms::CHECK,
    &return_type_unlisted::CHECK,
    &sb_length_boundaries::CHECK,
    &sb_required_absent::CHECK,
    &separator_range_boundaries::CHECK,
    &separator_custom::CHECK,
    &separator_default::CHECK,
    &separator_named::CHECK,
    &shortage_retry_after_empty_region::CHECK,
    &token_equal_agreeing::CHECK,
    &token_equal_differing::CHECK,
    &token_equal_two_accounts::CHECK,
    &token_transport_each::CHECK,
    &token_transport_unknown::CHECK,
    &whitelist_lacking::CHECK,
];

mod https_verified;
mod items;
mod no_secrets_watched;
mod own_account_empty;
mod own_account_foreign_addresses;
mod own_account_groups;
mod own_account_instances;
mod own_account_listings;
mod prefix_served;
mod throttled_retry_after_watched;
mod token_required_missing;
mod token_required_revoked;

use crate::check::Check;

pub(super) static CHECKS: &[&Check] = &[
    &https_verified::CHECK,
    &no_secrets_watched::CHECK,
    &own_account_empty::CHECK,
    &own_account_foreign_addresses::CHECK,
    &own_account_groups::CHECK,
    &own_account_instances::CHECK,
    &own_account_listings::CHECK,
    &prefix_served::CHECK,
    &throttled_retry_after_watched::CHECK,
    &token_required_missing::CHECK,
    &token_required_revoked::CHECK,
];

mod no_secrets_watched;
mod throttled_retry_after_watched;

use crate::check::Check;

pub(super) static CHECKS: &[&Check] = &[&no_secrets_watched::CHECK, &throttled_retry_after_watched::CHECK];

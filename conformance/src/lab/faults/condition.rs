//! When a fault shows, and what a request asks for.

use super::part::{LB, NUM, text};
use crate::lab::Call;

/// A separator of the caller's own is asked for.
pub(crate) fn is_custom(call: &Call<'_>) -> bool {
    text(call, LB).as_ref() == Some(&call.contract.extract.custom_separator)
}

/// `num` as it was sent, when it is a number.
pub(crate) fn num(call: &Call<'_>) -> Option<i64> {
    text(call, NUM)?.parse().ok()
}

/// Plain text is asked for.
pub(crate) fn in_text(call: &Call<'_>) -> bool {
    call.wants_text()
}

/// The request id that counts.
pub(crate) fn request_id(call: &Call<'_>) -> Option<String> {
    call.request_id(&call.contract.extract)
}

/// The region that counts, under either name; the default when none is sent.
pub(crate) fn region(call: &Call<'_>) -> String {
    let extract = &call.contract.extract;
    let sent = call.param(&extract.regions.name).or_else(|| call.param(&extract.country.name));
    sent.unwrap_or_else(|| extract.regions.default_text())
}

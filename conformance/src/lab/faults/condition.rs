//! What a request asks for.

use super::part::{NUM, text};
use crate::lab::Call;

/// `num` as it was sent, when it is a number.
pub(crate) fn num(call: &Call<'_>) -> Option<i64> {
    text(call, NUM)?.parse().ok()
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

/// What separates the entries of a plain-text response.
pub(crate) fn separator(call: &Call<'_>) -> String {
    let extract = &call.contract.extract;
    extract.separator(call.param(&extract.lb.name), call.param(&extract.sb.name))
}

//! The tokens of requests, and requests that are served as if they had another one.

use hyper::header::HeaderValue;

use crate::lab::Call;

/// Every token that a request carries, in whatever way.
pub(crate) fn credentials(call: &Call<'_>) -> Vec<String> {
    let extract = &call.contract.extract;
    let text = |value: &HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    let header = call.headers.get_all(extract.api_key_header.as_str()).iter().map(text);
    let bearer = call.headers.get_all(hyper::header::AUTHORIZATION).iter().map(text);
    let bearer = bearer.map(|value| value.trim_start_matches("Bearer").trim_start().to_owned());
    query_tokens(call).into_iter().chain(header).chain(bearer).collect()
}

pub(crate) fn query_tokens(call: &Call<'_>) -> Vec<String> {
    let name = &call.contract.extract.operation.api_key.name;
    call.params().into_iter().filter(|(key, _)| key == name).map(|(_, value)| value).collect()
}

//! Why a connection does not come about, in words, and what to do about it.

use std::error::Error;
use std::io;

use super::{FailureKind, WireFailure};

/// The kind of a failure to connect whose cause is known, and what is wrong in words.
pub(super) fn of_connection(error: &(dyn Error + 'static)) -> Option<(FailureKind, String)> {
    let tls = causes(error).find_map(tls_error).and_then(|error| words_for(&format!("{error:?}")));
    if let Some(words) = tls {
        return Some((FailureKind::Handshake, words.to_owned()));
    }
    let of_proxy = |text: String| Some((text.ends_with("required"), words_for(&text)?.to_owned()));
    let proxy = causes(error).map(ToString::to_string).filter(|text| text.starts_with("tunnel error: "));
    let (is_unauthorized, words) = proxy.filter_map(of_proxy).next()?;
    Some((if is_unauthorized { FailureKind::Handshake } else { FailureKind::Connect }, words))
}

/// What to do about a failure, if it does not say so itself.
pub fn advice(failure: &WireFailure) -> Option<&'static str> {
    let is_head = failure.detail.contains("head is too large");
    words_for(&format!("{:?}{}", failure.kind, if is_head { ": head is too large" } else { "" }))
}

/// The words of the first row of `problems.txt` with a beginning of this text.
fn words_for(text: &str) -> Option<&'static str> {
    let rows = include_str!("problems.txt").lines().filter_map(|line| line.split_once(" => "));
    let mut rows = rows.filter(|(begins, _)| begins.split(" | ").any(|begin| text.starts_with(begin)));
    rows.next().map(|(_, words)| words)
}

/// The error of TLS in one of I/O, whose source is not the error inside of it but the source of that.
fn tls_error<'a>(mut error: &'a (dyn Error + 'static)) -> Option<&'a rustls::Error> {
    loop {
        match error.downcast_ref() {
            Some(tls) => return Some(tls),
            None => error = error.downcast_ref::<io::Error>()?.get_ref()?,
        }
    }
}

/// An error and its causes.
pub(super) fn causes<'a>(
    error: &'a (dyn Error + 'static),
) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |error| (*error).source())
}

/// An error and its causes, on one line.
pub(super) fn with_causes(error: &(dyn Error + 'static)) -> String {
    causes(error).map(ToString::to_string).collect::<Vec<_>>().join(": ")
}

//! Requests that nobody sends by accident, to the program as it is deployed. None of them is a reason for a 5xx, a panic, a
//! second request that nobody sent, memory without bound, or a good caller without a response. `SALLYPORT_ABUSE=long` sends
//! more of them, also in `sessions/http1.txt` and `sessions/http2.txt`.

mod connections;
mod damaged;
mod deadlines;
mod http1;
mod http2;
mod log;
pub(crate) mod target;
mod tls;

use crate::support::{frames, identity, server_process, tls_client};

/// How often something is done: in short, or in the longer form.
pub(crate) fn rounds(short: usize, long: usize) -> usize {
    match std::env::var("SALLYPORT_ABUSE") {
        Ok(form) if form == "long" => long,
        _ => short,
    }
}

/// The text in which pictures of control characters stand for these.
fn marked(text: &str) -> String {
    let pictures = [('␍', "\r"), ('␊', "\n"), ('␋', "\u{b}"), ('␀', "\0"), ('␛', "\u{1b}")];
    pictures.into_iter().fold(text.to_owned(), |text, (picture, letter)| text.replace(picture, letter))
}

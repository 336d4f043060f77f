//! The token in what a command wrote and sent.

use super::protocol::MAX_OUTPUT;
use crate::lab::ProxiedRequest;
use crate::target::Secret;
use crate::wire::{shows, shows_any};

/// Whether a request carries the token, in any form.
pub(super) fn carries(request: &ProxiedRequest, token: &Secret) -> bool {
    let headers = request.headers.values().any(|value| shows(value.as_bytes(), token));
    let line = format!("{} {}", request.path, request.query.as_deref().unwrap_or_default());
    headers || shows(line.as_bytes(), token) || shows(&request.body, token)
}

/// The beginning and the end of what a command wrote; none where it shows a secret, or was cut, perhaps within one.
pub(super) fn excerpt<'a>(text: &[u8], secrets: impl IntoIterator<Item = &'a Secret>) -> Option<String> {
    /// Maximum length of each, in characters. A program that crashes says why at the beginning or at the end.
    const MAX_CHARACTERS: usize = 1_000;
    if text.len() >= MAX_OUTPUT || shows_any(text, secrets) {
        return None;
    }
    let text = String::from_utf8_lossy(text);
    let text = text.trim();
    if text.is_empty() {
        return None;
    }
    let (head, tail) =
        (text.char_indices().nth(MAX_CHARACTERS), text.char_indices().rev().nth(MAX_CHARACTERS - 1));
    match (head, tail) {
        (Some((head, _)), Some((tail, _))) if head < tail => {
            // Whole lines, where they are not too long.
            let head = text[..head].rfind('\n').unwrap_or(head);
            let tail = text[tail..].find('\n').map_or(tail, |line| tail + line + 1);
            Some(format!("{}\n…\n{}", &text[..head], &text[tail..]))
        }
        _ => Some(text.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neither_a_token_nor_a_part_of_one_is_shown() {
        let token = Secret::new("API_KEY", "a-token-that-is-long-enough");
        let excerpt = |text: &[u8]| excerpt(text, [&token]);
        assert_eq!(excerpt(b" an error\n"), Some("an error".to_owned()));
        assert_eq!(excerpt(b"\n"), None);
        let long = format!("panicked at x\n{}the last line", "a frame of the backtrace\n".repeat(200));
        let shown = excerpt(long.as_bytes()).expect("an excerpt");
        let is_whole =
            shown.starts_with("panicked at x\na frame") && shown.ends_with("backtrace\nthe last line");
        let is_cut = shown.chars().count() < 2_010 && shown.contains("backtrace\n…\na frame");
        assert!(is_whole && is_cut, "{shown}");
        assert_eq!(excerpt(format!("tried {}", token.expose()).as_bytes()), None);
        // What was read ends in the middle of it.
        let mut cut = vec![b' '; MAX_OUTPUT - 8];
        cut.extend_from_slice(&token.expose().as_bytes()[..8]);
        assert_eq!(excerpt(&cut), None);
    }
}

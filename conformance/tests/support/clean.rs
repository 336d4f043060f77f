//! What the program leaves behind shows no token, in whatever form, and does nothing to a terminal.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

use super::program::TOKEN;

/// The token in every form that may show it.
pub(crate) fn forms() -> [String; 8] {
    let json = serde_json::json!(TOKEN).to_string();
    let form: String = url::form_urlencoded::byte_serialize(TOKEN.as_bytes()).collect();
    [
        TOKEN.to_owned(),
        utf8_percent_encode(TOKEN, NON_ALPHANUMERIC).to_string(),
        form,
        json[1..json.len() - 1].to_owned(),
        TOKEN.escape_default().to_string(),
        TOKEN.replace('&', "&amp;").replace('"', "&quot;"),
        STANDARD.encode(TOKEN),
        URL_SAFE_NO_PAD.encode(TOKEN),
    ]
}

/// Half of a form is telling enough, and its beginning stands for base64 of any end.
pub(crate) fn assert_clean(what: &str, text: &str) {
    let lower = text.to_lowercase();
    for form in forms() {
        let telling: String = form.chars().take(form.chars().count() / 2).collect();
        let telling = telling.to_lowercase();
        let shown = lower.find(&telling).map(|at| {
            let from = lower.floor_char_boundary(at.saturating_sub(80));
            lower[from..].chars().take(160 + telling.len()).collect::<String>()
        });
        assert_eq!(shown, None, "{what} shows {telling}");
    }
    let is_mark = |c: char| matches!(c, '\u{202e}' | '\u{2066}' | '\u{2028}' | '\u{ffff}');
    let acts = text.lines().find(|line| line.chars().any(|c| (c.is_control() && c != '\t') || is_mark(c)));
    assert_eq!(acts, None, "{what} has what a terminal acts on");
}

//! The contract as an HTML page: generated from the document, with the error codes of this server's catalogue. The page needs
//! no other file and no network.

use std::fmt::{self, Display, Formatter, Write as _};

use crate::edge::responding::error_code::ErrorCode;

/// The page that `cargo xtask generate` writes.
const CONTRACT: &str = include_str!("generated/contract.html");

/// Placeholder for the catalogue.
const MARK: &str = "<!-- the server's catalogue -->";

/// Attribute with the base URL of the page's examples.
const BASE: &str = "data-base-url=\"";

/// Lets the page load nothing. The page itself narrows this to its own script and style by their hashes; only a header can
/// keep it out of frames.
pub(crate) const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; \
                                 img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

pub(crate) fn page() -> String {
    let rows: String = ErrorCode::ALL.iter().map(|code| row(*code)).collect();
    CONTRACT.replacen(MARK, &rows, 1)
}

/// The page with examples that call `base_url`, which is plain text without quotes.
pub(crate) fn page_at(base_url: &str) -> String {
    let page = page();
    match page.split_once(BASE).and_then(|(_, rest)| rest.split_once('"')) {
        Some((example, _)) => page.replace(example, &EscapedText(base_url).to_string()),
        None => page,
    }
}

fn row(code: ErrorCode) -> String {
    let (number, status, description) = (code.number(), code.status(), EscapedText(code.description()));
    format!(
        "<tr id=\"error-{number}\" data-what=\"error\" data-name=\"{number}\">\
         <th scope=\"row\"><a class=\"self\" href=\"#error-{number}\"><code>{number}</code></a></th> <td>{status}</td> <td>{description}</td></tr>\n"
    )
}

/// Text between tags.
pub(crate) struct EscapedText<'a>(pub(crate) &'a str);

impl Display for EscapedText<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        self.0.chars().try_for_each(|letter| match letter {
            '&' => out.write_str("&amp;"),
            '<' => out.write_str("&lt;"),
            '>' => out.write_str("&gt;"),
            letter => out.write_char(letter),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_catalogue_replaces_the_placeholder() {
        assert_eq!(CONTRACT.matches(MARK).count(), 1);
        let page = page();
        assert!(!page.contains(MARK));
        for code in ErrorCode::ALL {
            assert_eq!(page.matches(&row(*code)).count(), 1, "{code:?}");
        }
    }

    #[test]
    fn examples_can_call_another_base_url() {
        let (operator, own) = (page(), page_at("http://127.0.0.1:8080"));
        let calls = operator.matches("curl -sS &#x27;https:").count();
        assert!(calls >= 3, "{calls}");
        assert_eq!(own.matches("curl -sS &#x27;http://127.0.0.1:8080&#x2f;").count(), calls);
        assert!(!own.contains("curl -sS &#x27;https:"));
    }

    #[test]
    fn markup_is_escaped() {
        assert_eq!(EscapedText("a <b> &&amp; c").to_string(), "a &lt;b&gt; &amp;&amp;amp; c");
    }
}

//! The Markdown of descriptions as HTML: paragraphs, `code` and **strong**. Anything else stays as it is written.

use minijinja::HtmlEscape;

/// Paragraphs, which empty lines part.
pub(super) fn paragraphs(text: &str) -> String {
    let paragraphs = text.split("\n\n").map(str::trim).filter(|paragraph| !paragraph.is_empty());
    paragraphs.map(|paragraph| format!("<p>{}</p>", line(paragraph))).collect()
}

/// Text without paragraphs.
pub(super) fn line(text: &str) -> String {
    spans(text, "`", "code", |rest| spans(rest, "**", "strong", escaped))
}

/// Puts what stands between two marks into an element. A mark without a partner is text.
fn spans(text: &str, mark: &str, element: &str, around: impl Fn(&str) -> String) -> String {
    let parts: Vec<&str> = text.split(mark).collect();
    if parts.len().is_multiple_of(2) {
        return around(text);
    }
    let span = |(index, part): (usize, &&str)| match index % 2 {
        0 => around(part),
        _ => format!("<{element}>{}</{element}>", escaped(part)),
    };
    parts.iter().enumerate().map(span).collect()
}

fn escaped(text: &str) -> String {
    HtmlEscape(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_strong_and_paragraphs() {
        assert_eq!(line("a `b**c**` **d**"), "a <code>b**c**</code> <strong>d</strong>");
        assert_eq!(paragraphs("one\nline\n\ntwo\n"), "<p>one\nline</p><p>two</p>");
    }

    #[test]
    fn a_mark_without_a_partner_is_text() {
        assert_eq!(line("a ` b ** c"), "a ` b ** c");
    }

    #[test]
    fn everything_is_escaped() {
        assert_eq!(
            line("<a>`<b>`**<c>** ` <d>"),
            "&lt;a&gt;`&lt;b&gt;`<strong>&lt;c&gt;</strong> ` &lt;d&gt;"
        );
        assert_eq!(line("`<b>` \"'&"), "<code>&lt;b&gt;</code> &quot;&#x27;&amp;");
    }
}

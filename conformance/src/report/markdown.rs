use std::fmt::Write as _;

use minijinja::{Error, Value, context};

use super::template::{render, template};
use super::view::view;
use super::{plain, plain_lines};
use crate::run::Report;

/// Maximum length of a pull request comment on GitHub (65,536 characters), less some for what CI adds to it.
const MAX_COMMENT_CHARACTERS: usize = 65_000;

/// Maximum size of a command in a text of limited length. A longer one would leave no room for its finding.
const MAX_COMMAND_BYTES: usize = 4_000;

/// The report as a summary in Markdown, for instance for a pull request.
pub(super) fn markdown(report: &Report) -> Result<String, Error> {
    Ok(within(&marked(report, usize::MAX)?, usize::MAX))
}

/// The same, cut to the length of a pull request comment.
pub(super) fn comment(report: &Report) -> Result<String, Error> {
    markdown_within(report, MAX_COMMENT_CHARACTERS)
}

/// The same, cut to `max_bytes`.
pub(super) fn markdown_within(report: &Report, max_bytes: usize) -> Result<String, Error> {
    Ok(within(&marked(report, MAX_COMMAND_BYTES)?, max_bytes))
}

/// Marks of the template: a place before a finding, a heading or a list item, where no code block is open; the end of a finding; and
/// what is inside a `<details>` element. No text of others has control characters.
const CUT: char = '\u{1}';
const END_OF_FINDING: char = '\u{2}';
const FOLD: char = '\u{3}';
const END_OF_FOLD: char = '\u{4}';

fn marked(report: &Report, max_command_bytes: usize) -> Result<String, Error> {
    let mark = |mark: char| Value::from_safe_string(mark.to_string());
    let view = context! {
        max_command_bytes,
        cut => mark(CUT),
        end_of_finding => mark(END_OF_FINDING),
        fold => mark(FOLD),
        end_of_fold => mark(END_OF_FOLD),
        ..view(report)
    };
    render(template!("templates/report.md"), view)
}

/// The text without its marks, cut to `max_bytes`, with a note about what is left out.
fn within(marked: &str, max_bytes: usize) -> String {
    /// Room for the note at the end, in bytes.
    const END: usize = 200;
    let room = max_bytes.saturating_sub(END);
    let (mut text, mut findings, mut is_folded) = (String::with_capacity(marked.len()), 0, false);
    let mut cut = None;
    for c in marked.chars() {
        match c {
            CUT if text.len() <= room => cut = Some((text.len(), findings, is_folded)),
            CUT => {}
            END_OF_FINDING => findings += 1,
            FOLD | END_OF_FOLD => is_folded = c == FOLD,
            c => text.push(c),
        }
    }
    if text.len() <= max_bytes {
        return text;
    }
    // Without a cut that fits, the text consists of reasons, one per line: cut at a line.
    let line = || text[..text.floor_char_boundary(room)].rfind('\n').map_or(0, |end| end + 1);
    let (at, shown, is_folded) = cut.unwrap_or_else(|| (line(), 0, false));
    text.truncate(at);
    if is_folded {
        text.push_str("\n</details>\n");
    }
    let left_out = match findings - shown {
        0 => "No finding is left out, but other lines are".to_owned(),
        1 => "1 finding is left out".to_owned(),
        more => format!("{more} findings are left out"),
    };
    let _ = write!(
        text,
        "\n**{left_out}, because the text would be too long.** The reports in other formats have everything.\n"
    );
    text
}

/// Escapes text for Markdown, on one line, also in a table. What a reader would take for a mention, a reference or a link, which
/// no escape stops, becomes code.
pub(super) fn escaped(text: &str) -> String {
    const ACTIVE: [&str; 5] = ["@", "#", "://", "www.", "gh-"];
    let mut escaped = String::with_capacity(text.len());
    for word in plain(&text.replace(['\n', '\r'], " ")).split_inclusive(' ') {
        let lower = word.to_ascii_lowercase();
        if ACTIVE.iter().any(|active| lower.contains(active)) {
            let (word, end) = word.strip_suffix(' ').map_or((word, ""), |word| (word, " "));
            escaped.push_str(&code(&word.replace('|', "\\|")));
            escaped.push_str(end);
            continue;
        }
        for c in word.chars() {
            if matches!(c, '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '|' | '&' | '~') {
                escaped.push('\\');
            }
            escaped.push(c);
        }
    }
    escaped
}

/// Text as code, in which nothing is active.
pub(super) fn code(text: &str) -> String {
    format!("`{}`", plain(text).replace('`', "'"))
}

/// A block of code.
pub(super) fn fenced(language: &str, text: &str) -> String {
    let fence = fence(text);
    format!("{fence}{language}\n{}\n{fence}", plain_lines(text).trim_end())
}

/// A fence longer than any run of backticks inside.
fn fence(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    "`".repeat(longest.max(2) + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_server_says_stays_text() {
        assert_eq!(escaped("<b>|a`\nb"), r"\<b\>\|a\` b");
        assert_eq!(
            escaped("(@org/team) is #1, *see* https://a.invalid/`|x  WWW.a.invalid or GH-7\n"),
            r"`(@org/team)` is `#1,` \*see\* `https://a.invalid/'\|x`  `WWW.a.invalid` or `GH-7` "
        );
        assert_eq!(fence("a ```` b"), "`````");
    }

    #[test]
    fn a_text_is_cut_before_a_finding_and_counts_those_left_out() {
        // Ten findings of 100 bytes, the last five in a `<details>` element.
        let finding = |number| format!("{CUT}```sh\ncurl {number}{}\n```\n{END_OF_FINDING}", "x".repeat(84));
        let [open, folded] = [0..5, 5..10].map(|numbers| numbers.map(finding).collect::<String>());
        let marked = format!(
            "# Head\n{open}{CUT}<details>\n{FOLD}{folded}</details>\n{END_OF_FOLD}{CUT}## Without a result\n\n- one\n{CUT}- two\n"
        );
        let whole = within(&marked, usize::MAX);
        assert!(whole.chars().all(|c| c == '\n' || !c.is_control()), "{whole}");
        assert_eq!(within(&marked, whole.len()), whole);
        for longest in 210..whole.len() {
            let cut = within(&marked, longest);
            assert!(cut.len() <= longest, "{} of {longest}", cut.len());
            assert_eq!(cut.matches("```").count() % 2, 0, "{cut}");
            assert_eq!(cut.matches("<details>").count(), cut.matches("</details>").count(), "{cut}");
            let shown = cut.matches("curl ").count();
            let said = match 10 - shown {
                0 => "No finding is left out".to_owned(),
                1 => "**1 finding is left out".to_owned(),
                more => format!("**{more} findings are left out"),
            };
            assert!(cut.contains(&said), "{said} in {cut}");
        }
    }
}

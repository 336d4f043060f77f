//! The summary in Markdown, as GitHub takes it, and its workflow commands.

use minijinja::{Error, Value, context};

use super::template::{render, template};
use super::view::view;
use super::{plain, plain_lines};
use crate::run::Report;

/// Maximum length of a pull request comment on GitHub (65,536 characters), less some for what CI adds to it.
pub(super) const MAX_COMMENT_CHARACTERS: usize = 65_000;

/// Maximum size of a command in a text of limited length. A longer one would leave no room for its finding.
const MAX_COMMAND_BYTES: u32 = 4_000;

/// Maximum size of a job summary in bytes. GitHub rejects more than 1 MiB.
const MAX_SUMMARY_BYTES: usize = 1_000_000;

/// The report as a summary in Markdown, for instance for a pull request.
pub(super) fn markdown(report: &Report) -> Result<String, Error> {
    filled(&view(report), u32::MAX, u32::MAX)
}

/// The same, within the size of a job summary.
///
/// # Errors
/// When it can't be rendered, which would be a bug of the suite.
pub fn job_summary(report: &Report) -> Result<String, Error> {
    markdown_within(report, MAX_SUMMARY_BYTES)
}

/// The same, cut to `max_bytes`: with as many findings, and as many lines of each list, as fit.
pub(super) fn markdown_within(report: &Report, max_bytes: usize) -> Result<String, Error> {
    let view = view(report);
    let with = |shown: u32| filled(&view, shown, MAX_COMMAND_BYTES);
    let mut text = with(u32::MAX)?;
    let (mut least, mut most) = (0, u32::try_from(text.len()).unwrap_or(u32::MAX));
    if text.len() <= max_bytes {
        return Ok(text);
    }
    text = with(least)?;
    if text.len() > max_bytes {
        // Without findings and lists it consists of lines; the last one says what is left out.
        let note = text.split_off(text.trim_end().rfind('\n').unwrap_or_default());
        let room = max_bytes.saturating_sub(note.len());
        let ends = text.match_indices('\n').map(|(end, _)| end + 1);
        text.truncate(ends.take_while(|end| *end <= room).last().unwrap_or_default());
        text.push_str(&note);
    }
    while most - least > 1 {
        let middle = u32::midpoint(least, most);
        let longer = with(middle)?;
        match longer.len() <= max_bytes {
            true => (text, least) = (longer, middle),
            false => most = middle,
        }
    }
    Ok(text)
}

/// The text with the first `shown` findings and lines of each list, and with each command up to `max_command_bytes`.
fn filled(view: &Value, shown: u32, max_command_bytes: u32) -> Result<String, Error> {
    let is_cut = shown < u32::MAX;
    render(template!("templates/report.md"), context! { shown, is_cut, max_command_bytes, ..view.clone() })
}

/// Escapes text for a line or a table. What a reader would take for a mention, a reference or a link becomes code.
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

pub(super) fn fenced(language: &str, text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}{language}\n{}\n{fence}", plain_lines(text).trim_end())
}

/// Two commands that keep text between them, which may look like one, from being taken for commands. Nobody can guess `token`.
#[must_use]
pub fn without_commands(token: &str) -> (String, String) {
    (format!("::stop-commands::{token}\n"), format!("::{token}::\n"))
}

/// The text of a command: percent signs and line breaks would end or change it.
pub(super) fn command_text(text: &str) -> String {
    plain_lines(text).replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// A property of a command, which also ends at a comma or colon.
pub(super) fn property(text: &str) -> String {
    command_text(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_github_would_drop_is_counted() {
        let shown = |count: usize| -> Vec<String> {
            let one = |number: usize| context! { word => "error", checks => [number], line => "m" };
            let (none, open) = (Vec::<Value>::new(), (0..count).map(one).collect::<Vec<_>>());
            let view = context! {
                report => context! { checks => &none }, said => context! {}, causes => &none, findings => &none, inconclusive => open,
            };
            let text = render(template!("templates/annotations.github"), view).expect("annotations");
            text.lines().filter(|line| line.starts_with("::warning ")).map(str::to_owned).collect()
        };
        assert!(shown(10).len() == 10 && shown(10).iter().all(|line| line.ends_with("::m")));
        assert_eq!(shown(12).len(), 10);
        let last = "::warning title=more findings::3 more; see the job summary or the report";
        assert_eq!(shown(12).last().map(String::as_str), Some(last));
    }

    #[test]
    fn text_cannot_end_a_command_or_begin_one() {
        assert_eq!(property("a:b,c%\n::x"), "a%3Ab%2Cc%25%0A%3A%3Ax");
        assert_eq!(command_text("1%\r\n::error::2\u{1b}"), "1%25\\u{d}%0A::error::2\\u{1b}");
    }

    #[test]
    fn what_a_server_says_stays_text() {
        assert_eq!(escaped("<b>|a`\nb"), r"\<b\>\|a\` b");
        assert_eq!(
            escaped("(@org/team) is #1, *see* https://a.invalid/`|x  WWW.a.invalid or GH-7\n"),
            r"`(@org/team)` is `#1,` \*see\* `https://a.invalid/'\|x`  `WWW.a.invalid` or `GH-7` "
        );
        assert_eq!(fenced("", "a ```` b"), "`````\na ```` b\n`````");
    }
}

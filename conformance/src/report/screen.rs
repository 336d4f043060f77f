use std::fmt::Write as _;

use super::plain;

/// How text is laid out: colours, width and how much of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Screen {
    /// Whether ANSI colours are used.
    pub is_coloured: bool,
    /// Maximum number of columns of a line; `None` for no limit, as in a file.
    pub width: Option<usize>,
    /// How much is shown.
    pub detail: Detail,
}

/// How much is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Detail {
    /// Failures and the verdict.
    Quiet,
    /// One line for each check as well.
    Normal,
    /// Exchanges of each check, and unspecified behaviour that was observed.
    Verbose,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Tone {
    Good,
    Bad,
    Doubtful,
    Faint,
    Strong,
}

impl Screen {
    /// Text for a file or a pipe.
    pub const PLAIN: Self = Self { is_coloured: false, width: None, detail: Detail::Normal };

    /// Width of the column of labels.
    pub(super) const LABELS: usize = 16;

    /// A text in colour, without control characters.
    pub(super) fn paint(&self, tone: Tone, text: &str) -> String {
        let text = plain(text);
        let code = match tone {
            Tone::Good => "32",
            Tone::Bad => "31;1",
            Tone::Doubtful => "33",
            Tone::Faint => "2",
            Tone::Strong => "1",
        };
        match self.is_coloured {
            false => text.into_owned(),
            true => format!("\u{1b}[{code}m{text}\u{1b}[0m"),
        }
    }

    /// A label in its column, and text beside it, wrapped at the width.
    pub(super) fn labelled(&self, tone: Tone, label: &str, text: &str) -> String {
        let mut lines = self.wrapped(&plain(text)).into_iter();
        let first = lines.next().unwrap_or_default();
        let label = format!("{label:>width$}", width = Self::LABELS);
        let mut block = format!("{} {first}\n", self.paint(tone, &label));
        for line in lines {
            let _ = writeln!(block, "{:width$} {line}", "", width = Self::LABELS);
        }
        block
    }

    /// A label and text beside it.
    #[must_use]
    pub fn line(&self, label: &str, text: &str) -> String {
        self.labelled(Tone::Faint, label, text)
    }

    pub(super) fn clipped(&self, text: &str) -> String {
        let text = plain(text);
        match self.width {
            Some(width) if text.chars().count() > width => {
                let mut clipped: String = text.chars().take(width.saturating_sub(1)).collect();
                clipped.push('…');
                clipped
            }
            _ => text.into_owned(),
        }
    }

    fn wrapped(&self, text: &str) -> Vec<String> {
        // On a narrower screen, wrapping would leave too few columns beside the labels.
        const MIN_WIDTH: usize = 20;
        let room =
            self.width.map(|width| width.saturating_sub(Self::LABELS + 1)).filter(|room| *room >= MIN_WIDTH);
        let Some(room) = room else { return vec![text.to_owned()] };
        let mut lines: Vec<String> = Vec::new();
        let length = |text: &str| text.chars().count();
        for word in text.split(' ') {
            match lines.last_mut() {
                Some(line) if line.is_empty() => line.push_str(word),
                Some(line) if length(line) + 1 + length(word) <= room => *line += &format!(" {word}"),
                _ => lines.push(word.to_owned()),
            }
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_wrapped_beside_its_label_and_a_line_is_clipped_by_characters() {
        let screen = |width| Screen { width: Some(width), ..Screen::PLAIN };
        let text = "one two three four five six seven eight nine ten";
        let block = screen(40).line("Expected", text);
        assert!(block.lines().count() > 1 && block.lines().all(|line| line.chars().count() <= 40), "{block}");
        let words: Vec<_> = block.split_whitespace().skip(1).collect();
        assert_eq!(words.join(" "), text);
        assert_eq!(Screen::PLAIN.line("Expected", text).lines().count(), 1);
        assert_eq!(["äöüäöü", "äöüä"].map(|text| screen(4).clipped(text)), ["äöü…", "äöüä"]);
    }
}

//! Texts that resemble a value: the lists of `near.txt`.

use std::sync::LazyLock;

use minijinja::{Environment, context};

use super::token::UNKNOWN;
use crate::wire::in_other_case;

/// One way to change a value.
#[derive(Debug, Clone, Copy)]
pub(super) struct Near {
    pub(super) label: &'static str,
    template: &'static str,
}

/// The ways of a list. A test renders each of them.
pub(super) fn near(list: &str) -> impl Iterator<Item = Near> + Clone {
    let is_heading =
        move |line: &&str| line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) == Some(list);
    let mut lines = include_str!("near.txt").lines();
    lines.find(is_heading);
    let lines = lines.take_while(|line| !line.starts_with('[')).collect::<Vec<_>>().into_iter();
    lines.filter(|line| !line.starts_with('#')).filter_map(|line| {
        let (label, template) = line.split_once(": ")?;
        Some(Near { label, template })
    })
}

static WORDS: LazyLock<Environment<'static>> = LazyLock::new(|| {
    let mut words = Environment::new();
    let mut add = |name, change: fn(&str) -> String| words.add_filter(name, move |value: &str| change(value));
    add("accented", accented);
    add("alphanumeric", |value| value.chars().filter(|c| c.is_alphanumeric()).collect());
    add("full_width", |value| value.chars().map(full_width).collect());
    add("percent", |value| value.bytes().map(|byte| format!("%{byte:02X}")).collect());
    add("unpadded", |value| {
        let start = value.trim_end_matches(|c: char| c.is_ascii_digit());
        format!("{start}{}", value[start.len()..].trim_start_matches('0'))
    });
    add("other_case", in_other_case);
    add("unknown", |value| UNKNOWN.chars().cycle().take(value.chars().count()).collect());
    add("wildcards", |value| "_".repeat(value.chars().count()));
    words.add_global("unknown_token", UNKNOWN);
    words
});

impl Near {
    pub(super) fn of(self, value: &str) -> String {
        let text = WORDS.render_str(self.template, context! { value }).unwrap_or_default();
        text.replace('␠', " ").replace('␀', "\0").replace('␤', "\n")
    }
}

/// The text with an acute accent on its first letter that can have one, which collations ignore.
fn accented(text: &str) -> String {
    let accents = || "aeioucnAEIOUCN".chars().zip("áéíóúćńÁÉÍÓÚĆŃ".chars());
    let found = text.chars().find_map(|letter| accents().find(|(plain, _)| *plain == letter));
    found.map_or_else(
        || text.to_owned(),
        |(plain, accented)| text.replacen(plain, accented.encode_utf8(&mut [0; 4]), 1),
    )
}

fn full_width(character: char) -> char {
    let wide = u32::from(character).checked_add(0xfee0).filter(|_| character.is_ascii_graphic());
    wide.and_then(char::from_u32).unwrap_or(character)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_template_makes_another_text() {
        let lists = ["value", "one value", "listed value", "folded value", "listed text", "wrong token"];
        let texts = lists.map(|list| near(list).map(|near| near.of("Is-042")).collect::<Vec<_>>());
        insta::assert_snapshot!(texts.map(|list| format!("{list:?}")).join("\n"));
    }
}

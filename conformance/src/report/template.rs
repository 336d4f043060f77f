//! Pages and texts that are made from templates.

use minijinja::{Environment, Value, escape_formatter};

use super::markdown::{code, escaped, fenced};
use super::prometheus::label;
use super::{plain, plain_lines, quantity};

/// Fills a template with a line for each text, `LABEL: TEXT`. What is put in stays on its line.
pub(crate) fn render_lines(name: &'static str, template: &'static str, view: Value) -> Vec<(String, String)> {
    let mut environment = Environment::new();
    environment.set_formatter(|out, state, value| match value.as_str().filter(|_| !value.is_safe()) {
        Some(text) => escape_formatter(out, state, &Value::from(plain(text).into_owned())),
        None => escape_formatter(out, state, value),
    });
    environment.add_filter("quantity", |count: u64, noun: &str| quantity(count, noun));
    environment.add_filter("few", |value: &str| few(value));
    let text = environment.render_named_str(name, template, view);
    // An error would be a bug of the suite.
    let text = text.unwrap_or_else(|error| format!("error: {error}"));
    let line = |line: &str| line.split_once(": ").map(|(label, text)| (label.to_owned(), text.to_owned()));
    text.lines().filter_map(line).collect()
}

/// A value as the configuration writes it, of a long list the first items. The JSON report has them all.
fn few(value: &str) -> String {
    const SHOWN: usize = 4;
    let items: Vec<&str> = value.split(", ").collect();
    match items.get(..SHOWN) {
        Some(first) if items.len() > 2 * SHOWN => {
            let end = if value.ends_with(']') { "]" } else { "" };
            format!("{}, …{end} ({} in all)", first.join(", "), items.len())
        }
        _ => value.to_owned(),
    }
}

/// Fills a template. What is put in is escaped where the name ends in .html; elsewhere the filters `text`, `code` and `block` do it.
pub(crate) fn render(
    name: &'static str,
    template: &'static str,
    view: Value,
) -> Result<String, minijinja::Error> {
    let mut environment = Environment::new();
    environment.set_formatter(|out, state, value| match value.as_str().filter(|_| !value.is_safe()) {
        Some(text) => escape_formatter(out, state, &Value::from(plain_lines(text).into_owned())),
        None => escape_formatter(out, state, value),
    });
    environment.add_global("style", Value::from_safe_string(include_str!("html/style.css").to_owned()));
    environment.add_global("script", Value::from_safe_string(include_str!("html/script.js").to_owned()));
    environment.add_filter("text", |text: &str| escaped(text));
    environment.add_filter("code", |text: &str| code(text));
    environment.add_filter("label", |text: &str| label(text));
    environment.add_filter("beginning", |text: &str| beginning(text));
    environment.add_filter("block", |text: &str, language: &str| fenced(language, text));
    environment.add_template(name, template)?;
    environment.get_template(name)?.render(view)
}

/// A body on a page with many of them; the evidence of a finding has the whole.
fn beginning(text: &str) -> String {
    const SHOWN: usize = 16 << 10;
    match text.len() {
        0..=SHOWN => text.to_owned(),
        length => format!("{}… ({length} bytes in the report)", &text[..text.floor_char_boundary(SHOWN)]),
    }
}

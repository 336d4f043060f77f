//! Pages and texts that are made from templates.

use minijinja::{Environment, Value, escape_formatter};

use super::markdown::{code, escaped, fenced};
use super::plain_lines;
use super::prometheus::label;

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

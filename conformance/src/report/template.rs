//! Pages and texts that are made from templates.

use std::borrow::Cow;

use minijinja::{AutoEscape, Environment, Error, Value, escape_formatter};

use super::markdown::{code, command_text, escaped, fenced, property};
use super::prometheus::label;
use super::{plain, plain_lines, quantity};

/// The name of a template and its text.
pub(crate) type Template = (&'static str, &'static str);

/// A template in the folder beside the file that names it.
macro_rules! template {
    ($file:literal) => {
        ($file.rsplit_once('/').map_or($file, |(_, name)| name), include_str!($file))
    };
}

pub(crate) use template;

/// Fills a template with a line for each text, `LABEL: TEXT`. A mistake in it, a bug of the suite, must not hide what it has to say.
pub(crate) fn render_lines(template: Template, view: &Value) -> Vec<(String, String)> {
    let text = render(template, view.clone()).unwrap_or_else(|error| unformatted(view, &error));
    let line = |line: &str| line.split_once(": ").map(|(label, text)| (label.to_owned(), text.to_owned()));
    text.lines().filter_map(line).collect()
}

fn unformatted(view: &Value, error: &Error) -> String {
    let names = view.try_iter().into_iter().flatten();
    let lines = names
        .filter_map(|name| Some(format!("{name}: {}\n", plain(&view.get_item(&name).ok()?.to_string()))));
    format!("error: {}\n{}", plain(&error.to_string()), lines.collect::<String>())
}

/// Fills a template. What is put in is escaped where the name ends in .html or .xml; elsewhere filters do it.
pub(crate) fn render((name, text): Template, view: Value) -> Result<String, Error> {
    let extension = name.rsplit('.').next().unwrap_or_default();
    let mut environment = Environment::new();
    environment.set_auto_escape_callback(|name| match name.ends_with(".html") {
        true => AutoEscape::Html,
        false => AutoEscape::None,
    });
    environment.set_formatter(move |out, state, value| match value.as_str().filter(|_| !value.is_safe()) {
        Some(text) => {
            let text = match extension {
                // Its filter writes control characters as escapes.
                "json" => Cow::Borrowed(text),
                "txt" => plain(text),
                "xml" => in_xml(&plain_lines(text)).into(),
                _ => plain_lines(text),
            };
            escape_formatter(out, state, &Value::from(text.into_owned()))
        }
        None => escape_formatter(out, state, value),
    });
    environment.add_global("style", Value::from_safe_string(include_str!("templates/style.css").to_owned()));
    environment.add_global("script", Value::from_safe_string(include_str!("templates/script.js").to_owned()));
    environment.add_global("version", env!("CARGO_PKG_VERSION"));
    environment.add_filter("text", |text: &str| escaped(text));
    environment.add_filter("code", |text: &str| code(text));
    environment.add_filter("label", |text: &str| label(text));
    environment.add_filter("line", |text: &str| plain(text).into_owned());
    environment.add_filter("property", |text: &str| property(text));
    environment.add_filter("command_text", |text: &str| command_text(text));
    environment.add_filter("json", |value: Value| serde_json::to_string(&value).unwrap_or_default());
    // In messages of SARIF, text of others must not become links: readers take `[text](target)` for one.
    environment.add_filter("message", |text: &str| Value::from(text.replace("](", "]\\(")));
    environment.add_filter("beginning", |text: &str| beginning(text));
    environment.add_filter("block", |text: &str, language: &str| fenced(language, text));
    environment.add_filter("quantity", |count: u64, noun: &str| quantity(count, noun));
    environment.add_filter("few", |value: &str| few(value));
    environment.render_named_str(name, text, view)
}

fn in_xml(text: &str) -> String {
    [('&', "&amp;"), ('<', "&lt;"), ('>', "&gt;"), ('"', "&quot;"), ('\'', "&apos;")]
        .iter()
        .fold(text.to_owned(), |text, (c, entity)| text.replace(*c, entity))
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

/// A body on a page with many of them; the evidence of a finding has the whole.
fn beginning(text: &str) -> String {
    const SHOWN: usize = 16 << 10;
    match text.len() {
        0..=SHOWN => text.to_owned(),
        length => format!("{}… ({length} bytes in the report)", &text[..text.floor_char_boundary(SHOWN)]),
    }
}

#[cfg(test)]
mod tests {
    use minijinja::context;

    use super::*;

    #[test]
    fn a_mistake_in_a_template_hides_nothing() {
        let view = context! { coverage => "7 of 9", stopped => ["a\nb"] };
        let error =
            render(("summary.txt", "{{ coverage | quantity }}"), view.clone()).expect_err("a mistake");
        let text = unformatted(&view, &error);
        assert!(text.starts_with("error: ") && text.contains("\ncoverage: 7 of 9\n"), "{text}");
        assert_eq!(text.lines().count(), 3, "{text}");
    }
}

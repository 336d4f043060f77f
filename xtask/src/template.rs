//! Fills templates of MiniJinja: for code that is generated, and for reports.

use minijinja::{Environment, UndefinedBehavior, Value as Shown, syntax::SyntaxConfig, value::Serde};
use serde_json::Value;

use crate::emit::name;

/// The template with what it shows.
#[expect(clippy::expect_used, reason = "the templates are part of this program, and a test fills each")]
pub(crate) fn fill(template: &str, known: &Value) -> String {
    let mut syntax = SyntaxConfig::builder();
    syntax.trim_blocks(true).lstrip_blocks(true).keep_trailing_newline(true);
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::SemiStrict);
    environment.set_syntax(syntax.build().expect("the usual delimiters"));
    environment.add_filter("pascal", |text: &str| name::pascal(text).to_string());
    environment.add_filter("snake", |text: &str| name::snake(text).to_string());
    environment.add_filter("constant", |text: &str| name::constant(text).to_string());
    environment.add_filter("noun", |text: &str| name::noun(text).to_string());
    environment.add_filter("separator", |text: &str| name::separator(text).to_string());
    environment.add_filter("json", json);
    // A text of Rust, and a text as it is in one.
    environment.add_filter("lit", |text: &str| format!("{text:?}"));
    environment.add_filter("escaped", |text: &str| text.escape_debug().to_string());
    environment.add_filter("doc", doc);
    environment.render_str(template, Serde(known)).expect("a template of this program")
}

/// A value of JSON.
#[expect(clippy::needless_pass_by_value, reason = "a filter gets its arguments by value")]
fn json(one: Shown) -> Result<String, minijinja::Error> {
    serde_json::to_string(&one).map_err(|error| {
        minijinja::Error::new(minijinja::ErrorKind::BadSerialization, error.to_string()).with_source(error)
    })
}

/// Text as doc comments, a line each. rustdoc would take <API_KEY> for HTML and [IPv6] for a link.
fn doc(text: &str) -> String {
    let text = text.replace('<', "\\<").replace("[IPv6]", "\\[IPv6\\]");
    let text = text.replace("`\\[IPv6\\]:port`", "`[IPv6]:port`");
    let space = |line: &str| if line.is_empty() { "" } else { " " };
    text.lines().map(|line| format!("#[doc = {:?}]", space(line).to_owned() + line)).collect()
}

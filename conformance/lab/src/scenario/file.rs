//! Reads scenarios from TOML.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use hyper::header::{HeaderName, HeaderValue};
use sallyport_conformance_base::contract::OperationId;
use sallyport_conformance_base::document::{ConfigError, Document, Item, Section};
use serde_json::Value;

use super::step::Step;
use super::{DEFAULT, Scenario};
use crate::exchange::Framing;
use crate::rows::row::{self, Row};

/// Maximum number of scenarios in a file, and of steps in a scenario.
const MAX_SCENARIOS: usize = 200;
const MAX_STEPS: usize = 200;

/// Longest wait of a step, in milliseconds.
const MAX_WAIT: i64 = 60_000;

/// Largest number of bytes that a step may name (1 GiB); they are made while they are sent.
const MAX_BYTES: i64 = 1 << 30;

/// A mistake in scenarios: file, line, column, and what was expected.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ScenarioError(pub(super) String);

/// The scenarios of a text by name; `file` names it in errors.
pub(super) fn parse(file: &Path, text: &str) -> Result<BTreeMap<String, Scenario>, ScenarioError> {
    let scenarios = Document::parse(file, text, &|_| None, |root| {
        let entries = root.entries();
        if let Some((_, item)) = entries.get(MAX_SCENARIOS) {
            return Err(item.wrong(&format!("at most {MAX_SCENARIOS} scenarios")));
        }
        let scenario = |(name, item): (String, Item<'_>)| Ok((name.clone(), scenario(&name, &item)?));
        entries.into_iter().map(scenario).collect::<Result<BTreeMap<_, _>, ConfigError>>()
    });
    scenarios.map_err(|error| ScenarioError(error.with_column()))
}

fn scenario(name: &str, item: &Item<'_>) -> Result<Scenario, ConfigError> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if name.is_empty() || name.len() > 64 || !name.chars().all(is_plain) {
        return Err(item.wrong("a name of 1 to 64 letters, digits, dots, hyphens and underscores"));
    }
    if item.is_list() {
        return Err(item.wrong(&format!("the name of a scenario before it: [[{DEFAULT}.{name}]]")));
    }
    item.section(|section| {
        let seed = section.read("seed", |item| item.number(0..=i64::MAX))?.unwrap_or_default();
        let lists = OperationId::ALL.iter().map(|id| (id.id(), Some(*id))).chain([("any", None)]);
        let steps = lists.map(|(list, operation)| Ok((list, steps(section, list, operation)?)));
        Ok(Scenario { seed, steps: steps.collect::<Result<_, ConfigError>>()? })
    })
}

fn steps(section: &Section<'_>, key: &str, operation: Option<OperationId>) -> Result<Vec<Step>, ConfigError> {
    let Some(item) = section.get(key) else { return Ok(Vec::new()) };
    let items = item.items("a list of steps: [[NAME.OPERATION]]")?;
    if let Some(item) = items.get(MAX_STEPS) {
        return Err(item.wrong(&format!("at most {MAX_STEPS} steps")));
    }
    let mut steps: Vec<Step> = Vec::with_capacity(items.len());
    for item in &items {
        if steps.last().is_some_and(|step| step.is_forever) {
            return Err(item.wrong("no step after one with `forever`, which lets none follow"));
        }
        steps.push(item.section(|section| step(item, section, operation))?);
    }
    Ok(steps)
}

fn step(at: &Item<'_>, section: &Section<'_>, operation: Option<OperationId>) -> Result<Step, ConfigError> {
    let seconds = |key: &str| section.read(key, |item| item.number(0..=86_400));
    let text = |key: &str| section.read(key, Item::string);
    let flag = |key: &str| Ok(section.read(key, Item::boolean)?.unwrap_or(false));

    let fault = known(section, "fault", row::faults(), operation)?;
    let variation = known(section, "variation", row::variations(), operation)?;
    if fault.is_some() && variation.is_some() {
        return Err(at.wrong("either `fault` or `variation`; put the other one before or after it"));
    }
    let step = Step {
        times: section.read("times", |item| item.number(1..=1_000_000))?,
        is_forever: flag("forever")?,
        probability: section.read("probability", Item::share)?.filter(|share| *share < 1.0),
        row: fault.or(variation),
        delay: section.read("delay-ms", |item| item.number(0..=MAX_WAIT))?.map(Duration::from_millis),
        status: section.read("status", |item| item.number(200..=599))?,
        code: section.read("code", code)?,
        message: text("message")?,
        body: text("body")?,
        redirect: section.read("redirect-to", redirect)?,
        redirect_query: flag("redirect-query")?,
        retry_after: seconds("retry-after")?,
        retry_after_date: seconds("retry-after-date")?,
        content_type: section.read("content-type", header_value)?,
        headers: section.section("headers", headers)?.unwrap_or_default(),
        duplicate_headers: flag("duplicate-headers")?,
        unknown_fields: flag("unknown-fields")?,
        unknown_values: flag("unknown-values")?,
        numbers_as_text: flag("numbers-as-text")?,
        close: flag("close")?,
        framing: framing(at, section)?,
    };
    coherent(at, &step)?;
    Ok(step)
}

/// Rejects a step of which a part could never show.
fn coherent(at: &Item<'_>, step: &Step) -> Result<(), ConfigError> {
    let has_content = step.code.is_some() || step.body.is_some();
    let is_made = step.status.is_some() || has_content || step.redirect.is_some();
    let has_text = has_content || step.message.is_some();
    let is_no_redirect = |status| !matches!(status, 301 | 302 | 303 | 307 | 308);
    let has_date = step.retry_after_date.is_some();
    let mistakes = [
        (step.retry_after.is_some() && has_date, "either `retry-after` or `retry-after-date`"),
        (step.is_forever && step.times.is_some(), "either `times` or `forever`"),
        (step.message.is_some() && !is_made, "`status` or `code` beside `message`"),
        (
            step.body.is_some() && (step.code.is_some() || step.message.is_some()),
            "either `body`, or `code` and `message`, of which a JSON body is made",
        ),
        (
            is_made && step.row.is_some(),
            "either a fault or variation, or a response of its own (`status`, `code`, `body`, `redirect-to`)",
        ),
        (step.redirect_query && step.redirect.is_none(), "`redirect-to` beside `redirect-query`"),
        (
            step.redirect.is_some() && has_text,
            "`redirect-to` without `code`, `message` and `body`, which it sets itself",
        ),
        (
            step.redirect.is_some() && step.status.is_some_and(is_no_redirect),
            "`status` 301, 302, 303, 307 or 308 beside `redirect-to`",
        ),
        (
            has_text && step.status.is_some_and(Step::is_without_body),
            "no `code`, `message` or `body` beside a `status` whose responses have no body",
        ),
    ];
    let mistake = mistakes.iter().find(|(is_made, _)| *is_made);
    mistake.map_or(Ok(()), |(_, expected)| Err(at.wrong(expected)))
}

/// How the response is sent; one way at most.
fn framing(at: &Item<'_>, section: &Section<'_>) -> Result<Option<Framing>, ConfigError> {
    let bytes = |key: &str| section.read(key, |item| item.number(0..=MAX_BYTES));
    let slow = section.section("slow-body", |slow| {
        let bytes = slow.read("bytes", |item| item.number(1..=MAX_BYTES))?.unwrap_or(1);
        let pause = slow.read("pause-ms", |item| item.number(1..=MAX_WAIT))?.unwrap_or(100);
        Ok(Framing::Slow(bytes, Duration::from_millis(pause)))
    })?;
    let reset = section.read("reset", Item::boolean)?.unwrap_or(false);
    let stall = section.read("stall-ms", |item| item.number(1..=MAX_WAIT))?;
    let wrong = section.read("wrong-length", |item| item.number(-MAX_BYTES..=MAX_BYTES))?;
    let blanks = section.read("pad-bytes", |item| item.number(1..=MAX_BYTES))?;
    let ways = [
        ("slow-body", slow),
        ("cut-after", bytes("cut-after")?.map(Framing::Cut)),
        ("reset-after", bytes("reset-after")?.map(|bytes| Framing::Reset(Some(bytes)))),
        ("reset", reset.then_some(Framing::Reset(None))),
        ("stall-ms", stall.map(|stall| Framing::Silent(Duration::from_millis(stall)))),
        ("wrong-length", wrong.map(Framing::WrongLength)),
        ("pad-bytes", blanks.map(Framing::Padded)),
    ];
    let found: Vec<_> = ways.iter().filter(|(_, way)| way.is_some()).map(|(key, _)| *key).collect();
    if found.len() > 1 {
        let quoted = |keys: &[&str]| keys.iter().map(|key| format!("`{key}`")).collect::<Vec<_>>().join(", ");
        let all = ways.each_ref().map(|(key, _)| *key);
        return Err(at.wrong(&format!("only one of {}, found {}", quoted(&all), quoted(&found))));
    }
    Ok(ways.into_iter().find_map(|(_, way)| way))
}

fn known(
    section: &Section<'_>,
    key: &'static str,
    rows: &'static [Row],
    operation: Option<OperationId>,
) -> Result<Option<&'static Row>, ConfigError> {
    let Some(item) = section.get(key) else { return Ok(None) };
    let id = item.string()?;
    match rows.iter().find(|row| row.id == id) {
        Some(row) if operation.is_none() || row.concerns(operation) => Ok(Some(row)),
        Some(_) => Err(item.wrong(&format!("a {key} that touches requests of this operation, found `{id}`"))),
        None => Err(item.unknown(key, &id, &rows.iter().map(|row| &*row.id).collect::<Vec<_>>())),
    }
}

fn code(item: &Item<'_>) -> Result<Value, ConfigError> {
    if item.is_string() {
        return item.string().map(Value::from);
    }
    item.number::<i64>(i64::MIN..=i64::MAX).map(Value::from).map_err(|_| item.wrong("an integer or a string"))
}

fn redirect(item: &Item<'_>) -> Result<url::Url, ConfigError> {
    let url = url::Url::parse(&item.string()?).ok();
    let is_web = |url: &url::Url| matches!(url.scheme(), "http" | "https") && url.has_host();
    url.filter(is_web).ok_or_else(|| item.wrong("a URL such as http://localhost:8081"))
}

fn header_value(item: &Item<'_>) -> Result<HeaderValue, ConfigError> {
    HeaderValue::from_str(&item.string()?).map_err(|_| item.wrong("a value on one line"))
}

/// Header names with a value, or with a list of values to send in turn.
fn headers(section: &Section<'_>) -> Result<Vec<(HeaderName, HeaderValue)>, ConfigError> {
    let mut headers = Vec::new();
    for (name, item) in section.entries() {
        let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| item.wrong("the name of a header"))?;
        if ["content-length", "transfer-encoding", "connection"].contains(&name.as_str()) {
            return Err(
                item.wrong("another header; `wrong-length` and `close` change those of the connection")
            );
        }
        let values = if item.is_string() { vec![item] } else { item.items("a text or a list of texts")? };
        for value in &values {
            headers.push((name.clone(), header_value(value)?));
        }
    }
    Ok(headers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mistakes_are_named_with_line_and_column() {
        for row in include_str!("mistakes.txt").lines() {
            let (text, expected) = row.split_once(" => ").expect("a text, and what is wrong with it");
            let error = parse(Path::new("s.toml"), &text.replace(" / ", "\n")).expect_err(row).to_string();
            assert!(error.contains(expected), "{row}: {error}");
        }
    }
}

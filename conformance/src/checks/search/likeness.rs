//! Whether two responses can be told apart.

use crate::check::{Probe, Stop};
use crate::contract::Clause;
use crate::wire::{Answer, Exchange, Request};

/// Sends `unknown` before and after `foreign`, and reports where the foreign one is answered otherwise. What differs between
/// the two unknown ones says nothing. Each request comes with the text that it asks for, which a response may repeat.
pub(super) async fn judge(
    probe: &Probe<'_>,
    clause: Clause,
    (what, foreign_text, foreign): (&str, &str, &Request),
    (unknown_text, unknown): (&str, &Request),
) -> Result<(), Stop> {
    let first = Traits::of(probe, unknown, unknown_text).await?;
    let other = Traits::of(probe, foreign, foreign_text).await?;
    let second = Traits::of(probe, unknown, unknown_text).await?;
    let told_apart = |(name, before): &&(&'static str, String)| {
        second.value(name) == Some(before) && other.value(name) != Some(before)
    };
    let mut differing: Vec<_> = first.of_answer.iter().filter(told_apart).collect();
    // A response may say how long it took, and then two are alike or not by chance.
    for _ in 0..ROUNDS {
        if differing.is_empty() {
            return Ok(());
        }
        let unknown = Traits::of(probe, unknown, unknown_text).await?;
        let foreign = Traits::of(probe, foreign, foreign_text).await?;
        differing.retain(|(name, before)| {
            unknown.value(name) == Some(before) && foreign.value(name) != Some(before)
        });
    }
    let exchanges = [&first.exchange, &other.exchange, &second.exchange];
    for (name, before) in differing {
        let expected = format!("{what} is answered as an unknown one, {name}: {before}");
        let actual = other.value(name).map_or_else(|| "nothing".to_owned(), Clone::clone);
        probe.finding(clause, &expected, &actual, &exchanges);
    }
    Ok(())
}

/// How often a difference must come again.
const ROUNDS: usize = 6;

struct Traits {
    of_answer: Vec<(&'static str, String)>,
    exchange: Exchange,
}

impl Traits {
    fn value(&self, wanted: &str) -> Option<&String> {
        self.of_answer.iter().find(|(name, _)| *name == wanted).map(|(_, value)| value)
    }

    async fn of(probe: &Probe<'_>, request: &Request, text: &str) -> Result<Self, Stop> {
        let (exchange, class) = probe.send(request).await?;
        let Ok(answer) = &exchange.result else {
            return Err(probe.inconclusive(&format!("no response to compare: {}", class.description())));
        };
        let of_answer = vec![
            ("status", answer.status.to_string()),
            ("names of headers", header_names(answer)),
            ("headers", headers(answer)),
            ("body", body(answer, text)),
        ];
        Ok(Self { of_answer, exchange })
    }
}

/// Headers that differ from answer to answer by their nature, or from connection to connection.
fn is_volatile(name: &str) -> bool {
    const VOLATILE: [&str; 11] = [
        "age",
        "connection",
        "content-length",
        "date",
        "etag",
        "keep-alive",
        "retry-after",
        "server-timing",
        "set-cookie",
        "transfer-encoding",
        "via",
    ];
    let name = name.to_ascii_lowercase();
    VOLATILE.contains(&name.as_str())
        || ["request-id", "trace", "ratelimit", "rate-limit", "time", "-ray"]
            .iter()
            .any(|part| name.contains(part))
}

fn steady(answer: &Answer) -> Vec<(String, String)> {
    let steady = answer.headers().iter().filter(|(name, _)| !is_volatile(name));
    let mut headers: Vec<_> = steady
        .map(|(name, value)| (name.to_ascii_lowercase(), String::from_utf8_lossy(value).into_owned()))
        .collect();
    headers.sort_unstable();
    headers
}

fn header_names(answer: &Answer) -> String {
    steady(answer).into_iter().map(|(name, _)| name).collect::<Vec<_>>().join(", ")
}

fn headers(answer: &Answer) -> String {
    let lines: Vec<_> = steady(answer).into_iter().map(|(name, value)| format!("{name}: {value}")).collect();
    lines.join("; ")
}

/// The body without its request id and without what was asked for.
fn body(answer: &Answer, text: &str) -> String {
    let Some(json) = answer.json() else { return answer.text().replace(text, "…") };
    let mut json = json.clone();
    if let Some(object) = json.as_object_mut() {
        object.shift_remove("requestId");
    }
    json.to_string().replace(text, "…")
}

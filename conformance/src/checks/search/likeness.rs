//! Whether two responses can be distinguished.

use crate::check::{Probe, Stop};
use crate::contract::Clause;
use crate::wire::{Exchange, Request, Response};

/// Sends `unknown` before and after `foreign`, and reports differences of the response to `foreign`. Differences between the two
/// responses to `unknown` are ignored. Each request has the text that it searches for, since a response may repeat it.
pub(super) async fn judge(
    probe: &Probe<'_>,
    clause: Clause,
    (what, foreign_text, foreign): (&str, &str, &Request),
    (unknown_text, unknown): (&str, &Request),
) -> Result<(), Stop> {
    let first = Features::read(probe, unknown, unknown_text).await?;
    let other = Features::read(probe, foreign, foreign_text).await?;
    let second = Features::read(probe, unknown, unknown_text).await?;
    let differs = |(name, before): &&(&'static str, String)| {
        second.value(name) == Some(before) && other.value(name) != Some(before)
    };
    let mut differing: Vec<_> = first.values.iter().filter(differs).collect();
    // Some values, such as durations, are equal or different by chance.
    for _ in 0..ROUNDS {
        if differing.is_empty() {
            return Ok(());
        }
        let unknown = Features::read(probe, unknown, unknown_text).await?;
        let foreign = Features::read(probe, foreign, foreign_text).await?;
        differing.retain(|(name, before)| {
            unknown.value(name) == Some(before) && foreign.value(name) != Some(before)
        });
    }
    let exchanges = [&first.exchange, &other.exchange, &second.exchange];
    for (name, before) in differing {
        let expected = format!("{what} gets the response of an unknown one, {name}: {before}");
        let actual = other.value(name).map_or_else(|| "nothing".to_owned(), Clone::clone);
        probe.finding(clause, &expected, &actual, &exchanges);
    }
    Ok(())
}

/// Number of times that a difference must recur.
const ROUNDS: usize = 6;

struct Features {
    values: Vec<(&'static str, String)>,
    exchange: Exchange,
}

impl Features {
    fn value(&self, wanted: &str) -> Option<&String> {
        self.values.iter().find(|(name, _)| *name == wanted).map(|(_, value)| value)
    }

    async fn read(probe: &Probe<'_>, request: &Request, text: &str) -> Result<Self, Stop> {
        let (exchange, class) = probe.send(request).await?;
        let Ok(response) = &exchange.result else {
            return Err(probe.inconclusive(&format!("no response to compare: {}", class.description())));
        };
        let values = vec![
            ("status", response.status.to_string()),
            ("names of headers", header_names(response)),
            ("headers", headers(response)),
            ("body", body(response, text)),
        ];
        Ok(Self { values, exchange })
    }
}

/// Headers that naturally differ between responses or connections.
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

fn stable_headers(response: &Response) -> Vec<(String, String)> {
    let stable = response.headers().iter().filter(|(name, _)| !is_volatile(name));
    let mut headers: Vec<_> = stable
        .map(|(name, value)| (name.to_ascii_lowercase(), String::from_utf8_lossy(value).into_owned()))
        .collect();
    headers.sort_unstable();
    headers
}

fn header_names(response: &Response) -> String {
    stable_headers(response).into_iter().map(|(name, _)| name).collect::<Vec<_>>().join(", ")
}

fn headers(response: &Response) -> String {
    let lines: Vec<_> =
        stable_headers(response).into_iter().map(|(name, value)| format!("{name}: {value}")).collect();
    lines.join("; ")
}

/// The body without its request id and the text that was searched for.
fn body(response: &Response, text: &str) -> String {
    let Some(json) = response.json() else { return response.text().replace(text, "…") };
    let mut json = json.clone();
    if let Some(object) = json.as_object_mut() {
        object.shift_remove("requestId");
    }
    json.to_string().replace(text, "…")
}

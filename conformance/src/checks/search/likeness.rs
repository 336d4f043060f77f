//! Whether two responses can be distinguished.

use super::*;

/// Sends `unknown` before and after `foreign`, and reports differences of the response to `foreign`. Differences between the two
/// responses to `unknown` are ignored. Each request has the text that it searches for, since a response may repeat it.
pub(super) async fn judge(
    probe: &Probe<'_>,
    clause: Clause,
    (what, foreign_text, foreign): (&str, String, &Request),
    (unknown_text, unknown): (String, &Request),
) -> Result<(), Stop> {
    let first = Features::read(probe, unknown, &unknown_text).await?;
    let other = Features::read(probe, foreign, &foreign_text).await?;
    let second = Features::read(probe, unknown, &unknown_text).await?;
    let differs = |(name, before): &&(&'static str, String)| {
        second.value(name) == Some(before) && other.value(name) != Some(before)
    };
    let mut differing: Vec<_> = first.values.iter().filter(differs).collect();
    // Some values, such as durations, are equal or different by chance.
    for _ in 0..ROUNDS {
        if differing.is_empty() {
            return Ok(());
        }
        let unknown = Features::read(probe, unknown, &unknown_text).await?;
        let foreign = Features::read(probe, foreign, &foreign_text).await?;
        differing.retain(|(name, before)| {
            unknown.value(name) == Some(before) && foreign.value(name) != Some(before)
        });
    }
    // The text may be echoed beside letters or digits, and occur elsewhere by chance: neither way alone tells.
    if differing.iter().filter(|(name, _)| BODIES.contains(name)).count() < BODIES.len() {
        differing.retain(|(name, _)| !BODIES.contains(name));
    }
    differing.retain(|(name, _)| *name != BODIES[1]);
    let references = [&first.exchange, &second.exchange];
    for (name, before) in differing {
        let expected = format!("{what} gets the response of an unknown one, {name}: {before}");
        let actual = other.value(name).map_or_else(|| "nothing".to_owned(), Clone::clone);
        probe.finding_beside(clause, &expected, &actual, &[&other.exchange], &references);
    }
    Ok(())
}

/// The body without the text as a word, and without it anywhere.
const BODIES: [&str; 2] = ["body", "body without the text"];

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
            (BODIES[0], body(response, |body| without_word(body, text))),
            (BODIES[1], body(response, |body| body.replace(text, "…"))),
        ];
        Ok(Self { values, exchange })
    }
}

/// Headers that naturally differ between responses or connections.
fn is_volatile(name: &str) -> bool {
    const VOLATILE: &str = "age connection content-length date etag keep-alive retry-after server-timing set-cookie transfer-encoding via";
    let name = name.to_ascii_lowercase();
    VOLATILE.split(' ').any(|volatile| volatile == name)
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

/// The body without its request id, and without what else is taken out.
fn body(response: &Response, without: impl Fn(&str) -> String) -> String {
    let Some(json) = response.json() else { return without(&response.text()) };
    let mut json = json.clone();
    if let Some(object) = json.as_object_mut() {
        object.shift_remove("requestId");
    }
    without(&json.to_string())
}

/// A text with `…` for each occurrence of a word. What is part of a longer word, number or address stays: a group `5` may be
/// echoed, and occurs in a code by chance.
fn without_word(text: &str, word: &str) -> String {
    let mut shown = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(word).filter(|_| !word.is_empty()) {
        let (before, after) = (&rest[..at], &rest[at + word.len()..]);
        shown.push_str(before);
        let is_part = ends_in_word(&shown)
            || ends_in_word(&after.chars().take(2).collect::<Vec<_>>().iter().rev().collect::<String>());
        shown.push_str(if is_part { word } else { "…" });
        rest = after;
    }
    shown + rest
}

/// Whether a text ends in the middle of a word, number or address. The end of a sentence is no part of one.
fn ends_in_word(text: &str) -> bool {
    let mut last = text.chars().rev();
    match last.next() {
        Some('.' | ':' | '-' | '_') => last.next().is_some_and(char::is_alphanumeric),
        Some(c) => c.is_alphanumeric(),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_words_are_taken_out() {
        for (text, expected) in [
            (r#"{"code":40405,"message":"group 5"}"#, r#"{"code":40405,"message":"group …"}"#),
            (r#"{"groupId":5,"message":"no 5."}"#, r#"{"groupId":…,"message":"no …."}"#),
            (r#""203.0.113.5" "5.6" "a-5" "5""#, r#""203.0.113.5" "5.6" "a-5" "…""#),
            ("55", "55"),
        ] {
            assert_eq!(without_word(text, "5"), expected);
        }
        assert_eq!(without_word("a", ""), "a");
    }
}

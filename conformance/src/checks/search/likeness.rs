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
    let differs = |at: &usize, unknown: &Features, foreign: &Features| {
        unknown.values[*at] == first.values[*at] && foreign.values[*at] != first.values[*at]
    };
    let mut differing: Vec<_> = (0..NAMES.len()).filter(|at| differs(at, &second, &other)).collect();
    // Some values, such as durations, are equal or different by chance.
    for _ in 0..ROUNDS {
        if differing.is_empty() {
            return Ok(());
        }
        let unknown = Features::read(probe, unknown, &unknown_text).await?;
        let foreign = Features::read(probe, foreign, &foreign_text).await?;
        differing.retain(|at| differs(at, &unknown, &foreign));
    }
    // The text may be echoed beside letters or digits, and occur elsewhere by chance: neither way alone tells.
    let is_body = BODIES.iter().all(|body| differing.contains(body));
    differing.retain(|at| !BODIES.contains(at) || (is_body && *at == BODIES[0]));
    let references = [&first.exchange, &second.exchange];
    for at in differing {
        let expected =
            format!("{what} gets the response of an unknown one, {}: {}", NAMES[at], first.values[at]);
        probe.finding_beside(clause, &expected, &other.values[at], &[&other.exchange], &references);
    }
    Ok(())
}

/// What responses are compared by. The last one has the body without the text anywhere, the one before without it as a word.
const NAMES: [&str; 5] = ["status", "names of headers", "headers", "body", "body without the text"];
const BODIES: [usize; 2] = [3, 4];

/// Number of times that a difference must recur.
const ROUNDS: usize = 6;

struct Features {
    values: [String; NAMES.len()],
    exchange: Exchange,
}

impl Features {
    async fn read(probe: &Probe<'_>, request: &Request, text: &str) -> Result<Self, Stop> {
        let (exchange, class) = probe.send(request).await?;
        let Ok(response) = &exchange.result else {
            return Err(probe.inconclusive(&format!("no response to compare: {}", class.description())));
        };
        let headers = stable_headers(response);
        let headers = |shown: fn(&(String, String)) -> String, separator: &str| {
            headers.iter().map(shown).collect::<Vec<_>>().join(separator)
        };
        let values = [
            response.status.to_string(),
            headers(|(name, _)| name.clone(), ", "),
            headers(|(name, value)| format!("{name}: {value}"), "; "),
            body(response, |body| without_word(body, text)),
            body(response, |body| body.replace(text, "…")),
        ];
        Ok(Self { values, exchange })
    }
}

/// Headers that naturally differ between responses or connections.
fn is_volatile(name: &str) -> bool {
    const VOLATILE: &str = "age connection content-length date etag keep-alive retry-after server-timing set-cookie transfer-encoding via";
    const PARTS: [&str; 6] = ["request-id", "trace", "ratelimit", "rate-limit", "time", "-ray"];
    let name = name.to_ascii_lowercase();
    VOLATILE.split(' ').any(|volatile| volatile == name) || PARTS.iter().any(|part| name.contains(part))
}

fn stable_headers(response: &Response) -> Vec<(String, String)> {
    let stable = response.headers().iter().filter(|(name, _)| !is_volatile(name));
    let mut headers: Vec<_> = stable
        .map(|(name, value)| (name.to_ascii_lowercase(), String::from_utf8_lossy(value).into_owned()))
        .collect();
    headers.sort_unstable();
    headers
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
        let is_part = goes_on(shown.chars().rev()) || goes_on(after.chars());
        shown.push_str(if is_part { word } else { "…" });
        rest = after;
    }
    shown + rest
}

/// Whether a word, number or address goes on in the characters beside a part of it. The end of a sentence is no part of one.
fn goes_on(mut beside: impl Iterator<Item = char>) -> bool {
    match beside.next() {
        Some('.' | ':' | '-' | '_') => beside.next().is_some_and(char::is_alphanumeric),
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

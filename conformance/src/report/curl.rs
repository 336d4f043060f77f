use super::plain::is_control;
use crate::target::Fact;
use crate::wire::RecordedExchange;

/// Maximum size of a body that is passed as an argument, in bytes. Linux allows arguments of 128 KiB.
const MAX_ARGUMENT_BYTES: usize = 64 * 1024;

/// The curl command that sends a recorded request again. Secrets are shell variables.
#[must_use]
pub fn command(base: &str, exchange: &RecordedExchange) -> String {
    let url = format!("{}{}", base.trim_end_matches('/'), exchange.target);
    let mut command = format!("curl -sS -i -X {} {}", exchange.method, quoted(&url));
    for (name, value) in &exchange.request_headers {
        command.push_str(&format!(" -H {}", quoted(&format!("{name}: {value}"))));
    }
    match &exchange.request_body {
        None => {}
        Some(body) if exchange.request_body_cut => {
            command.push_str(&format!(" --data-binary @body  # begins with {}", quoted(&first_line(body))));
        }
        Some(body) if body.len() > MAX_ARGUMENT_BYTES => {
            // A builtin of the shell takes arguments of any length.
            command = format!("printf %s {} | {command} --data-binary @-", quoted(body));
        }
        Some(body) => command.push_str(&format!(" --data-binary {}", quoted(body))),
    }
    command
}

/// Quotes one shell word. The variables of secrets stay outside the quotes, so that the shell expands them. Control characters
/// become escapes that bash, zsh and ksh understand.
fn quoted(text: &str) -> String {
    let mut quoted = format!("'{}'", text.replace('\'', r"'\''"));
    for c in text.chars().filter(|c| is_control(*c)) {
        let escape = match u32::from(c) {
            code @ 0..=0x7f => format!("\\x{code:02x}"),
            code @ 0x80..=0xffff => format!("\\u{code:04x}"),
            code => format!("\\U{code:08x}"),
        };
        quoted = quoted.replace(c, &format!("'$'{escape}''"));
    }
    let facts = Fact::ALL.iter().map(|fact| (fact.variable(), fact.variable()));
    for (name, variable) in facts.chain([("API_KEY", "SALLYPORT_API_KEY"), ("HEADER", "HEADER")]) {
        quoted = quoted.replace(&format!("${name}"), &format!("'\"${variable}\"'"));
    }
    // Remove the empty quotes that a variable at the edge of the word leaves.
    let trimmed = quoted.strip_prefix("''\"").map(|rest| format!("\"{rest}")).unwrap_or(quoted);
    trimmed.strip_suffix("\"''").map(|rest| format!("{rest}\"")).unwrap_or(trimmed)
}

fn first_line(body: &str) -> String {
    const MAX_CHARACTERS: usize = 60;
    body.lines().next().unwrap_or_default().chars().take(MAX_CHARACTERS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_hold_and_variables_stand_outside_of_them() {
        assert_eq!(quoted("a=it's&k=$API_KEY&x=1"), r#"'a=it'\''s&k='"$SALLYPORT_API_KEY"'&x=1'"#);
        assert_eq!(quoted("$HOME `id`"), "'$HOME `id`'");
        assert_eq!(quoted("$SALLYPORT_SECOND_API_KEY"), "\"$SALLYPORT_SECOND_API_KEY\"");
        assert_eq!(quoted("k=$API_KEY"), r#"'k='"$SALLYPORT_API_KEY""#);
        assert_eq!(quoted("a\u{1b}[2J\u{202e}b"), r"'a'$'\x1b''[2J'$'\u202e''b'");
    }

    #[test]
    fn a_long_body_is_piped_as_a_whole() {
        let body = format!("{{\"ips\":[{}\"it's\"]}}", "\"192.0.2.1\",".repeat(10_000));
        let exchange = RecordedExchange {
            index: 0,
            method: "POST".to_owned(),
            target: "/search?api_key=$API_KEY".to_owned(),
            request_headers: Vec::new(),
            request_body: Some(body.clone()),
            request_body_cut: false,
            status: None,
            response_headers: Vec::new(),
            response_body: None,
            failure: None,
            elapsed_ms: 0,
        };
        let script = format!("curl() {{ cat; }}; {}", command("http://localhost", &exchange));
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("script");
        std::fs::write(&path, script).expect("a script");
        let output = std::process::Command::new("bash").arg(&path).output().expect("bash");
        assert!(output.status.success() && output.stdout == body.as_bytes(), "{:?}", output.status);
    }
}

use crate::plain::is_control;
use crate::target::Fact;
use crate::wire::RecordedExchange;

/// Maximum size of a body that is passed as an argument, in bytes. Linux allows arguments of 128 KiB.
const MAX_ARGUMENT_BYTES: usize = 64 * 1024;

/// The curl command that sends a recorded request again, as it was sent, with further `options`. Secrets are shell variables. A request
/// that was too long to be recorded gives a comment instead, because half of it is another request.
#[must_use]
pub fn command(base: &str, options: &[String], exchange: &RecordedExchange) -> String {
    let url = format!("{}{}", base.trim_end_matches('/'), exchange.target);
    if exchange.request_body_cut {
        let method = &exchange.method;
        return format!(
            "# no command: the body of this {method} request to {} is not recorded as a whole",
            quoted(&url)
        );
    }
    // Without these options curl takes brackets for patterns, and removes dots from the path.
    let literal = if exchange.target.replace("${", "").contains(['[', ']', '{']) { " -g" } else { "" };
    let as_is = if exchange.target.contains("/.") { " --path-as-is" } else { "" };
    let options: String = options.iter().map(|option| format!(" {}", word(option))).collect();
    let mut command = format!("curl -sS -i{options}{literal}{as_is} -X {} {}", exchange.method, quoted(&url));
    for (name, value) in &exchange.request_headers {
        // With a colon, curl would leave out a header without a value.
        let header = if value.trim().is_empty() { format!("{name};") } else { format!("{name}: {value}") };
        command.push_str(&format!(" -H {}", quoted(&header)));
    }
    let Some(body) = &exchange.request_body else { return command };
    if !exchange.request_headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("content-type")) {
        // Otherwise curl adds the type of a form.
        command.push_str(" -H 'Content-Type:'");
    }
    if body.len() > MAX_ARGUMENT_BYTES {
        // A builtin of the shell takes arguments of any length.
        return format!("printf %s {} | {command} --data-binary @-", quoted(body));
    }
    // A body that begins with @ is no file.
    format!("{command} --data-raw {}", quoted(body))
}

/// One word of a command for the shell, quoted if it has to be.
pub(super) fn word(text: &str) -> String {
    let is_bare = |text: &str| text.chars().all(|c| c.is_ascii_alphanumeric() || "-_./:".contains(c));
    if is_bare(text) && !text.is_empty() { text.to_owned() } else { quoted(text) }
}

/// Quotes one shell word, but for the variables of secrets. Control characters become escapes that bash, zsh and ksh understand.
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
    let others = [("API_KEY", "SALLYPORT_API_KEY"), ("HEADER", "HEADER"), ("PROXY_USER", "PROXY_USER")];
    for (name, variable) in facts.chain(others) {
        quoted = quoted.replace(&format!("${name}"), &format!("'\"${variable}\"'"));
        // What is nearly the secret, in the words of bash; see `Secret::shown`.
        for change in ["%?", "#?", "~~"] {
            quoted =
                quoted.replace(&format!("${{{name}{change}}}"), &format!("'\"${{{variable}{change}}}\"'"));
        }
    }
    // Remove the empty quotes that a variable at the edge of the word leaves.
    let trimmed = quoted.strip_prefix("''\"").map(|rest| format!("\"{rest}")).unwrap_or(quoted);
    trimmed.strip_suffix("\"''").map(|rest| format!("{rest}\"")).unwrap_or(trimmed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn post(target: &str, headers: &[(&str, &str)], body: &str) -> RecordedExchange {
        let headers = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        RecordedExchange {
            method: "POST".to_owned(),
            target: target.to_owned(),
            request_headers: headers.collect(),
            request_body: Some(body.to_owned()),
            ..RecordedExchange::default()
        }
    }

    #[test]
    fn curl_adds_and_drops_nothing() {
        let json = ("Content-Type", "application/json");
        let options = ["--cacert", "it's; ca.pem", "--proxy-user", "$PROXY_USER"].map(str::to_owned);
        let begin = "curl -sS -i --cacert 'it'\\''s; ca.pem' --proxy-user \"$PROXY_USER\"";
        for (exchange, expected) in [
            (
                post("/a", &[json], "@b"),
                " -X POST 'http://h/a' -H 'Content-Type: application/json' --data-raw '@b'",
            ),
            (post("/a", &[], ""), " -X POST 'http://h/a' -H 'Content-Type:' --data-raw ''"),
            (post("/a", &[json, ("X-API-Key", " ")], ""), " -H 'X-API-Key;' "),
            (post("/../a?b[]=1", &[json], ""), " -g --path-as-is -X POST 'http://h/../a?b[]=1'"),
            (
                post("/a?a=it's&k=$API_KEY&x=1", &[], ""),
                r#" 'http://h/a?a=it'\''s&k='"$SALLYPORT_API_KEY"'&x=1' "#,
            ),
            (post("/a", &[json], "$SALLYPORT_SECOND_API_KEY"), r#" --data-raw "$SALLYPORT_SECOND_API_KEY""#),
            (post("/a", &[json], "k=$API_KEY"), r#" --data-raw 'k='"$SALLYPORT_API_KEY""#),
            (post("/a", &[json], "k=${API_KEY%?}~"), r#" --data-raw 'k='"${SALLYPORT_API_KEY%?}"'~'"#),
            (post("/a", &[json], "$HOME `id`"), " --data-raw '$HOME `id`'"),
            (post("/a", &[json], "a\u{1b}[2J\u{202e}b"), r"'a'$'\x1b''[2J'$'\u202e''b'"),
            (RecordedExchange { request_body_cut: true, ..post("/a", &[json], "b") }, "# no command: "),
        ] {
            let is_cut = exchange.request_body_cut;
            let command = command("http://h/", &options, &exchange);
            assert!(
                command.starts_with(begin) != is_cut && command.contains(expected),
                "{expected} in {command}"
            );
        }
    }

    #[test]
    fn a_long_body_is_piped_as_a_whole() {
        let body = format!("{{\"ips\":[{}\"it's\"]}}", "\"192.0.2.1\",".repeat(10_000));
        let exchange = post("/search?api_key=$API_KEY", &[], &body);
        let script = format!("curl() {{ cat; }}; {}", command("http://localhost", &[], &exchange));
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("script");
        std::fs::write(&path, script).expect("a script");
        let output = std::process::Command::new("bash").arg(&path).output().expect("bash");
        assert!(output.status.success() && output.stdout == body.as_bytes(), "{:?}", output.status);
    }
}

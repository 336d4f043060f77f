//! A curl command and what it printed, as an archive with one entry.

use std::iter::Peekable;
use std::str::Chars;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::archive::Archive;

const NO_URL: &str = "expected a command that begins with `curl` and has one URL";
const NO_RESPONSE: &str =
    "expected a response as `curl -i` prints it: `HTTP/1.1 200 OK`, headers, an empty line and the body";

/// Options of curl that say nothing about the request, in one letter and in words.
const SILENT: &str = "sSikvgfL";
const SILENT_WORDS: &str = "--silent --show-error --include --insecure --verbose --globoff --fail --location --compressed --path-as-is \
                            --http1.1 --http2";
/// The same, with a value.
const SILENT_WITH_VALUE: &str = "-o -m -A -x -w --output --max-time --connect-timeout --user-agent --proxy --cacert --cert --key \
                                 --write-out --retry --resolve";

impl Archive {
    /// An archive of one exchange: a curl command, and the response as `curl -i` prints it.
    ///
    /// # Errors
    /// When either can't be read. No text of them is repeated but the names of options: they hold tokens.
    pub fn from_command(command: &str, response: &str) -> Result<Self, String> {
        let entry = json!({ "request": request(command)?, "response": self::response(response)? });
        let archive = json!({ "log": { "entries": [entry] } }).to_string();
        Self::read(archive.as_bytes(), Self::MAX_BYTES)
    }
}

fn request(command: &str) -> Result<Value, String> {
    // Commands of reports have the token in this variable.
    let command =
        command.replace("$SALLYPORT_API_KEY", "$API_KEY").replace("${SALLYPORT_API_KEY", "${API_KEY");
    let mut words = words(&command).ok_or("the command ends within a quoted word")?;
    // Those with a long body pass it so.
    let piped = match words.as_slice() {
        [printf, form, body, pipe, ..] if (&**printf, &**form, &**pipe) == ("printf", "%s", "|") => {
            Some(body.clone())
        }
        _ => None,
    };
    let mut words = words.drain(if piped.is_some() { 4 } else { 0 }..);
    if words.next().as_deref() != Some("curl") {
        return Err(NO_URL.to_owned());
    }
    let (mut method, mut url, mut headers, mut body) = (None, None, Vec::new(), None::<String>);
    while let Some(word) = words.next() {
        let (name, attached) = match word.split_once('=') {
            Some((name, value)) if name.starts_with("--") => (name.to_owned(), Some(value.to_owned())),
            _ if word.starts_with("--") || !word.starts_with('-') => (word, None),
            // `-sSXPOST`
            _ => match word[1..].trim_start_matches(|c| SILENT.contains(c)) {
                "" => continue,
                rest => {
                    let (letter, value) = rest.split_at(rest.chars().next().map_or(0, char::len_utf8));
                    (format!("-{letter}"), Some(value.to_owned()).filter(|value| !value.is_empty()))
                }
            },
        };
        let is_one_of = |options: &str| options.split(' ').any(|option| option == name);
        if is_one_of(SILENT_WORDS) {
            continue;
        }
        let mut value = || attached.clone().or_else(|| words.next()).unwrap_or_default();
        match name.as_str() {
            "-X" | "--request" => method = Some(value()),
            "-H" | "--header" => headers.push(value()),
            "-b" | "--cookie" => headers.push(format!("Cookie: {}", value())),
            "-u" | "--user" => headers.push(format!("Authorization: Basic {}", STANDARD.encode(value()))),
            "-d" | "--data" | "--data-raw" | "--data-binary" | "--data-ascii" | "--json" => {
                let mut data = value();
                if data.starts_with('@') && name != "--data-raw" {
                    data = piped.clone().filter(|_| data == "@-").ok_or_else(|| {
                        format!("`{name}` takes the body from a file; pass the body itself, for example with --data-raw")
                    })?;
                }
                if name == "--json" {
                    headers.push("Content-Type: application/json".to_owned());
                }
                body = Some(body.map(|before: String| before + "&").unwrap_or_default() + &data);
            }
            "--url" => url = Some(value()),
            _ if is_one_of(SILENT_WITH_VALUE) => drop(value()),
            option if option.starts_with('-') => {
                let option: String = option.chars().take(40).collect();
                let advice = "remove it if the request does not depend on it";
                return Err(format!("unknown option `{option}` of curl; {advice}"));
            }
            _ if url.is_none() => url = Some(name),
            _ => return Err(NO_URL.to_owned()),
        }
    }
    let url = url.filter(|url| !url.is_empty()).ok_or(NO_URL)?;
    let url = if url.contains("://") { url } else { format!("http://{url}") };
    let method = method.unwrap_or_else(|| if body.is_some() { "POST" } else { "GET" }.to_owned());
    let headers = headers.iter().filter_map(|line| match line.strip_suffix(';') {
        Some(name) if !name.contains(':') => Some(json!({ "name": name.trim(), "value": "" })),
        // Without a value it is left out.
        _ => header(line).filter(|header| header["value"] != ""),
    });
    let headers: Vec<Value> = headers.collect();
    let mut request = json!({ "method": method, "url": url, "headers": headers });
    if let Some(body) = body {
        request["postData"] = json!({ "text": body });
    }
    Ok(request)
}

fn response(text: &str) -> Result<Value, String> {
    let text = text.replace("\r\n", "\n");
    let mut rest = text.as_str();
    loop {
        let (head, body) = rest.split_once("\n\n").unwrap_or((rest.trim_end(), ""));
        let mut lines = head.lines();
        let status = lines.next().filter(|line| line.starts_with("HTTP/"));
        let status = status.and_then(|line| line.split(' ').nth(1)?.parse::<u16>().ok());
        let status = status.ok_or(NO_RESPONSE)?;
        // Before it there may be a response of a proxy, and `100 Continue`.
        if body.starts_with("HTTP/") {
            rest = body;
            continue;
        }
        let headers: Vec<Value> = lines.filter_map(header).collect();
        return Ok(json!({ "status": status, "headers": headers, "content": { "text": body } }));
    }
}

fn header(line: &str) -> Option<Value> {
    let (name, value) = line.split_once(':')?;
    Some(json!({ "name": name.trim(), "value": value.trim() }))
}

/// The words of a command as a shell reads it, with variables left as they are. None if it ends within a quoted one.
fn words(command: &str) -> Option<Vec<String>> {
    let (mut words, mut word) = (Vec::new(), None::<String>);
    let mut chars = command.trim().chars().peekable();
    while let Some(c) = chars.next() {
        // bash, zsh and ksh read escapes in `$'…'`.
        let is_escaped = c == '$' && chars.next_if_eq(&'\'').is_some();
        match c {
            '\'' | '"' | '$' if c != '$' || is_escaped => {
                let word = word.get_or_insert_default();
                loop {
                    match chars.next()? {
                        '\'' if c != '"' => break,
                        '"' if c == '"' => break,
                        '\\' if is_escaped => word.push(escaped(&mut chars)?),
                        '\\' if c == '"' => word.push(chars.next()?),
                        other => word.push(other),
                    }
                }
            }
            '\\' => match chars.next() {
                Some('\n') | None => {}
                Some(other) => word.get_or_insert_default().push(other),
            },
            c if c.is_whitespace() => words.extend(word.take()),
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    Some(words)
}

/// The character of an escape, whose backslash was read.
fn escaped(chars: &mut Peekable<Chars<'_>>) -> Option<char> {
    let most = match chars.next()? {
        'n' => return Some('\n'),
        't' => return Some('\t'),
        'r' => return Some('\r'),
        'x' => 2,
        'u' => 4,
        'U' => 8,
        other => return Some(other),
    };
    let digits: String = std::iter::from_fn(|| chars.next_if(char::is_ascii_hexdigit)).take(most).collect();
    char::from_u32(u32::from_str_radix(&digits, 16).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_the_requests_of_the_table() {
        for row in include_str!("commands.txt").trim_end().split("\n\n") {
            let (command, expected) = row.split_once("\n=> ").expect("a command, and what it is");
            let read = request(command);
            let expected = serde_json::from_str(expected).map_err(|_| expected.to_owned());
            assert_eq!(read, expected, "{command}");
        }
    }

    #[test]
    fn a_response_is_what_curl_prints() {
        let text = "HTTP/1.1 100 Continue\r\n\r\nHTTP/2 200 \r\nX-A: b\r\n\r\n{\"a\":\r\n1}";
        let response = response(text).expect("a response");
        assert_eq!((&response["status"], &response["headers"][0]["value"]), (&json!(200), &json!("b")));
        assert!(self::response("{}").is_err());
    }
}

//! Expressions of MiniJinja, and what they may use beside its own words. A filter gives nothing for what it cannot read.

use std::collections::HashSet;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::{Arc, LazyLock, OnceLock};
use std::time::{Duration, SystemTime};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use jiff::Timestamp;
#[cfg(test)]
use minijinja::ErrorKind;
use minijinja::{Environment, Error, Expression, UndefinedBehavior, Value};

use super::known::{Known, json, value};

/// An expression, which is compiled when it is first needed.
#[derive(Debug)]
pub(super) struct Text {
    pub(super) source: &'static str,
    compiled: OnceLock<Expression<'static, 'static>>,
}

impl Text {
    pub(super) const fn new(source: &'static str) -> Self {
        Self { source, compiled: OnceLock::new() }
    }

    pub(super) fn compiled(&self) -> Result<&Expression<'static, 'static>, Error> {
        if let Some(expression) = self.compiled.get() {
            return Ok(expression);
        }
        let expression = WORDS.compile_expression(self.source)?;
        Ok(self.compiled.get_or_init(|| expression))
    }

    /// What it has for a call; undefined where its condition does not hold.
    pub(super) fn value(&self, known: &Known) -> Result<Value, Error> {
        let value = self.compiled()?.eval(Value::from_dyn_object(Arc::new(known.clone())));
        value.map_err(|error| Error::new(error.kind(), format!("`{}`: {error:#}", self.source)))
    }

    /// The words that it uses, with what they are taken from.
    pub(super) fn words(&self) -> Result<HashSet<String>, Error> {
        Ok(self.compiled()?.undeclared_variables(true))
    }
}

/// Registers filters (`map`, or `and_then` where there may be no result) or tests (`is_some_and`) of one text under their names.
macro_rules! texts {
    ($words:ident.$add:ident, $how:ident: $($name:ident $text:ident => $result:expr;)+) => {$(
        $words.$add(stringify!($name), |value: &Value| value.as_str().$how(|$text| $result));
    )+};
}

/// Registers comparisons of two texts, as filters and as tests.
macro_rules! comparisons {
    ($words:ident: $($name:ident $text:ident, $other:ident => $result:expr;)+) => {$(
        let compare = |value: &Value, other: &Value| {
            value.as_str().zip(other.as_str()).is_some_and(|($text, $other)| $result)
        };
        $words.add_filter(stringify!($name), compare);
        $words.add_test(stringify!($name), compare);
    )+};
}

/// Registers what is left of a text by another one.
macro_rules! pieces {
    ($words:ident: $($name:ident $text:ident, $mark:ident => $result:expr;)+) => {$(
        $words.add_filter(stringify!($name), |value: &Value, mark: &Value| {
            value.as_str().zip(mark.as_str()).and_then(|($text, $mark)| $result).map(str::to_owned)
        });
    )+};
}

static WORDS: LazyLock<Environment<'static>> = LazyLock::new(|| {
    let mut words = Environment::new();
    // A misspelt name is an error.
    words.set_undefined_behavior(UndefinedBehavior::Strict);
    of_texts(&mut words);
    of_addresses(&mut words);
    of_times(&mut words);
    of_values(&mut words);
    words
});

fn of_texts(words: &mut Environment<'_>) {
    comparisons! { words:
        starts text, beginning => text.starts_with(beginning);
        ends text, end => text.ends_with(end);
        has text, part => text.contains(part);
        beginning_of text, longer => longer.starts_with(text);
        part_of text, longer => longer.contains(text);
        // A percent sign at the end of a pattern stands for anything.
        like text, pattern => text == pattern || pattern.strip_suffix('%').is_some_and(|start| text.starts_with(start));
        // Every point of an expression stands for any character.
        matched_by text, expression => {
            let fits = |(asked, shown): (char, char)| asked == '.' || asked == shown;
            text.chars().count() == expression.chars().count() && expression.chars().zip(text.chars()).all(fits)
        };
        letters_of text, other => text.eq_ignore_ascii_case(other);
    }
    pieces! { words:
        before text, mark => Some(text.split_once(mark)?.0);
        after text, mark => Some(text.split_once(mark)?.1);
        before_last text, mark => Some(text.rsplit_once(mark)?.0);
        after_last text, mark => Some(text.rsplit_once(mark)?.1);
        without_end text, end => text.strip_suffix(end);
    }
    texts! { words.add_test, is_some_and:
        ascii text => text.is_ascii();
        digits text => !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        letters text => !text.is_empty() && text.chars().all(char::is_alphabetic);
        marks text => !text.is_empty() && !text.chars().any(char::is_alphanumeric);
        encoded text => has_encoded_letter(text);
    }
    texts! { words.add_filter, and_then:
        parsed text => text.parse::<i64>().ok();
        real text => text.parse::<f64>().ok();
        claimed header => header.split(',').map(str::trim).next().filter(|name| !name.is_empty()).map(str::to_owned);
        first_named header => header.split([',', ';']).next().map(|first| {
            first.trim().trim_start_matches("for=").trim_matches('"').to_owned()
        });
    }
    texts! { words.add_filter, map:
        stem text => text.trim_end_matches(|c: char| c.is_ascii_alphabetic()).to_owned();
        question_marks text => text.chars().map(|c| if c.is_ascii() { c } else { '?' }).collect::<String>();
        basic_plane text => text.chars().filter(|c| u32::from(*c) <= 0xffff).collect::<String>();
        twice_encoded text => text.bytes().map(char::from).collect::<String>();
        narrow text => text.chars().map(narrow).collect::<String>();
        without_accents text => without_accents(text);
        utf16 text => text.encode_utf16().count();
        encoded_bytes text => {
            let length = |byte: u8| if byte.is_ascii_alphanumeric() || byte == b'-' { 1 } else { 3 };
            text.bytes().map(length).sum::<usize>()
        };
        decoded text => percent_encoding::percent_decode_str(text).decode_utf8_lossy().into_owned();
        escaped text => text.encode_utf16().map(|unit| format!("\\u{unit:04x}")).collect::<String>();
        escaped_wide text => text.encode_utf16().map(escaped_wide).collect::<String>();
        base64 text => BASE64_STANDARD.encode(text);
    }
    // JSON with line breaks.
    words.add_filter("pretty", |text: &str| {
        serde_json::from_str(text).ok().map(|body: serde_json::Value| format!("{body:#}"))
    });
    words.add_filter("bytes", |text: &Value| text.as_str().map_or(0, str::len));
    words.add_filter("beginning", |text: &str, most: usize| text.chars().take(most).collect::<String>());
    words.add_filter("cut", |text: &str, most: usize| text[..text.floor_char_boundary(most)].to_owned());
}

fn of_addresses(words: &mut Environment<'_>) {
    texts! { words.add_test, is_some_and:
        // With or without port.
        v6 item => bare(item).parse::<IpAddr>().is_ok_and(|ip| ip.is_ipv6());
        ported item => item.parse::<SocketAddr>().is_ok();
        private item => bare(item).parse().is_ok_and(|address: Ipv4Addr| address.is_private());
        octets text => text.split('.').all(|part| part.parse::<u8>().is_ok());
    }
    // An item that is none in the ways that lax servers skip.
    words.add_test("bad", |item: &Value| {
        item.as_str().is_none_or(|item| item.contains('/') || item.ends_with(":0") || item.is_empty())
    });
    texts! { words.add_filter, map:
        bare item => bare(item);
    }
    texts! { words.add_filter, and_then:
        address item => bare(item).parse::<IpAddr>().ok().map(|address| address.to_string());
        canonical item => {
            let socket = item.parse::<SocketAddr>().map(|socket| socket.to_string());
            socket.or_else(|_| item.parse::<IpAddr>().map(|ip| ip.to_string())).ok()
        };
        port item => item.parse::<SocketAddr>().ok().map(|socket| socket.port());
        in_full item => item.parse().ok().map(|ip: Ipv6Addr| ip.segments().map(|part| format!("{part:04x}")).join(":"));
        unmapped item => item.parse().ok().and_then(|ip: Ipv6Addr| ip.to_ipv4_mapped()).map(|ip| ip.to_string());
        without_zeros item => without_zeros(item);
        next_address item => item.parse::<Ipv4Addr>().ok().map(|ip| Ipv4Addr::from_bits(ip.to_bits().wrapping_add(1)).to_string());
    }
    words.add_filter("with_port", |item: &str, port: u16| {
        item.parse::<SocketAddr>().ok().map(|socket| SocketAddr::new(socket.ip(), port).to_string())
    });
    // An item with another port, so many further.
    words.add_filter("beside", |item: &str, further: i32| {
        let socket = item.parse::<SocketAddr>().ok()?;
        let port = u16::try_from(i32::from(socket.port()) + further).ok().filter(|port| *port > 0)?;
        Some(SocketAddr::new(socket.ip(), port).to_string())
    });
    // The instances that an item with a port and one without find.
    words.add_filter("found_twice", |found: Vec<Value>, sent: Vec<String>| {
        let sent: HashSet<String> = sent.into_iter().collect();
        let is_twice = |instance: &Value| {
            let instance = json(instance);
            let ip = instance["ip"].as_str().unwrap_or_default();
            let port = instance["port"].as_i64().unwrap_or_default();
            sent.contains(ip)
                && (sent.contains(&format!("{ip}:{port}")) || sent.contains(&format!("[{ip}]:{port}")))
        };
        found.into_iter().filter(is_twice).collect::<Vec<_>>()
    });
    words.add_filter("with_lower_half", |own: Vec<String>, item: &str| {
        let low = |address: Ipv6Addr| address.to_bits() & u128::from(u64::MAX);
        let asked = low(item.parse().ok()?);
        let mut own = own.iter().filter_map(|item| item.parse().ok());
        own.find(|address| low(*address) == asked).map(|address: Ipv6Addr| address.to_string())
    });
    words.add_filter("with_second_part", |own: Vec<String>, item: &str| {
        let asked = item.parse::<Ipv4Addr>().ok().filter(|_| !own.iter().any(|own| own == item))?;
        let other = Ipv4Addr::from_bits(asked.to_bits() ^ 0x0001_0000).to_string();
        own.contains(&other).then_some(other)
    });
}

fn of_times(words: &mut Environment<'_>) {
    const SECOND: i64 = 1_000_000_000;
    // Nanoseconds since 1970.
    texts! { words.add_filter, and_then:
        nanoseconds text => text.parse::<Timestamp>().ok().map(|time| time.as_nanosecond());
        offset text => offset(text).map(|seconds| seconds * SECOND);
        offset_minutes text => offset(text).map(|seconds| seconds % 3_600 * SECOND);
        zoned text => {
            let time = text.parse::<Timestamp>().ok();
            time.map(|time| time.display_with_offset(jiff::tz::offset(-9)).to_string())
        };
        nine_digits text => text.parse::<Timestamp>().ok().map(|time| format!("{time:.9}"));
        milliseconds time => {
            time.split_once('.').and_then(|(seconds, fraction)| {
                let digits = fraction.strip_suffix('Z').filter(|digits| digits.len() < 3)?;
                Some(format!("{seconds}.{digits:0>3}Z"))
            })
        };
    }
    words.add_filter("time", |nanoseconds: i128| {
        Timestamp::from_nanosecond(nanoseconds).ok().map(|time| time.to_string())
    });
    // The date so many seconds from now.
    words.add_filter("http_date", |seconds: u64| {
        httpdate::fmt_http_date(SystemTime::now() + Duration::from_secs(seconds))
    });
    words.add_filter("day", |number: u64| format!("2031-01-{:02}T00:00:00Z", number % 28 + 1));
}

fn of_values(words: &mut Environment<'_>) {
    words.add_filter("integer", |value: &Value| value.as_i64().filter(|_| value.is_integer()));
    words.add_filter("json", |value: &Value| json(value).to_string());
    words.add_filter("rotated", |mut items: Vec<Value>, by: usize| {
        let by = by.checked_rem(items.len()).unwrap_or_default();
        items.rotate_left(by);
        items
    });
    words.add_filter("meets", |values: Vec<Value>, others: Vec<Value>| {
        let others: HashSet<&str> = others.iter().filter_map(Value::as_str).collect();
        values.iter().filter_map(Value::as_str).any(|value| others.contains(value))
    });
    words.add_filter("sorted_as_texts", |items: Vec<Value>, name: &str| {
        let mut items: Vec<_> = items.iter().map(json).collect();
        items.sort_by_key(|item| item[name].to_string());
        value(items)
    });
}

/// An item without its port, when it has one.
fn bare(item: &str) -> String {
    item.parse::<SocketAddr>().map_or_else(|_| item.to_owned(), |socket| socket.ip().to_string())
}

/// The offset that an instant was written with, in seconds.
fn offset(text: &str) -> Option<i64> {
    let at = text.len().checked_sub(6)?;
    let (sign, rest) = (text.as_bytes()[at], text.get(at + 1..)?);
    let (hours, minutes) = rest.split_once(':')?;
    let seconds = hours.parse::<i64>().ok()? * 3_600 + minutes.parse::<i64>().ok()? * 60;
    match sign {
        b'+' => Some(seconds),
        b'-' => Some(-seconds),
        _ => None,
    }
}

/// A letter that need not be percent-encoded is.
fn has_encoded_letter(text: &str) -> bool {
    let mut codes = text.split('%').skip(1).filter_map(|rest| u8::from_str_radix(rest.get(..2)?, 16).ok());
    codes.any(|code| code.is_ascii_alphabetic())
}

fn escaped_wide(unit: u16) -> String {
    match u8::try_from(unit) {
        Ok(ascii) if ascii.is_ascii() => char::from(ascii).to_string(),
        _ => format!("\\u{unit:04x}"),
    }
}

/// An IPv4 address, with its port, without leading zeros.
fn without_zeros(text: &str) -> Option<String> {
    let (address, port) = text.split_once(':').map_or((text, None), |(address, port)| (address, Some(port)));
    let octet =
        |part: &str| part.parse::<u8>().ok().filter(|_| part.bytes().all(|byte| byte.is_ascii_digit()));
    let parts = address.split('.').map(octet).collect::<Option<Vec<u8>>>()?;
    let [a, b, c, d] = parts.try_into().ok()?;
    let port = port.map(|port| match port.trim_start_matches('0') {
        "" => ":0".to_owned(),
        digits => format!(":{digits}"),
    });
    Some(format!("{a}.{b}.{c}.{d}{}", port.unwrap_or_default()))
}

fn narrow(character: char) -> char {
    match u32::from(character) {
        wide @ 0xff01..=0xff5e => char::from_u32(wide - 0xfee0).unwrap_or(character),
        _ => character,
    }
}

fn without_accents(text: &str) -> String {
    let plain = |letter: char| "ÁáÉéÍíÓóÚúĆćŃń".chars().position(|accented| accented == letter);
    let plain =
        |letter: char| plain(letter).and_then(|at| "AaEeIiOoUuCcNn".chars().nth(at)).unwrap_or(letter);
    text.chars().map(plain).collect()
}

/// The filters and tests that an expression uses and nobody knows.
#[cfg(test)]
pub(super) fn unknown_names(source: &str) -> Vec<String> {
    let source = source.replace("\\\"", "");
    // Each other part stands in quotes.
    let parts: Vec<&str> = source.split('"').collect();
    let mut uses = Vec::new();
    for (at, text) in parts.iter().enumerate().step_by(2) {
        let is_end = |c: char| !c.is_alphanumeric() && c != '_';
        uses.extend(text.split('|').skip(1).map(|rest| ("filter", rest.split(is_end).next())));
        let tests = text.split(" is ").skip(1).map(|rest| rest.strip_prefix("not ").unwrap_or(rest));
        uses.extend(tests.map(|rest| ("test", rest.split(is_end).next())));
        uses.extend(match text.rsplit('|').next().unwrap_or_default() {
            "map(" => Some(("filter", parts.get(at + 1).copied())),
            "select(" | "reject(" => Some(("test", parts.get(at + 1).copied())),
            "selectattr(" | "rejectattr(" => Some(("test", parts.get(at + 3).copied())),
            _ => None,
        });
    }
    let uses = uses.into_iter().filter_map(|(kind, name)| Some((kind, name?)));
    let unknown = uses.filter(|(kind, name)| {
        let used = if *kind == "filter" { format!("0|{name}") } else { format!("0 is {name}") };
        let result = WORDS.compile_expression(&used).and_then(|expression| expression.eval(()));
        let kinds = [ErrorKind::UnknownFilter, ErrorKind::UnknownTest, ErrorKind::SyntaxError];
        // The test `in` is an operator, too.
        *name != "in" && result.is_err_and(|error| kinds.contains(&error.kind()))
    });
    unknown.map(|(kind, name)| format!("{kind} `{name}`")).collect()
}

#[cfg(test)]
mod tests {
    use super::unknown_names;

    #[test]
    fn a_misspelt_filter_or_test_is_found() {
        for (source, unknown) in [
            ("ips|select(\"ported\")|length > 1 and status is not none and status not in [\"a|b\"]", ""),
            ("items|revers", "filter `revers`"),
            ("items|reverse is not emty", "test `emty`"),
            ("ips|select(\"portd\")|map(\"bear\")", "test `portd`, filter `bear`"),
            ("items|rejectattr(\"ip\", \"inn\", ips)", "test `inn`"),
        ] {
            assert_eq!(unknown_names(source).join(", "), unknown, "{source}");
        }
    }
}

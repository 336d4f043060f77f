//! The parameters of an extraction, read strictly but for faults.

use super::behaviour::{Tags, with_tags};
use super::{Reject, Request, Server};

/// Valid parameters.
#[derive(Debug, Clone)]
pub(super) struct Parameters {
    pub num: usize,
    pub region: String,
    pub protocol: &'static str,
    pub is_text: bool,
    pub separator: String,
    pub request_id: Option<String>,
}

impl Parameters {
    /// What must be the same when a request id is sent again.
    pub(super) fn key(&self) -> String {
        format!("{} {} {}", self.num, self.region, self.protocol)
    }
}

const CRLF: &str = "\r\n";

/// The separators by `lb`, without the custom one.
const SEPARATORS: [(&str, &str); 5] = [("1", CRLF), ("2", "/br"), ("3", "\r"), ("4", "\n"), ("5", "\t")];

/// The value of a row by its name.
fn named<T: Copy>(rows: &[(&str, T)], name: &str) -> Option<T> {
    rows.iter().find(|(known, _)| *known == name).map(|(_, value)| *value)
}

/// The leading integer of a text, as `parseInt` reads it.
fn leading_integer(text: &str) -> Option<i64> {
    let text = text.trim_start();
    let end = text.char_indices().find(|(at, c)| !(c.is_ascii_digit() || *at == 0 && matches!(c, '+' | '-')));
    text[..end.map_or(text.len(), |(at, _)| at)].parse().ok()
}

/// A text of digits, perhaps behind a minus.
fn integer(text: &str) -> Option<i128> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?
}

impl Server {
    /// Circumstances that the query shows before it is judged.
    pub(super) fn extract_tags(&self, request: &Request, tags: &mut Tags) {
        let has = |name: &str| request.first(name).is_some();
        let is = |name: &str, value: &str| request.first(name) == Some(value);
        let has_region = has("regions") || has("country");
        let more = [
            (is("return_type", "txt"), "txt"),
            (is("protocol", "socks5"), "socks5"),
            (has("request_id") || request.header("x-request-id").is_some(), "request-id"),
            (has("country"), "country"),
            (has_region, "region"),
            (!has_region, "no-region"),
            (is("num", "1"), "num-1"),
            (has("lb"), "lb"),
            (request.header("x-forwarded-for").is_some(), "forwarded"),
        ];
        *tags = with_tags(tags, more);
    }

    pub(super) fn parameters(&self, request: &Request, tags: &Tags) -> Result<Parameters, Reject> {
        const KNOWN: [&str; 10] =
            ["api_key", "num", "regions", "country", "protocol", "return_type", "lb", "sb", "request_id", ""];
        for (name, value) in &request.query {
            let name = name.as_str();
            let is_known = KNOWN.contains(&name);
            let is_unsupported = matches!(name, "session" | "state" | "province" | "city");
            let is_optional = !matches!(name, "api_key" | "num" | "sb");
            let is_repeated = is_known && request.all(name).len() > 1;
            if self.decides("unknown-rejected") && !is_known
                || self.decides("unsupported-rejected") && is_unsupported
                || !self.decides("repeated-first") && is_repeated
                || self.decides("empty-optional-rejected") && is_optional && value.is_empty()
            {
                return Err(Reject::input(format!("`{name}`: unknown, repeated or empty")));
            }
        }
        if request.body.is_empty() && self.on("extract-needs-body", tags) {
            return Err(Reject::input("a body is required"));
        }
        if request.header("content-type").is_none() && self.on("extract-needs-content-type", tags) {
            return Err(Reject::new(415, 41_500, "a content type is required"));
        }
        let optional = |name: &str| request.first(name).filter(|value| !value.is_empty());
        let num = self.num(request.first("num"), tags)?;
        let region = self.region(optional("regions"), optional("country"), tags)?;
        let protocol = self.protocol(optional("protocol"), tags)?;
        let is_text = self.is_text(optional("return_type"), tags)?;
        let has_separator = is_text || self.decides("unused-separator-checked");
        let separator = if has_separator { self.separator(request, tags)? } else { String::new() };
        let request_id = self.request_id(optional("request_id"), request.header("x-request-id"), tags);
        if request_id.as_ref().is_some_and(|id| id.len() > 36) && self.decides("request-id-36") {
            return Err(Reject::input("the request id is too long"));
        }
        Ok(Parameters { num, region, protocol, is_text, separator, request_id })
    }

    fn num(&self, sent: Option<&str>, tags: &Tags) -> Result<usize, Reject> {
        let wrong = || Reject::input("`num`: expected an integer from 1 to 100");
        let Some(text) = sent else {
            let rules = [("extract-num-missing-one", Some(1)), ("extract-num-missing-ten", Some(10))];
            return self.first_broken(tags, rules).ok_or_else(wrong);
        };
        let value = integer(text);
        if let Some(value @ 1..=100) = value {
            let rules = [
                (value == 100, "extract-num-100-refused"),
                (value == 1, "extract-num-1-refused"),
                (value > 50, "extract-num-above-50-refused"),
            ];
            return if self.breaks_any(tags, rules) { Err(wrong()) } else { Ok(value as usize) };
        }
        let found = |value: Option<i128>| value.map(|value| value.unsigned_abs() as usize);
        let within = |low: i128, high: i128| found(value.filter(|value| (low..=high).contains(value)));
        let is = |wanted: i128, num: usize| (value == Some(wanted)).then_some(num);
        let wrapped = |bits: u32| {
            let low = value.map(|value| value.rem_euclid(1 << bits));
            found(low.filter(|low| (1..=100).contains(low)))
        };
        let float: f64 = text.trim().parse().unwrap_or(f64::NAN);
        let fraction = (value.is_none() && (1.0..101.0).contains(&float)).then_some(float as usize);
        let leading = leading_integer(text).filter(|_| value.is_none()).map(|found| found.clamp(1, 100));
        let is_word = float.is_nan() && !text.is_empty();
        let hex = text.strip_prefix("0x").and_then(|digits| usize::from_str_radix(digits, 16).ok());
        let rules = [
            ("unchecked", Some(value.map_or(1, |value| value.clamp(1, 100) as usize))),
            ("zero-as-one", is(0, 1)),
            ("zero-empty", is(0, 0)),
            ("empty-as-one", text.is_empty().then_some(1)),
            ("101", is(101, 101)),
            ("up-to-1000", within(101, 1000)),
            ("clamped-high", within(101, i64::MAX.into()).map(|_| 100)),
            ("clamped-low", within(i64::MIN.into(), 0).map(|_| 1)),
            ("absolute", within(-100, -1)),
            ("wraps-8", wrapped(8)),
            ("wraps-16", wrapped(16)),
            ("wraps-32", wrapped(32)),
            ("wraps-64", wrapped(64)),
            ("fraction", fraction.filter(|_| text.contains('.'))),
            ("exponent", fraction.filter(|_| text.contains(['e', 'E']))),
            ("far-as-100", (float >= 2e9).then_some(100)),
            ("far-negative-as-1", (float <= -2e9).then_some(1)),
            ("parse-int", leading.map(|found| found as usize)),
            ("word-as-one", is_word.then_some(1)),
            ("hex", hex),
        ];
        self.first_broken_part("extract-num", tags, rules).ok_or_else(wrong)
    }

    fn region(&self, regions: Option<&str>, country: Option<&str>, tags: &Tags) -> Result<String, Reject> {
        let sent = regions.or(country);
        let are_equal = regions.is_some() && regions == country;
        let is_alias = regions.is_none() && country.is_some();
        let rules = [
            (sent.is_none(), "extract-default-region-refused"),
            (sent == Some("GLOBAL"), "extract-global-refused"),
            (are_equal, "extract-country-equal-refused"),
            (is_alias, "extract-country-refused"),
        ];
        if self.breaks_any(tags, rules) {
            return Err(Reject::input("`regions` or `country` is required or unknown"));
        }
        let last = self.memory().texts.get("last region").cloned();
        let rules = [
            ("extract-default-region-scarce", Some("NZL".to_owned()).filter(|_| sent.is_none())),
            ("extract-default-region-plentiful", Some("USA".to_owned()).filter(|_| sent.is_none())),
            ("extract-default-region-last", last.filter(|_| sent.is_none())),
            ("extract-country-ignored", is_alias.then(|| "GLOBAL".to_owned())),
        ];
        if let Some(region) = self.first_broken(tags, rules) {
            return Ok(region);
        }
        if let (Some(one), Some(other), false) = (regions, country, are_equal) {
            let is_global = one == "GLOBAL" || other == "GLOBAL";
            let is_prefix = one.starts_with(other) || other.starts_with(one);
            let rules = [
                (true, "extract-country-unequal-regions-win", one),
                (true, "extract-country-unequal-country-wins", other),
                (is_global, "extract-country-unequal-global", if one == "GLOBAL" { other } else { one }),
                (other == "GLOBAL", "extract-country-unequal-country-global", one),
                (is_prefix, "extract-country-unequal-prefix", one),
            ];
            let winner = self.first_broken_of(tags, rules).map(str::to_owned);
            return winner.ok_or_else(|| Reject::input("`regions` and `country` differ"));
        }
        let region = sent.unwrap_or("GLOBAL").to_owned();
        self.memory().texts.insert("last region".into(), region.clone());
        Ok(region)
    }

    fn protocol(&self, sent: Option<&str>, tags: &Tags) -> Result<&'static str, Reject> {
        const PROTOCOLS: [(&str, &str); 2] = [("http", "http"), ("socks5", "socks5")];
        let known = |text: &str| named(&PROTOCOLS, text);
        let wrong = || Reject::input("`protocol`: expected http or socks5");
        let refusals = [
            (sent.is_none(), "extract-default-protocol-refused"),
            (sent == Some("socks5"), "extract-socks5-refused"),
        ];
        if self.breaks_any(tags, refusals) {
            return Err(wrong());
        }
        let Some(sent) = sent else {
            let is_socks5 = self.on("extract-default-protocol-socks5", tags);
            return Ok(if is_socks5 { "socks5" } else { "http" });
        };
        let rules = [
            (sent == "https", "extract-https-accepted", Some("http")),
            (sent != "https", "extract-protocol-unknown-as-http", Some("http")),
            (true, "extract-protocol-any-case", known(&sent.to_ascii_lowercase())),
            (true, "extract-protocol-trimmed", known(sent.trim())),
            (sent == "socks", "extract-protocol-socks", Some("socks5")),
            (sent.starts_with("socks4"), "extract-protocol-socks4", Some("socks5")),
            (sent.starts_with("socks5"), "extract-protocol-prefix", Some("socks5")),
            (true, "extract-protocol-list", sent.split(',').find_map(known)),
        ];
        let rules = rules.map(|(holds, rule, protocol)| (rule, protocol.filter(|_| holds)));
        known(sent).or_else(|| self.first_broken(tags, rules)).ok_or_else(wrong)
    }

    fn is_text(&self, sent: Option<&str>, tags: &Tags) -> Result<bool, Reject> {
        const TYPES: [(&str, bool); 2] = [("json", false), ("txt", true)];
        let wrong = || Reject::input("`return_type`: expected json or txt");
        match sent {
            None => {
                let has_lb = tags.contains(&"lb");
                let rules =
                    [(true, "extract-default-return-type-txt"), (has_lb, "extract-return-type-txt-by-lb")];
                Ok(self.breaks_any(tags, rules))
            }
            Some("txt") => Ok(!self.on("extract-txt-gives-json", tags)),
            Some("json") if self.on("extract-json-refused", tags) => Err(wrong()),
            Some("json") => Ok(false),
            Some(other) => {
                let lower = other.to_ascii_lowercase();
                let rules = [
                    ("unknown-as-json", Some(false)),
                    ("unknown-as-txt", Some(true)),
                    ("text", (lower == "text").then_some(true)),
                    ("xml", (lower == "xml").then_some(false)),
                    ("any-case", named(&TYPES, &lower)),
                ];
                self.first_broken_part("extract-return-type", tags, rules).ok_or_else(wrong)
            }
        }
    }

    fn separator(&self, request: &Request, tags: &Tags) -> Result<String, Reject> {
        let Some(lb) = request.first("lb").filter(|lb| !lb.is_empty()) else {
            return Ok(if self.on("extract-lb-default-lf", tags) { "\n" } else { CRLF }.into());
        };
        if lb == "6" {
            return self.custom_separator(request, tags);
        }
        let rules = [
            ("1", "extract-lb-1-lf", "\n"),
            ("1", "extract-lb-1-lfcr", "\n\r"),
            ("2", "extract-lb-2-br-element", "<br/>"),
            ("2", "extract-lb-2-newline", "\n"),
            ("2", "extract-lb-2-backslash", "\\br"),
            ("3", "extract-lb-3-lf", "\n"),
            ("3", "extract-lb-3-crlf", CRLF),
            ("4", "extract-lb-4-crlf", CRLF),
            ("4", "extract-lb-4-cr", "\r"),
            ("5", "extract-lb-5-space", " "),
            ("5", "extract-lb-5-literal", "\\t"),
        ];
        let rules = rules.map(|(of, rule, separator)| (of == lb, rule, separator));
        let known = named(&SEPARATORS, lb);
        let ignored = [(known.is_some(), "extract-lb-ignored", CRLF)];
        if let Some(separator) = self.first_broken_of(tags, rules.into_iter().chain(ignored)).or(known) {
            return Ok(separator.into());
        }
        let number = integer(lb);
        let is_code = |number: i128| (1..=6).contains(&number);
        let wraps = |bits: u32| number.is_some_and(|number| is_code(number.rem_euclid(1 << bits)));
        let leading = leading_integer(lb).is_some_and(|lb| is_code(lb.into()));
        let rules = [
            (true, "extract-lb-unknown-as-default"),
            (number == Some(0), "extract-lb-0"),
            (number == Some(7), "extract-lb-7"),
            (number.is_some_and(|number| number < 0), "extract-lb-negative"),
            (number.is_none(), "extract-lb-word"),
            (wraps(8), "extract-lb-wraps-8"),
            (wraps(32), "extract-lb-wraps-32"),
            (lb.len() > 1 && lb.starts_with(['1', '2', '3', '4', '5', '6']), "extract-lb-first-character"),
            (number.is_none() && leading, "extract-lb-parse-int"),
            (number.is_none_or(|number| number > 1_000_000), "extract-lb-far"),
        ];
        if self.breaks_any(tags, rules) {
            Ok(CRLF.into())
        } else {
            Err(Reject::input("`lb`: expected 1 to 6"))
        }
    }

    fn custom_separator(&self, request: &Request, tags: &Tags) -> Result<String, Reject> {
        let sb = match request.first("sb") {
            None if self.on("extract-sb-missing-as-crlf", tags) => CRLF,
            None if tags.contains(&"num-1") && self.on("extract-sb-missing-for-one", tags) => "",
            Some("") if self.on("extract-sb-empty-joined", tags) => "",
            Some("") if self.on("extract-sb-empty-as-crlf", tags) => CRLF,
            None | Some("") => return Err(Reject::input("`sb` is required when `lb` is 6")),
            Some(sb) => sb,
        };
        let bytes = sb.len();
        let encoded =
            request.raw_query.split('&').find_map(|pair| pair.strip_prefix("sb=")).unwrap_or_default();
        let limits = [
            (bytes > 32, "extract-sb-unlimited", false),
            (bytes > 32, "extract-sb-counts-characters", sb.chars().count() > 32),
            (bytes > 32, "extract-sb-counts-utf16", sb.encode_utf16().count() > 32),
            (bytes > 32, "extract-sb-33", bytes > 33),
            (bytes > 32, "extract-sb-up-to-64", bytes > 64),
            (bytes > 32, "extract-sb-length-wraps", bytes % 256 > 32),
            (true, "extract-sb-32-refused", bytes >= 32),
            (true, "extract-sb-counts-encoded", encoded.len() > 32),
        ];
        let is_long = self.first_broken_of(tags, limits).unwrap_or(bytes > 32);
        if is_long && self.on("extract-sb-truncated", tags) {
            return Ok(sb[..sb.floor_char_boundary(32)].into());
        }
        if is_long || sb.trim().is_empty() && self.on("extract-sb-blank-refused", tags) {
            return Err(Reject::input("`sb`: expected at most 32 bytes"));
        }
        let twice = percent_encoding::percent_decode(sb.as_bytes()).decode_utf8_lossy().into_owned();
        let rules = [
            ("ignored", CRLF.to_owned()),
            ("trimmed", sb.trim().to_owned()),
            ("first-character", sb.chars().take(1).collect()),
            ("first-16", sb.chars().take(16).collect()),
            ("escapes", sb.replace("\\n", "\n").replace("\\t", "\t")),
            ("html", sb.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")),
            ("latin-1", sb.bytes().map(char::from).collect()),
            ("ascii", sb.chars().map(|c| if c.is_ascii() { c } else { '?' }).collect()),
            ("not-decoded", encoded.to_owned()),
            ("decoded-twice", twice),
            ("lower-case", sb.to_lowercase()),
            ("without-newlines", sb.replace(['\r', '\n'], "")),
            ("cut", sb.split([';', '#', '&']).next().unwrap_or_default().to_owned()),
        ];
        let rules = rules.map(|(rule, changed)| (rule, Some(changed).filter(|changed| changed != sb)));
        Ok(self.first_broken_part("extract-sb", tags, rules).unwrap_or_else(|| sb.into()))
    }

    fn request_id(&self, query: Option<&str>, header: Option<&str>, tags: &Tags) -> Option<String> {
        let header = header.filter(|header| !header.is_empty());
        let is_alone = query.is_none() && header.is_some();
        let are_both = query.is_some() && header.is_some();
        let rules = [
            (is_alone, "extract-request-id-header-ignored", None),
            (are_both, "extract-request-id-header-wins", header),
            (query.is_some(), "extract-request-id-query-ignored", header),
            (query.or(header).is_none(), "extract-request-id-shared-when-missing", Some("none")),
        ];
        let id = self.first_broken_of(tags, rules).unwrap_or(query.or(header))?.to_owned();
        let first =
            |count: usize| Some(id.chars().take(count).collect::<String>()).filter(|_| id.len() > count);
        let joined = query.and(header).map(|header| format!("{id} {header}"));
        let rules = [
            ("extract-request-id-joined", joined),
            ("extract-request-id-first-8", first(8)),
            ("extract-request-id-first-16", first(16)),
            ("extract-request-id-any-case", Some(id.to_lowercase())),
        ];
        Some(self.first_broken(tags, rules).unwrap_or(id))
    }
}

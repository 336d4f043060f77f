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

/// The leading integer of a text, as `parseInt` reads it.
fn leading_integer(text: &str) -> Option<i64> {
    let text = text.trim_start();
    let end = text.char_indices().find(|(at, c)| !(c.is_ascii_digit() || *at == 0 && matches!(c, '+' | '-')));
    text[..end.map_or(text.len(), |(at, _)| at)].parse().ok()
}

fn is_integer(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

impl Server {
    /// Circumstances that the query shows before it is judged.
    pub(super) fn extract_tags(&self, request: &Request, tags: &mut Tags) {
        let has_id = request.first("request_id").is_some() || request.header("x-request-id").is_some();
        let has_region = request.first("regions").is_some() || request.first("country").is_some();
        let more = [
            (request.first("return_type") == Some("txt"), "txt"),
            (request.first("protocol") == Some("socks5"), "socks5"),
            (has_id, "request-id"),
            (request.first("country").is_some(), "country"),
            (has_region, "region"),
            (!has_region, "no-region"),
            (request.first("num") == Some("1"), "num-1"),
            (request.first("lb").is_some(), "lb"),
            (request.header("x-forwarded-for").is_some(), "forwarded"),
        ];
        *tags = with_tags(tags, more);
    }

    pub(super) fn parameters(&self, request: &Request, tags: &Tags) -> Result<Parameters, Reject> {
        const KNOWN: [&str; 10] =
            ["api_key", "num", "regions", "country", "protocol", "return_type", "lb", "sb", "request_id", ""];
        for (name, value) in &request.query {
            let unsupported = matches!(name.as_str(), "session" | "state" | "province" | "city");
            if self.decides("unknown-rejected") && !KNOWN.contains(&name.as_str())
                || self.decides("unsupported-rejected") && unsupported
            {
                return Err(Reject::input(format!("unknown parameter `{name}`")));
            }
            if !self.decides("repeated-first")
                && KNOWN.contains(&name.as_str())
                && request.all(name).len() > 1
            {
                return Err(Reject::input(format!("`{name}` must be given once")));
            }
            let optional = !matches!(name.as_str(), "api_key" | "num" | "sb");
            if self.decides("empty-optional-rejected") && optional && value.is_empty() {
                return Err(Reject::input(format!("`{name}` must not be empty")));
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
        let separator = if is_text || self.decides("unused-separator-checked") {
            self.separator(request, tags)?
        } else {
            String::new()
        };
        let request_id = self.request_id(optional("request_id"), request.header("x-request-id"), tags);
        if request_id.as_ref().is_some_and(|id| id.len() > 36) && self.decides("request-id-36") {
            return Err(Reject::input("the request id is too long"));
        }
        Ok(Parameters { num, region, protocol, is_text, separator, request_id })
    }

    fn num(&self, sent: Option<&str>, tags: &Tags) -> Result<usize, Reject> {
        let wrong = || Reject::input("`num`: expected an integer from 1 to 100");
        let Some(text) = sent else {
            return match () {
                () if self.on("extract-num-missing-one", tags) => Ok(1),
                () if self.on("extract-num-missing-ten", tags) => Ok(10),
                () => Err(wrong()),
            };
        };
        let value: Option<i64> = is_integer(text).then(|| text.parse().ok()).flatten();
        if let Some(value @ 1..=100) = value {
            if value == 100 && self.on("extract-num-100-refused", tags)
                || value == 1 && self.on("extract-num-1-refused", tags)
                || value > 50 && self.on("extract-num-above-50-refused", tags)
            {
                return Err(wrong());
            }
            return Ok(value as usize);
        }
        let big: Option<i128> = is_integer(text).then(|| text.parse().ok()).flatten();
        let wrapped =
            |bits: u32| big.map(|big| big.rem_euclid(1 << bits)).filter(|low| (1..=100).contains(low));
        let float: Option<f64> = text.trim().parse().ok();
        let fraction = float.filter(|float| !is_integer(text) && (1.0..101.0).contains(float));
        let fraction = fraction.map(|float| float as usize);
        let leading = leading_integer(text).filter(|_| !is_integer(text));
        let within = |range: std::ops::RangeInclusive<i64>| {
            value.filter(|value| range.contains(value)).map(|value| value.unsigned_abs() as usize)
        };
        let far = float.is_some_and(|float| float.abs() >= 2e9);
        let clamped = big.map(|big| big.clamp(1, 100) as usize);
        let hex = text.strip_prefix("0x").and_then(|digits| usize::from_str_radix(digits, 16).ok());
        let first = |low: Option<i128>| low.map(|low| low as usize);
        let rules = [
            ("extract-num-unchecked", clamped.or(Some(1))),
            ("extract-num-zero-as-one", (value == Some(0)).then_some(1)),
            ("extract-num-zero-empty", (value == Some(0)).then_some(0)),
            ("extract-num-empty-as-one", text.is_empty().then_some(1)),
            ("extract-num-101", (value == Some(101)).then_some(101)),
            ("extract-num-up-to-1000", within(101..=1000)),
            ("extract-num-clamped-high", value.filter(|value| *value > 100).map(|_| 100)),
            ("extract-num-clamped-low", value.filter(|value| *value < 1).map(|_| 1)),
            ("extract-num-absolute", within(-100..=-1)),
            ("extract-num-wraps-8", first(wrapped(8))),
            ("extract-num-wraps-16", first(wrapped(16))),
            ("extract-num-wraps-32", first(wrapped(32))),
            ("extract-num-wraps-64", first(wrapped(64))),
            ("extract-num-fraction", fraction.filter(|_| text.contains('.'))),
            ("extract-num-exponent", fraction.filter(|_| text.contains(['e', 'E']))),
            ("extract-num-far-as-100", (far && float.is_some_and(|float| float > 0.0)).then_some(100)),
            ("extract-num-far-negative-as-1", (far && float.is_some_and(|float| float < 0.0)).then_some(1)),
            ("extract-num-parse-int", leading.map(|found| found.clamp(1, 100) as usize)),
            ("extract-num-word-as-one", (float.is_none() && !text.is_empty()).then_some(1)),
            ("extract-num-hex", hex),
        ];
        self.first_broken(tags, rules).ok_or_else(wrong)
    }

    fn region(&self, regions: Option<&str>, country: Option<&str>, tags: &Tags) -> Result<String, Reject> {
        if regions.is_none() && country.is_none() {
            if self.on("extract-default-region-refused", tags) {
                return Err(Reject::input("`regions` is required"));
            }
            let last = self.memory().texts.get("last region").cloned();
            let rules = [
                ("extract-default-region-scarce", Some("NZL".to_owned())),
                ("extract-default-region-plentiful", Some("USA".to_owned())),
                ("extract-default-region-last", last),
            ];
            if let Some(region) = self.first_broken(tags, rules) {
                return Ok(region);
            }
        }
        if regions.or(country) == Some("GLOBAL") && self.on("extract-global-refused", tags) {
            return Err(Reject::input("unknown region"));
        }
        if let (Some(one), Some(other)) = (regions, country) {
            if one == other && self.on("extract-country-equal-refused", tags) {
                return Err(Reject::input("give `regions` or `country`"));
            }
            let global = one == "GLOBAL" || other == "GLOBAL";
            let prefix = one.starts_with(other) || other.starts_with(one);
            let rules = [
                (true, "extract-country-unequal-regions-win", one),
                (true, "extract-country-unequal-country-wins", other),
                (global, "extract-country-unequal-global", if one == "GLOBAL" { other } else { one }),
                (other == "GLOBAL", "extract-country-unequal-country-global", one),
                (prefix, "extract-country-unequal-prefix", one),
            ];
            if one != other {
                let winner = self.first_broken_of(tags, rules).map(str::to_owned);
                return winner.ok_or_else(|| Reject::input("`regions` and `country` differ"));
            }
        }
        if regions.is_none() && country.is_some() {
            if self.on("extract-country-ignored", tags) {
                return Ok("GLOBAL".into());
            }
            if self.on("extract-country-refused", tags) {
                return Err(Reject::input("unknown parameter `country`"));
            }
        }
        let region = regions.or(country).unwrap_or("GLOBAL").to_owned();
        self.memory().texts.insert("last region".into(), region.clone());
        Ok(region)
    }

    fn protocol(&self, sent: Option<&str>, tags: &Tags) -> Result<&'static str, Reject> {
        match sent {
            None if self.on("extract-default-protocol-socks5", tags) => Ok("socks5"),
            None if self.on("extract-default-protocol-refused", tags) => {
                Err(Reject::input("`protocol` is required"))
            }
            None | Some("http") => Ok("http"),
            Some("socks5") if self.on("extract-socks5-refused", tags) => Err(Reject::input("`protocol`")),
            Some("socks5") => Ok("socks5"),
            Some(other) => {
                let known = |text: &str| match text {
                    "http" => Some("http"),
                    "socks5" => Some("socks5"),
                    _ => None,
                };
                let lower = other.to_ascii_lowercase();
                let rules = [
                    ("extract-https-accepted", (other == "https").then_some("http")),
                    ("extract-protocol-unknown-as-http", (other != "https").then_some("http")),
                    ("extract-protocol-any-case", known(&lower)),
                    ("extract-protocol-trimmed", known(other.trim())),
                    ("extract-protocol-socks", (other == "socks").then_some("socks5")),
                    ("extract-protocol-socks4", other.starts_with("socks4").then_some("socks5")),
                    ("extract-protocol-prefix", other.starts_with("socks5").then_some("socks5")),
                    ("extract-protocol-list", other.split(',').find_map(known)),
                ];
                let found = self.first_broken(tags, rules);
                found.ok_or_else(|| Reject::input("`protocol`: expected http or socks5"))
            }
        }
    }

    fn is_text(&self, sent: Option<&str>, tags: &Tags) -> Result<bool, Reject> {
        match sent {
            None if self.on("extract-default-return-type-txt", tags) => Ok(true),
            None if tags.contains(&"lb") && self.on("extract-return-type-txt-by-lb", tags) => Ok(true),
            Some("txt") if self.on("extract-txt-gives-json", tags) => Ok(false),
            Some("json") if self.on("extract-json-refused", tags) => Err(Reject::input("`return_type`")),
            None | Some("json") => Ok(false),
            Some("txt") => Ok(true),
            Some(other) => {
                let lower = other.to_ascii_lowercase();
                let rules = [
                    ("extract-return-type-unknown-as-json", Some(false)),
                    ("extract-return-type-unknown-as-txt", Some(true)),
                    ("extract-return-type-text", (lower == "text").then_some(true)),
                    ("extract-return-type-xml", (lower == "xml").then_some(false)),
                    (
                        "extract-return-type-any-case",
                        matches!(&*lower, "json" | "txt").then_some(lower == "txt"),
                    ),
                ];
                let is_text = self.first_broken(tags, rules);
                is_text.ok_or_else(|| Reject::input("`return_type`: expected json or txt"))
            }
        }
    }

    fn separator(&self, request: &Request, tags: &Tags) -> Result<String, Reject> {
        const CRLF: &str = "\r\n";
        let lb = request.first("lb").filter(|lb| !lb.is_empty());
        let Some(lb) = lb else {
            return Ok(if self.on("extract-lb-default-lf", tags) { "\n" } else { CRLF }.into());
        };
        if lb == "6" {
            return self.custom_separator(request, tags);
        }
        let rules = [
            (lb == "1", "extract-lb-1-lf", "\n"),
            (lb == "1", "extract-lb-1-lfcr", "\n\r"),
            (lb == "2", "extract-lb-2-br-element", "<br/>"),
            (lb == "2", "extract-lb-2-newline", "\n"),
            (lb == "2", "extract-lb-2-backslash", "\\br"),
            (lb == "3", "extract-lb-3-lf", "\n"),
            (lb == "3", "extract-lb-3-crlf", CRLF),
            (lb == "4", "extract-lb-4-crlf", CRLF),
            (lb == "4", "extract-lb-4-cr", "\r"),
            (lb == "5", "extract-lb-5-space", " "),
            (lb == "5", "extract-lb-5-literal", "\\t"),
        ];
        if let Some(separator) = self.first_broken_of(tags, rules) {
            return Ok(separator.into());
        }
        let known = match lb {
            "1" => Some(CRLF),
            "2" => Some("/br"),
            "3" => Some("\r"),
            "4" => Some("\n"),
            "5" => Some("\t"),
            _ => None,
        };
        if let Some(known) = known {
            let ignored = self.on("extract-lb-ignored", tags);
            return Ok(if ignored { CRLF } else { known }.into());
        }
        let number: Option<i128> = is_integer(lb).then(|| lb.parse().ok()).flatten();
        let wraps = |bits: u32| number.is_some_and(|number| (1..=6).contains(&number.rem_euclid(1 << bits)));
        let rules = [
            (true, "extract-lb-unknown-as-default"),
            (number == Some(0), "extract-lb-0"),
            (number == Some(7), "extract-lb-7"),
            (number.is_some_and(|number| number < 0), "extract-lb-negative"),
            (number.is_none(), "extract-lb-word"),
            (wraps(8), "extract-lb-wraps-8"),
            (wraps(32), "extract-lb-wraps-32"),
            (lb.len() > 1 && matches!(lb.as_bytes()[0], b'1'..=b'6'), "extract-lb-first-character"),
            (
                number.is_none() && leading_integer(lb).is_some_and(|lb| (1..=6).contains(&lb)),
                "extract-lb-parse-int",
            ),
            (number.is_none_or(|number| number > 1_000_000), "extract-lb-far"),
        ];
        let is_taken = rules.into_iter().any(|(holds, rule)| holds && self.on(rule, tags));
        if is_taken { Ok(CRLF.into()) } else { Err(Reject::input("`lb`: expected 1 to 6")) }
    }

    fn custom_separator(&self, request: &Request, tags: &Tags) -> Result<String, Reject> {
        let sb = match request.first("sb") {
            None if self.on("extract-sb-missing-as-crlf", tags) => "\r\n",
            None if tags.contains(&"num-1") && self.on("extract-sb-missing-for-one", tags) => "",
            Some("") if self.on("extract-sb-empty-joined", tags) => "",
            Some("") if self.on("extract-sb-empty-as-crlf", tags) => "\r\n",
            None | Some("") => return Err(Reject::input("`sb` is required when `lb` is 6")),
            Some(sb) => sb,
        };
        let bytes = sb.len();
        let encoded =
            request.raw_query.split('&').find_map(|pair| pair.strip_prefix("sb=")).unwrap_or_default();
        let is_long = match () {
            () if bytes > 32 && self.on("extract-sb-unlimited", tags) => false,
            () if bytes > 32 && self.on("extract-sb-counts-characters", tags) => sb.chars().count() > 32,
            () if bytes > 32 && self.on("extract-sb-counts-utf16", tags) => sb.encode_utf16().count() > 32,
            () if bytes > 32 && self.on("extract-sb-33", tags) => bytes > 33,
            () if bytes > 32 && self.on("extract-sb-up-to-64", tags) => bytes > 64,
            () if bytes > 32 && self.on("extract-sb-length-wraps", tags) => bytes % 256 > 32,
            () if self.on("extract-sb-32-refused", tags) => bytes >= 32,
            () if self.on("extract-sb-counts-encoded", tags) => encoded.len() > 32,
            () => bytes > 32,
        };
        if is_long {
            if self.on("extract-sb-truncated", tags) {
                let end = (0..=32).rev().find(|end| sb.is_char_boundary(*end)).unwrap_or(0);
                return Ok(sb[..end].into());
            }
            return Err(Reject::input("`sb`: expected at most 32 bytes"));
        }
        if sb.trim().is_empty() && self.on("extract-sb-blank-refused", tags) {
            return Err(Reject::input("`sb` must not be blank"));
        }
        let escapes = sb.replace("\\n", "\n").replace("\\t", "\t");
        let html = sb.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        let latin: String = sb.bytes().map(char::from).collect();
        let ascii: String = sb.chars().map(|c| if c.is_ascii() { c } else { '?' }).collect();
        let twice = percent_encoding::percent_decode(sb.as_bytes()).decode_utf8_lossy().into_owned();
        let cut = sb.split([';', '#', '&']).next().unwrap_or_default().to_owned();
        let rules = [
            ("extract-sb-ignored", "\r\n".to_owned()),
            ("extract-sb-trimmed", sb.trim().to_owned()),
            ("extract-sb-first-character", sb.chars().take(1).collect()),
            ("extract-sb-first-16", sb.chars().take(16).collect()),
            ("extract-sb-escapes", escapes),
            ("extract-sb-html", html),
            ("extract-sb-latin-1", latin),
            ("extract-sb-ascii", ascii),
            ("extract-sb-not-decoded", encoded.to_owned()),
            ("extract-sb-decoded-twice", twice),
            ("extract-sb-lower-case", sb.to_lowercase()),
            ("extract-sb-without-newlines", sb.replace(['\r', '\n'], "")),
            ("extract-sb-cut", cut),
        ];
        let rules = rules.map(|(rule, changed)| (rule, Some(changed).filter(|changed| changed != sb)));
        Ok(self.first_broken(tags, rules).unwrap_or_else(|| sb.into()))
    }

    fn request_id(&self, query: Option<&str>, header: Option<&str>, tags: &Tags) -> Option<String> {
        let header = header.filter(|header| !header.is_empty());
        let mut found = query.or(header);
        if query.is_none() && header.is_some() && self.on("extract-request-id-header-ignored", tags) {
            found = None;
        }
        if query.is_some() && header.is_some() && self.on("extract-request-id-header-wins", tags)
            || query.is_some() && self.on("extract-request-id-query-ignored", tags)
        {
            found = header;
        }
        if found.is_none() && self.on("extract-request-id-shared-when-missing", tags) {
            return Some("none".into());
        }
        let id = found?.to_owned();
        let first = |count: usize| id.chars().take(count).collect::<String>();
        let rules = [
            (query.is_some(), "extract-request-id-joined", header.map(|header| format!("{id} {header}"))),
            (id.len() > 8, "extract-request-id-first-8", Some(first(8))),
            (id.len() > 16, "extract-request-id-first-16", Some(first(16))),
            (true, "extract-request-id-any-case", Some(id.to_lowercase())),
        ];
        let rules = rules.map(|(applies, rule, other)| (rule, other.filter(|_| applies)));
        Some(self.first_broken(tags, rules).unwrap_or(id))
    }
}

//! The parameters of an extraction, read strictly but for faults.

use super::behaviour::{Tags, with_tags};
use super::{Reject, Request, Server};

/// Valid parameters.
#[derive(Debug, Clone)]
pub(super) struct Parameters {
    pub num: usize,
    pub region: String,
    pub protocol: String,
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
        let media = request.header("content-type");
        let known = || known! { length => request.body.len(), media };
        if self.breaks("extract.input-refused", tags, known) {
            return Err(Reject::input("a body and its type are required"));
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
            return self.instead("extract.no-num", tags, || known! {}).ok_or_else(wrong);
        };
        let value = integer(text);
        if let Some(num @ 1..=100) = value {
            let is_refused = self.breaks("extract.num-refused", tags, || known! { num });
            return if is_refused { Err(wrong()) } else { Ok(num as usize) };
        }
        let num = self.instead("extract.num", tags, || {
            let float = text.trim().parse().ok().filter(|float: &f64| !float.is_nan());
            known! { text, value, float, leading => leading_integer(text) }
        });
        num.ok_or_else(wrong)
    }

    fn region(&self, regions: Option<&str>, country: Option<&str>, tags: &Tags) -> Result<String, Reject> {
        let sent = regions.or(country);
        let differ = regions.is_some() && country.is_some() && regions != country;
        let last = self.memory().texts.get("last region").cloned();
        let known = || known! { regions, country, sent, differ, last };
        if self.breaks("extract.region-refused", tags, known) {
            return Err(Reject::input("`regions` or `country` is required or unknown"));
        }
        if let Some(region) = self.instead::<Option<String>>("extract.asked-region", tags, known).flatten() {
            return Ok(region);
        }
        if differ {
            return Err(Reject::input("`regions` and `country` differ"));
        }
        let region = sent.unwrap_or("GLOBAL").to_owned();
        self.memory().texts.insert("last region".into(), region.clone());
        Ok(region)
    }

    fn protocol(&self, sent: Option<&str>, tags: &Tags) -> Result<String, Reject> {
        let is_known = |protocol: &str| ["http", "socks5"].contains(&protocol);
        let sent = sent.unwrap_or_default();
        let other = || self.instead("extract.protocol", tags, || known! { sent });
        let protocol = match sent {
            _ if self.breaks("extract.protocol-refused", tags, || known! { sent }) => None,
            "" => other().or(Some("http".to_owned())),
            sent if is_known(sent) => Some(sent.to_owned()),
            _ => other(),
        };
        protocol
            .filter(|protocol| is_known(protocol))
            .ok_or_else(|| Reject::input("`protocol`: expected http or socks5"))
    }

    fn is_text(&self, sent: Option<&str>, tags: &Tags) -> Result<bool, Reject> {
        let sent = sent.unwrap_or_default();
        let known = || known! { sent, has_lb => tags.contains(&"lb") };
        let right = match sent {
            _ if self.breaks("extract.form-refused", tags, known) => None,
            "" | "json" => Some(false),
            "txt" => Some(true),
            _ => None,
        };
        let is_text = self.instead("extract.form", tags, known).or(right);
        is_text.ok_or_else(|| Reject::input("`return_type`: expected json or txt"))
    }

    fn separator(&self, request: &Request, tags: &Tags) -> Result<String, Reject> {
        let lb = request.first("lb").unwrap_or_default();
        if lb == "6" {
            return self.custom_separator(request, tags);
        }
        let separator = match lb {
            "" | "1" => CRLF,
            "2" => "/br",
            "3" => "\r",
            "4" => "\n",
            "5" => "\t",
            _ => {
                let known = || known! { lb, number => integer(lb), leading => leading_integer(lb) };
                let is_accepted = self.breaks("extract.unknown-lb", tags, known);
                return if is_accepted {
                    Ok(CRLF.into())
                } else {
                    Err(Reject::input("`lb`: expected 1 to 6"))
                };
            }
        };
        let other = self.instead("extract.separator", tags, || known! { lb });
        Ok(other.unwrap_or_else(|| separator.into()))
    }

    fn custom_separator(&self, request: &Request, tags: &Tags) -> Result<String, Reject> {
        let sb = request.first("sb");
        if let Some(other) =
            self.instead("extract.no-sb", tags, || known! { sb, one => tags.contains(&"num-1") })
        {
            return Ok(other);
        }
        let Some(sb) = sb.filter(|sb| !sb.is_empty()) else {
            return Err(Reject::input("`sb` is required when `lb` is 6"));
        };
        let bytes = sb.len();
        let encoded =
            request.raw_query.split('&').find_map(|pair| pair.strip_prefix("sb=")).unwrap_or_default();
        let known = || {
            let ascii: String = sb.chars().map(|c| if c.is_ascii() { c } else { '?' }).collect();
            let latin: String = sb.bytes().map(char::from).collect();
            let twice = percent_encoding::percent_decode(sb.as_bytes()).decode_utf8_lossy();
            known! { sb, bytes, utf16 => sb.encode_utf16().count(), encoded, ascii, latin, twice }
        };
        let is_long = self.instead("extract.sb-is-long", tags, known).unwrap_or(bytes > 32);
        if is_long && self.on("extract-sb-truncated", tags) {
            return Ok(sb[..sb.floor_char_boundary(32)].into());
        }
        if is_long {
            return Err(Reject::input("`sb`: expected at most 32 bytes"));
        }
        Ok(self.instead("extract.sb", tags, known).unwrap_or_else(|| sb.into()))
    }

    fn request_id(&self, query: Option<&str>, header: Option<&str>, tags: &Tags) -> Option<String> {
        let header = header.filter(|header| !header.is_empty());
        let known = || known! { query, header, id => query.or(header).unwrap_or_default() };
        let other = self.instead::<Option<String>>("extract.request-id", tags, known);
        other.unwrap_or_else(|| query.or(header).map(str::to_owned))
    }
}

//! What the response to a valid extraction must keep, as far as it shows that itself: the number and form of entries, the headers of a partial
//! result, region and protocol of known gateways. Active and passive checks judge by the same functions.

use serde_json::Value;

use super::shortage::{judge_few, note_partial_result};
use super::*;
use crate::check::{ObservedExchange, PassiveFinding};
use crate::contract::Contract;
use crate::names;
use crate::quantity::quantity;
pub(crate) use crate::response::gateways::{denies, entries};
use crate::response::gateways::{is_endpoint, listed, separator};
use crate::target::{Facts, GatewayPool, KnownGateway};

/// An extraction and its response, which is a success.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Served<'a> {
    contract: &'a Contract,
    facts: &'a Facts,
    request: &'a Request,
    response: &'a Response,
}

/// The key of a flag that says that a partial result is full. The contract does not say how it is spelt.
pub(crate) const DENIED: &str = "denied";

/// A gateway of a response, and the known pools that contain it.
type GatewayMatch<'a> = (KnownGateway, Vec<&'a GatewayPool>);

impl<'a> Served<'a> {
    pub(crate) fn new(probe: &Probe<'a>, exchange: &'a Exchange, response: &'a Response) -> Self {
        Self { contract: probe.contract(), facts: probe.facts(), request: &exchange.request, response }
    }

    /// Of a passive check, none when the exchange is not a success.
    pub(crate) fn observed(observed: &'a ObservedExchange<'a>) -> Option<Self> {
        let ObservedExchange { contract, facts, request, response, .. } = *observed;
        (*observed.class == ResponseClass::Accepted).then_some(Self { contract, facts, request, response })
    }

    /// Everything that the response must keep and does not. None of it depends on other responses.
    pub(crate) fn judge(&self) -> Vec<PassiveFinding> {
        let count = self.count().unwrap_or_default().into_iter();
        count.chain(self.gateways().unwrap_or_default()).collect()
    }

    /// At most `num` entries, and if fewer, the headers that say so. `None` for an invalid `num`, for a text whose separator
    /// entries may contain, and without an entry of a region that may have none: the response to an unknown region is unspecified,
    /// and one without gateways may be handled as unknown.
    pub(crate) fn count(&self) -> Option<Vec<PassiveFinding>> {
        let extract = &self.contract.extract;
        if entries(self.response).is_none() && line_break(extract, self.request).is_none() {
            return None;
        }
        let num: i64 = self.request.query_value(NUM)?.parse().ok()?;
        let num = Some(num).filter(|num| extract.num_range.contains(num))?;
        let count = i64::try_from(count_of(extract, self.request, self.response)).ok()?;
        if count == 0 && !self.is_of_region_with_gateways() {
            return None;
        }
        if count > num {
            let expected = format!("at most {}", quantity(num, "entry"));
            let actual = quantity(count, "entry");
            return Some(vec![PassiveFinding::fail(ExtractCount, "more", expected, actual)]);
        }
        Some(if count < num { self.headers(num, count) } else { Vec::new() })
    }

    /// The headers that do not say how many entries were requested and returned, and that this is a partial result.
    fn headers(&self, num: i64, count: i64) -> Vec<PassiveFinding> {
        let extract = &self.contract.extract;
        let wrong = |name: &str, key: &str, expected: String, actual: Option<String>| {
            let reason = format!("because {count} of {} were returned", quantity(num, "entry"));
            let actual = actual.map_or("no such header".to_owned(), |value| format!("{name}: {value}"));
            PassiveFinding::fail(ExtractPartial, key, format!("{expected}, {reason}"), actual)
        };
        let counts = [(&extract.requested_count, num), (&extract.returned_count, count)];
        let counts = counts.into_iter().filter_map(|(name, expected)| {
            let actual = self.response.header(name);
            let is_right = actual.as_deref().and_then(|count| count.parse().ok()) == Some(expected);
            (!is_right).then(|| wrong(name, name, format!("{name}: {expected}"), actual))
        });
        let name = &extract.partial_flag;
        let flag = match self.response.header(name) {
            None => Some(wrong(name, name, name.clone(), None)),
            Some(flag) if denies(&flag) => Some(wrong(name, DENIED, "a flag".to_owned(), Some(flag))),
            Some(_) => None,
        };
        counts.chain(flag).collect()
    }

    /// The entries of a text are separated as requested, and at least as often where an entry may contain the separator itself. `None`
    /// where fewer than two entries are expected, and for a recorded separator that may be another.
    pub(crate) fn separated(&self) -> Option<Vec<PassiveFinding>> {
        let split = self.split()?;
        // Whether a plus sign in a query is a space is open, and a recorded request no longer shows it.
        if self.request.is_recorded && split.separator.contains(' ') {
            return None;
        }
        if is_envelope(self.response) || says_error(self.response) {
            return None;
        }
        let is_right = match line_break(&self.contract.extract, self.request) {
            Some(_) => !split.is_broken && split.pieces == split.entries,
            None => split.pieces >= split.entries,
        };
        Some((!is_right).then(|| split.finding(self.response)).into_iter().collect())
    }

    /// `None` where fewer than two entries are expected.
    fn split(&self) -> Option<Split<'a>> {
        let extract = &self.contract.extract;
        let separator = separator(extract, self.request)?;
        let entries = expected_entries(extract, self.request, self.response);
        let text = self.response.text();
        let pieces: Vec<&str> = trimmed(&text, separator).split(separator).collect();
        let is_broken = pieces.iter().any(|piece| piece.is_empty() || piece.contains(['\r', '\n']));
        let ports = pieces.iter().filter(|piece| is_endpoint(piece)).count();
        (entries > 1).then_some(Split { separator, entries, pieces: pieces.len(), ports, is_broken })
    }

    fn is_of_region_with_gateways(&self) -> bool {
        let Facts { plentiful_region, scarce_region, .. } = self.facts;
        let default = self.contract.extract.regions.default_text();
        let named = [REGIONS, COUNTRY].into_iter().find_map(|name| self.request.query_value(name));
        let mut known = [plentiful_region, scarce_region].into_iter().flatten().chain([&default]);
        named.is_none_or(|named| known.any(|region| region == named))
    }

    /// The known gateways that are of another region or protocol than requested. `None` for requests that are invalid, for regions
    /// of which nothing is known, and if no gateway is known.
    pub(crate) fn gateways(&self) -> Option<Vec<PassiveFinding>> {
        let extract = &self.contract.extract;
        let Facts { plentiful_region, scarce_region, empty_region, known_gateways, .. } = self.facts;
        let sent = |name: &str| match self.request.query_value(name) {
            Some(_) => Some(Some(self.request.only_query_value(name)?.to_owned())),
            None => Some(None),
        };
        let default = extract.regions.default_text();
        let region = match (sent(REGIONS)?, sent(COUNTRY)?) {
            (Some(regions), Some(country)) if regions != country => return None,
            (regions, country) => regions.or(country).unwrap_or_else(|| default.clone()),
        };
        let protocol = sent(PROTOCOL)?.unwrap_or_else(|| extract.protocol.default_text());
        let supplied = [plentiful_region, scarce_region, empty_region].into_iter().flatten();
        let mut regions = known_gateways.iter().map(|pool| &pool.region).chain(supplied).chain([&default]);
        if !regions.any(|known| *known == region) || !extract.protocols.contains(&protocol) {
            return None;
        }
        let found = matching(self.facts, self.response);
        if found.is_empty() {
            return None;
        }
        let wrong = |clause: Clause, expected: String, is_right: &dyn Fn(&GatewayPool) -> bool| {
            let others: Vec<_> =
                found.iter().filter(|(_, pools)| !pools.iter().any(|pool| is_right(pool))).collect();
            let (gateway, pools) = others.first()?;
            let GatewayPool { region, protocol, .. } = pools.first()?;
            let (wrong, count) = (others.len(), found.len());
            let actual = format!(
                "{wrong} of {count} known ones are of others, such as {gateway} of {region} {protocol}"
            );
            let expected = format!("{expected}, as supplied by {}", Fact::KnownGateways.variable());
            Some(PassiveFinding::fail(clause, "", expected, actual))
        };
        let of_region = wrong(ExtractRegion, format!("gateways of the region {region}"), &|pool| {
            region == default || pool.region == region
        });
        let speaking = wrong(ExtractProtocol, format!("gateways that speak {protocol}"), &|pool| {
            pool.protocol == protocol
        });
        Some(of_region.into_iter().chain(speaking).collect())
    }
}

names! {
    /// What is judged in an extraction that was served, beside that it is a success.
    #[derive(Debug, Clone, Copy)]
    pub(crate) enum Judge {
        /// What the response shows by itself.
        Response => "by itself",
        /// The same of a partial result; a full one shows nothing.
        Partial => "as a partial result",
        /// That there are fewer different gateways than the maximum `num`, of a scarce region; the clause of the row says so.
        Few => "by few gateways",
        /// That there are not more entries than were asked for, which the clause of the row forbids here.
        Most => "by num",
        /// That the entries come as text.
        Text => "by text",
        /// The text between them.
        Separator => "by separator",
        /// Both, where the form is not tested before.
        SeparatedText => "by separated text",
    }
}

impl Judge {
    /// Reports what the response does not keep. `why` describes the request.
    pub(crate) async fn of(
        self,
        probe: &Probe<'_>,
        (clause, why): (Clause, &str),
        accepted: &AcceptedResponse,
    ) -> Result<(), Stop> {
        let AcceptedResponse { exchange, response } = accepted;
        let served = Served::new(probe, exchange, response);
        let finding = |clause, expected: String, actual: &str| {
            probe.finding(clause, &expected, actual, &[exchange]);
        };
        match self {
            Self::Response | Self::Partial => {
                if let Self::Partial = self {
                    note_partial_result(probe, accepted)?;
                }
                let words = if why.is_empty() { String::new() } else { format!(", {why}") };
                for PassiveFinding { clause, expected, actual, .. } in served.judge() {
                    if probe.cites(clause) {
                        finding(clause, format!("{expected}{words}"), &actual);
                    }
                }
            }
            Self::Few => judge_few(probe, clause, why, exchange).await?,
            Self::Most => {
                let more = served.count().unwrap_or_default();
                for more in more.into_iter().filter(|finding| finding.clause == ExtractCount) {
                    finding(clause, format!("{}: {why}", more.expected), &more.actual);
                }
            }
            Self::Text | Self::SeparatedText if is_envelope(response) => {
                finding(ExtractReturnType, format!("plain text: {why}"), "the JSON envelope");
            }
            Self::Text => {}
            Self::Separator | Self::SeparatedText => judge_separator(probe, accepted).await?,
        }
        Ok(())
    }
}

/// The known gateways of a response, with repetitions.
pub(crate) fn matching<'a>(facts: &'a Facts, response: &Response) -> Vec<GatewayMatch<'a>> {
    let pools = &facts.known_gateways;
    let pools_of = |gateway: &KnownGateway| -> Vec<&'a GatewayPool> {
        pools.iter().filter(|pool| pool.gateways.contains(gateway)).collect()
    };
    let returned: Vec<KnownGateway> = match response.at("/data").and_then(|data| data.as_array()) {
        Some(entries) => entries.iter().filter_map(entry).collect(),
        None => {
            let text = response.text();
            let known = || pools.iter().flat_map(|pool| &pool.gateways);
            let in_line = |line: &str| known().find(|gateway| names(line, gateway)).cloned();
            text.lines().filter_map(in_line).collect()
        }
    };
    let found = returned.into_iter().map(|gateway| (pools_of(&gateway), gateway));
    found.filter(|(pools, _)| !pools.is_empty()).map(|(pools, gateway)| (gateway, pools)).collect()
}

fn entry(entry: &Value) -> Option<KnownGateway> {
    let port = u16::try_from(entry.get("port")?.as_u64()?).ok()?;
    Some(KnownGateway { host: entry.get("ip")?.as_str()?.to_owned(), port })
}

/// Whether an entry of a text names a gateway: its host and its port, each as a whole word.
fn names(entry: &str, gateway: &KnownGateway) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '.' || c == '-';
    let has_word = |word: &str| {
        entry.match_indices(word).any(|(at, _)| {
            let before = entry[..at].chars().next_back();
            let after = entry[at + word.len()..].chars().next();
            !before.is_some_and(is_part) && !after.is_some_and(is_part)
        })
    };
    has_word(&gateway.host) && has_word(&gateway.port.to_string())
}

/// The gateways of the response to a request; none without a response.
pub(crate) fn gateways(probe: &Probe<'_>, Exchange { request, result, .. }: &Exchange) -> Vec<String> {
    let listed = |response| listed(&probe.contract().extract, request, response);
    result.as_ref().map(listed).unwrap_or_default()
}

/// The number of entries of the response to a request, in JSON or in text; 0 without a response.
pub(crate) fn count(probe: &Probe<'_>, Exchange { request, result, .. }: &Exchange) -> usize {
    result.as_ref().map_or(0, |response| count_of(&probe.contract().extract, request, response))
}

/// The form of an entry of a text and the end of the text are unspecified.
fn count_of(extract: &Extract, request: &Request, response: &Response) -> usize {
    let lines = || {
        let separator = line_break(extract, request).or_else(|| default_separator(extract)).unwrap_or("\n");
        response.text().split(separator).filter(|entry| !entry.trim().is_empty()).count()
    };
    entries(response).map_or_else(|| if is_envelope(response) { 0 } else { lines() }, |entries| entries.len())
}

pub(crate) const THROTTLED: &str = "the service throttles; run it again later, or with a lower --rate";

/// Whether a request was neither accepted nor rejected: there is a shortage, or the service is busy or too slow.
pub(crate) fn is_undecided(class: &ResponseClass) -> bool {
    class.decision() == Decision::Undecided || matches!(class, ResponseClass::Timeout(_))
}

/// Sends a request that stands for the same extraction as `before`, and reports a rejection or other gateways. The contract
/// promises the same extraction and not the same text, so the order of the gateways is not compared.
pub(crate) async fn judge_repeated(
    probe: &Probe<'_>,
    clause: Clause,
    why: &str,
    before: &AcceptedResponse,
    request: &Request,
) -> Result<(), Stop> {
    let given = gateways(probe, &before.exchange);
    let request = request.clone().giving_again(given.clone());
    let Some(after) = probe.accepts(clause, why, &request).await? else { return Ok(()) };
    if given != gateways(probe, &after.exchange) {
        let expected = format!("the same gateways: {why}");
        probe.finding_beside(clause, &expected, "other gateways", &[&after.exchange], &[&before.exchange]);
    }
    Ok(())
}

pub(crate) fn is_partial(probe: &Probe<'_>, response: &Response) -> bool {
    response.header(&probe.contract().extract.partial_flag).is_some_and(|flag| !denies(&flag))
}

/// The separator of a text response when the request names none.
fn default_separator(extract: &Extract) -> Option<&str> {
    let default = extract.lb.default_text();
    let separator = extract.separators.iter().find(|separator| separator.code == default)?;
    Some(&separator.text)
}

/// Whether a response is the JSON envelope. A single entry of a text response may be a JSON object too.
fn is_envelope(response: &Response) -> bool {
    response.at("/code").is_some() || response.at("/data").is_some_and(Value::is_array)
}

/// Whether a response is a text success: rejections are JSON, or error messages in plain text.
pub(crate) fn is_served_text(extract: &Extract, response: &Response) -> bool {
    response.status == extract.operation.success.status && response.json().is_none() && !says_error(response)
}

/// Whether a response contains gateways: in JSON the entries of a success, in text anything but the envelope and error messages.
pub(crate) fn gives_gateways(probe: &Probe<'_>, exchange: &Exchange) -> bool {
    let Ok(response) = &exchange.result else { return false };
    let success = probe.contract().extract.operation.success.status;
    let is_text = response.status == success && !is_envelope(response) && !says_error(response);
    let is_text = is_text && !response.body().is_empty();
    entries(response).map_or(is_text, |entries| !entries.is_empty())
}

pub(crate) fn has_retry_after(exchange: &Exchange) -> bool {
    exchange.result.as_ref().is_ok_and(|response| response.retry_after().is_some())
}

/// Reports a text response whose entries are not separated by the requested separator. The end of the text is unspecified.
async fn judge_separator(probe: &Probe<'_>, served: &AcceptedResponse) -> Result<(), Stop> {
    let AcceptedResponse { exchange, response } = served;
    let Some(split) = Served::new(probe, exchange, response).split() else {
        return Err(probe.skip_lacking(
            "a single entry has no separator",
            "a region that returns as many gateways as are requested",
            Fact::PlentifulRegion,
        ));
    };
    if !split.is_broken && split.pieces == split.entries {
        return Ok(());
    }
    if !split.is_broken
        && (split.is_in_some_entries() || split.is_in_entries(probe, &exchange.request).await?)
    {
        let seen = format!("an entry contains the separator {:?} itself", split.separator);
        probe.observe(Unspecified::ExtractTxtLayout, &seen);
    } else {
        let PassiveFinding { clause, expected, actual, .. } = split.finding(response);
        probe.finding(clause, &expected, &actual, &[exchange]);
    }
    Ok(())
}

/// A text at its separator.
struct Split<'a> {
    separator: &'a str,
    /// Those that there should be.
    entries: usize,
    pieces: usize,
    /// The pieces that end with a port.
    ports: usize,
    /// Whether a piece is no entry.
    is_broken: bool,
}

impl Split<'_> {
    /// Whether entries may contain the separator, as host names do: some of them, or each. Then as many pieces as there are entries end
    /// with a port. White space is in each of them or in none.
    fn is_in_some_entries(&self) -> bool {
        let Self { entries, pieces, ports, .. } = self;
        let in_some = pieces > entries && (*pieces < 2 * entries || ports == entries);
        in_some && !self.separator.contains(char::is_whitespace)
    }

    /// Whether the entries that the default separator separates contain this one as often.
    async fn is_in_entries(&self, probe: &Probe<'_>, request: &Request) -> Result<bool, Stop> {
        let extract = &probe.contract().extract;
        let default = default_separator(extract).filter(|default| *default != self.separator);
        let (Some(default), Some(more)) = (default, self.pieces.checked_sub(self.entries)) else {
            return Ok(false);
        };
        let plain = request.clone().without_query(LB).without_query(SB).without_query(REQUEST_ID);
        let (exchange, class) = probe.send(&plain).await?;
        let Some(served) = accepted(&exchange, &class) else { return Ok(false) };
        let text = served.response.text();
        let lines: Vec<&str> = trimmed(&text, default).split(default).collect();
        let counts = || lines.iter().map(|line| line.matches(self.separator).count());
        let range = counts()
            .min()
            .zip(counts().max())
            .filter(|_| lines.len() == expected_entries(extract, &plain, &served.response));
        Ok(range.is_some_and(|(min, max)| (self.entries * min..=self.entries * max).contains(&more)))
    }

    fn finding(&self, response: &Response) -> PassiveFinding {
        let Self { separator, entries, pieces, .. } = self;
        let expected = format!("{} separated by {separator:?}", quantity(*entries, "entry"));
        let actual = format!("splitting at {separator:?} yields {pieces} in {:?}", response.text());
        PassiveFinding::fail(ExtractSeparator, *separator, expected, actual)
    }
}

/// The number of entries that a response should have: the requested number, or that of a partial result.
fn expected_entries(extract: &Extract, request: &Request, response: &Response) -> usize {
    let num = request.query_value(NUM).and_then(|num| num.parse().ok()).unwrap_or(1);
    let returned = response.header(&extract.returned_count).and_then(|count| count.parse().ok());
    returned.map_or(num, |returned: usize| returned.min(num))
}

/// The separator that a request asks for, if no entry can contain it; there may be spaces and tabs within one.
fn line_break<'a>(extract: &'a Extract, request: &'a Request) -> Option<&'a str> {
    separator(extract, request).filter(|separator| separator.contains(['\r', '\n']))
}

/// The text without one line break, one separator, or both at its end.
fn trimmed<'a>(text: &'a str, separator: &str) -> &'a str {
    let before_break = text.strip_suffix("\r\n").or_else(|| text.strip_suffix('\n')).unwrap_or(text);
    // A separator may end with a line break itself.
    let both = before_break.strip_suffix(separator);
    both.or_else(|| text.strip_suffix(separator)).unwrap_or(before_break)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_text_is_trimmed_once() {
        for (text, separator) in
            [("a,b", ","), ("a,b,", ","), ("a,b\n", ","), ("a,b\r\n", ","), ("a,b,\n", ",")]
        {
            assert_eq!(trimmed(text, separator), "a,b", "{text:?}");
        }
        assert_eq!(trimmed("a\r\nb\r\n", "\r\n"), "a\r\nb");
        assert_eq!(trimmed("a\nb\n\n\n", "\n"), "a\nb\n", "an empty entry is not the end");
        assert_eq!(trimmed("a\rb\r\n", "\r"), "a\rb");
        assert_eq!(trimmed("a,b,,", ","), "a,b,");
        assert_eq!(trimmed("a\n\nb\n\n", "\n\n"), "a\n\nb");
        assert_eq!(trimmed("a\r\n--\r\nb\r\n--\r\n", "\r\n--\r\n"), "a\r\n--\r\nb");
    }

    #[test]
    fn an_entry_names_a_gateway_by_whole_words() {
        let gateway = KnownGateway { host: "203.0.113.1".to_owned(), port: 80 };
        for (entry, expected) in [
            ("203.0.113.1:80", true),
            ("http://203.0.113.1:80/", true),
            ("ip=203.0.113.1;port=80", true),
            ("80 203.0.113.1", true),
            ("203.0.113.1:8080", false),
            ("203.0.113.12:80", false),
            ("1.203.0.113.1:80", false),
            ("203.0.113.1", false),
        ] {
            assert_eq!(names(entry, &gateway), expected, "{entry}");
        }
    }
}

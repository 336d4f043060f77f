use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use jiff::Timestamp;
use reqwest::Url;

use super::archive::{Archive, Entry};
use super::credentials::{Credentials, MaskedRequest, Unhidden};
use crate::contract::{Contract, Operation, OperationId};
use crate::wire::{Exchange, Redactor, Response, ShortSecret, is_small_enough};

/// The exchanges of an archive that are calls of the contract's operations at one service, without their credentials.
#[derive(Debug)]
pub struct Traffic {
    pub(super) base: String,
    pub(super) exchanges: Vec<TrafficExchange>,
    pub(super) left_out: Vec<LeftOut>,
    pub(super) redactor: Redactor,
    pub(super) entries: usize,
}

/// Entries that are not judged, for one reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOut {
    /// Why.
    pub reason: &'static str,
    /// How many.
    pub entries: usize,
}

/// One exchange of the traffic.
#[derive(Debug)]
pub(super) struct TrafficExchange {
    /// Its number in `log.entries`, from 0.
    pub(super) entry: usize,
    pub(super) operation: OperationId,
    pub(super) exchange: Exchange,
    pub(super) response: Response,
    pub(super) begun: Option<Timestamp>,
    /// Equal for requests with the same credentials. It is a number, and no secret.
    pub(super) caller: usize,
}

/// Why the traffic can't be judged.
#[derive(Debug, thiserror::Error)]
pub enum TrafficError {
    /// The base URL is none.
    #[error("--base-url: expected a URL such as https://api.example.com, found another text")]
    Base,
    /// The archive has calls to several services.
    #[error("expected the traffic of one service, found calls to {}; choose one with --base-url", .0.join(", "))]
    Several(Vec<String>),
    /// Secrets that can't be hidden.
    #[error(transparent)]
    Secret(#[from] ShortSecret),
}

const NOT_CALLED: &str = "no call of an operation of the contract at this service";
const NO_RESPONSE: &str = "the archive has no response";
const NO_BODY: &str =
    "the archive has no body, or its beginning only; export it with the content of responses";
const NOT_MODIFIED: &str = "the response came from a cache (304)";
const TOO_LARGE: &str = "the response is too large to judge";
const SHORT: &str = "a token of fewer than 6 characters cannot be hidden in reports";
const TOO_MANY: &str = "more than 200 different tokens cannot be hidden in reports";

impl Traffic {
    /// The calls of the contract's operations at `base`, or at the only service that the archive has calls to.
    ///
    /// # Errors
    /// When `base` is no URL, or when it is missing and the archive has calls to several services.
    pub fn from_archive(
        contract: &Contract,
        archive: &Archive,
        base: Option<&str>,
    ) -> Result<Self, TrafficError> {
        let calls: Vec<(usize, Call<'_>)> = archive
            .entries
            .iter()
            .enumerate()
            .filter_map(|(number, entry)| Some((number, Call::new(contract, entry)?)))
            .collect();
        let base = match base {
            Some(base) => origin(&Url::parse(base).map_err(|_| TrafficError::Base)?),
            None => {
                const SHOWN: usize = 5;
                let bases: BTreeSet<&str> = calls.iter().map(|(_, call)| call.base.as_str()).collect();
                if bases.len() > 1 {
                    let shown = bases.into_iter().take(SHOWN).map(str::to_owned).collect();
                    return Err(TrafficError::Several(shown));
                }
                bases.first().map_or_else(String::new, |base| (*base).to_owned())
            }
        };
        let (mut credentials, mut callers) = (Credentials::default(), BTreeMap::new());
        let (mut exchanges, mut left_out) = (Vec::new(), BTreeMap::new());
        let here = calls.into_iter().filter(|(_, call)| call.base == base);
        let mut called = 0;
        for (entry, call) in here {
            called += 1;
            match call.record(contract, entry, &mut credentials, &mut callers) {
                Ok(recorded) => exchanges.push(recorded),
                Err(reason) => *left_out.entry(reason).or_default() += 1,
            }
        }
        if archive.entries.len() > called {
            left_out.insert(NOT_CALLED, archive.entries.len() - called);
        }
        let left_out = left_out.into_iter().map(|(reason, entries)| LeftOut { reason, entries }).collect();
        let redactor = credentials.redactor()?;
        Ok(Self { base, exchanges, left_out, redactor, entries: archive.entries.len() })
    }

    /// Base URL of the service; empty when the archive has no call of an operation.
    #[must_use]
    pub fn base(&self) -> &str {
        &self.base
    }

    /// Number of entries of the archive.
    #[must_use]
    pub fn entries(&self) -> usize {
        self.entries
    }

    /// Number of exchanges that can be judged.
    #[must_use]
    pub fn judged(&self) -> usize {
        self.exchanges.len()
    }

    /// The entries that are not judged, by reason.
    #[must_use]
    pub fn left_out(&self) -> &[LeftOut] {
        &self.left_out
    }
}

/// An entry that calls an operation.
struct Call<'a> {
    entry: &'a Entry,
    operation: OperationId,
    url: Url,
    /// What stands before the operation's path.
    base: String,
    path: String,
}

impl<'a> Call<'a> {
    fn new(contract: &Contract, entry: &'a Entry) -> Option<Self> {
        let url =
            Url::parse(&entry.request.url).ok().filter(|url| matches!(url.scheme(), "http" | "https"))?;
        let fits = |operation: &&Operation| operation.method.eq_ignore_ascii_case(&entry.request.method);
        let (id, path) = contract
            .operations()
            .filter(fits)
            .find_map(|operation| Some((operation.id, served(operation, url.path())?.to_owned())))?;
        let before = &url.path()[..url.path().len() - path.len()];
        let base = format!("{}{before}", origin_only(&url));
        Some(Self { entry, operation: id, base, path, url })
    }

    /// The exchange without credentials, or why it is not judged.
    fn record(
        self,
        contract: &Contract,
        number: usize,
        credentials: &mut Credentials,
        callers: &mut BTreeMap<String, usize>,
    ) -> Result<TrafficExchange, &'static str> {
        let Self { entry, operation, url, path, .. } = self;
        let status = entry.response.status().ok_or(NO_RESPONSE)?;
        if status == 304 {
            return Err(NOT_MODIFIED);
        }
        if entry.is_request_cut() {
            return Err(NO_BODY);
        }
        let body = entry.response.body().ok_or(NO_BODY)?;
        if !is_small_enough(&body) {
            return Err(TOO_LARGE);
        }
        let sent = entry.request.body.as_ref().and_then(|body| body.text.as_deref());
        let method = entry.request.method.to_ascii_uppercase();
        let query = url.query().unwrap_or_default();
        let masked = credentials.mask(contract, &method, &path, query, &entry.request.headers, sent);
        let MaskedRequest { request, caller } = masked.map_err(|unhidden| match unhidden {
            Unhidden::Short => SHORT,
            Unhidden::TooMany => TOO_MANY,
        })?;
        let next = callers.len();
        let caller = *callers.entry(caller).or_insert(next);
        let headers = entry.response.headers.iter().filter(|header| !header.name.starts_with(':'));
        let headers =
            headers.map(|header| (header.name.clone(), header.value.clone().into_bytes())).collect();
        let response = Response::new(status, headers, body);
        let exchange = Exchange { index: 0, request, result: Ok(response.clone()), elapsed: Duration::ZERO };
        Ok(TrafficExchange { entry: number, operation, exchange, response, begun: entry.begun(), caller })
    }
}

/// The end of a path that an operation serves, whatever stands before it.
fn served<'a>(operation: &Operation, path: &'a str) -> Option<&'a str> {
    let segments = operation.path.matches('/').count();
    let (start, _) = path.rmatch_indices('/').nth(segments.checked_sub(1)?)?;
    path.get(start..).filter(|end| operation.serves(end))
}

/// A base URL in the form in which those of calls are compared: without user, query, fragment and slash at the end.
fn origin(url: &Url) -> String {
    format!("{}{}", origin_only(url), url.path().trim_end_matches('/'))
}

fn origin_only(url: &Url) -> String {
    let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
    format!("{}://{}{port}", url.scheme(), url.host_str().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn archive(urls: &[&str]) -> Archive {
        let entry = |url: &&str| serde_json::json!({"request": {"method": "GET", "url": url}, "response": {"status": 200, "content": {"text": "{}"}}});
        let entries: Vec<_> = urls.iter().map(entry).collect();
        let text = serde_json::json!({"log": {"entries": entries}}).to_string();
        Archive::read(text.as_bytes(), Archive::MAX_BYTES).expect("an archive")
    }

    #[test]
    fn calls_are_found_behind_any_prefix_and_at_one_service() {
        let contract = Contract::embedded().expect("contract");
        let path = &contract.groups.operation.path;
        let here = format!("https://u:s3cret@a.invalid:8443/v2{path}?api_key=s3cret-token");
        let there = format!("https://b.invalid{path}?api_key=s3cret-token");
        let read = |urls: &[&str], base| Traffic::from_archive(contract, &archive(urls), base);

        let one = read(&[&here, "https://a.invalid:8443/other", "data:text/plain,x"], None).expect("traffic");
        assert_eq!((one.base(), one.judged(), one.entries()), ("https://a.invalid:8443/v2", 1, 3));
        assert_eq!(one.left_out(), [LeftOut { reason: NOT_CALLED, entries: 2 }]);

        let several = read(&[&here, &there], None).expect_err("two services").to_string();
        assert!(several.contains("https://b.invalid") && !several.contains("s3cret"), "{several}");
        let chosen = read(&[&here, &there], Some("https://b.invalid/")).expect("traffic");
        assert_eq!((chosen.base(), chosen.judged()), ("https://b.invalid", 1));
        assert!(matches!(read(&[&here], Some("b.invalid")), Err(TrafficError::Base)));
        assert_eq!(read(&[], None).expect("traffic").judged(), 0);
    }
}

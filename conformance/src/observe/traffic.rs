use std::collections::BTreeMap;

use bytes::Bytes;
use jiff::Timestamp;
use serde_json::json;
use url::{Position, Url};

use super::archive::{Archive, Entry};
use super::credentials::{Credentials, MaskedRequest};
use crate::check::ExchangeLog;
use crate::contract::{Contract, Operation, OperationId};
use crate::report;
use crate::run::Session;
use crate::wire::{Exchange, Redactor, Request, Response, is_small_enough};

/// The exchanges of an archive that are calls of the contract's operations at one service, without their credentials.
#[derive(Debug)]
pub struct Traffic {
    /// Empty when the archive has no call of an operation.
    pub(super) base: String,
    /// Number of entries of the archive.
    pub entries: usize,
    pub(super) exchanges: Vec<TrafficExchange>,
    /// Why entries are not judged, and how many.
    pub left_out: Vec<(String, usize)>,
    pub(super) redactor: Redactor,
}

/// An exchange of the traffic. Its response is parsed only while it is judged: values take many times the memory of their text.
#[derive(Debug)]
pub(super) struct TrafficExchange {
    /// Its number in `log.entries`, from 0.
    pub(super) entry: usize,
    pub(super) begun: Option<Timestamp>,
    /// Equal for requests with the same credentials. It is a number, and no secret.
    pub(super) caller: usize,
    pub(super) operation: OperationId,
    request: Request,
    status: u16,
    headers: Vec<(String, Vec<u8>)>,
    body: Bytes,
}

const NO_URL: &str = "--base-url: expected a URL such as https://api.example.com, found another text";
const NOT_CALLED: &str = "no call of an operation of the contract at this service";
const NO_RESPONSE: &str = "the archive has no response";
const NO_BODY: &str =
    "the archive has no body, or its beginning only; export it with the content of responses";
const NOT_MODIFIED: &str = "the response came from a cache (304)";
const TOO_LARGE: &str = "the request or the response is too large to judge";

/// What an archive has of one service.
#[derive(Default)]
struct Service {
    exchanges: Vec<TrafficExchange>,
    left_out: BTreeMap<&'static str, usize>,
    credentials: Credentials,
    callers: BTreeMap<String, usize>,
}

impl Service {
    /// The exchange of a call, whose credentials are hidden from now on, or why it is not judged.
    fn exchange(
        &mut self,
        contract: &Contract,
        number: usize,
        Call { entry, operation, url, path, .. }: Call,
    ) -> Result<TrafficExchange, &'static str> {
        let begun = entry.started.as_deref().and_then(|started| started.parse().ok());
        let mut response = entry.response.ok_or(NO_RESPONSE)?;
        let status = response.status().ok_or(NO_RESPONSE)?;
        if status == 304 {
            return Err(NOT_MODIFIED);
        }
        let sent = entry.request.body.as_ref();
        if sent.is_some_and(|sent| sent.comment.as_deref() == Some(report::HAR_CUT)) {
            return Err(NO_BODY);
        }
        let headers = response.headers.take().unwrap_or_default();
        let body = response.into_body().ok_or(NO_BODY)?;
        let sent = sent.and_then(|sent| sent.text.as_deref());
        if !is_small_enough(&body) || sent.is_some_and(|sent| !is_small_enough(sent.as_bytes())) {
            return Err(TOO_LARGE);
        }
        let method = entry.request.method.to_ascii_uppercase();
        let (query, sent_headers) =
            (url.query().unwrap_or_default(), entry.request.headers.unwrap_or_default());
        let masked = MaskedRequest::new(contract, &method, &path, query, &sent_headers, sent);
        self.credentials.learn(&masked)?;
        let next = self.callers.len();
        let caller = *self.callers.entry(masked.caller()).or_insert(next);
        let headers = headers.into_iter().filter(|header| !header.name.starts_with(':'));
        let headers = headers.map(|header| (header.name, header.value.into_bytes())).collect();
        let request = masked.request;
        Ok(TrafficExchange { entry: number, begun, caller, operation, request, status, headers, body })
    }
}

impl TrafficExchange {
    pub(super) fn exchange(&self) -> Exchange {
        let response = Response::new(self.status, self.headers.clone(), self.body.clone());
        Exchange::of_others(self.request.clone(), Ok(response))
    }
}

impl Traffic {
    /// The calls of the contract's operations at `wanted`, or at the only service that the archive has calls to.
    ///
    /// # Errors
    /// When `wanted` is no URL, or when it is missing and the archive has calls to several services.
    pub fn from_archive(contract: &Contract, archive: Archive, wanted: Option<&str>) -> Result<Self, String> {
        let wanted = wanted.map(Url::parse).transpose().map_err(|_| NO_URL)?;
        let wanted = wanted.map(|url| base(&url, url.path().trim_end_matches('/')));
        let mut services: BTreeMap<String, Service> = BTreeMap::new();
        let (mut unreadable, mut first) = (0, None);
        for number in 0..archive.len() {
            let entry = match archive.entry(number) {
                Ok(entry) => entry,
                Err(reason) => {
                    unreadable += 1;
                    first.get_or_insert_with(|| format!("log.entries[{number}]: {reason}"));
                    continue;
                }
            };
            let is_wanted = |call: &Call| wanted.as_ref().is_none_or(|base| call.base == *base);
            let Some(call) = Call::new(contract, entry).filter(is_wanted) else { continue };
            let service = services.entry(call.base.clone()).or_default();
            match service.exchange(contract, number, call) {
                Ok(exchange) => service.exchanges.push(exchange),
                Err(reason) => *service.left_out.entry(reason).or_default() += 1,
            }
        }
        if services.len() > 1 {
            const SHOWN: usize = 5;
            let found = services.into_keys().take(SHOWN).collect::<Vec<_>>().join(", ");
            let advice = "choose one with --base-url";
            return Err(format!("expected the traffic of one service, found calls to {found}; {advice}"));
        }
        let (found, service) = services.pop_first().unwrap_or_default();
        let base = wanted.unwrap_or(found);
        let Service { exchanges, left_out, credentials, callers: _ } = service;
        let called = exchanges.len() + left_out.values().sum::<usize>();
        let reasons = left_out.into_iter().map(|(reason, entries)| (reason.to_owned(), entries));
        let odd = first.map(|first| (format!("not an entry of HAR 1.2, first {first}"), unreadable));
        let others = (NOT_CALLED.to_owned(), archive.len() - called - unreadable);
        let left_out = reasons.chain(odd).chain([others]).filter(|(_, entries)| *entries > 0).collect();
        let redactor = credentials.redactor().map_err(|error| error.to_string())?;
        Ok(Self { base, entries: archive.len(), exchanges, left_out, redactor })
    }

    /// The traffic that consists of these exchanges, as an archive of this suite has them. None if it can't be judged.
    #[must_use]
    pub fn of_exchanges(session: &Session<'_>, exchanges: &[Exchange]) -> Option<Self> {
        let (base, log) = (session.target.base().as_str(), ExchangeLog::default());
        exchanges.iter().for_each(|exchange| log.keep(("", ""), exchange, &session.redactor));
        let entries: Vec<_> =
            log.into_log().exchanges.iter().map(|logged| report::har_entry(base, logged)).collect();
        let archive = json!({ "log": { "entries": entries } }).to_string();
        let archive = Archive::read(archive.as_bytes(), u64::MAX).ok()?;
        Self::from_archive(session.contract, archive, Some(base)).ok()
    }

    /// Number of exchanges that can be judged.
    #[must_use]
    pub fn judged(&self) -> usize {
        self.exchanges.len()
    }
}

/// An entry that calls an operation.
struct Call {
    entry: Entry,
    operation: OperationId,
    url: Url,
    /// What stands before the operation's path.
    base: String,
    path: String,
}

impl Call {
    fn new(contract: &Contract, entry: Entry) -> Option<Self> {
        // In a name that stands for what is nearly a token, `#` begins no fragment.
        let url = Url::parse(&entry.request.url.replace("#?}", "%23?}"))
            .ok()
            .filter(|url| matches!(url.scheme(), "http" | "https"))?;
        let fits = |operation: &&Operation| operation.method.eq_ignore_ascii_case(&entry.request.method);
        let called = |operation: &Operation| Some((operation.id, served(operation, url.path())?.to_owned()));
        let (id, path) = contract.operations().filter(fits).find_map(called)?;
        let before = &url.path()[..url.path().len() - path.len()];
        let base = base(&url, before);
        Some(Self { entry, operation: id, base, path, url })
    }
}

/// The end of a path that an operation serves, whatever stands before it.
fn served<'a>(operation: &Operation, path: &'a str) -> Option<&'a str> {
    let segments = operation.path.matches('/').count();
    let (start, _) = path.rmatch_indices('/').nth(segments.checked_sub(1)?)?;
    path.get(start..).filter(|end| operation.path == *end)
}

/// A base URL with this path in the form in which those of calls are compared: without user, query and fragment.
fn base(url: &Url, path: &str) -> String {
    format!("{}://{}{path}", url.scheme(), &url[Position::BeforeHost..Position::AfterPort])
}

use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::Value;

use crate::check::Probe;
use crate::contract::{Contract, Extract, Input, Operation, OperationId, Place, Search};
use crate::target::{Facts, Target};
use crate::wire::Request;

/// A valid address of a documentation range (RFC 5737), which no instance has.
pub const UNKNOWN_ADDRESS: &str = "203.0.113.250";

/// The protocol that extractions must name, since the tester's list of entitled protocols lacks the default one.
pub(super) fn protocol_to_name<'a>(extract: &'a Extract, facts: &Facts) -> Option<&'a String> {
    let Facts { entitled_protocols: entitled, .. } = facts;
    let default = extract.protocol.schema.default.as_ref().and_then(Value::as_str);
    let lacks_default = default.is_some_and(|default| entitled.iter().all(|protocol| protocol != default));
    extract.protocols.iter().find(|protocol| lacks_default && entitled.contains(protocol))
}

/// Valid requests, of which checks change one thing.
impl<'a> Probe<'a> {
    /// An extraction of the minimum number of gateways, from the plentiful region when one is known, of the default protocol if the
    /// account may use it.
    pub fn extract(&self) -> Request {
        let extract = &self.contract().extract;
        self.extract_without_token().query(&extract.operation.api_key.name, self.token().expose())
    }

    /// The same without a token.
    pub fn extract_without_token(&self) -> Request {
        let extract = &self.contract().extract;
        let request = Request::to(&extract.operation).query(&extract.num.name, extract.num_range.start());
        let request = match &self.facts().plentiful_region {
            Some(region) => request.query(&extract.regions.name, region),
            None => request,
        };
        match protocol_to_name(extract, self.facts()) {
            Some(protocol) => request.query(&extract.protocol.name, protocol),
            None => request,
        }
    }

    /// A listing of groups.
    pub fn groups(&self) -> Request {
        self.valid(OperationId::Groups)
    }

    /// A valid request to an operation.
    pub fn valid(&self, operation: OperationId) -> Request {
        match operation {
            OperationId::Extract => self.extract(),
            OperationId::Search => self.any_search(),
            plain => self::plain(self.contract().operation(plain), self.token().expose()),
        }
    }

    /// A search for these addresses.
    pub fn search<I: Into<Value>>(&self, ips: impl IntoIterator<Item = I>) -> Request {
        let ips: Vec<Value> = ips.into_iter().map(Into::into).collect();
        search(&self.contract().search, self.token().expose(), ips)
    }

    /// A search for one address, the account's own if one is known, for checks to which the result does not matter.
    pub fn any_search(&self) -> Request {
        self.search([self.facts().own_addresses.first().map_or(UNKNOWN_ADDRESS, String::as_str)])
    }

    /// Up to `max` of the account's own addresses, spread evenly over those that the tester supplied.
    pub fn own_addresses(&self, max: usize) -> Vec<&'a str> {
        let own = &self.facts().own_addresses;
        let count = own.len().min(max);
        (0..count).map(|index| own[index * own.len() / count].as_str()).collect()
    }

    /// A request id that no run has sent before. It is short ASCII, since the allowed form is unspecified.
    pub fn fresh_request_id(&self) -> String {
        static COUNTER: AtomicU32 = AtomicU32::new(0);
        let number = COUNTER.fetch_add(1, Ordering::Relaxed);
        format!("{:x}-{number}", jiff::Timestamp::now().as_nanosecond())
    }
}

/// A request with the document's examples of what an operation requires.
pub(crate) fn plain(operation: &Operation, token: &str) -> Request {
    let request = Request::to(operation).query(&operation.api_key.name, token);
    let required = operation.parameters.iter().filter(|parameter| parameter.is_required);
    let request = required.fold(request, |request, parameter| {
        with_input(request, parameter, Some(parameter.schema.example.clone().unwrap_or_else(|| "".into())))
    });
    operation.example.iter().fold(request, |request, (name, value)| request.field(name, value.clone()))
}

/// A request with a value of an input, or without it.
pub(crate) fn with_input(request: Request, input: &Input, value: Option<Value>) -> Request {
    let name = &input.name;
    let text = |value: Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    match (input.place, value) {
        (Place::Query, Some(value)) => request.query(name, text(value)),
        (Place::Query, None) => request.without_query(name),
        (Place::Header, Some(value)) => request.header(name, text(value)),
        (Place::Header, None) => request.without_header(name),
        (Place::Body, Some(value)) => request.field(name, value),
        (Place::Body, None) => request.without_field(name),
    }
}

/// Items of a search. Where the document requires more, the last one is repeated, which counts once.
pub(super) fn padded(search: &Search, mut ips: Vec<Value>) -> Vec<Value> {
    if let Some(last) = ips.last().cloned() {
        ips.resize(ips.len().max(*search.raw_items.start()), last);
    }
    ips
}

/// A search for these addresses. Where the default page is not the first one, the first one is requested.
pub(super) fn search(search: &Search, token: &str, ips: Vec<Value>) -> Request {
    let ips = padded(search, ips);
    let request = Request::to(&search.operation)
        .query(&search.operation.api_key.name, token)
        .field(&search.ips.name, ips);
    let first = *search.pages.start();
    if search.default_page == first { request } else { request.field(&search.page.name, first) }
}

/// One request to each operation, to find out whether a service responds at all. None of them takes a gateway from a
/// conforming service, which rejects the last one because it has no `num`.
pub(crate) fn first_requests(contract: &Contract, target: &Target) -> [Request; 3] {
    let Contract { search, extract, .. } = contract;
    let token = target.token.expose();
    [
        plain(contract.groups(), token),
        self::search(search, token, vec![UNKNOWN_ADDRESS.into()]),
        Request::to(&extract.operation).query(&extract.operation.api_key.name, token),
    ]
}

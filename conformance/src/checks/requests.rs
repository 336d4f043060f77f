use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::Value;

use crate::check::Probe;
use crate::contract::{Contract, Search};
use crate::target::Target;
use crate::wire::Request;

/// An address of a documentation range (RFC 5737): in form, and of no instance.
pub const UNKNOWN_ADDRESS: &str = "203.0.113.250";

/// Valid requests, for checks to start from: they change one thing of them.
pub trait Requests<'a> {
    /// An extraction of the fewest gateways, from the plentiful region when one is known.
    fn extract(&self) -> Request;

    /// The same without a token.
    fn extract_without_token(&self) -> Request;

    /// A listing of groups.
    fn groups(&self) -> Request;

    /// A search for these addresses.
    fn search<I: Into<Value>>(&self, ips: impl IntoIterator<Item = I>) -> Request;

    /// A search for one address that may or may not be the account's, for checks that look at other things.
    fn any_search(&self) -> Request;

    /// At most `most` of the account's own addresses, spread evenly over those that the tester supplied.
    fn own_addresses(&self, most: usize) -> Vec<&'a str>;

    /// A request id that no run has sent before: short and plain, as its form is unspecified.
    fn fresh_request_id(&self) -> String;
}

impl<'a> Requests<'a> for Probe<'a> {
    fn extract(&self) -> Request {
        let extract = &self.contract().extract;
        self.extract_without_token().query(&extract.api_key.name, self.token().expose())
    }

    fn extract_without_token(&self) -> Request {
        let extract = &self.contract().extract;
        let request = Request::to(&extract.operation).query(&extract.num.name, extract.num_range.start());
        match &self.facts().plentiful_region {
            Some(region) => request.query(&extract.regions.name, region),
            None => request,
        }
    }

    fn groups(&self) -> Request {
        let groups = &self.contract().groups;
        Request::to(&groups.operation).query(&groups.api_key.name, self.token().expose())
    }

    fn search<I: Into<Value>>(&self, ips: impl IntoIterator<Item = I>) -> Request {
        let ips: Vec<Value> = ips.into_iter().map(Into::into).collect();
        search(&self.contract().search, self.token().expose(), ips)
    }

    fn any_search(&self) -> Request {
        let own = self.facts().own_addresses.first().map(String::as_str);
        self.search([own.unwrap_or(UNKNOWN_ADDRESS)])
    }

    fn own_addresses(&self, most: usize) -> Vec<&'a str> {
        let own = &self.facts().own_addresses;
        let count = own.len().min(most);
        (0..count).map(|index| own[index * own.len() / count].as_str()).collect()
    }

    fn fresh_request_id(&self) -> String {
        static COUNTER: AtomicU32 = AtomicU32::new(0);
        let number = COUNTER.fetch_add(1, Ordering::Relaxed);
        format!("{:x}-{number}", jiff::Timestamp::now().as_nanosecond())
    }
}

/// A search for these addresses. Where the document asks for more items than there are, the last one is repeated, which counts
/// once; and where it starts with another page than the first, the first is asked for.
fn search(search: &Search, token: &str, mut ips: Vec<Value>) -> Request {
    if let Some(last) = ips.last().cloned() {
        ips.resize(ips.len().max(*search.raw_items.start()), last);
    }
    let request =
        Request::to(&search.operation).query(&search.api_key.name, token).field(&search.ips.name, ips);
    let first = *search.pages.start();
    if search.default_page == first { request } else { request.field(&search.page.name, first) }
}

/// One request to each operation, for finding out whether a service responds at all. None of them takes a gateway from a
/// conforming service: the last one lacks what an extraction needs, so it is rejected.
pub(crate) fn first_requests(contract: &Contract, target: &Target) -> [Request; 3] {
    let Contract { groups, search, extract, .. } = contract;
    let token = target.token.expose();
    [
        Request::to(&groups.operation).query(&groups.api_key.name, token),
        self::search(search, token, vec![UNKNOWN_ADDRESS.into()]),
        Request::to(&extract.operation).query(&extract.api_key.name, token),
    ]
}

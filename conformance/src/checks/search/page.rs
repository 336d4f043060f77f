//! What search checks read in an answer, and how they gather all pages of a result.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};

use serde_json::Value;

use crate::check::{Accepted, Probe, Stop};
use crate::wire::{Exchange, Request};

/// How many of the account's addresses a check looks at: enough to see every kind, few enough for one page.
pub(super) const SAMPLE: usize = 100;

/// One page of a result.
#[derive(Debug)]
pub(super) struct Page {
    pub(super) items: Vec<Instance>,
    pub(super) total: u64,
    pub(super) exchange: Exchange,
}

/// An instance: its id, its address in canonical form, and the fields that the document names. There may be others, which
/// may change as they like.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Instance {
    pub(super) id: i64,
    pub(super) ip: IpAddr,
    pub(super) port: i64,
    pub(super) item: Value,
}

/// All instances of a result, by id, gathered over its pages.
#[derive(Debug)]
pub(super) struct Whole {
    pub(super) instances: BTreeMap<i64, Instance>,
    /// The pages that it was read from.
    pub(super) exchanges: Vec<Exchange>,
}

impl Page {
    /// Reads a successful search. Whether every field is in order is the schema check's business, so an answer that can't
    /// be read makes this check inconclusive.
    pub(super) fn read(probe: &Probe<'_>, accepted: Accepted) -> Result<Self, Stop> {
        let unreadable = |what: &str| probe.inconclusive(&format!("{what}; see search.envelope.schema"));
        let data = accepted.answer.at("/data").ok_or_else(|| unreadable("the answer has no data"))?;
        let items = data.get("items").and_then(Value::as_array);
        let items = items.ok_or_else(|| unreadable("the answer has no items"))?;
        let fields = &probe.contract().search.instance_fields;
        let items = items.iter().map(|item| Instance::read(item, fields)).collect::<Option<_>>();
        Ok(Self {
            items: items.ok_or_else(|| unreadable("an item lacks instanceId, ip or port"))?,
            total: data
                .get("total")
                .and_then(Value::as_u64)
                .ok_or_else(|| unreadable("the answer has no total"))?,
            exchange: accepted.exchange,
        })
    }
}

impl Instance {
    fn read(item: &Value, fields: &[String]) -> Option<Self> {
        Some(Self {
            id: item.get("instanceId")?.as_i64()?,
            ip: item.get("ip")?.as_str()?.parse().ok()?,
            port: item.get("port")?.as_i64()?,
            item: fields.iter().map(|field| (field.clone(), item[field].clone())).collect(),
        })
    }

    /// Address and port as an item of `ips`; none for a port that no item can have.
    pub(super) fn with_port(&self) -> Option<String> {
        let port = u16::try_from(self.port).ok().filter(|port| *port > 0)?;
        Some(SocketAddr::new(self.ip, port).to_string())
    }
}

/// Reads every page of a search, in the largest pages there are.
///
/// Bounded by the total of the first page; a total that is too small or too large shows in checks of its own.
pub(super) async fn whole(probe: &Probe<'_>, request: &Request) -> Result<Whole, Stop> {
    const MOST_PAGES: i64 = 20;
    let search = &probe.contract().search;
    let size = *search.page_sizes.end();
    let mut whole = Whole { instances: BTreeMap::new(), exchanges: Vec::new() };
    let first_page = *search.pages.start();
    for number in first_page..first_page + MOST_PAGES {
        let asked = request.clone().field(&search.page_size.name, size).field(&search.page.name, number);
        let page = Page::read(probe, probe.control(&asked).await?)?;
        let came = page.items.len();
        whole.instances.extend(page.items.into_iter().map(|instance| (instance.id, instance)));
        whole.exchanges.push(page.exchange);
        let read = u64::try_from(whole.instances.len()).unwrap_or(u64::MAX);
        if came == 0 || read >= page.total {
            return Ok(whole);
        }
    }
    Err(probe.inconclusive("the result has more pages than the suite reads: supply fewer addresses"))
}

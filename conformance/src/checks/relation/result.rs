use super::*;
use crate::check::AcceptedResponse;
use crate::contract::part::{PAGE, PAGE_SIZE};

pub(crate) struct Page {
    /// In the order of the response.
    pub(crate) items: Vec<Instance>,
    pub(crate) total: u64,
    pub(crate) exchange: Exchange,
}

/// All instances of a result, from all of its pages.
#[derive(Debug, Default)]
pub(crate) struct ResultSet {
    pub(crate) instances: BTreeMap<i64, Instance>,
    /// Instances in the order of the response, repetitions included.
    pub(crate) order: Vec<i64>,
    /// `total` of each page.
    pub(crate) totals: Vec<u64>,
    pub(crate) exchanges: Vec<Exchange>,
}

impl Page {
    /// Reads a successful search; inconclusive when that is impossible, because the schema check reports wrong fields.
    pub(crate) fn read(probe: &Probe<'_>, accepted: AcceptedResponse) -> Result<Self, Stop> {
        let search = &probe.contract().search;
        let unreadable = |what: &str| probe.inconclusive(&format!("{what}; see search.envelope.schema"));
        let items = Instance::all(search, &accepted.response);
        let items = items.ok_or_else(|| unreadable("the response has no items"))?.collect::<Option<_>>();
        let total = accepted.response.at(&search.paging.total).and_then(Value::as_u64);
        Ok(Self {
            items: items.ok_or_else(|| unreadable("an item lacks a field, or has one of another type"))?,
            total: total.ok_or_else(|| unreadable("the response has no total"))?,
            exchange: accepted.exchange,
        })
    }

    pub(crate) fn ids(&self) -> Vec<i64> {
        self.items.iter().map(|instance| instance.id).collect()
    }
}

impl ResultSet {
    pub(crate) fn ids(&self) -> BTreeSet<i64> {
        self.instances.keys().copied().collect()
    }

    /// `total` of the first page.
    pub(crate) fn total(&self) -> u64 {
        self.totals.first().copied().unwrap_or_default()
    }

    /// The ids of instances that another result has as well. Accounts may use the same id for different instances, which differ in
    /// other fields.
    pub(crate) fn shared_with(&self, other: &Self) -> Vec<i64> {
        let is_shared = |(id, instance): &(&i64, &Instance)| other.instances.get(*id) == Some(*instance);
        self.instances.iter().filter(is_shared).map(|(id, _)| *id).collect()
    }

    pub(crate) fn evidence(&self) -> Vec<&Exchange> {
        self.exchanges.iter().collect()
    }
}

/// Reads one page; inconclusive when the search is not accepted.
pub(crate) async fn page(probe: &Probe<'_>, request: &Request, number: i64, size: i64) -> Result<Page, Stop> {
    let asked = request.clone().field(PAGE, number).field(PAGE_SIZE, size);
    Page::read(probe, probe.control(&asked).await?)
}

/// Reads every page of a search, in pages of the largest size unless the search has a size; inconclusive when it is rejected.
pub(crate) async fn read(probe: &Probe<'_>, request: &Request) -> Result<ResultSet, Stop> {
    let request = sized(probe, request);
    let first = probe.control(&request).await?;
    gather(probe, &request, first).await
}

/// Like [`read`], but a rejection is a finding on the clause; `why` says what is special about the request.
pub(crate) async fn read_accepted(
    probe: &Probe<'_>,
    clause: Clause,
    why: &str,
    request: &Request,
) -> Result<Option<ResultSet>, Stop> {
    let request = sized(probe, request);
    // A service that accepts no search breaks no rule of this one.
    let plain = async { probe.control_once(&probe.any_search()).await };
    let first = probe.accepts_or_control(clause, why, &request, plain).await?;
    let Some(first) = first else { return Ok(None) };
    gather(probe, &request, first).await.map(Some)
}

/// Like [`read`], but the contract allows a rejection, which returns `None`. A server error is still a finding.
pub(crate) async fn read_unless_rejected(
    probe: &Probe<'_>,
    clause: Clause,
    why: &str,
    request: &Request,
) -> Result<Option<ResultSet>, Stop> {
    let found = read_if_accepted(probe, request).await?;
    if let Err((exchange, class @ ResponseClass::ServerError(_))) = &found {
        probe.judge_rejection(clause, why, exchange, class).await?;
    }
    Ok(found.ok())
}

/// Like [`read`], but returns a response that is not a success, for the caller to judge.
pub(crate) async fn read_if_accepted(
    probe: &Probe<'_>,
    request: &Request,
) -> Result<Result<ResultSet, (Exchange, ResponseClass)>, Stop> {
    let request = sized(probe, request);
    let (exchange, class) = probe.send(&request).await?;
    if let Some(first) = accepted(&exchange, &class) {
        return gather(probe, &request, first).await.map(Ok);
    }
    match class {
        ResponseClass::Rejected(_) | ResponseClass::Ambiguous(_) | ResponseClass::ServerError(_) => {
            Ok(Err((exchange, class)))
        }
        _ => Err(probe.inconclusive(&format!("the service was busy: {}", class.description()))),
    }
}

fn sized(probe: &Probe<'_>, request: &Request) -> Request {
    let size = size(request).unwrap_or(*probe.contract().search.page_sizes.end());
    request.clone().field(PAGE_SIZE, size)
}

fn size(request: &Request) -> Option<i64> {
    request.body_members()?.get(PAGE_SIZE)?.as_i64()
}

/// Reads further pages until one is empty, or is not full and `total` is reached.
async fn gather(probe: &Probe<'_>, request: &Request, first: AcceptedResponse) -> Result<ResultSet, Stop> {
    const MAX_PAGES: i64 = 12;
    let first_page = *probe.contract().search.pages.start();
    let full = size(request).and_then(|size| usize::try_from(size).ok()).unwrap_or(usize::MAX);
    let mut result = ResultSet::default();
    let mut next = Some(first);
    for number in first_page..first_page + MAX_PAGES {
        if !result.exchanges.is_empty() {
            let (exchange, class) = probe.send(&request.clone().field(PAGE, number)).await?;
            next = accepted(&exchange, &class);
        }
        // A page past the end may be rejected.
        let Some(accepted) = next.take() else { return Ok(result) };
        let Page { items, total, exchange } = Page::read(probe, accepted)?;
        let count = items.len();
        result.order.extend(items.iter().map(|instance| instance.id));
        result.instances.extend(items.into_iter().map(|instance| (instance.id, instance)));
        result.totals.push(total);
        result.exchanges.push(exchange);
        if count == 0 || (count < full && result.order.len() as u64 >= total) {
            return Ok(result);
        }
    }
    let reason =
        "the result has more pages than the suite reads; list fewer addresses in SALLYPORT_OWN_ADDRESSES";
    Err(probe.inconclusive(reason))
}

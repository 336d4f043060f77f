use std::collections::{HashSet, VecDeque};

use futures_util::stream::{self, Stream};
use reqwest::StatusCode;

use super::{Search, SearchPage};
use crate::{Address, Error, UnexpectedResponse, contract::SearchStaticInstances, integer::to_i64};

/// The pages of a search, each requested when it is asked for.
///
/// A search in several batches has the pages of one batch after another, numbered on, each with the total of its batch.
///
/// # Pages that overlap or leave gaps
/// [`next`](Self::next) compares the pages of a batch with one another (`search.paging`), and fails with
/// [`Error::UnexpectedResponse`] when
/// - an instance is on a page twice, or on two successive pages (for an awaited [`Search`]: on any two pages), or
/// - the batch ends with another number of instances than its `total`.
///
/// The account's instances may change during a walk. Once two pages of a batch have different totals, neither is an error any
/// more: the service has no snapshots, so that an instance may then be missing or be returned twice. Walk the search again
/// where this matters. A change that leaves the total as it was cannot be told from pages that overlap, and is an error.
///
/// ```no_run
/// # async fn run(client: sallyport_client::Client) -> Result<(), sallyport_client::Error> {
/// let mut pages = client.search(["203.0.113.7"]).pages();
/// while let Some(page) = pages.next().await? {
///     println!("page {} of {} instances", page.page, page.total);
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
#[must_use = "a page is requested when next() is awaited"]
pub struct Pages {
    search: Search,
    size: i64,
    /// `None` until the first page is requested.
    remaining: Option<VecDeque<Vec<Address>>>,
    /// Next page of the first remaining batch, and how many of its instances were received.
    page: i64,
    received: i64,
    walk: Walk,
    /// Number of pages returned so far.
    returned: i64,
}

/// What the pages of one batch have in common, to notice pages that overlap or leave gaps.
#[derive(Debug, Default)]
struct Walk {
    /// Whether `seen` holds the ids of all pages instead of those of the last one, which bounds the memory of a stream.
    keeps_all: bool,
    seen: HashSet<i64>,
    /// Total of the first page.
    total: Option<i64>,
    /// Whether a later page had another total: the data changed in between.
    is_changed: bool,
}

impl Walk {
    fn new(keeps_all: bool) -> Self {
        Self { keeps_all, ..Self::default() }
    }

    /// Compares `page` with those before it. `received` is the number of instances up to and with this page; `is_last` tells
    /// whether the batch ends here. After an error the same page can be compared again.
    fn add(&mut self, page: &SearchPage, received: i64, is_last: bool) -> Result<(), Error> {
        let total = page.total;
        self.is_changed |= self.total.is_some_and(|first| first != total);
        self.total.get_or_insert(total);
        if self.is_changed {
            return Ok(());
        }
        let mut ids = HashSet::with_capacity(page.items.len());
        if let Some(twice) = page
            .items
            .iter()
            .map(|item| item.instance_id)
            .find(|id| !ids.insert(*id) || self.seen.contains(id))
        {
            return Err(invalid(page, &format!("received instance {twice} twice")));
        }
        if is_last && received != total {
            return Err(invalid(page, &format!("received {received} of {total} instances")));
        }
        if self.keeps_all {
            self.seen.extend(ids);
        } else {
            self.seen = ids;
        }
        Ok(())
    }
}

fn invalid(page: &SearchPage, found: &str) -> Error {
    Error::UnexpectedResponse(Box::new(UnexpectedResponse {
        status: StatusCode::OK,
        headers: Vec::new(),
        reason: format!("{found}; the pages overlap or leave gaps"),
        excerpt: String::new(),
        request_id: None,
        trace_id: page.trace_id.clone(),
    }))
}

impl Pages {
    /// `keeps_ids` keeps the ids of all instances, to notice repetitions on any two pages.
    pub(super) fn new(search: Search, keeps_ids: bool) -> Self {
        let size = search.request.page_size.unwrap_or(SearchStaticInstances::PAGE_SIZE_MAXIMUM);
        Self { search, size, remaining: None, page: 1, received: 0, walk: Walk::new(keeps_ids), returned: 0 }
    }

    /// The next page; `None` after the last. A search without matches has one empty page.
    ///
    /// # Errors
    /// As [`Search::page`], and [`Error::UnexpectedResponse`] for [pages that overlap or leave
    /// gaps](Self#pages-that-overlap-or-leave-gaps). The next call requests the same page again.
    pub async fn next(&mut self) -> Result<Option<SearchPage>, Error> {
        let remaining = match &mut self.remaining {
            Some(remaining) => remaining,
            None => self.remaining.insert(self.search.batches()?.into()),
        };
        while let Some(addresses) = remaining.front() {
            let mut page = self.search.send(addresses, self.page, Some(self.size)).await?.value;
            let count = to_i64(page.items.len());
            let received = self.received.saturating_add(count);
            let is_last = count == 0 || received >= page.total;
            self.walk.add(&page, received, is_last)?;
            (self.page, self.received) = (self.page + 1, received);
            if is_last {
                remaining.pop_front();
                (self.page, self.received) = (1, 0);
                self.walk = Walk::new(self.walk.keeps_all);
            }
            if count > 0 || (self.returned == 0 && remaining.is_empty()) {
                self.returned += 1;
                page.page = self.returned;
                return Ok(Some(page));
            }
        }
        Ok(None)
    }

    /// The pages as a stream, which ends after the first error.
    pub fn into_stream(self) -> impl Stream<Item = Result<SearchPage, Error>> + Send + 'static {
        stream::try_unfold(self, async |mut pages| Ok(pages.next().await?.map(|page| (page, pages))))
    }
}

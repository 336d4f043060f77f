use std::collections::VecDeque;

use futures_util::stream::{self, Stream};

use super::{Search, SearchPage};
use crate::{Address, Error, Instance, contract::SearchStaticInstances};

/// The pages of a search, each requested when it is asked for.
///
/// A search in several batches requests the total of each batch first, so that every page has the total of all. Page `n` is
/// that of [`Search::page`] with the same page size; it may hold instances of two batches.
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
    /// Whether pages have the total of all batches, which takes a further request for each batch.
    has_total: bool,
    /// `None` until the first page is requested.
    remaining: Option<VecDeque<Vec<Address>>>,
    /// Total of all batches, when there are several.
    total: Option<i64>,
    /// Next page of the first remaining batch, and how many of its instances were received.
    page: i64,
    received: i64,
    /// Number of pages returned so far.
    returned: i64,
    /// Instances of several batches that were received and not returned yet.
    buffered: VecDeque<Instance>,
    /// Of the last response.
    trace_id: Option<String>,
}

impl Pages {
    pub(super) fn new(search: Search, has_total: bool) -> Self {
        let size = search.page_size.unwrap_or(SearchStaticInstances::PAGE_SIZE_MAXIMUM);
        Self {
            search,
            size,
            has_total,
            remaining: None,
            total: None,
            page: 1,
            received: 0,
            returned: 0,
            buffered: VecDeque::new(),
            trace_id: None,
        }
    }

    /// The next page; `None` after the last. A search without matches has one empty page.
    ///
    /// # Errors
    /// As [`Search::page`]. The next call requests the same page again.
    pub async fn next(&mut self) -> Result<Option<SearchPage>, Error> {
        if self.remaining.is_none() {
            let batches = self.search.batches()?;
            if self.has_total && batches.len() > 1 {
                self.total = Some(self.count(&batches).await?);
            }
            self.remaining = Some(batches.into());
        }
        loop {
            if self.total.is_some() && self.buffered.len() >= self.length() {
                return Ok(Some(self.buffered_page()));
            }
            let Some(addresses) = self.remaining.as_ref().and_then(VecDeque::front) else {
                let is_over = self.buffered.is_empty() && self.returned > 0;
                return Ok((!is_over).then(|| self.buffered_page()));
            };
            let mut page = self.search.send(addresses, self.page, Some(self.size)).await?;
            let count = i64::try_from(page.items.len()).unwrap_or(i64::MAX);
            self.received = self.received.saturating_add(count);
            self.page += 1;
            if count == 0 || self.received >= page.total {
                self.next_batch();
            }
            self.trace_id.clone_from(&page.trace_id);
            if self.total.is_some() {
                self.buffered.extend(page.items);
            } else if count > 0 || self.returned == 0 {
                self.returned += 1;
                page.page = self.returned;
                return Ok(Some(page));
            }
        }
    }

    /// The pages as a stream, which ends after the first error.
    pub fn into_stream(self) -> impl Stream<Item = Result<SearchPage, Error>> + Send + 'static {
        stream::try_unfold(self, async |mut pages| Ok(pages.next().await?.map(|page| (page, pages))))
    }

    fn length(&self) -> usize {
        usize::try_from(self.size).unwrap_or(usize::MAX).max(1)
    }

    /// A page of the buffered instances.
    fn buffered_page(&mut self) -> SearchPage {
        self.returned += 1;
        SearchPage {
            items: self.buffered.drain(..self.buffered.len().min(self.length())).collect(),
            page: self.returned,
            page_size: self.size,
            total: self.total.unwrap_or_default(),
            trace_id: self.trace_id.clone(),
        }
    }

    fn next_batch(&mut self) {
        if let Some(remaining) = &mut self.remaining {
            remaining.pop_front();
        }
        (self.page, self.received) = (1, 0);
    }

    async fn count(&self, batches: &[Vec<Address>]) -> Result<i64, Error> {
        let mut total = 0i64;
        for addresses in batches {
            let page = self.search.send(addresses, 1, Some(SearchStaticInstances::PAGE_SIZE_MINIMUM)).await?;
            total = total.saturating_add(page.total);
        }
        Ok(total)
    }
}

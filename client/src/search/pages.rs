use std::collections::VecDeque;

use futures_util::stream::{self, Stream};

use super::{Search, SearchPage};
use crate::{Address, Error, Instance, contract::SearchStaticInstances};

/// The pages of a search, each asked for when it is wanted.
///
/// A search in several batches asks for the size of each batch first, so that every page tells the total of all. Its pages
/// run over the bounds of batches: the one with number `n` is that of [`Search::page`] for the same page size.
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
pub struct Pages {
    search: Search,
    size: i64,
    /// `None` until the first page is asked for.
    remaining: Option<VecDeque<Vec<Address>>>,
    /// Total of all batches, when there are several.
    total: Option<i64>,
    /// Next page of the batch in front, and how many of its instances have come.
    page: i64,
    seen: i64,
    /// Pages given so far.
    given: i64,
    /// Instances of several batches that fill no page yet.
    waiting: VecDeque<Instance>,
    /// Trace id of the last answer.
    request_id: String,
}

impl Pages {
    pub(super) fn new(search: Search) -> Self {
        let size = search.page_size.unwrap_or(SearchStaticInstances::PAGE_SIZE_MAXIMUM);
        Self {
            search,
            size,
            remaining: None,
            total: None,
            page: 1,
            seen: 0,
            given: 0,
            waiting: VecDeque::new(),
            request_id: String::new(),
        }
    }

    /// The next page, or `None` after the last. The first page comes even when it is empty.
    ///
    /// # Errors
    /// Any [`Error`]. The same page is asked for again by the next call.
    pub async fn next(&mut self) -> Result<Option<SearchPage>, Error> {
        if self.remaining.is_none() {
            let batches = self.search.batches()?;
            if batches.len() > 1 {
                self.total = Some(self.count(&batches).await?);
            }
            self.remaining = Some(batches.into());
        }
        loop {
            if self.total.is_some() && self.waiting.len() >= self.length() {
                return Ok(Some(self.filled()));
            }
            let Some(addresses) = self.remaining.as_ref().and_then(VecDeque::front) else {
                let is_over = self.waiting.is_empty() && self.given > 0;
                return Ok((!is_over).then(|| self.filled()));
            };
            let mut page = self.search.send(addresses, self.page, Some(self.size)).await?;
            let came = i64::try_from(page.items.len()).unwrap_or(i64::MAX);
            self.seen = self.seen.saturating_add(came);
            self.page += 1;
            if came == 0 || self.seen >= page.total {
                self.next_batch();
            }
            self.request_id.clone_from(&page.request_id);
            if self.total.is_some() {
                self.waiting.extend(page.items);
            } else if came > 0 || self.given == 0 {
                self.given += 1;
                page.page = self.given;
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

    /// A page over the bounds of batches, of what is waiting.
    fn filled(&mut self) -> SearchPage {
        self.given += 1;
        SearchPage {
            items: self.waiting.drain(..self.waiting.len().min(self.length())).collect(),
            page: self.given,
            page_size: self.size,
            total: self.total.unwrap_or_default(),
            request_id: self.request_id.clone(),
        }
    }

    fn next_batch(&mut self) {
        if let Some(remaining) = &mut self.remaining {
            remaining.pop_front();
        }
        (self.page, self.seen) = (1, 0);
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

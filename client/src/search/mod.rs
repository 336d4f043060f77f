//! Searches: filters, pages and streams.

mod batch;
mod pages;

use std::{future::IntoFuture, pin::Pin};

use futures_util::{TryStreamExt, stream};
use jiff::Timestamp;
use serde::Serialize;

pub use pages::Pages;

use crate::{
    Address, Client, Error, Instance, InstanceStatus, Instances, Integer, InvalidArgument, WithResponse,
    contract,
    generated::types,
    options::{CallOptions, call_options},
    validate,
    with_response::Recorder,
};

/// A search of the account's static instances that is not sent yet; see [`Client::search`].
///
/// Await it to receive all instances in one list, or send it with [`page`](Self::page), [`pages`](Self::pages) or
/// [`stream`](Self::stream). An instance must match all filters (`search.intersection`).
///
/// ```no_run
/// # async fn run(client: sallyport_client::Client) -> Result<(), sallyport_client::Error> {
/// use futures_util::TryStreamExt;
/// use sallyport_client::InstanceStatus;
///
/// let mut instances = client.search(["203.0.113.7"]).status(InstanceStatus::Active).country("USA").stream();
/// while let Some(instance) = instances.try_next().await? {
///     println!("{}:{}", instance.ip, instance.port);
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
#[must_use = "a search is sent when it is awaited, or by page(), pages() or stream()"]
pub struct Search {
    client: Client,
    addresses: Result<Vec<Address>, InvalidArgument>,
    filters: Filters,
    page_size: Option<i64>,
    in_batches: bool,
    options: CallOptions,
    recorder: Option<Recorder>,
}

call_options!(Search, options);

/// Which groups a search includes (`search.group`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum GroupFilter {
    /// Instances of every group and of none.
    #[default]
    All,
    /// Instances without a group.
    Ungrouped,
    /// Instances of the group with this id, which is positive.
    Id(i64),
}

/// One page of a search.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct SearchPage {
    /// The instances on this page, at most [`page_size`](Self::page_size).
    pub items: Vec<Instance>,
    /// Number of this page, starting at 1.
    pub page: i64,
    /// Maximum number of instances on a page.
    pub page_size: i64,
    /// Number of instances on all pages (`search.total`); never negative.
    pub total: i64,
    /// The id that the service gave the request, for its support; of several requests the last one's. `None` when the
    /// response has none.
    pub trace_id: Option<String>,
}

#[derive(Clone, Debug, Default)]
struct Filters {
    order_number: Option<String>,
    group: GroupFilter,
    country: Option<String>,
    city: Option<String>,
    status: Option<InstanceStatus>,
    activated_from: Option<Timestamp>,
    activated_to: Option<Timestamp>,
}

impl Search {
    pub(crate) fn new(client: Client, addresses: Result<Vec<Address>, InvalidArgument>) -> Self {
        Self {
            client,
            addresses,
            filters: Filters::default(),
            page_size: None,
            in_batches: false,
            options: CallOptions::default(),
            recorder: None,
        }
    }

    /// Only instances of the order with this platform order number; an exact match.
    pub fn order_number(mut self, number: impl Into<String>) -> Self {
        self.filters.order_number = Some(number.into());
        self
    }

    /// Only instances of these groups. Default: [`GroupFilter::All`].
    ///
    /// [`GroupFilter::Id`] of an id that is not positive is an [`Error::InvalidArgument`].
    pub fn group(mut self, group: GroupFilter) -> Self {
        self.filters.group = group;
        self
    }

    /// Only instances of the country with this three-letter code from the country directory.
    pub fn country(mut self, code: impl Into<String>) -> Self {
        self.filters.country = Some(code.into());
        self
    }

    /// Only instances of the city with this code from the city directory.
    pub fn city(mut self, code: impl Into<String>) -> Self {
        self.filters.city = Some(code.into());
        self
    }

    /// Only instances with this status. [`InstanceStatus::Other`] is an [`Error::InvalidArgument`] (`search.status`).
    pub fn status(mut self, status: InstanceStatus) -> Self {
        self.filters.status = Some(status);
        self
    }

    /// Only instances activated at this time or later (`search.activated-range`).
    pub fn activated_from(mut self, time: Timestamp) -> Self {
        self.filters.activated_from = Some(time);
        self
    }

    /// Only instances activated at this time or earlier; not before [`activated_from`](Self::activated_from)
    /// (`search.activated-order`).
    pub fn activated_to(mut self, time: Timestamp) -> Self {
        self.filters.activated_to = Some(time);
        self
    }

    /// Maximum number of instances on a page, from
    /// [`PAGE_SIZE_MINIMUM`](contract::SearchStaticInstances::PAGE_SIZE_MINIMUM) to
    /// [`PAGE_SIZE_MAXIMUM`](contract::SearchStaticInstances::PAGE_SIZE_MAXIMUM) (`search.page-size`).
    ///
    /// Default: that of the service for [`page`](Self::page), and the maximum for the other ways to send a search.
    pub fn page_size(mut self, size: impl Integer) -> Self {
        self.page_size = Some(size.to_i64());
        self
    }

    /// Splits more addresses than one request takes
    /// ([`IPS_MAX_DISTINCT`](contract::SearchStaticInstances::IPS_MAX_DISTINCT)) over several requests. Duplicates are sent
    /// once; pages and totals are those of all requests together.
    pub fn in_batches(mut self) -> Self {
        self.in_batches = true;
        self
    }

    /// Sends the search for one page, from [`PAGE_MINIMUM`](contract::SearchStaticInstances::PAGE_MINIMUM) to
    /// [`PAGE_MAXIMUM`](contract::SearchStaticInstances::PAGE_MAXIMUM) (`search.page`).
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] before anything is sent, when the number, an address or a filter is not valid; [`Error::Configuration`]
    /// for a [`header`](Self::header) or a token of a [`TokenSource`](crate::TokenSource) that cannot be sent; otherwise any other
    /// [`Error`] but [`Error::Shortage`].
    pub async fn page(self, number: impl Integer) -> Result<SearchPage, Error> {
        let batches = self.batches()?;
        let number = number.to_i64();
        match batches.as_slice() {
            [only] => self.send(only, number, self.page_size).await,
            several => self.merged(several, number).await,
        }
    }

    /// Sends the search for one page and returns it together with the response; of several requests, that of the last.
    ///
    /// # Errors
    /// As [`page`](Self::page).
    pub async fn page_with_response(
        mut self,
        number: impl Integer,
    ) -> Result<WithResponse<SearchPage>, Error> {
        let recorder = Recorder::default();
        self.recorder = Some(recorder.clone());
        let page = self.page(number).await?;
        Ok(recorder.attach(page))
    }

    /// Sends the search for one page after another, each when it is asked for.
    pub fn pages(self) -> Pages {
        Pages::new(self, true, false)
    }

    /// All instances as a stream, one batch after another. The next page is requested when the instances of the one before are
    /// consumed. The stream ends after the first error.
    ///
    /// [Pages that overlap or leave gaps](Pages#pages-that-overlap-or-leave-gaps) are an [`Error::UnexpectedResponse`], which
    /// may come only at the end, after the instances of other pages.
    pub fn stream(self) -> Instances {
        self.walk(false)
    }

    fn walk(self, keeps_ids: bool) -> Instances {
        let pages = Pages::new(self, false, keeps_ids).into_stream();
        Box::pin(pages.map_ok(|page| stream::iter(page.items.into_iter().map(Ok))).try_flatten())
    }

    /// The addresses of each request.
    fn batches(&self) -> Result<Vec<Vec<Address>>, Error> {
        if let GroupFilter::Id(id) = self.filters.group {
            // The lowest value means "no group".
            let lowest = contract::SearchStaticInstances::GROUP_ID_MINIMUM + 1;
            validate::minimum("group", contract::SearchStaticInstances::GROUP_ID_MINIMUM_CLAUSE, lowest, id)?;
        }
        let addresses = self.addresses.clone()?;
        let max = contract::SearchStaticInstances::IPS_MAX_DISTINCT;
        if self.in_batches && addresses.len() > max {
            return Ok(batch::split(addresses, max));
        }
        Ok(vec![addresses])
    }

    /// A page over all batches, whose results follow one another.
    async fn merged(&self, batches: &[Vec<Address>], number: i64) -> Result<SearchPage, Error> {
        let mut size = self.page_size;
        // `number` must be valid although every batch is asked for smaller ones.
        if let Some(first) = batches.first() {
            self.input(first, number, size).validate()?;
        }
        let mut merged =
            SearchPage { items: Vec::new(), page: number, page_size: 0, total: 0, trace_id: None };
        for addresses in batches {
            let head = self.send(addresses, 1, size).await?;
            let length = size.unwrap_or(head.page_size).max(1);
            size = Some(length);
            let from = (number - 1).saturating_mul(length).saturating_sub(merged.total).max(0);
            let to = number.saturating_mul(length).saturating_sub(merged.total).min(head.total);
            merged.total = merged.total.saturating_add(head.total);
            merged.page_size = length;
            merged.trace_id.clone_from(&head.trace_id);
            if from >= to {
                continue;
            }
            let mut head = Some(head);
            for own_number in from / length + 1..=(to - 1) / length + 1 {
                let page = match head.take() {
                    Some(head) if own_number == 1 => head,
                    _ => self.send(addresses, own_number, size).await?,
                };
                // `own_number` is at most `to / length + 1`, so this is at most `to`.
                let before = (own_number - 1) * length;
                let wanted = (from - before).max(0)..to - before;
                let numbered = (0i64..).zip(page.items);
                merged.items.extend(numbered.filter(|(at, _)| wanted.contains(at)).map(|(_, item)| item));
            }
        }
        Ok(merged)
    }

    async fn send(&self, addresses: &[Address], page: i64, size: Option<i64>) -> Result<SearchPage, Error> {
        let generated = self.client.generated_for(None, self.options.clone(), self.recorder.clone());
        let call = self.input(addresses, page, size).call(&generated).map_err(with_batch_advice)?;
        let response = match call.send().await {
            Ok(response) => response.into_inner(),
            Err(error) => return Err(generated.failure(error)),
        };
        let types::SearchSuccess { data, request_id, code: _, message: _ } = response;
        let types::SearchData { items, page, page_size, total } = data;
        // The sums over batches rely on totals that are not negative.
        Ok(SearchPage { items, page, page_size, total: total.max(0), trace_id: request_id })
    }

    fn input(&self, addresses: &[Address], page: i64, size: Option<i64>) -> contract::SearchStaticInstances {
        let Filters { order_number, group, country, city, status, activated_from, activated_to } =
            self.filters.clone();
        contract::SearchStaticInstances {
            body: types::SearchRequest {
                ips: addresses.to_vec(),
                order_no: order_number,
                group_id: match group {
                    GroupFilter::All => None,
                    GroupFilter::Ungrouped => Some(contract::SearchStaticInstances::GROUP_ID_MINIMUM),
                    GroupFilter::Id(id) => Some(id),
                },
                country_code: country,
                city_code: city,
                status,
                page: Some(page),
                page_size: size,
                activated_from,
                activated_to,
            },
        }
    }
}

impl IntoFuture for Search {
    type Output = Result<Vec<Instance>, Error>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    /// Sends the search and collects the instances of all pages. Use [`stream`](Search::stream) for results that should not
    /// be held in memory at once. Fails with [`Error::UnexpectedResponse`] instead of returning fewer instances than the service
    /// counts, or one of them twice; see [pages that overlap or leave gaps](Pages#pages-that-overlap-or-leave-gaps).
    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.walk(true).try_collect())
    }
}

/// Says how to search for more addresses than one request takes.
fn with_batch_advice(error: InvalidArgument) -> InvalidArgument {
    use contract::SearchStaticInstances as Limits;
    let is_too_many = [Limits::IPS_MAX_DISTINCT_CLAUSE, Limits::IPS_MAX_ITEMS_CLAUSE].contains(&error.clause)
        && !error.found.starts_with("0 ");
    InvalidArgument {
        help: is_too_many.then_some("call `in_batches()` to split them over several requests").or(error.help),
        ..error
    }
}

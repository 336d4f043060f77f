//! Searches: filters, pages and streams.

mod batch;
/// The setters that follow from `x-filter` of the document.
#[rustfmt::skip]
mod generated;
mod pages;

use std::future::IntoFuture;

use futures_util::{TryStreamExt, stream};
use serde::Serialize;

pub use pages::Pages;

use crate::{
    Address, Client, Error, Instance, Instances, InvalidArgument, WithResponse,
    contract::{self, SEARCH_STATIC_INSTANCES},
    generated::types,
    integer::to_i64,
    options::{CallOptions, PendingCall, call_options},
    validate,
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
    group: GroupFilter,
    /// The filters and the page size; each request adds its addresses and its page.
    request: Box<types::SearchRequest>,
    in_batches: bool,
    options: CallOptions,
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

impl Search {
    pub(crate) fn new(client: Client, addresses: Result<Vec<Address>, InvalidArgument>) -> Self {
        Self {
            client,
            addresses,
            group: GroupFilter::All,
            request: Box::new(generated::request()),
            in_batches: false,
            options: CallOptions::default(),
        }
    }

    /// Only instances of these groups. Default: [`GroupFilter::All`].
    ///
    /// [`GroupFilter::Id`] of an id that is not positive is an [`Error::InvalidArgument`].
    pub fn group(mut self, group: GroupFilter) -> Self {
        self.group = group;
        self.request.group_id = match group {
            GroupFilter::All => None,
            GroupFilter::Ungrouped => Some(contract::SearchStaticInstances::GROUP_ID_MINIMUM),
            GroupFilter::Id(id) => Some(id),
        };
        self
    }

    /// Maximum number of instances on a page, from
    /// [`PAGE_SIZE_MINIMUM`](contract::SearchStaticInstances::PAGE_SIZE_MINIMUM) to
    /// [`PAGE_SIZE_MAXIMUM`](contract::SearchStaticInstances::PAGE_SIZE_MAXIMUM) (`search.page-size`).
    ///
    /// Default: that of the service for [`page`](Self::page), and the maximum for the other ways to send a search.
    pub fn page_size(mut self, size: impl TryInto<i64>) -> Self {
        self.request.page_size = Some(to_i64(size));
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
    pub async fn page(self, number: impl TryInto<i64>) -> Result<SearchPage, Error> {
        Ok(self.page_with_response(number).await?.value)
    }

    /// Sends the search for one page and returns it together with the response; of several requests, that of the last.
    ///
    /// # Errors
    /// As [`page`](Self::page).
    pub async fn page_with_response(
        self,
        number: impl TryInto<i64>,
    ) -> Result<WithResponse<SearchPage>, Error> {
        let batches = self.batches()?;
        let number = to_i64(number);
        match batches.as_slice() {
            [] => self.send(&[], number, self.request.page_size).await,
            [only] => self.send(only, number, self.request.page_size).await,
            [first, others @ ..] => self.merged(first, others, number).await,
        }
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
        if let GroupFilter::Id(id) = self.group {
            // The lowest value means "no group".
            let lowest = contract::SearchStaticInstances::GROUP_ID_MINIMUM + 1;
            if id < lowest {
                let part = sallyport_contract::operation(SEARCH_STATIC_INSTANCES.id)
                    .and_then(|operation| operation.part("body.groupId"));
                let clause = part.map_or("", |part| part.schema.clauses());
                let expected = format!("an integer of at least {lowest}");
                return Err(InvalidArgument::new("group", clause, expected, format!("`{id}`")).into());
            }
        }
        let addresses = self.addresses.clone()?;
        let max = contract::SearchStaticInstances::IPS_MAX_DISTINCT;
        if self.in_batches && addresses.len() > max {
            return Ok(batch::split(addresses, max));
        }
        Ok(vec![addresses])
    }

    /// A page over all batches, whose results follow one another.
    async fn merged(
        &self,
        first: &[Address],
        others: &[Vec<Address>],
        number: i64,
    ) -> Result<WithResponse<SearchPage>, Error> {
        // `number` must be valid although every batch is asked for smaller ones.
        validate::part(&SEARCH_STATIC_INSTANCES, "body.page", number)?;
        let mut last = self.send(first, 1, self.request.page_size).await?;
        let length = self.request.page_size.unwrap_or(last.value.page_size).max(1);
        let (mut items, mut total) = (Vec::new(), 0i64);
        for (index, addresses) in std::iter::once(first).chain(others.iter().map(Vec::as_slice)).enumerate() {
            if index > 0 {
                last = self.send(addresses, 1, Some(length)).await?;
            }
            let from = (number - 1).saturating_mul(length).saturating_sub(total).max(0);
            let to = number.saturating_mul(length).saturating_sub(total).min(last.value.total);
            total = total.saturating_add(last.value.total);
            if from >= to {
                continue;
            }
            for own_number in from / length + 1..=(to - 1) / length + 1 {
                if own_number > 1 {
                    last = self.send(addresses, own_number, Some(length)).await?;
                }
                // `own_number` is at most `to / length + 1`, so this is at most `to`.
                let before = (own_number - 1) * length;
                let wanted = (from - before).max(0)..to - before;
                let numbered = (0i64..).zip(std::mem::take(&mut last.value.items));
                items.extend(numbered.filter(|(at, _)| wanted.contains(at)).map(|(_, item)| item));
            }
        }
        Ok(last.map(|SearchPage { trace_id, .. }| SearchPage {
            items,
            page: number,
            page_size: length,
            total,
            trace_id,
        }))
    }

    async fn send(
        &self,
        addresses: &[Address],
        page: i64,
        size: Option<i64>,
    ) -> Result<WithResponse<SearchPage>, Error> {
        let generated = self.client.generated_for(self.options.clone());
        let body = types::SearchRequest {
            ips: addresses.to_vec(),
            page: Some(page),
            page_size: size,
            ..types::SearchRequest::clone(&self.request)
        };
        let call = generated.search_static_instances().body(body);
        Ok(call.send().await.map_err(with_batch_advice)?.map(
            |types::SearchSuccess { data, request_id, code: _, message: _ }| {
                let types::SearchData { items, page, page_size, total } = data;
                // The sums over batches rely on totals that are not negative.
                SearchPage { items, page, page_size, total: total.max(0), trace_id: request_id }
            },
        ))
    }
}

impl IntoFuture for Search {
    type Output = Result<Vec<Instance>, Error>;
    type IntoFuture = PendingCall<Vec<Instance>>;

    /// Sends the search and collects the instances of all pages. Use [`stream`](Search::stream) for results that should not
    /// be held in memory at once. Fails with [`Error::UnexpectedResponse`] instead of returning fewer instances than the service
    /// counts, or one of them twice; see [pages that overlap or leave gaps](Pages#pages-that-overlap-or-leave-gaps).
    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.walk(true).try_collect())
    }
}

/// Says how to search for more addresses than one request takes.
fn with_batch_advice(mut error: Error) -> Error {
    if let Error::InvalidArgument(argument) = &mut error
        && argument.argument == "body ips"
        && !argument.found.starts_with("0 ")
    {
        argument.help = Some("call `in_batches()` to split them over several requests");
    }
    error
}

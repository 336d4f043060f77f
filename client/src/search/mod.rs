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
    /// Number of instances on all pages of these addresses (`search.total`); never negative.
    pub total: i64,
    /// The id that the service gave the request, for its support; `None` when the response has none.
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
    /// ([`IPS_MAX_DISTINCT`](contract::SearchStaticInstances::IPS_MAX_DISTINCT)) over several requests, one after another, when the
    /// search is awaited or sent by [`pages`](Self::pages) or [`stream`](Self::stream). Duplicates are sent once. A single
    /// [`page`](Self::page) takes the addresses of one request.
    pub fn in_batches(mut self) -> Self {
        self.in_batches = true;
        self
    }

    /// Sends the search for one page, from [`PAGE_MINIMUM`](contract::SearchStaticInstances::PAGE_MINIMUM) to
    /// [`PAGE_MAXIMUM`](contract::SearchStaticInstances::PAGE_MAXIMUM) (`search.page`).
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] before anything is sent, when the number, an address or a filter is not valid; [`Error::Configuration`]
    /// for a token of a [`TokenSource`](crate::TokenSource) that cannot be sent; otherwise any other
    /// [`Error`] but [`Error::Shortage`].
    pub async fn page(self, number: impl TryInto<i64>) -> Result<SearchPage, Error> {
        Ok(self.page_with_response(number).await?.value)
    }

    /// Sends the search for one page and returns it together with the response.
    ///
    /// # Errors
    /// As [`page`](Self::page).
    pub async fn page_with_response(
        self,
        number: impl TryInto<i64>,
    ) -> Result<WithResponse<SearchPage>, Error> {
        self.send(&self.addresses()?, to_i64(number), self.request.page_size).await
    }

    /// Sends the search for one page after another, each when it is asked for.
    pub fn pages(self) -> Pages {
        Pages::new(self, false)
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
        let pages = Pages::new(self, keeps_ids).into_stream();
        Box::pin(pages.map_ok(|page| stream::iter(page.items.into_iter().map(Ok))).try_flatten())
    }

    /// The addresses, where they and the group are valid.
    fn addresses(&self) -> Result<Vec<Address>, Error> {
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
        Ok(self.addresses.clone()?)
    }

    /// The addresses of each request.
    fn batches(&self) -> Result<Vec<Vec<Address>>, Error> {
        let addresses = self.addresses()?;
        let max = contract::SearchStaticInstances::IPS_MAX_DISTINCT;
        if self.in_batches && addresses.len() > max {
            return Ok(batch::split(addresses, max));
        }
        Ok(vec![addresses])
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
        argument.help =
            Some("call `in_batches()`, and `pages()` or `stream()`, to split them over several requests");
    }
    error
}

//! Searching: the filters, and the ways to take the result.

mod batch;
mod pages;

use futures_util::{TryStreamExt, stream};
use jiff::Timestamp;

pub use pages::Pages;

use crate::{
    Address, Client, Error, Instance, InstanceStatus, Instances, Refused, check, contract, generated::types,
};

/// A search of the account's static instances.
///
/// Filters narrow it; [`page`](Self::page), [`pages`](Self::pages) or [`stream`](Self::stream) send it.
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
#[must_use = "a search is sent by page(), pages() or stream()"]
pub struct Search {
    client: Client,
    addresses: Result<Vec<Address>, Refused>,
    filters: Filters,
    page_size: Option<i64>,
    in_batches: bool,
}

/// Which group an instance must be in (`search.group`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum GroupChoice {
    /// Any group, or none.
    #[default]
    All,
    /// No group.
    Ungrouped,
    /// The group with this id, which is positive.
    Id(i64),
}

/// One page of a search.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SearchPage {
    /// The instances of this page.
    pub items: Vec<Instance>,
    /// Number of the page, counted from 1.
    pub page: i64,
    /// Longest page.
    pub page_size: i64,
    /// Instances on all pages together.
    pub total: i64,
    /// The service's trace id, for its support.
    pub request_id: String,
}

#[derive(Clone, Debug, Default)]
struct Filters {
    order_number: Option<String>,
    group: GroupChoice,
    country: Option<String>,
    city: Option<String>,
    status: Option<InstanceStatus>,
    activated_from: Option<Timestamp>,
    activated_to: Option<Timestamp>,
}

impl Search {
    pub(crate) fn new(client: Client, addresses: Result<Vec<Address>, Refused>) -> Self {
        Self { client, addresses, filters: Filters::default(), page_size: None, in_batches: false }
    }

    /// Only instances of this order.
    pub fn order_number(mut self, number: impl Into<String>) -> Self {
        self.filters.order_number = Some(number.into());
        self
    }

    /// Only instances of this group, or of none.
    pub fn group(mut self, group: GroupChoice) -> Self {
        self.filters.group = group;
        self
    }

    /// Only instances of this country, by its three-letter code.
    pub fn country(mut self, code: impl Into<String>) -> Self {
        self.filters.country = Some(code.into());
        self
    }

    /// Only instances of this city, by its code.
    pub fn city(mut self, code: impl Into<String>) -> Self {
        self.filters.city = Some(code.into());
        self
    }

    /// Only instances in this state.
    pub fn status(mut self, status: InstanceStatus) -> Self {
        self.filters.status = Some(status);
        self
    }

    /// Only instances activated at this time or later.
    pub fn activated_from(mut self, time: Timestamp) -> Self {
        self.filters.activated_from = Some(time);
        self
    }

    /// Only instances activated at this time or earlier.
    pub fn activated_to(mut self, time: Timestamp) -> Self {
        self.filters.activated_to = Some(time);
        self
    }

    /// Longest page. Unless set, [`page`](Self::page) leaves it to the service, and the others take the longest that the
    /// contract allows.
    pub fn page_size(mut self, size: u32) -> Self {
        self.page_size = Some(size.into());
        self
    }

    /// Allows more addresses than one request takes: they are split over as many requests as it needs, and pages run
    /// through all of them.
    pub fn in_batches(mut self) -> Self {
        self.in_batches = true;
        self
    }

    /// One page, counted from 1.
    ///
    /// # Errors
    /// Any [`Error`].
    pub async fn page(self, number: u32) -> Result<SearchPage, Error> {
        let batches = self.batches()?;
        let number = i64::from(number);
        match batches.as_slice() {
            [only] => self.send(only, number, self.page_size).await,
            several => self.merged(several, number).await,
        }
    }

    /// All pages, one after another.
    pub fn pages(self) -> Pages {
        Pages::new(self)
    }

    /// All instances. A page is asked for when the one before it has been taken.
    pub fn stream(self) -> Instances {
        let pages = self.pages().into_stream();
        Box::pin(pages.map_ok(|page| stream::iter(page.items.into_iter().map(Ok))).try_flatten())
    }

    /// The addresses as they go into requests.
    fn batches(&self) -> Result<Vec<Vec<Address>>, Error> {
        if let GroupChoice::Id(id) = self.filters.group {
            // The lowest value stands for "no group".
            let lowest = contract::SearchStaticInstances::GROUP_ID_MINIMUM + 1;
            check::minimum("group", contract::SearchStaticInstances::GROUP_ID_MINIMUM_CLAUSE, lowest, id)?;
        }
        let addresses = self.addresses.clone()?;
        let most = contract::SearchStaticInstances::IPS_MAX_DISTINCT;
        if self.in_batches && addresses.len() > most {
            return Ok(batch::split(addresses, most));
        }
        Ok(vec![addresses])
    }

    /// A page of all batches together: their results stand one after another.
    async fn merged(&self, batches: &[Vec<Address>], number: i64) -> Result<SearchPage, Error> {
        let mut size = self.page_size;
        // The limits of `number` hold for the whole as for a part; no part is asked for more.
        if let Some(first) = batches.first() {
            self.input(first, number, size).check()?;
        }
        let mut merged =
            SearchPage { items: Vec::new(), page: number, page_size: 0, total: 0, request_id: String::new() };
        for addresses in batches {
            let head = self.send(addresses, 1, size).await?;
            let length = size.unwrap_or(head.page_size).max(1);
            size = Some(length);
            let from = (number - 1).saturating_mul(length).saturating_sub(merged.total).max(0);
            let to = number.saturating_mul(length).saturating_sub(merged.total).min(head.total);
            merged.total = merged.total.saturating_add(head.total);
            merged.page_size = length;
            merged.request_id.clone_from(&head.request_id);
            if from >= to {
                continue;
            }
            let mut head = Some(head);
            for part in from / length + 1..=(to - 1) / length + 1 {
                let page = match head.take() {
                    Some(head) if part == 1 => head,
                    _ => self.send(addresses, part, size).await?,
                };
                // `part` is at most `to / length + 1`, so this is at most `to`.
                let before = (part - 1) * length;
                let wanted = (from - before).max(0)..to - before;
                let numbered = (0i64..).zip(page.items);
                merged.items.extend(numbered.filter(|(at, _)| wanted.contains(at)).map(|(_, item)| item));
            }
        }
        Ok(merged)
    }

    async fn send(&self, addresses: &[Address], page: i64, size: Option<i64>) -> Result<SearchPage, Error> {
        let generated = self.client.generated();
        let call = self.input(addresses, page, size).call(&generated)?;
        let answer = match call.send().await {
            Ok(answer) => answer.into_inner(),
            Err(error) => return Err(generated.failure(error)),
        };
        let types::SearchSuccess { data, request_id, code: _, message: _ } = answer;
        let types::SearchData { items, page, page_size, total } = data;
        // Nothing is there less than no times; the sums of batches rely on that.
        Ok(SearchPage { items, page, page_size, total: total.max(0), request_id })
    }

    fn input(&self, addresses: &[Address], page: i64, size: Option<i64>) -> contract::SearchStaticInstances {
        let Filters { order_number, group, country, city, status, activated_from, activated_to } =
            self.filters.clone();
        contract::SearchStaticInstances {
            body: types::SearchRequest {
                ips: addresses.to_vec(),
                order_no: order_number,
                group_id: match group {
                    GroupChoice::All => None,
                    GroupChoice::Ungrouped => {
                        Some(types::GroupFilter(Some(contract::SearchStaticInstances::GROUP_ID_MINIMUM)))
                    }
                    GroupChoice::Id(id) => Some(types::GroupFilter(Some(id))),
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

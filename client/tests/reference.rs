//! The client against the real server, on a real socket, with the sample data.
#![allow(clippy::unwrap_used, reason = "a server that cannot be set up fails its test")]

use std::{collections::BTreeSet, sync::Arc};

use futures_util::TryStreamExt;
use proptest::prelude::*;
use sallyport_client::{
    Client, Error, GroupFilter, Instance, InstanceStatus, RetryPolicy, Separator,
    contract::SearchStaticInstances as Limits,
};
use sallyport_server::{
    Config, RunningServer,
    data::seed::{Sample, seed},
    domain::token::Token,
    start,
    store::Store,
};

struct Reference {
    running: RunningServer,
    sample: Sample,
}

impl Reference {
    async fn start() -> Self {
        let store = Arc::new(Store::temporary().unwrap());
        let sample = seed(store.as_ref()).await.unwrap();
        Self { running: start(Config::loopback(store)).unwrap(), sample }
    }

    fn client(&self) -> Client {
        self.client_of(&self.sample.tokens.main)
    }

    fn client_of(&self, token: &Token) -> Client {
        let builder = Client::builder().base_url(self.running.base_url()).token(token.expose());
        builder.retry(RetryPolicy::none()).build().unwrap()
    }

    /// The main account's addresses, as text.
    fn addresses(&self) -> Vec<String> {
        self.sample.addresses.iter().map(ToString::to_string).collect()
    }
}

#[tokio::test]
async fn gateways_come_as_values_and_as_text() {
    let reference = Reference::start().await;
    let client = reference.client();
    let extraction = client.extract(5).region(reference.sample.plentiful_region.as_str()).await.unwrap();
    assert_eq!((extraction.endpoints.len(), extraction.requested, extraction.is_partial), (5, 5, false));
    assert_eq!(extraction.request_ip, Some([127, 0, 0, 1].into()));
    for separator in
        [Separator::CrLf, Separator::Br, Separator::Cr, Separator::Tab, Separator::Custom("é|".into())]
    {
        let text = client.extract_text(4, separator.clone()).await.unwrap();
        assert_eq!(
            (text.endpoints().count(), text.raw.matches(separator.text()).count()),
            (4, 3),
            "{text:?}"
        );
    }
}

#[tokio::test]
async fn a_request_id_stands_for_one_extraction() {
    let reference = Reference::start().await;
    let client = reference.client();
    let first = client.extract(7).await.unwrap();
    let again = client.extract(7).request_id(first.request_id.as_str()).await.unwrap();
    assert_eq!(first.endpoints, again.endpoints);
}

#[tokio::test]
async fn partial_results_shortages_and_rejections_are_distinguished() {
    let reference = Reference::start().await;
    let (client, sample) = (reference.client(), &reference.sample);
    let partial = client.extract(50).region(sample.scarce_region.as_str()).await.unwrap();
    assert!(partial.is_partial);
    assert!(partial.endpoints.len() < 50);
    assert!(usize::try_from(partial.returned) == Ok(partial.endpoints.len()));
    let short = client.extract(1).region(sample.empty_region.as_str()).await.unwrap_err();
    assert!(matches!(&short, Error::Shortage(_)) && short.retry_after().is_some(), "{short:?}");
    for token in [&sample.tokens.not_whitelisted, &sample.tokens.not_verified, &sample.tokens.revoked] {
        let error = reference.client_of(token).extract(1).await.unwrap_err();
        assert!(matches!(&error, Error::Rejected(rejection) if rejection.code.is_some()), "{error:?}");
    }
}

#[tokio::test]
async fn groups_are_listed() {
    let reference = Reference::start().await;
    let groups = reference.client().groups().await.unwrap();
    assert!(!groups.is_empty() && groups.is_sorted_by_key(|group| group.group_id));
    assert!(reference.client_of(&reference.sample.tokens.empty).groups().await.unwrap().is_empty());
}

/// The response without paging and batching: one small search after another.
async fn brute_force(client: &Client, addresses: &[String]) -> Vec<i64> {
    let mut found = BTreeSet::new();
    for part in addresses.chunks(Limits::IPS_MAX_DISTINCT / 2) {
        let page = client.search(part).page_size(Limits::PAGE_SIZE_MAXIMUM).page(1).await.unwrap();
        assert!(
            page.total <= Limits::PAGE_SIZE_MAXIMUM,
            "the sample is too large for one page of so many addresses"
        );
        found.extend(page.items.into_iter().map(|instance| instance.instance_id));
    }
    found.into_iter().collect()
}

/// Compares the stream and the walk over all pages with the brute-force result, and each page of one request with that page alone.
async fn compare_walks(client: &Client, addresses: &[String], size: i64) -> Result<(), TestCaseError> {
    let search = || client.search(addresses).in_batches().page_size(size);
    let ids = |items: &[Instance]| items.iter().map(|instance| instance.instance_id).collect::<Vec<_>>();
    let expected = brute_force(client, addresses).await;
    let mut streamed = ids(&search().stream().try_collect::<Vec<_>>().await.unwrap());
    streamed.sort_unstable();
    prop_assert_eq!(&streamed, &expected, "nothing twice, nothing left out");
    let (mut pages, mut paged, mut number) = (search().pages(), Vec::new(), 0);
    while let Some(page) = pages.next().await.unwrap() {
        number += 1;
        prop_assert_eq!((page.page, page.page_size), (number, size));
        if addresses.len() <= Limits::IPS_MAX_DISTINCT {
            let alone = search().page(number).await.unwrap();
            prop_assert_eq!(ids(&page.items), ids(&alone.items));
            prop_assert_eq!((alone.page, alone.page_size, alone.total), (number, size, page.total));
            prop_assert_eq!(usize::try_from(page.total), Ok(expected.len()));
        }
        paged.extend(ids(&page.items));
    }
    paged.sort_unstable();
    prop_assert_eq!(&paged, &expected, "pages neither overlap nor leave gaps");
    Ok(())
}

#[test]
fn paging_and_batching_equal_the_brute_force_result() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let reference = runtime.block_on(Reference::start());
    let (client, addresses) = (reference.client(), reference.addresses());
    let count = addresses.len();
    assert!(count > Limits::IPS_MAX_DISTINCT, "the sample is too small to need batches: {count}");
    for size in [300, 700] {
        runtime.block_on(compare_walks(&client, &addresses, size)).unwrap();
    }
    let config = ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(10) };
    proptest!(config, |(from in 0..count, length in 1..=count, size in 120..=Limits::PAGE_SIZE_MAXIMUM)| {
        let part = &addresses[from..(from + length).min(count)];
        runtime.block_on(compare_walks(&client, part, size))?;
    });
}

#[tokio::test]
async fn filters_narrow_a_search() {
    let reference = Reference::start().await;
    let client = reference.client();
    let addresses: Vec<String> = reference.addresses().into_iter().take(Limits::IPS_MAX_DISTINCT).collect();
    let search = || client.search(&addresses).page_size(Limits::PAGE_SIZE_MAXIMUM);
    let all = search().page(1).await.unwrap();
    let active = search().status(InstanceStatus::Active).page(1).await.unwrap();
    let ungrouped = search().group(GroupFilter::Ungrouped).page(1).await.unwrap();
    assert!(active.total < all.total && active.items.iter().all(|one| one.status == InstanceStatus::Active));
    assert!(ungrouped.total < all.total && ungrouped.items.iter().all(|one| one.group_id.is_none()));
    let group = all.items.iter().find_map(|one| one.group_id).unwrap();
    let grouped = search().group(GroupFilter::Id(group)).page(1).await.unwrap();
    assert!(grouped.total > 0 && grouped.items.iter().all(|one| one.group_id == Some(group)));
    let (number, _) = reference.sample.orders.first_key_value().unwrap();
    let ordered = search().order_number(number.as_str()).page(1).await.unwrap();
    assert!(ordered.total < all.total);
}

#[cfg(feature = "blocking")]
#[test]
fn a_program_without_a_runtime_waits() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let reference = runtime.block_on(Reference::start());
    let client = sallyport_client::blocking::Client::new(reference.client()).unwrap();
    assert_eq!(client.wait(client.extract(2)).unwrap().endpoints.len(), 2);
    assert!(!client.wait(client.groups()).unwrap().is_empty());
    let inside = runtime.block_on(async { client.wait(client.extract(2)).map(|_| ()) });
    assert!(matches!(inside, Err(Error::Configuration(_))), "{inside:?}");
}

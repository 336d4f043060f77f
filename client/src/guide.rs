//! Guides, one for each task. Every program here is compiled by the tests, and those that need no service are run.
//!
//! - [Extract gateways with retries](#extract-gateways-with-retries)
//! - [Walk a big search](#walk-a-big-search)
//! - [Rotate a token](#rotate-a-token)
//! - [Settings of one call](#settings-of-one-call)
//! - [Code around each request](#code-around-each-request)
//! - [Test your code](#test-your-code)
//! - [Cancel a call](#cancel-a-call)
//!
//! # Extract gateways with retries
//! A call retries by itself what may succeed later, and waits as long as the service says. Your code only decides what to do
//! when the timeout is exceeded. The error holds the request id, so that the same extraction can be resumed later, even in
//! another process; the service returns what it extracted under that id instead of extracting again.
//!
//! ```no_run
//! use std::time::{Duration, Instant};
//! use sallyport_client::{Client, Error};
//!
//! # async fn run(client: Client) -> Result<(), Box<dyn std::error::Error>> {
//! // One deadline for both calls: the second one gets the remaining time.
//! let deadline = Instant::now() + Duration::from_secs(60);
//! let extraction = match client.extract(20).region("USA").total_timeout(Duration::from_secs(40)).await {
//!     Ok(extraction) => extraction,
//!     // Interrupted or out of time: the service may have extracted already.
//!     Err(error @ (Error::Transport(_) | Error::Timeout(_))) => {
//!         let left = deadline.saturating_duration_since(Instant::now());
//!         client.extract(20).region("USA").resume(&error).total_timeout(left).await?
//!     }
//!     // Nothing was extracted; `retry_after` says when to try again.
//!     Err(Error::Shortage(shortage)) => {
//!         println!("try again in {:?}", shortage.retry_after);
//!         return Ok(());
//!     }
//!     Err(error) => return Err(error.into()),
//! };
//! if extraction.is_partial {
//!     println!("{} of {} gateways", extraction.endpoints.len(), extraction.requested);
//! }
//! for endpoint in &extraction.endpoints {
//!     println!("{}", endpoint.proxy_url(sallyport_client::Protocol::Http));
//! }
//! # Ok(())
//! # }
//! ```
//!
//! Another policy for all calls of a client is `Client::builder().retry(RetryPolicy { max_retries: 5, ..RetryPolicy::default() })`;
//! [`Extract::retry`](crate::Extract::retry) has one for a single call.
//!
//! | setting | default | what it limits |
//! |---|---|---|
//! | [`RetryPolicy::max_retries`](crate::RetryPolicy::max_retries) | 3 | retries of one call |
//! | [`total_timeout`](crate::ClientBuilder::total_timeout) | 120 s | one call with its waits |
//! | [`request_timeout`](crate::ClientBuilder::request_timeout) | 30 s | one request |
//! | [`RetryPolicy::max_retry_after`](crate::RetryPolicy::max_retry_after) | none | one wait that the service asks for |
//! | [`retry_budget`](crate::ClientBuilder::retry_budget) | 100 | retries of all calls of a client |
//!
//! # Walk a big search
//! One request takes [`IPS_MAX_DISTINCT`](crate::contract::SearchStaticInstances::IPS_MAX_DISTINCT) distinct addresses and
//! returns [`PAGE_SIZE_MAXIMUM`](crate::contract::SearchStaticInstances::PAGE_SIZE_MAXIMUM) instances;
//! [`pages`](crate::Search::pages) returns one page at a time, and the total timeout applies to each of them.
//! [`in_batches`](crate::Search::in_batches) splits more addresses over several requests, and [`stream`](crate::Search::stream) requests a page when the one before is consumed, so
//! that memory holds one page at a time.
//!
//! ```no_run
//! use futures_util::TryStreamExt;
//! use sallyport_client::{Client, InstanceStatus};
//!
//! # async fn run(client: Client, addresses: Vec<String>) -> Result<(), Box<dyn std::error::Error>> {
//! let search = client.search(&addresses).in_batches().status(InstanceStatus::Active);
//! let mut instances = search.stream();
//! while let Some(instance) = instances.try_next().await? {
//!     if let Some(address) = instance.socket_addr() {
//!         println!("{} {address}", instance.instance_id);
//!     }
//! }
//! # Ok(())
//! # }
//! ```
//!
//! [`Pages`](crate::Pages) gives whole pages with their total, and goes on after an error: the next call of
//! [`next`](crate::Pages::next) requests the same page again. Pages that overlap or leave gaps are an error, unless the total
//! changes during the walk; see [`Pages`](crate::Pages#pages-that-overlap-or-leave-gaps).
//!
//! # Rotate a token
//! With a token in a file, a rotation needs no restart. Issue the new token with an overlap, so that both are valid for a
//! while, then replace the file by renaming another one over it. With the reference server, for token number 1:
//!
//! ```text
//! server token rotate --db sandbox.db 1 --overlap 1h --output json | jq -r .token > next
//! mv next /run/secrets/sallyport
//! ```
//!
//! ```no_run
//! # fn run() -> Result<(), sallyport_client::Error> {
//! use sallyport_client::Client;
//!
//! let client =
//!     Client::builder().base_url("https://api.invalid").token_file("/run/secrets/sallyport").build()?;
//! # Ok(())
//! # }
//! ```
//!
//! Requests have the new token after [`TokenFile::MAX_AGE`](crate::TokenFile::MAX_AGE) at the latest, so the overlap must be longer
//! than that. Without an overlap, a request that HTTP 401 or 403 rejects is repeated once when the file holds another token by
//! then. [`TokenSource`](crate::TokenSource) takes tokens from anywhere else.
//!
//! # Settings of one call
//! Every call takes timeouts, a retry policy and headers of its own, and returns the response beside the typed result on
//! request:
//!
//! ```no_run
//! use std::time::Duration;
//! use sallyport_client::{Client, RetryPolicy};
//!
//! # async fn run(client: Client) -> Result<(), Box<dyn std::error::Error>> {
//! let groups = client
//!     .groups()
//!     .request_timeout(Duration::from_secs(2))
//!     .retry(RetryPolicy::none())
//!     .header("x-correlation-id", "job-17")
//!     .with_response()
//!     .await?;
//! println!("{} groups, {:?}", groups.value.len(), groups.headers.get("x-request-id"));
//! # Ok(())
//! # }
//! ```
//!
//! A header of your own, such as `X-Correlation-Id`, may have any name that does not belong to the client: `X-API-Key`,
//! `Authorization` and `X-Request-Id` do, for every operation. An extraction takes its request id with
//! [`request_id`](crate::Extract::request_id); other operations have none.
//!
//! # Code around each request
//! A [`Middleware`](crate::Middleware) runs around each request, retries included. It sees the request before the token is
//! added and the response after the token was removed, and cannot send it anywhere else. This one limits the number
//! of concurrent requests:
//!
//! ```
//! use sallyport_client::{Client, Error, Middleware, MiddlewareFuture, Next, bytes::Bytes, http};
//! use tokio::sync::Semaphore;
//!
//! struct AtMost(Semaphore);
//!
//! impl Middleware for AtMost {
//!     fn handle<'a>(&'a self, request: http::Request<Bytes>, next: Next<'a>) -> MiddlewareFuture<'a> {
//!         Box::pin(async move {
//!             let _permit = self.0.acquire().await.map_err(|error| Error::Configuration(error.to_string()))?;
//!             next.run(request).await
//!         })
//!     }
//! }
//!
//! let client = Client::builder().base_url("https://api.invalid").token("token").middleware(AtMost(Semaphore::new(8)));
//! # client.build().unwrap();
//! ```
//!
//! # Test your code
//! [`testing::Replies`](crate::testing::Replies) serves requests with the responses that a test wrote down. Limits, retries
//! and errors are those of production, and nothing is sent.
//!
//! ```
//! use sallyport_client::{Client, Error, testing::Replies};
//!
//! /// The function under test.
//! async fn first_gateway(client: &Client) -> Result<Option<String>, Error> {
//!     let extraction = client.extract(1).await?;
//!     Ok(extraction.endpoints.first().map(ToString::to_string))
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
//! let replies = Replies::new().interruption().gateways(["gw.invalid:8080"]).status(401);
//! let client = replies.builder().build()?;
//!
//! assert_eq!(first_gateway(&client).await?.as_deref(), Some("gw.invalid:8080"));
//! let requests = replies.requests();
//! assert_eq!(requests.len(), 2, "the interruption was retried");
//! assert_eq!(requests[0].uri(), requests[1].uri(), "under the same request id");
//!
//! let error = first_gateway(&client).await.unwrap_err();
//! assert!(matches!(error, Error::Rejected(_)) && replies.remaining() == 0);
//! # Ok(())
//! # })
//! # }
//! ```
//!
//! [`testing::instance`](crate::testing::instance) and [`testing::group`](crate::testing::group) make what searches and
//! listings return. Waits are real here too; `#[tokio::test(start_paused = true)]` skips them, with tokio's feature `test-util`.
//!
//! To test against a server with data, and against one that fails as you say, add `sallyport-conformance` as a dev-dependency and
//! start its `lab::Sandbox`, whose docs have examples with failures and with the rotation of a token. Or start the reference
//! server alone, which brings fewer crates: in a test by `sallyport_server::sandbox::Sandbox`, as the examples do, or as a program:
//!
//! ```text
//! server run --sandbox-tokens fixed     # prints the tokens, and what can be searched
//! export SALLYPORT_BASE_URL=http://127.0.0.1:8080 SALLYPORT_API_KEY=…
//! ```
//!
//! [`base_url_from_env`](crate::ClientBuilder::base_url_from_env) and
//! [`token_from_env`](crate::ClientBuilder::token_from_env) read these variables.
//!
//! # Cancel a call
//! Dropping the future of a call ends it at once: the client runs no task of its own, and the connection is closed. The
//! service may have extracted all the same, so take the request id first when an extraction may be cancelled:
//!
//! ```no_run
//! use std::time::Duration;
//! use sallyport_client::Client;
//!
//! # async fn run(client: Client) -> Result<(), Box<dyn std::error::Error>> {
//! let mut call = client.extract(3);
//! let id = call.ensure_request_id().to_owned();
//! let extraction = match tokio::time::timeout(Duration::from_secs(5), call.into_future()).await {
//!     Ok(outcome) => outcome?,
//!     // Later, or in the next run of the program.
//!     Err(_) => client.extract(3).request_id(id).await?,
//! };
//! # Ok(())
//! # }
//! ```

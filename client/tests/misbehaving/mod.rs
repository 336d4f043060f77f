//! Servers that misbehave: the right error, no hang, no second extraction.
#![allow(clippy::unwrap_used, reason = "a server that cannot be set up fails its test")]

mod arguments;
mod responses;
mod retries;

use sallyport_client::Error;

use crate::faulty::{FaultyServer, Reply};

/// The error of a listing to which a server replies so.
async fn listing_error(reply: Reply) -> Error {
    FaultyServer::start(vec![reply]).await.client().groups().await.unwrap_err()
}

/// So many addresses to search for, all of them different.
fn addresses(count: usize) -> Vec<String> {
    (0..count).map(|n| format!("10.0.{}.{}", n / 256, n % 256)).collect()
}

//! Streams all instances of an account, with any number of addresses: `cargo run -p sallyport-client --example search`.

mod embedded;

use std::collections::BTreeMap;

use embedded::Embedded;
use futures_util::TryStreamExt;
use sallyport_client::{Client, GroupFilter};

#[tokio::main(flavor = "current_thread")]
#[expect(clippy::print_stdout, reason = "an example shows what it got")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let server = Embedded::start().await?;

    let client = Client::builder().base_url(server.base_url()).token(server.token()).build()?;
    let mut instances = client.search(server.addresses()).group(GroupFilter::Ungrouped).in_batches().stream();
    let mut by_status: BTreeMap<String, u64> = BTreeMap::new();
    while let Some(instance) = instances.try_next().await? {
        *by_status.entry(instance.status.to_string()).or_default() += 1;
    }
    println!("ungrouped instances: {by_status:?}");
    Ok(())
}

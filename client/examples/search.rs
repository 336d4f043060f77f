//! Streams all instances of an account, with any number of addresses: `cargo run -p sallyport-client --example search`.

use std::collections::BTreeMap;

use futures_util::TryStreamExt;
use sallyport_client::{Client, GroupFilter};
use sallyport_server::sandbox::Sandbox;

#[tokio::main(flavor = "current_thread")]
#[expect(clippy::print_stdout, reason = "an example shows what it got")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let sandbox = Sandbox::start().await?;

    let client = Client::builder().base_url(sandbox.base_url()).token(sandbox.token().expose()).build()?;
    let addresses = sandbox.sample().addresses.iter().map(ToString::to_string);
    let mut instances = client.search(addresses).group(GroupFilter::Ungrouped).in_batches().stream();
    let mut by_status: BTreeMap<String, u64> = BTreeMap::new();
    while let Some(instance) = instances.try_next().await? {
        *by_status.entry(instance.status.to_string()).or_default() += 1;
    }
    println!("ungrouped instances: {by_status:?}");
    Ok(())
}

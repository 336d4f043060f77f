//! Extracts gateways in a program without async: `cargo run -p sallyport-client --example blocking --features blocking`.

use sallyport_client::{Client, blocking};
use sallyport_server::sandbox::Sandbox;

#[expect(clippy::print_stdout, reason = "an example shows what it got")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    // For the server alone: the client has a runtime of its own.
    let runtime = tokio::runtime::Runtime::new()?;
    let sandbox = runtime.block_on(Sandbox::start())?;

    let client = Client::builder().base_url(sandbox.base_url()).token(sandbox.token().expose()).build()?;
    let client = blocking::Client::new(client)?;
    for endpoint in client.wait(client.extract(3))?.endpoints {
        println!("{endpoint}");
    }
    let mut pages =
        client.search(sandbox.sample().addresses.iter().map(ToString::to_string)).in_batches().pages();
    while let Some(page) = client.wait(pages.next())? {
        println!("{} of {} instances", page.items.len(), page.total);
    }
    Ok(())
}

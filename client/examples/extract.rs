//! Extracts gateways: `cargo run -p sallyport-client --example extract`.

use sallyport_client::Client;
use sallyport_server::sandbox::Sandbox;

#[tokio::main(flavor = "current_thread")]
#[expect(clippy::print_stdout, reason = "an example shows what it got")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let sandbox = Sandbox::start().await?;

    let client = Client::builder().base_url(sandbox.base_url()).token(sandbox.token().expose()).build()?;
    for endpoint in client.extract(3).await?.endpoints {
        println!("{endpoint}");
    }
    Ok(())
}

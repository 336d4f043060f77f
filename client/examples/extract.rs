//! Extracts gateways: `cargo run -p sallyport-client --example extract`.

mod embedded;

use embedded::Embedded;
use sallyport_client::Client;

#[tokio::main(flavor = "current_thread")]
#[expect(clippy::print_stdout, reason = "an example shows what it got")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let server = Embedded::start().await?;

    let client = Client::builder().base_url(server.base_url()).token(server.token()).build()?;
    for endpoint in client.extract(3).await?.endpoints {
        println!("{endpoint}");
    }
    Ok(())
}

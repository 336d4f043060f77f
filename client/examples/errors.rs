//! Shows how to handle errors: `cargo run -p sallyport-client --example errors`.

use sallyport_client::{Client, Error, contract::ExtractProxies};
use sallyport_server::sandbox::Sandbox;

#[tokio::main(flavor = "current_thread")]
#[expect(clippy::print_stdout, reason = "an example shows what it got")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let sandbox = Sandbox::start().await?;

    let known = Client::builder().base_url(sandbox.base_url()).token(sandbox.token().expose()).build()?;
    let unknown = Client::builder().base_url(sandbox.base_url()).token("not-a-token").build()?;
    for outcome in [known.extract(ExtractProxies::NUM_MAXIMUM + 1).await, unknown.extract(1).await] {
        match outcome {
            Ok(extraction) => println!("{} gateways", extraction.endpoints.len()),
            Err(Error::InvalidArgument(error)) => println!("fix the argument: {error}"),
            Err(error) if error.is_retryable() => {
                println!("retry in {:?} with request id {:?}", error.retry_after(), error.request_id());
            }
            Err(error) => println!("give up: {error}"),
        }
    }
    Ok(())
}

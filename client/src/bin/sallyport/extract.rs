use std::io::{self, Write};

use sallyport_client::Client;
use serde_json::json;

use crate::{
    args::{ExtractFormat, ExtractOptions},
    failure::Failure,
    output,
};

/// Takes gateways and writes them.
pub(crate) async fn run(client: &Client, options: ExtractOptions) -> Result<(), Failure> {
    let ExtractOptions { count, region, protocol, request_id, format } = options;
    let mut call = client.extract(count);
    if let Some(region) = region {
        call = call.region(region);
    }
    if let Some(protocol) = protocol {
        call = call.protocol(protocol);
    }
    if let Some(id) = request_id {
        call = call.request_id(id);
    }
    let extraction = call.await?;
    let mut out = io::stdout().lock();
    match format {
        ExtractFormat::Lines => {
            for endpoint in &extraction.endpoints {
                output::line(&mut out, &endpoint.to_string())?;
            }
        }
        ExtractFormat::Json => {
            let value = json!({
                "endpoints": extraction.endpoints,
                "requested": extraction.requested,
                "returned": extraction.returned,
                "partial": extraction.partial,
                "requestIp": extraction.request_ip,
                "requestId": extraction.request_id,
            });
            output::json(&mut out, &value)?;
        }
    }
    Ok(out.flush()?)
}

use std::{
    future,
    io::{self, Write},
    pin::pin,
};

use futures_util::future::{Either, select};
use sallyport_client::{Client, Extract, Extraction, new_request_id};
use serde_json::json;

use crate::{
    args::{ExtractFormat, ExtractOptions},
    failure::Failure,
    output, print_error,
};

/// Extracts gateways and writes them.
pub(crate) async fn run(client: &Client, options: ExtractOptions) -> Result<(), Failure> {
    let ExtractOptions { count, region, protocol, request_id, format } = options;
    let mut call = client.extract(count);
    if let Some(region) = region {
        call = call.region(region);
    }
    if let Some(protocol) = protocol {
        call = call.protocol(protocol);
    }
    let request_id = request_id.filter(|id| !id.is_empty()).unwrap_or_else(new_request_id);
    let extraction = send(call.request_id(request_id.as_str()), request_id).await?;
    let mut out = io::stdout().lock();
    match format {
        ExtractFormat::Lines => {
            for endpoint in &extraction.endpoints {
                output::line(&mut out, &endpoint.to_string())?;
            }
            if extraction.is_partial {
                let (returned, requested) = (extraction.endpoints.len(), extraction.requested);
                print_error(&format!(
                    "sallyport: partial result: {returned} of {requested} requested gateways"
                ));
            }
        }
        ExtractFormat::Json => {
            let value = json!({
                "endpoints": extraction.endpoints,
                "requested": extraction.requested,
                "returned": extraction.returned,
                "partial": extraction.is_partial,
                "requestIp": extraction.request_ip,
                "requestId": extraction.request_id,
            });
            output::json(&mut out, &value)?;
        }
    }
    Ok(out.flush()?)
}

/// Sends the extraction. Ctrl-C ends it with the request id that repeats it: the service may have extracted already.
async fn send(call: Extract, request_id: String) -> Result<Extraction, Failure> {
    let interrupted = pin!(async {
        if tokio::signal::ctrl_c().await.is_err() {
            // The signal cannot be caught, so it ends the program by itself.
            future::pending::<()>().await;
        }
    });
    match select(call.into_future(), interrupted).await {
        Either::Left((outcome, _)) => Ok(outcome?),
        Either::Right(((), _)) => Err(Failure::Interrupted { request_id }),
    }
}

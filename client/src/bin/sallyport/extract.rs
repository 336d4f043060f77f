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
    let ExtractOptions { count, region, protocol, request_id, format, json } = options;
    let format = if json { ExtractFormat::Json } else { format };
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
        }
        ExtractFormat::Json => {
            let value = json!({
                "endpoints": extraction.endpoints,
                "requested": extraction.requested,
                "returned": extraction.returned,
                "partial": extraction.is_partial,
                "retryAfter": extraction.retry_after.map(|wait| wait.as_secs()),
                "requestIp": extraction.request_ip,
                "requestId": extraction.request_id,
            });
            output::json(&mut out, &value)?;
        }
    }
    out.flush()?;
    report(&extraction)
}

/// Reports a partial result on standard error. An empty one is a failure: nothing was printed that a script could use.
fn report(extraction: &Extraction) -> Result<(), Failure> {
    if !extraction.is_partial {
        return Ok(());
    }
    let (returned, requested) = (extraction.endpoints.len(), extraction.requested);
    let wait = extraction.retry_after.map_or_else(String::new, |wait| format!("; retry after {wait:?}"));
    let message = format!("partial result: {returned} of {requested} requested gateways{wait}");
    if returned == 0 {
        return Err(Failure::Empty(message));
    }
    print_error(&format!("sallyport: {message}"));
    Ok(())
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

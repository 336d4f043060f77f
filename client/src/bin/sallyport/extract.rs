use std::{
    io::{self, Write},
    pin::pin,
};

use futures_util::future::{Either, select};
use sallyport_client::{Client, Extract, Extraction, new_request_id};

use crate::{
    args::{ExtractFormat, ExtractOptions},
    failure::Failure,
    output, print_error, set, signals,
};

/// Extracts gateways and writes them.
pub(crate) async fn run(client: &Client, options: ExtractOptions) -> Result<(), Failure> {
    let format = options.format();
    let ExtractOptions { count, region, protocol, request_id, .. } = options;
    let call = set(client.extract(count), region, |call, region| call.region(region));
    let call = set(call, protocol, Extract::protocol);
    let request_id = request_id.unwrap_or_else(new_request_id);
    let extraction = send(call.request_id(request_id.as_str()), &request_id).await?;
    // The service has extracted the gateways: when they cannot be written, the request id returns them again.
    write(&extraction, format).map_err(|error| Failure::from(error).of_extraction(&request_id))?;
    report(&extraction)
}

fn write(extraction: &Extraction, format: ExtractFormat) -> io::Result<()> {
    let mut out = io::stdout().lock();
    match format {
        ExtractFormat::Lines => {
            for endpoint in &extraction.endpoints {
                output::line(&mut out, &endpoint.to_string())?;
            }
        }
        ExtractFormat::Json => output::json(&mut out, extraction)?,
    }
    out.flush()
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

/// Sends the extraction. A signal ends it with the request id that repeats it: the service may have extracted already.
async fn send(call: Extract, request_id: &str) -> Result<Extraction, Failure> {
    let signal = pin!(signals::catch());
    match select(call.into_future(), signal).await {
        Either::Left((outcome, _)) => Ok(outcome?),
        Either::Right((signal, _)) => Err(Failure::Interrupted { signal, request_id: request_id.to_owned() }),
    }
}

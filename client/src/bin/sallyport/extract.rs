use std::{
    io::{self, Write},
    pin::pin,
};

use futures_util::future::{Either, select};
use sallyport_client::{Client, Extract, Extraction, new_request_id};

use crate::{
    args::{ExtractOptions, Format},
    failure::Failure,
    output, print_error, set, signals,
};

/// Extracts gateways and writes them.
pub(crate) async fn run(client: &Client, options: ExtractOptions) -> Result<(), Failure> {
    let ExtractOptions { count, region, protocol, request_id, format, json } = options;
    let call = set(client.extract(count), region, |call, region| call.region(region));
    let call = set(call, protocol, Extract::protocol);
    let request_id = request_id.unwrap_or_else(new_request_id);
    let extraction = send(call.request_id(request_id.as_str()), &request_id).await?;
    // The service has extracted the gateways: when they cannot be written, the request id returns them again.
    write(&extraction, json || format == Format::Json)
        .map_err(|error| Failure { request_id: Some(request_id), ..error.into() })?;
    report(&extraction)
}

fn write(extraction: &Extraction, is_json: bool) -> io::Result<()> {
    let mut out = io::stdout().lock();
    if is_json {
        output::json(&mut out, extraction)?;
    } else {
        extraction.endpoints.iter().try_for_each(|endpoint| output::line(&mut out, &endpoint.to_string()))?;
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
        return Err(Failure::empty(message));
    }
    print_error(&format!("sallyport: {message}"));
    Ok(())
}

/// Sends the extraction. A signal ends it with the request id that repeats it: the service may have extracted already.
async fn send(call: Extract, request_id: &str) -> Result<Extraction, Failure> {
    let signal = pin!(signals::catch());
    match select(call.into_future(), signal).await {
        Either::Left((outcome, _)) => Ok(outcome?),
        Either::Right((signal, _)) => Err(Failure::interrupted(signal, request_id)),
    }
}

use std::sync::Arc;

use reqwest::Request;

use crate::{
    Error, WithResponse,
    operation::Operation,
    options::CallOptions,
    transport::{ReadBody, Transport},
    validate,
};

/// Sends the requests of the generated client, with the connections and settings that it shares with [`Client`](crate::Client).
#[derive(Clone, Debug)]
pub struct Sender {
    pub(crate) transport: Arc<Transport>,
    pub(crate) options: CallOptions,
}

impl Sender {
    /// Checks the request, sends it and reads its response with `read`. The generated code calls it in place of progenitor's own end of a
    /// call, which loses status and headers of a response that it cannot read.
    pub(crate) async fn send<T>(
        &self,
        request: reqwest::Result<Request>,
        operation: &'static Operation,
        read: ReadBody<T>,
    ) -> Result<WithResponse<T>, Error> {
        let request = request.map_err(|error| {
            Error::configuration(format!("cannot build the request: {}", error.without_url()))
        })?;
        validate::request(&request, operation)?;
        self.transport.send(request, operation, &self.options, read).await
    }
}

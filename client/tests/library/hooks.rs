//! Sends once, with the token in the header, and reads JSON.

use progenitor_client::{ClientHooks, ClientInfo, OperationInfo, ResponseValue};
use reqwest::{Request, Response};
use serde::de::DeserializeOwned;

use crate::{faulty::CANARY, generated};

#[derive(Clone, Debug)]
#[allow(unreachable_pub, reason = "generated code names it in its public items")]
pub struct Hooks;

impl ClientHooks<Hooks> for generated::Client {
    async fn exec(&self, mut request: Request, _: &OperationInfo) -> reqwest::Result<Response> {
        request.headers_mut().insert("x-api-key", CANARY.parse().unwrap());
        self.client().execute(request).await
    }
}

pub(crate) async fn read<T: DeserializeOwned>(
    response: Response,
) -> Result<ResponseValue<T>, generated::Error<()>> {
    ResponseValue::from_response(response).await
}

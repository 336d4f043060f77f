//! HTTP 405 for known paths with other methods, in the envelope of the operation.

use dropshot::{
    ApiDescription, ApiDescriptionRegisterError, ApiEndpoint, ApiEndpointVersions, Method, RequestContext,
};

use super::{
    operation::Operation,
    raw_request::RawRequest,
    responding::{api_error::ApiError, error_code::ErrorCode, response::OperationResponse},
    serve::{Context, HandlerResult},
};

/// The standard methods. Dropshot itself rejects all others.
const METHODS: [Method; 8] = [
    Method::GET,
    Method::HEAD,
    Method::POST,
    Method::PUT,
    Method::DELETE,
    Method::OPTIONS,
    Method::TRACE,
    Method::PATCH,
];

/// Registers hidden endpoints that reject every method that the path of `O` does not have.
pub fn reject_other_methods_of<O: Operation>(
    api: &mut ApiDescription<Context>,
) -> Result<(), ApiDescriptionRegisterError> {
    for method in METHODS {
        if O::ALLOW.split(", ").any(|allowed| method == allowed) {
            continue;
        }
        let id = format!("{method} {}", O::PATH);
        let endpoint =
            ApiEndpoint::new(id, reject::<O>, method, "application/json", O::PATH, ApiEndpointVersions::All);
        api.register(endpoint.visible(false))?;
    }
    Ok(())
}

async fn reject<O: Operation>(rqctx: RequestContext<Context>, request: RawRequest<O>) -> HandlerResult<O> {
    request.discard();
    let connection = rqctx.context().admission.connections.connection(rqctx.request.remote_addr());
    let _request = connection.begin_request();
    let mut error = ApiError::from(ErrorCode::MethodNotAllowed);
    error.message = format!("{} Use {}.", error.message, O::ALLOW);
    Ok(OperationResponse::new(Err(error), &rqctx.request_id, &connection))
}

//! Registers operations with Dropshot: each with its method, and for other methods of its path HTTP 405 in its envelope.

use dropshot::{
    ApiDescription, ApiDescriptionRegisterError, ApiEndpoint, ApiEndpointVersions, Method, RawRequest,
    RequestContext,
};
use sallyport_contract::table;

use super::{
    operation::{Handler, Operation},
    reading::body::UnreadBody,
    responding::{api_error::ApiError, error_code::ErrorCode, response::OperationResponse},
    serve::{Context, HandlerResult, serve},
};

/// The standard methods. Dropshot itself rejects all others.
const METHODS: &str = "GET HEAD POST PUT DELETE OPTIONS TRACE PATCH";

const JSON: &str = "application/json";

const ALL: ApiEndpointVersions = ApiEndpointVersions::All;

/// Registers the endpoint of `O`, and hidden ones that reject each method that its path does not have.
pub(crate) fn register<O: Handler>(
    api: &mut ApiDescription<Context>,
) -> Result<(), ApiDescriptionRegisterError> {
    let table::Operation { id, method: own, .. } = O::document();
    // Operations of one path share the endpoints that reject, which the first of them registers.
    let mut of_path = sallyport_contract::operations().iter().filter(|other| other.path == O::PATH);
    let is_first = of_path.next().is_some_and(|first| first.id == *id);
    for method in METHODS.split(' ').filter_map(|name| name.parse::<Method>().ok()) {
        if method == own.as_str() {
            api.register(ApiEndpoint::new(id.clone(), serve::<O>, method, JSON, O::PATH, ALL))?;
        } else if is_first && !O::ALLOW.split(", ").any(|allowed| method == allowed) {
            let id = format!("{method} {}", O::PATH);
            let endpoint = ApiEndpoint::new(id, reject::<O>, method, JSON, O::PATH, ALL);
            api.register(endpoint.visible(false))?;
        }
    }
    Ok(())
}

async fn reject<O: Operation>(rqctx: RequestContext<Context>, request: RawRequest) -> HandlerResult<O> {
    UnreadBody::new(request.into_inner()).discard();
    let connection = rqctx.context().admission.connections.connection(rqctx.request.remote_addr());
    let _request = connection.begin_request();
    let mut error = ApiError::from(ErrorCode::MethodNotAllowed);
    error.message = format!("{} Use {}.", error.message, O::ALLOW);
    Ok(OperationResponse::new(Err(error), &rqctx.request_id, &connection))
}

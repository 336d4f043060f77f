//! Known paths with other methods: 405 in the operation's own envelope.

use dropshot::{
    ApiDescription, ApiDescriptionRegisterError, ApiEndpoint, ApiEndpointVersions, Method, RequestContext,
};

use super::{
    answer::{Answer, Operation},
    call::Context,
    catalogue::Reason,
    received::Unread,
    refused::Refused,
};

/// Methods that a path may be asked with. Dropshot itself refuses methods that HTTP does not know.
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

/// Refuses, on the path of `O`, every method that the path does not have. The document does not show it.
///
/// # Errors
/// As Dropshot's registration.
pub fn refuse_others<O: Operation>(
    api: &mut ApiDescription<Context>,
) -> Result<(), ApiDescriptionRegisterError> {
    for method in METHODS {
        if O::ALLOW.split(", ").any(|allowed| method == allowed) {
            continue;
        }
        let id = format!("{method} {}", O::PATH);
        let endpoint =
            ApiEndpoint::new(id, refuse::<O>, method, "application/json", O::PATH, ApiEndpointVersions::All);
        api.register(endpoint.visible(false))?;
    }
    Ok(())
}

async fn refuse<O: Operation>(rqctx: RequestContext<Context>, _: Unread) -> Result<Answer<O>, O::Error> {
    let connection = rqctx.context().gate.connections.connection(rqctx.request.remote_addr());
    let _under_way = connection.begin_request();
    let mut refused = Refused::from(Reason::MethodNotAllowed);
    refused.message = format!("{} Use {}.", refused.message, O::ALLOW);
    Ok(Answer::new(Err(refused), &rqctx.request_id, &connection))
}

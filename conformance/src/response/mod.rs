//! What a response means by the contract, what it says about the request, and how many gateways it contains.

mod class;
pub(crate) mod gateways;
mod region;

pub(crate) use class::describe;
pub use class::{Decision, Form, ResponseClass};
pub(crate) use region::RegionSupply;

use crate::contract::{Contract, OperationId};
use crate::wire::{Request, Response};

/// Whether a rejection is about the caller, by its status, or by a code made from one under the status of a success.
pub(crate) fn is_about_caller(response: &Response) -> bool {
    const STATUSES: [u16; 2] = [401, 403];
    let code = response.at("/code").map(ToString::to_string).unwrap_or_default();
    let of_status = |status: u16| code.trim_matches('"').starts_with(&status.to_string());
    STATUSES.contains(&response.status) || response.status == 200 && STATUSES.into_iter().any(of_status)
}

/// The operation of a request by method and path, or by path alone, since checks also send methods that a path lacks.
pub(crate) fn operation_of(contract: &Contract, request: &Request) -> Option<OperationId> {
    let on_path = || contract.operations().filter(|operation| operation.path == request.path());
    let by_method = on_path().find(|operation| operation.method == request.method_name());
    by_method.or_else(|| on_path().next()).map(|operation| operation.id)
}

/// The request ids of an extraction: that of the query and that of the header.
pub(crate) fn request_ids(contract: &Contract, request: &Request) -> Vec<String> {
    let extract = &contract.extract;
    let in_query = request.query_value(&extract.request_id.name).map(str::to_owned);
    let in_header = request.header_value(&extract.request_id_header.name);
    in_query.into_iter().chain(in_header).collect()
}

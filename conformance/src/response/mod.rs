//! What a response means by the contract: whether it is a success, and what it says of the request; how many gateways it
//! hands out.

mod class;
pub(crate) mod gateways;
mod region;

pub use class::{Decision, Form, ResponseClass};
pub(crate) use region::RegionSupply;

use crate::contract::{Contract, OperationId};
use crate::wire::Request;

/// The operation that a request is for: by method and path, or else by path alone, since checks also send methods that a path
/// does not have. None when its path is of none.
pub(crate) fn operation_of(contract: &Contract, request: &Request) -> Option<OperationId> {
    let on_path = || contract.operations().filter(|operation| operation.serves(request.path()));
    let by_method = on_path().find(|operation| operation.method == request.method_name());
    by_method.or_else(|| on_path().next()).map(|operation| operation.id)
}

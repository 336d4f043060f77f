//! What a response means by the contract: whether it is a success, and what it says of the request; how many gateways it
//! hands out.

mod class;
pub(crate) mod gateways;

pub use class::{Decision, Form, ResponseClass};

use crate::contract::{Contract, OperationId};
use crate::wire::Request;

/// The operation that a request is for; none when its path is of none.
pub(crate) fn operation_of(contract: &Contract, request: &Request) -> Option<OperationId> {
    let path = request.path();
    OperationId::ALL.into_iter().find(|id| contract.operation(*id).path == path)
}

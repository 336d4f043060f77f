use super::operation::{Operation, OperationId, Parameter};
use super::source::{ContractError, Source};

/// The listing of groups.
#[derive(Debug)]
pub struct Groups {
    /// Method, path and success.
    pub operation: Operation,
    /// The token.
    pub api_key: Parameter,
}

impl Groups {
    pub(super) fn read(source: &Source) -> Result<Self, ContractError> {
        let (operation, mut parameters, _) = Operation::read(source, OperationId::Groups)?;
        let api_key = parameters.credential()?;
        parameters.finish()?;
        Ok(Self { operation, api_key })
    }
}

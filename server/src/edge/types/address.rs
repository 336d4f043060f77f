//! `x-format: ip-endpoint`: an address with an optional port between two bounds.

use super::{
    json::Json,
    request_error::{Excerpt, Input, Result},
    value::{FromJson, FromText, from_json_string},
};
use crate::domain::address::{Address, AddressError};
use crate::edge::responding::error_code::ErrorCode;

/// An address whose port, if any, is from `MIN` to `MAX`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct IpEndpoint<const MIN: u16, const MAX: u16>(Address);

impl<const MIN: u16, const MAX: u16> IpEndpoint<MIN, MAX> {
    /// Minimum port.
    pub const MIN_PORT: u16 = MIN;
    /// Maximum port.
    pub const MAX_PORT: u16 = MAX;

    /// The address.
    #[must_use]
    pub const fn get(self) -> Address {
        self.0
    }
}

impl<const MIN: u16, const MAX: u16> FromText for IpEndpoint<MIN, MAX> {
    fn from_text(text: &str, input: Input<'_>) -> Result<Self> {
        Address::parse(text, &(MIN..=MAX)).map(Self).map_err(|error| {
            let keyword = if matches!(error, AddressError::Port { .. }) { "x-port" } else { "x-format" };
            input.error(ErrorCode::Invalid, keyword, format!("{error}, found {}", Excerpt::quote(text)))
        })
    }
}

impl<const MIN: u16, const MAX: u16> FromJson for IpEndpoint<MIN, MAX> {
    fn from_json(value: &Json<'_>, input: Input<'_>) -> Result<Self> {
        from_json_string(value, input)
    }
}

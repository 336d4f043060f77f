//! `x-format: ip-endpoint`: an address, perhaps with a port between two bounds.

use super::{
    fault::{Came, Fault, Spot},
    json::Json,
    value::{FromJson, FromText, from_json_string},
};
use crate::domain::address::{Address, AddressFault};

/// An address whose port, if there is one, lies from `MIN` to `MAX`. No other can be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct IpEndpoint<const MIN: u16, const MAX: u16>(Address);

impl<const MIN: u16, const MAX: u16> IpEndpoint<MIN, MAX> {
    /// Lowest port.
    pub const MIN_PORT: u16 = MIN;
    /// Highest port.
    pub const MAX_PORT: u16 = MAX;

    /// The address.
    #[must_use]
    pub const fn get(self) -> Address {
        self.0
    }
}

impl<const MIN: u16, const MAX: u16> FromText for IpEndpoint<MIN, MAX> {
    fn from_text(text: &str, spot: Spot<'_>) -> Result<Self, Fault> {
        let refused = |fault: AddressFault| {
            let keyword = if matches!(fault, AddressFault::Port { .. }) { "x-port" } else { "x-format" };
            spot.invalid(keyword, expected(&fault), Came::text(text))
        };
        Address::parse(text, &(MIN..=MAX)).map(Self).map_err(refused)
    }
}

impl<const MIN: u16, const MAX: u16> FromJson for IpEndpoint<MIN, MAX> {
    fn from_json(value: &Json<'_>, spot: Spot<'_>) -> Result<Self, Fault> {
        from_json_string(value, spot)
    }
}

fn expected(fault: &AddressFault) -> String {
    match fault {
        AddressFault::Empty | AddressFault::Form => {
            "be a complete IPv4 or IPv6 address, `IPv4:port` or `[IPv6]:port`".to_owned()
        }
        AddressFault::Network => "be a single address without `/`".to_owned(),
        AddressFault::Zone => "be an address without zone identifier".to_owned(),
        AddressFault::BracketsWithoutPort => "have no brackets when it has no port".to_owned(),
        AddressFault::Port { min, max } => {
            format!("have a port from {min} to {max}, in digits without leading zeros")
        }
    }
}

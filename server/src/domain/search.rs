//! Search: addresses and filters, and the page of instances that they select.

use std::net::IpAddr;

use jiff::Timestamp;

use super::{
    address::Address,
    instance::{Id, Instance, Status},
};

/// A search request.
#[derive(Clone, Debug)]
pub struct SearchCommand {
    /// Addresses to look for, in any order; duplicates count once.
    pub addresses: Vec<Address>,
    /// Conditions on the matches.
    pub filters: Filters,
    /// Page to return, counted from 1 (`search.page`).
    pub page: u32,
    /// Maximum number of instances on a page (`search.page-size`).
    pub page_size: u32,
}

/// Conditions on instances; each one that is set must hold (`search.intersection`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filters {
    /// Exactly this order number, among the account's orders.
    pub order_no: Option<String>,
    /// Which groups.
    pub group: GroupSelection,
    /// Exactly this country code, case-sensitive.
    pub country_code: Option<String>,
    /// Exactly this city code, case-sensitive.
    pub city_code: Option<String>,
    /// Exactly this state.
    pub status: Option<Status>,
    /// Activated then or later. Instances that were never activated match no bound.
    pub activated_from: Option<Timestamp>,
    /// Activated then or earlier.
    pub activated_to: Option<Timestamp>,
}

/// Which groups a search covers (`search.group`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GroupSelection {
    /// All instances, in a group or not.
    #[default]
    Any,
    /// Instances in no group.
    Ungrouped,
    /// Instances in this group. A foreign or unknown group has none.
    Group(Id),
}

/// One page of a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchPage {
    /// The instances, ascending by id; none past the last page.
    pub items: Vec<Instance>,
    /// Instances on all pages together (`search.total`).
    pub total: u64,
}

/// The query to the storage for a search.
#[derive(Clone, Debug)]
pub struct SearchQuery {
    /// Addresses with their ports, ascending and disjoint, so that no instance matches twice.
    pub addresses: Vec<AddressRange>,
    /// Conditions on the matches.
    pub filters: Filters,
    /// Number of matches to skip.
    pub offset: u64,
    /// Maximum number of matches to return.
    pub limit: u32,
}

/// One address with a range of ports, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AddressRange {
    /// The address.
    pub ip: IpAddr,
    /// First port; 0 stands for an instance without one.
    pub first_port: u16,
    /// Last port.
    pub last_port: u16,
}

impl From<SearchCommand> for SearchQuery {
    fn from(command: SearchCommand) -> Self {
        let SearchCommand { mut addresses, filters, page, page_size } = command;
        // Sorted, so that neighbours in the index are looked up together, and an address without a port is right before the same
        // address with a port, which it includes.
        addresses.sort_unstable();
        addresses
            .dedup_by(|next, kept| next.ip == kept.ip && (kept.port.is_none() || next.port == kept.port));
        Self {
            addresses: addresses.into_iter().map(AddressRange::from).collect(),
            filters,
            offset: u64::from(page.saturating_sub(1)) * u64::from(page_size),
            limit: page_size,
        }
    }
}

impl From<Address> for AddressRange {
    fn from(Address { ip, port }: Address) -> Self {
        let (first_port, last_port) = port.map_or((0, u16::MAX), |port| (port, port));
        Self { ip, first_port, last_port }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn query(items: &[&str], page: u32) -> SearchQuery {
        let addresses = items.iter().map(|item| Address::parse(item, &(1..=u16::MAX)).unwrap()).collect();
        SearchCommand { addresses, filters: Filters::default(), page, page_size: 20 }.into()
    }

    #[test]
    fn a_bare_address_covers_its_ports() {
        let query = query(&["192.0.2.1:80", "192.0.2.1", "192.0.2.2:80", "192.0.2.2:80", "192.0.2.1:81"], 1);
        let range = |last, first_port, last_port| AddressRange {
            ip: [192, 0, 2, last].into(),
            first_port,
            last_port,
        };
        assert_eq!(query.addresses, [range(1, 0, u16::MAX), range(2, 80, 80)]);
    }

    #[test]
    fn respelled_addresses_count_once() {
        assert_eq!(query(&["2001:db8::1", "2001:DB8:0::0001"], 1).addresses.len(), 1);
    }

    #[test]
    fn pages_count_from_one() {
        assert_eq!(query(&["192.0.2.1"], 1).offset, 0);
        assert_eq!(query(&["192.0.2.1"], 1_000_000).offset, 19_999_980);
    }
}

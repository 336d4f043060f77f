//! Search: addresses and filters, and the page that they give.

use std::{collections::BTreeSet, net::IpAddr};

use jiff::Timestamp;

use super::{
    address::Address,
    instance::{Id, Instance, Status},
};

/// A search as a caller asks for it.
#[derive(Clone, Debug)]
pub struct SearchCommand {
    /// Addresses to look for. Duplicates are welcome; the order does not matter.
    pub addresses: Vec<Address>,
    /// What the matches are intersected with.
    pub filters: Filters,
    /// Page to return, counted from 1.
    pub page: u32,
    /// Instances on a page.
    pub page_size: u32,
}

/// Conditions on instances; each one that is set must hold (`search.intersection`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filters {
    /// Exactly this order number, among the account's orders.
    pub order_no: Option<String>,
    /// Which groups.
    pub group: GroupFilter,
    /// Exactly this country, letter by letter.
    pub country_code: Option<String>,
    /// Exactly this city, letter by letter.
    pub city_code: Option<String>,
    /// Exactly this state.
    pub status: Option<Status>,
    /// Activated then or later. Instances that were never activated match no bound.
    pub activated_from: Option<Timestamp>,
    /// Activated then or earlier.
    pub activated_to: Option<Timestamp>,
}

/// Which groups a search looks at (`search.group`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GroupFilter {
    /// All instances, grouped or not.
    #[default]
    All,
    /// Instances in no group.
    Ungrouped,
    /// Instances in this group. A foreign or unknown one has none.
    Only(Id),
}

/// One page of a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchPage {
    /// The instances, ascending by id; none past the last page.
    pub items: Vec<Instance>,
    /// Instances on all pages together (`search.total`).
    pub total: u64,
}

/// What the store is asked: disjoint sets of addresses, so that no instance matches twice.
#[derive(Clone, Debug)]
pub struct SearchQuery {
    /// Addresses of which every port matches, ascending.
    pub any_port: Vec<IpAddr>,
    /// Addresses with their port, ascending. None of these addresses is in `any_port`.
    pub exact: Vec<(IpAddr, u16)>,
    /// What the matches are intersected with.
    pub filters: Filters,
    /// Matches to pass over.
    pub offset: u64,
    /// Most matches to return.
    pub limit: u32,
}

impl From<SearchCommand> for SearchQuery {
    fn from(command: SearchCommand) -> Self {
        let SearchCommand { addresses, filters, page, page_size } = command;
        // In order, so that what lies together in the store's index is asked for together.
        let bare: BTreeSet<IpAddr> =
            addresses.iter().filter(|item| item.port.is_none()).map(|item| item.ip).collect();
        let exact: BTreeSet<(IpAddr, u16)> = addresses
            .iter()
            .filter(|item| !bare.contains(&item.ip))
            .filter_map(|item| Some((item.ip, item.port?)))
            .collect();
        Self {
            any_port: bare.into_iter().collect(),
            exact: exact.into_iter().collect(),
            filters,
            offset: u64::from(page.saturating_sub(1)) * u64::from(page_size),
            limit: page_size,
        }
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
        assert_eq!(query.any_port, [IpAddr::from([192, 0, 2, 1])]);
        assert_eq!(query.exact, [(IpAddr::from([192, 0, 2, 2]), 80)]);
    }

    #[test]
    fn respelled_addresses_count_once() {
        assert_eq!(query(&["2001:db8::1", "2001:DB8:0::0001"], 1).any_port.len(), 1);
    }

    #[test]
    fn pages_count_from_one() {
        assert_eq!(query(&["192.0.2.1"], 1).offset, 0);
        assert_eq!(query(&["192.0.2.1"], 1_000_000).offset, 19_999_980);
    }
}

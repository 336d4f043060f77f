use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use super::{Filter, Instance, Survey};
use crate::contract::Search;

/// Items of `ips`, and the ids of the instances that they find.
#[derive(Debug, Clone)]
pub(crate) struct Batch {
    pub(crate) name: &'static str,
    pub(crate) items: Vec<String>,
    pub(crate) ids: BTreeSet<i64>,
}

impl Batch {
    pub(crate) fn admitted(&self, survey: &Survey, filters: &[Filter]) -> BTreeSet<i64> {
        survey.admitted(filters).intersection(&self.ids).copied().collect()
    }
}

impl Survey {
    pub(crate) fn bare(&self) -> Batch {
        let items = self.addresses.iter().map(|ip| self.spelt(*ip)).collect();
        Batch { name: "addresses", items, ids: self.ids() }
    }

    /// Every address and port at which an instance of the wanted kind was seen.
    pub(crate) fn with_ports(
        &self,
        search: &Search,
        name: &'static str,
        wanted: impl Fn(&Instance) -> bool,
    ) -> Batch {
        let mut items: BTreeMap<String, BTreeSet<i64>> = BTreeMap::new();
        for instance in self.instances.values().filter(|instance| wanted(instance)) {
            if let Some(item) = self.item(search, instance) {
                items.entry(item).or_default().insert(instance.id);
            }
        }
        let (items, ids): (Vec<_>, Vec<_>) = items.into_iter().take(search.distinct_items).unzip();
        Batch { name, items, ids: ids.into_iter().flatten().collect() }
    }

    /// The batches that combinations of filters are tested with.
    pub(crate) fn batches(&self, search: &Search) -> &[Batch] {
        self.batches.get_or_init(|| self.make_batches(search))
    }

    fn make_batches(&self, search: &Search) -> Vec<Batch> {
        let mut ports: BTreeMap<IpAddr, BTreeSet<i64>> = BTreeMap::new();
        for instance in self.instances.values() {
            ports.entry(instance.ip).or_default().insert(instance.port);
        }
        // Leaves out one port of each address that has several: the search must not find it.
        let is_requested = |instance: &Instance| {
            let left_out = ports.get(&instance.ip).filter(|ports| ports.len() > 1).and_then(BTreeSet::last);
            left_out != Some(&instance.port)
        };
        let v6 = |instance: &Instance| instance.ip.is_ipv6();
        let with_ports = self.with_ports(search, "addresses with ports", is_requested);
        let mixed = self.mixed(search);
        let v6_ports = self.with_ports(search, "IPv6 addresses with ports", |instance| {
            v6(instance) && is_requested(instance)
        });
        let v4_ports = self.with_ports(search, "IPv4 addresses with ports", |instance| {
            !v6(instance) && is_requested(instance)
        });
        let batches = [self.bare(), with_ports, v6_ports, mixed, v4_ports];
        batches.into_iter().filter(|batch| !batch.ids.is_empty()).collect()
    }

    /// Every other address without port, the others with their ports.
    fn mixed(&self, search: &Search) -> Batch {
        let bare: BTreeSet<IpAddr> = self.addresses.iter().step_by(2).copied().collect();
        let mut batch =
            self.with_ports(search, "addresses with and without ports", |i| !bare.contains(&i.ip));
        batch.items.truncate(search.distinct_items.saturating_sub(bare.len()));
        let ported: BTreeSet<_> = batch.items.iter().cloned().collect();
        batch.ids = self.ids_where(|instance| {
            bare.contains(&instance.ip)
                || self.item(search, instance).is_some_and(|item| ported.contains(&item))
        });
        batch.items.extend(bare.iter().map(|ip| self.spelt(*ip)));
        batch
    }
}

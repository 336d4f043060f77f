use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use super::{Instance, Survey};
use crate::contract::Search;

/// Items of `ips`, and the ids of the instances that they find.
#[derive(Debug, Clone)]
pub(crate) struct Batch {
    pub(crate) name: &'static str,
    pub(crate) items: Vec<String>,
    pub(crate) ids: BTreeSet<i64>,
}

impl Survey {
    pub(crate) fn bare(&self) -> Batch {
        self.batch(("addresses", self.items()))
    }

    fn batch(&self, (name, items): (&'static str, Vec<String>)) -> Batch {
        Batch { name, ids: self.found_by(&items), items }
    }

    /// Every address and port at which an instance of the wanted kind was seen.
    pub(crate) fn with_ports(&self, search: &Search, wanted: impl Fn(&Instance) -> bool) -> Vec<String> {
        let wanted = self.instances.values().filter(|instance| wanted(instance));
        let items: BTreeSet<String> = wanted.filter_map(|instance| self.item(search, instance)).collect();
        items.into_iter().take(search.distinct_items).collect()
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
        let of_family = |is_v6| {
            self.with_ports(search, |instance| instance.ip.is_ipv6() == is_v6 && is_requested(instance))
        };
        // Every other address without port, the others with their ports.
        let bare: BTreeSet<IpAddr> = self.addresses.iter().step_by(2).copied().collect();
        let mut mixed = self.with_ports(search, |instance| !bare.contains(&instance.ip));
        mixed.truncate(search.distinct_items.saturating_sub(bare.len()));
        mixed.extend(bare.iter().map(|ip| self.spelt(*ip)));
        let batches = [
            ("addresses", self.items()),
            ("addresses with ports", self.with_ports(search, is_requested)),
            ("IPv6 addresses with ports", of_family(true)),
            ("addresses with and without ports", mixed),
            ("IPv4 addresses with ports", of_family(false)),
        ];
        batches.map(|batch| self.batch(batch)).into_iter().filter(|batch| !batch.ids.is_empty()).collect()
    }
}

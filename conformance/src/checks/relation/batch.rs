use super::*;

impl Survey {
    /// Every address and port at which an instance of the wanted kind was seen.
    pub(crate) fn with_ports(&self, search: &Search, wanted: impl Fn(&Instance) -> bool) -> Vec<String> {
        let wanted = self.instances.values().filter(|instance| wanted(instance));
        let items: BTreeSet<String> = wanted.filter_map(|instance| self.item(search, instance)).collect();
        items.into_iter().take(search.distinct_items).collect()
    }

    /// The batches that combinations of filters are tested with.
    pub(crate) fn batches(&self, search: &Search) -> &[Query] {
        self.batches.get_or_init(|| {
            let mut ports: BTreeMap<IpAddr, BTreeSet<i64>> = BTreeMap::new();
            for instance in self.instances.values() {
                ports.entry(instance.ip).or_default().insert(instance.port);
            }
            // Leaves out one port of each address that has several: the search must not find it.
            let is_requested = |instance: &Instance| {
                let left_out =
                    ports.get(&instance.ip).filter(|ports| ports.len() > 1).and_then(BTreeSet::last);
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
            let batches = batches.map(|(name, items)| Query { name: Some(name), ..Query::new(items) });
            batches.into_iter().filter(|batch| !self.found_by(&batch.items).is_empty()).collect()
        })
    }
}

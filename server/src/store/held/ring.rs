//! The rings of gateways, from which extractions take.

use super::{Limited, limited::Gone};
use crate::domain::extraction::{Endpoint, Parameters, Protocol, Region};

/// The gateways of one protocol and region, in their order around the ring.
#[derive(Debug)]
pub(in crate::store) struct Ring(Vec<(i64, Endpoint)>);

impl Ring {
    /// A ring of gateways that ascend by their place on it; `None` when there are more than `most`.
    pub(in crate::store) fn new(gateways: Vec<(i64, Endpoint)>, most: usize) -> Option<Self> {
        (gateways.len() <= most).then_some(Self(gateways))
    }

    /// The gateways that follow `pivot`, then those before it.
    pub(in crate::store) fn choose(&self, pivot: i64, count: u32) -> Vec<Endpoint> {
        let (before, after) = self.0.split_at(self.0.partition_point(|(place, _)| *place < pivot));
        after.iter().chain(before).take(count as usize).map(|(_, gateway)| gateway.clone()).collect()
    }

    /// How many gateways it has.
    pub(in crate::store) fn len(&self) -> usize {
        self.0.len()
    }
}

/// What is held for each protocol and region.
#[derive(Debug)]
pub(in crate::store) struct Rings<R> {
    http: Limited<Region, R>,
    socks5: Limited<Region, R>,
}

impl<R> Rings<R> {
    pub(in crate::store) fn get(&self, parameters: &Parameters) -> Option<&R> {
        let rings = match parameters.protocol {
            Protocol::Http => &self.http,
            Protocol::Socks5 => &self.socks5,
        };
        rings.get(&parameters.region)
    }

    pub(in crate::store) fn get_mut(&mut self, parameters: &Parameters) -> Option<&mut R> {
        self.of(parameters.protocol).get_mut(&parameters.region)
    }

    /// Holds what takes as much memory as so many gateways, and gives what has to go for it.
    #[must_use = "to let go of much takes its time, and is better done when no lock is held"]
    pub(in crate::store) fn insert(
        &mut self,
        parameters: &Parameters,
        ring: R,
        weight: usize,
    ) -> Gone<Region, R> {
        self.of(parameters.protocol).insert(parameters.region.clone(), ring, weight)
    }

    fn of(&mut self, protocol: Protocol) -> &mut Limited<Region, R> {
        match protocol {
            Protocol::Http => &mut self.http,
            Protocol::Socks5 => &mut self.socks5,
        }
    }
}

impl<R> Default for Rings<R> {
    fn default() -> Self {
        Self { http: Limited::default(), socks5: Limited::default() }
    }
}

//! The number of gateways, counted when the metrics are read, so that no caller waits for it.

use std::time::Duration;

use prometheus_client::{
    encoding::EncodeLabelSet,
    metrics::{family::Family, gauge::Gauge},
};
use tokio::{sync::Mutex, time::Instant};

use crate::store::{Store, Supply};

/// Minimum time between two counts, because each reads every gateway.
const MAX_AGE: Duration = Duration::from_secs(15);

/// Maximum time that reading the metrics waits for the count.
const TIMEOUT: Duration = Duration::from_secs(2);

/// Maximum number of pairs of protocol and region with a label of their own. There are about 250 countries.
const MAX_PAIRS: usize = 1000;

/// The region label for the sum of all other regions.
const OTHER_REGIONS: &str = "*";

/// Gateways by protocol and region.
#[derive(Debug, Default)]
pub(super) struct GatewaySupply {
    gateways: Family<SupplyLabels, Gauge>,
    counted: Mutex<Option<Instant>>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct SupplyLabels {
    protocol: &'static str,
    region: String,
}

impl GatewaySupply {
    pub(super) fn gateways(&self) -> Family<SupplyLabels, Gauge> {
        self.gateways.clone()
    }

    /// Counts again, unless the last count is recent. If counting fails, the metric is left out, because an old number would look
    /// like a current one.
    pub(super) async fn refresh(&self, store: &dyn Store) {
        let mut counted = self.counted.lock().await;
        if counted.is_some_and(|then| then.elapsed() < MAX_AGE) {
            return;
        }
        *counted = None;
        match tokio::time::timeout(TIMEOUT, store.supply()).await {
            Ok(Ok(supply)) => {
                self.set(supply);
                *counted = Some(Instant::now());
                return;
            }
            Ok(Err(error)) => tracing::warn!(%error, "cannot count the gateways"),
            Err(_) => tracing::warn!("cannot count the gateways within {TIMEOUT:?}"),
        }
        self.gateways.clear();
    }

    fn set(&self, supply: Vec<Supply>) {
        self.gateways.clear();
        for (place, Supply { protocol, region, gateways }) in supply.into_iter().enumerate() {
            let region = if place < MAX_PAIRS { region } else { OTHER_REGIONS.to_owned() };
            let stock = SupplyLabels { protocol: protocol.name(), region };
            self.gateways.get_or_create(&stock).inc_by(i64::try_from(gateways).unwrap_or(i64::MAX));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::Protocol;

    fn gauge(supplies: &GatewaySupply, region: &str) -> i64 {
        let stock = SupplyLabels { protocol: Protocol::Http.name(), region: region.to_owned() };
        supplies.gateways.get_or_create(&stock).get()
    }

    #[test]
    fn regions_past_the_bound_are_added_up() {
        let supplies = GatewaySupply::default();
        let regions = 0..MAX_PAIRS + 3;
        let supply =
            |number: usize| Supply { protocol: Protocol::Http, region: format!("R{number}"), gateways: 2 };
        supplies.set(regions.map(supply).collect());
        assert_eq!((gauge(&supplies, "R0"), gauge(&supplies, OTHER_REGIONS)), (2, 6));
        supplies.set(vec![supply(7)]);
        assert_eq!(
            (gauge(&supplies, "R7"), gauge(&supplies, "R0"), gauge(&supplies, OTHER_REGIONS)),
            (2, 0, 0)
        );
    }
}

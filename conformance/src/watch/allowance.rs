use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

pub(super) const DAY: SignedDuration = SignedDuration::from_hours(24);

/// A run that was given gateways.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Extraction {
    /// When it began.
    pub begun: Timestamp,
    /// How many it was given.
    pub gateways: u64,
}

/// Limits the gateways that the runs of any 24 hours extract together. A run with few gateways shows little, so some runs spread
/// over the day get their full number, and the runs between them get none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Allowance {
    /// Gateways in 24 hours.
    pub per_day: u64,
}

impl Allowance {
    /// How many of `wanted` gateways a run that begins now may extract.
    #[must_use]
    pub fn for_run(self, runs: &[Extraction], now: Timestamp, wanted: u64) -> u64 {
        let wanted = wanted.min(self.per_day);
        if wanted == 0 {
            return 0;
        }
        let today = || runs.iter().filter(|run| now.duration_since(run.begun) < DAY);
        let taken = today().map(|run| run.gateways).fold(0, u64::saturating_add);
        let latest = today().map(|run| run.begun).max();
        let is_early = latest.is_some_and(|latest| now.duration_since(latest) < self.distance(wanted));
        if is_early || taken.saturating_add(wanted) > self.per_day { 0 } else { wanted }
    }

    /// When a run may extract again; none if no run may, or one that begins now.
    #[must_use]
    pub fn next(self, runs: &[Extraction], now: Timestamp, wanted: u64) -> Option<Timestamp> {
        let may = |at: &Timestamp| self.for_run(runs, *at, wanted) > 0;
        if may(&now) {
            return None;
        }
        // At these moments, the distance to the latest full run, or the gateways of 24 hours, change.
        let distance = self.distance(wanted);
        let moments = runs.iter().flat_map(|run| [run.begun + distance, run.begun + DAY]);
        moments.filter(|at| *at > now).filter(may).min()
    }

    /// The time between full runs, of which a day has as many as its gateways allow, at even distances.
    fn distance(self, wanted: u64) -> SignedDuration {
        let full = self.per_day / wanted.min(self.per_day).max(1);
        DAY / i32::try_from(full).unwrap_or(i32::MAX).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(hours: i64) -> Timestamp {
        Timestamp::UNIX_EPOCH + SignedDuration::from_hours(hours)
    }

    fn run(hours: i64, gateways: u64) -> Extraction {
        Extraction { begun: at(hours), gateways }
    }

    /// The runs of three days, one every 15 minutes, that take what they may.
    fn extractions(per_day: u64, wanted: u64) -> Vec<Extraction> {
        let (mut runs, mut begun) = (Vec::new(), Timestamp::UNIX_EPOCH);
        for _ in 0..3 * 96 {
            let gateways = Allowance { per_day }.for_run(&runs, begun, wanted);
            runs.extend((gateways > 0).then_some(Extraction { begun, gateways }));
            begun += SignedDuration::from_mins(15);
        }
        runs
    }

    #[test]
    fn no_24_hours_take_more_and_runs_are_spread() {
        for (per_day, wanted) in [(100, 25), (10, 25), (0, 25), (60, 25), (1_000, 4), (100_000, 25)] {
            let runs = extractions(per_day, wanted);
            for Extraction { begun: at, .. } in &runs {
                let is_within = |run: &&Extraction| run.begun >= *at && run.begun.duration_since(*at) < DAY;
                let sum: u64 = runs.iter().filter(is_within).map(|run| run.gateways).sum();
                assert!(sum <= per_day, "{sum} of {per_day} from {at}");
            }
            let all: u64 = runs.iter().map(|run| run.gateways).sum();
            let full = (per_day / wanted.min(per_day).max(1)).min(96) * wanted.min(per_day) * 3;
            assert!(all + 2 * wanted >= full.saturating_sub(full / 4), "{all} of {full}, {per_day} {wanted}");
        }
        let spread = extractions(100, 25);
        let distance = |pair: &[Extraction]| pair[1].begun.duration_since(pair[0].begun);
        assert!(spread.windows(2).all(|pair| distance(pair) >= SignedDuration::from_hours(6)));
        assert!(spread.len() >= 12, "{}", spread.len());
    }

    #[test]
    fn the_next_extraction_is_when_a_run_may_extract_again() {
        // What a target gave beyond the limit counts.
        for (per_day, runs, now, expected) in [
            (100, vec![], 0, None),
            (100, vec![run(0, 25)], 1, Some(6)),
            (100, vec![run(0, 25)], 6, None),
            (100, vec![run(0, 90), run(7, 25)], 8, Some(24)),
            (100, vec![run(0, 500)], 23, Some(24)),
            (0, vec![run(0, 25)], 1, None),
        ] {
            let allowance = Allowance { per_day };
            let next = allowance.next(&runs, at(now), 25);
            assert_eq!(next, expected.map(at), "{per_day} {runs:?}");
            if let Some(next) = next {
                assert!(allowance.for_run(&runs, next, 25) > 0);
                assert_eq!(allowance.for_run(&runs, next - SignedDuration::from_secs(1), 25), 0);
            }
        }
    }
}

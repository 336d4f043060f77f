use jiff::{SignedDuration, Timestamp};

use super::RunRecord;

const DAY: SignedDuration = SignedDuration::from_hours(24);

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
    pub fn for_run(self, records: &[RunRecord], now: Timestamp, wanted: u64) -> u64 {
        let wanted = wanted.min(self.per_day);
        if wanted == 0 {
            return 0;
        }
        let today = records.iter().filter(|record| now.duration_since(record.begun) < DAY);
        let (mut taken, mut latest) = (0_u64, None);
        for record in today.filter(|record| record.gateways > 0) {
            taken = taken.saturating_add(record.gateways);
            latest = latest.max(Some(record.begun));
        }
        // The number of full runs per day, at even distances.
        let runs = i32::try_from(self.per_day / wanted).unwrap_or(i32::MAX).max(1);
        let is_early = latest.is_some_and(|latest| now.duration_since(latest) < DAY / runs);
        if is_early || taken.saturating_add(wanted) > self.per_day { 0 } else { wanted }
    }
}

#[cfg(test)]
mod tests {
    use super::super::trend::tests::run;
    use super::*;

    /// Gateways of the runs of three days, one every 15 minutes, that take what they may.
    fn taken(per_day: u64, wanted: u64) -> Vec<(Timestamp, u64)> {
        let allowance = Allowance { per_day };
        let (mut records, mut now) = (Vec::new(), Timestamp::UNIX_EPOCH);
        for _ in 0..3 * 96 {
            let gateways = allowance.for_run(&records, now, wanted);
            records.push(RunRecord { begun: now, gateways, ..run("conforms", &[], &[]) });
            now += SignedDuration::from_mins(15);
        }
        records.into_iter().map(|record| (record.begun, record.gateways)).collect()
    }

    #[test]
    fn no_24_hours_take_more_and_runs_are_spread() {
        for (per_day, wanted) in [(100, 25), (10, 25), (0, 25), (60, 25), (1_000, 4), (100_000, 25)] {
            let runs = taken(per_day, wanted);
            for (at, _) in &runs {
                let within =
                    |(begun, _): &&(Timestamp, u64)| *begun >= *at && begun.duration_since(*at) < DAY;
                let sum: u64 = runs.iter().filter(within).map(|(_, gateways)| gateways).sum();
                assert!(sum <= per_day, "{sum} of {per_day} from {at}");
            }
            let all: u64 = runs.iter().map(|(_, gateways)| gateways).sum();
            let full = (per_day / wanted.min(per_day).max(1)).min(96) * wanted.min(per_day) * 3;
            assert!(all + 2 * wanted >= full.saturating_sub(full / 4), "{all} of {full}, {per_day} {wanted}");
        }
        let spread: Vec<_> = taken(100, 25).into_iter().filter(|(_, gateways)| *gateways > 0).collect();
        assert!(
            spread
                .windows(2)
                .all(|pair| pair[1].0.duration_since(pair[0].0) >= SignedDuration::from_hours(6))
        );
        assert!(spread.len() >= 12, "{}", spread.len());
    }

    #[test]
    fn what_a_target_gave_beyond_the_limit_counts() {
        let allowance = Allowance { per_day: 100 };
        let begun = Timestamp::UNIX_EPOCH;
        let record = RunRecord { begun, gateways: 500, ..run("findings", &[], &[]) };
        let later = |hours| begun + SignedDuration::from_hours(hours);
        assert_eq!(allowance.for_run(std::slice::from_ref(&record), later(23), 25), 0);
        assert_eq!(allowance.for_run(&[record], later(24), 25), 25);
    }
}

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

    /// When a run may extract again; none if no run may, or one that begins now.
    #[must_use]
    pub fn next(self, records: &[RunRecord], now: Timestamp, wanted: u64) -> Option<Timestamp> {
        let may = |at: &Timestamp| self.for_run(records, *at, wanted) > 0;
        if may(&now) {
            return None;
        }
        // At these moments, the distance to the latest full run, or the gateways of 24 hours, change.
        let runs = i32::try_from(self.per_day / wanted.min(self.per_day).max(1)).unwrap_or(i32::MAX).max(1);
        let extracting = records.iter().filter(|record| record.gateways > 0);
        let moments = extracting.flat_map(|record| [record.begun + DAY / runs, record.begun + DAY]);
        moments.filter(|at| *at > now).filter(may).min()
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
    fn the_next_extraction_is_when_a_run_may_extract_again() {
        let begun = Timestamp::UNIX_EPOCH;
        let record = |hours, gateways| {
            let begun = begun + SignedDuration::from_hours(hours);
            RunRecord { begun, gateways, ..run("conforms", &[], &[]) }
        };
        let later = |hours| begun + SignedDuration::from_hours(hours);
        for (per_day, records, now, expected) in [
            (100, vec![], 0, None),
            (100, vec![record(0, 25), record(1, 0)], 1, Some(6)),
            (100, vec![record(0, 25)], 6, None),
            (100, vec![record(0, 90), record(7, 25)], 8, Some(24)),
            (100, vec![record(0, 500)], 23, Some(24)),
            (0, vec![record(0, 25)], 1, None),
        ] {
            let allowance = Allowance { per_day };
            let next = allowance.next(&records, later(now), 25);
            assert_eq!(next, expected.map(later), "{per_day} {records:?}");
            if let Some(next) = next {
                assert!(allowance.for_run(&records, next, 25) > 0);
                assert_eq!(allowance.for_run(&records, next - SignedDuration::from_secs(1), 25), 0);
            }
        }
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

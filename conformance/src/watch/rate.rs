use std::fmt;

/// How often something was seen in a number of runs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Rate {
    /// Runs in which it was seen.
    pub seen: u64,
    /// Runs that could show it.
    pub runs: u64,
}

impl Rate {
    /// The 95 % interval of the probability, from 0 to 1, by Wilson's score: it stays within these bounds and is right for few
    /// runs, too. Without a run nothing is known.
    #[must_use]
    pub fn interval(self) -> (f64, f64) {
        /// Standard deviations on both sides that hold 95 % of a normal distribution.
        const Z: f64 = 1.959_963_984_540_054;
        if self.runs == 0 {
            return (0.0, 1.0);
        }
        let runs = self.runs as f64;
        let share = self.seen.min(self.runs) as f64 / runs;
        let (square, whole) = (Z * Z, 1.0 + Z * Z / runs);
        let centre = (share + square / (2.0 * runs)) / whole;
        let half = Z * (share * (1.0 - share) / runs + square / (4.0 * runs * runs)).sqrt() / whole;
        // At the ends the formula gives them, but for rounding.
        let low = if self.seen == 0 { 0.0 } else { centre - half };
        let high = if self.seen >= self.runs { 1.0 } else { centre + half };
        (low.max(0.0), high.min(1.0))
    }
}

impl fmt::Display for Rate {
    /// "3 of 40 runs, 95 % interval 2.6 % to 19.9 %"
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (low, high) = self.interval();
        let runs = if self.runs == 1 { "run" } else { "runs" };
        write!(
            f,
            "{} of {} {runs}, 95 % interval {:.1} % to {:.1} %",
            self.seen,
            self.runs,
            low * 100.0,
            high * 100.0
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_wilsons() {
        // By the formula, computed apart.
        let cases = [
            ((3, 40), (0.025_8, 0.198_6)),
            ((0, 10), (0.0, 0.277_5)),
            ((10, 10), (0.722_5, 1.0)),
            ((1, 1), (0.206_5, 1.0)),
            ((0, 0), (0.0, 1.0)),
        ];
        for ((seen, runs), (low, high)) in cases {
            let found = Rate { seen, runs }.interval();
            assert!(
                (found.0 - low).abs() < 1e-4 && (found.1 - high).abs() < 1e-4,
                "{seen} of {runs}: {found:?}"
            );
        }
        assert_eq!(Rate { seen: 3, runs: 40 }.to_string(), "3 of 40 runs, 95 % interval 2.6 % to 19.9 %");
    }

    #[test]
    fn an_interval_holds_its_share_and_narrows() {
        for runs in 1..200 {
            for seen in 0..=runs {
                let (low, high) = Rate { seen, runs }.interval();
                let share = seen as f64 / runs as f64;
                assert!(low <= share && share <= high && (0.0..=1.0).contains(&low) && high <= 1.0);
                let (narrower, wider) = Rate { seen: seen * 10, runs: runs * 10 }.interval();
                assert!(wider - narrower < high - low);
            }
        }
    }
}

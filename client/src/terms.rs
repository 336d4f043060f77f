use crate::{Integer, TermRule};

impl TermRule {
    /// Whether a term of this many days is permitted (`search.capabilities`).
    ///
    /// Non-empty `allowed_days` decide alone. Otherwise a term is at least `min_days` (1 when absent or 0), at most `max_days`
    /// (no maximum when absent or 0), and a whole number of `step_days` longer than the shortest (any when absent or 0). A
    /// rule does not replace the validation when an order is submitted.
    ///
    /// ```
    /// use sallyport_client::TermRule;
    ///
    /// let rule: TermRule = serde_json::from_str(r#"{"minDays": 30, "maxDays": 0, "stepDays": 30}"#)?;
    /// assert!(rule.allows(30) && rule.allows(3600) && !rule.allows(45));
    /// let rule: TermRule = serde_json::from_str(r#"{"allowedDays": [7, 30], "minDays": 60}"#)?;
    /// assert!(rule.allows(7) && !rule.allows(60));
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub fn allows(&self, days: impl Integer) -> bool {
        let days = days.to_i64();
        if !self.allowed_days.is_empty() {
            return self.allowed_days.contains(&days);
        }
        let shortest = self.shortest();
        days >= shortest
            && self.longest().is_none_or(|longest| days <= longest)
            && (days - shortest) % self.step() == 0
    }

    /// The permitted terms in days, ascending and without duplicates. Without a maximum the list is endless; take what you
    /// need of it.
    ///
    /// ```
    /// use sallyport_client::TermRule;
    ///
    /// let rule: TermRule = serde_json::from_str(r#"{"minDays": 30, "stepDays": 30}"#)?;
    /// assert_eq!(rule.days().take(3).collect::<Vec<_>>(), [30, 60, 90]);
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub fn days(&self) -> impl Iterator<Item = i64> + 'static {
        let mut allowed = self.allowed_days.clone();
        allowed.retain(|days| *days >= 0);
        allowed.sort_unstable();
        allowed.dedup();
        let (shortest, longest, step) = (self.shortest(), self.longest().unwrap_or(i64::MAX), self.step());
        let is_list = !self.allowed_days.is_empty();
        let next = move |days: &i64| days.checked_add(step);
        let range = std::iter::successors((!is_list).then_some(shortest), next)
            .take_while(move |days| *days <= longest);
        allowed.into_iter().chain(range)
    }

    fn shortest(&self) -> i64 {
        self.min_days.filter(|days| *days > 0).unwrap_or(1)
    }

    /// `None` is no maximum.
    fn longest(&self) -> Option<i64> {
        self.max_days.filter(|days| *days > 0)
    }

    fn step(&self) -> i64 {
        self.step_days.filter(|days| *days > 0).unwrap_or(1)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn rule(allowed: &[i64], minimum: Option<i64>, maximum: Option<i64>, step: Option<i64>) -> TermRule {
        let allowed_days = allowed.to_vec();
        TermRule { allowed_days, min_days: minimum, max_days: maximum, step_days: step }
    }

    #[test]
    fn allowed_days_decide_alone() {
        let rule = rule(&[90, 7, 30, 7, -1], Some(60), Some(60), Some(60));
        assert_eq!(rule.days().collect::<Vec<_>>(), [7, 30, 90]);
        assert!(rule.allows(90) && !rule.allows(60));
    }

    #[test]
    fn zero_and_absent_are_no_limit() {
        for none in [None, Some(0), Some(-5)] {
            let rule = rule(&[], none, none, none);
            assert!(!rule.allows(0) && rule.allows(1) && rule.allows(u32::MAX));
            assert_eq!(rule.days().take(3).collect::<Vec<_>>(), [1, 2, 3]);
        }
    }

    #[test]
    fn steps_count_from_the_shortest_term() {
        let rule = rule(&[], Some(10), Some(30), Some(7));
        assert_eq!(rule.days().collect::<Vec<_>>(), [10, 17, 24]);
        assert!(!rule.allows(31) && !rule.allows(30) && !rule.allows(7));
    }

    #[test]
    fn extreme_numbers_neither_overflow_nor_hang() {
        let rule = rule(&[], Some(i64::MAX), Some(i64::MAX), Some(i64::MAX));
        assert_eq!(rule.days().collect::<Vec<_>>(), [i64::MAX]);
        assert!(rule.allows(u64::MAX) && !rule.allows(u32::MAX));
    }

    proptest! {
        #[test]
        fn the_list_holds_what_is_allowed(
            allowed in proptest::collection::vec(0i64..40, 0..4),
            minimum in proptest::option::of(0i64..40),
            maximum in proptest::option::of(0i64..40),
            step in proptest::option::of(0i64..9),
        ) {
            let rule = rule(&allowed, minimum, maximum, step);
            let listed: Vec<i64> = rule.days().take_while(|days| *days < 50).collect();
            let expected: Vec<i64> = (0..50).filter(|days| rule.allows(*days)).collect();
            prop_assert_eq!(listed, expected);
        }
    }
}

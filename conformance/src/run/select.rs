use crate::check::Check;

/// Which checks run.
#[derive(Debug, Clone, Default)]
pub struct Selection {
    /// Only checks that one of these matches; empty for all.
    pub only: Vec<Glob>,
    /// No check that one of these matches.
    pub skip: Vec<Glob>,
}

/// A pattern on check ids, clause ids and operations; `*` stands for any text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Glob(String);

impl Glob {
    /// A pattern.
    #[must_use]
    pub fn new(pattern: impl Into<String>) -> Self {
        Self(pattern.into())
    }

    /// Whether a text fits the whole pattern.
    #[must_use]
    pub fn matches(&self, text: &str) -> bool {
        let mut parts = self.0.split('*');
        let first = parts.next().unwrap_or_default();
        let Some(mut rest) = text.strip_prefix(first) else { return false };
        let parts: Vec<&str> = parts.collect();
        let Some((last, middle)) = parts.split_last() else { return rest.is_empty() };
        for part in middle {
            let Some(found) = rest.find(part) else { return false };
            rest = &rest[found + part.len()..];
        }
        rest.ends_with(last)
    }

    /// The pattern as it was written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether it fits the check's id, one of its clauses or its operation.
    #[must_use]
    pub fn selects(&self, check: &Check) -> bool {
        let operation = check.operation.map(|operation| operation.prefix());
        self.matches(check.id)
            || check.clauses.iter().any(|clause| self.matches(clause.id()))
            || operation.is_some_and(|operation| self.matches(operation))
    }
}

impl std::str::FromStr for Glob {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(Self::new(text))
    }
}

impl Selection {
    /// The checks that run, in their order.
    #[must_use]
    pub fn choose(&self, checks: &[&'static Check]) -> Vec<&'static Check> {
        let chosen = |check: &&&'static Check| {
            let wanted = self.only.is_empty() || self.only.iter().any(|glob| glob.selects(check));
            wanted && !self.skip.iter().any(|glob| glob.selects(check))
        };
        checks.iter().filter(chosen).copied().collect()
    }

    /// A pattern that selects no check at all, most likely a slip.
    #[must_use]
    pub fn idle<'a>(&'a self, checks: &[&'static Check]) -> Option<&'a Glob> {
        self.only.iter().chain(&self.skip).find(|glob| !checks.iter().any(|check| glob.selects(check)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::registry;
    use crate::contract::Clause;

    #[test]
    fn stars_stand_for_any_text() {
        let matches = |pattern: &str, text: &str| Glob::new(pattern).matches(text);
        assert!(matches("search.*", "search.page.range"));
        assert!(matches("*", ""));
        assert!(matches("*.page.*", "search.page.range"));
        assert!(matches("a*b*b", "abb"));
        assert!(matches("search", "search"));
        assert!(!matches("search", "search.page"));
        assert!(!matches("a*a", "a"));
        assert!(!matches("", "a"));
        assert!(!matches("*.page", "search.page.range"));
    }

    #[test]
    fn only_and_skip_look_at_id_clause_and_operation() {
        let checks = registry();
        let choose = |only: &[&str], skip: &[&str]| {
            let globs = |patterns: &[&str]| patterns.iter().map(|pattern| Glob::new(*pattern)).collect();
            Selection { only: globs(only), skip: globs(skip) }.choose(&checks)
        };
        assert_eq!(choose(&[], &[]).len(), checks.len());
        assert!(choose(&["extract"], &[]).iter().all(|check| check.id.starts_with("extract.")));
        assert!(
            choose(&["groups.order"], &[]).iter().all(|check| check.clauses.contains(&Clause::GroupsOrder))
        );
        assert!(choose(&[], &["*"]).is_empty());
        let none = Selection { only: vec![Glob::new("serch.*")], skip: Vec::new() };
        assert_eq!(none.idle(&checks).map(Glob::as_str), Some("serch.*"));
    }
}

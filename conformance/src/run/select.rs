use clap::Args;

use crate::check::Check;

/// Which checks and cases run: arguments, and keys of the configuration.
#[derive(Debug, Clone, Default, Args)]
pub struct Selection {
    /// Run only checks whose id, clause or operation matches, for example `groups.*`, or one case, as `check-id/case-label`;
    /// may be repeated.
    #[arg(long, value_name = "GLOB")]
    pub only: Vec<Glob>,
    /// Skip checks whose id, clause or operation matches, or one case; may be repeated.
    #[arg(long, value_name = "GLOB")]
    pub skip: Vec<Glob>,
}

/// A pattern on check ids, clause ids and operations, or on `check-id/case-label`; `*` stands for any text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Glob(String);

impl Glob {
    /// A pattern.
    pub fn new(pattern: impl Into<String>) -> Self {
        Self(pattern.into())
    }

    /// Whether the whole pattern matches a text.
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
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether it matches the check's id, one of its clauses or its operation.
    pub fn selects(&self, check: &Check) -> bool {
        let operation = check.operation.map(|operation| operation.id());
        self.matches(check.id)
            || check.clauses.iter().any(|clause| self.matches(clause.id()))
            || operation.is_some_and(|operation| self.matches(operation))
    }

    /// Whether it matches the whole check, or this case of it. Only a pattern with a `/` can match a case.
    pub fn selects_case(&self, check: &Check, label: &str) -> bool {
        self.may_select(check) && (self.selects(check) || self.matches(&format!("{}/{label}", check.id)))
    }

    /// Whether it matches the check, or may match a case of it.
    fn may_select(&self, check: &Check) -> bool {
        let check_of_case = self.0.split_once('/').map(|(id, _)| Self::new(id));
        self.selects(check) || check_of_case.is_some_and(|id| id.matches(check.id))
    }
}

impl From<&str> for Glob {
    fn from(text: &str) -> Self {
        Self::new(text)
    }
}

impl Selection {
    /// What this one selects, or else `under`, without what either skips.
    #[must_use]
    pub fn over(&self, under: Self) -> Self {
        let only = if self.only.is_empty() { under.only } else { self.only.clone() };
        Self { only, skip: [under.skip, self.skip.clone()].concat() }
    }

    /// Whether a case of a check may run: cheaper to know than its cases, some of which hold tens of thousands of addresses.
    pub(super) fn may_include(&self, check: &Check) -> bool {
        self.only.is_empty() || self.only.iter().any(|glob| glob.may_select(check))
    }

    /// Whether a case of a check runs.
    pub fn includes(&self, check: &Check, label: &str) -> bool {
        let wanted = self.only.is_empty() || self.only.iter().any(|glob| glob.selects_case(check, label));
        wanted && !self.skip.iter().any(|glob| glob.selects_case(check, label))
    }

    /// A pattern that matches no check, most likely a typing error.
    pub fn idle<'a>(&'a self, checks: &[&'static Check]) -> Option<&'a Glob> {
        self.only.iter().chain(&self.skip).find(|glob| !checks.iter().any(|check| glob.may_select(check)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_stand_for_any_text() {
        let [id, pages] = ["search.page.range", "search.page"];
        for (pattern, text) in
            [("search.*", id), ("*", ""), ("*.page.*", id), ("a*b*b", "abb"), ("search", "search")]
        {
            assert!(Glob::new(pattern).matches(text), "{pattern} {text}");
        }
        for (pattern, text) in [("search", pages), ("a*a", "a"), ("", "a"), ("*.page", id)] {
            assert!(!Glob::new(pattern).matches(text), "{pattern} {text}");
        }
    }
}

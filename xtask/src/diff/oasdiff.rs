//! The kinds of changes that oasdiff knows, and the rule of ours for each.

/// The rows of the table in CHANGES.md: ids of oasdiff, in which `{a,b}` stands for each of its words; our rules for them; a
/// remark where the verdicts differ. The second cell says `rejected by` where a rule of the lint rejects the keyword, so that no
/// document of ours can have the change, and `–` where OpenAPI 3.0.3 cannot express it.
pub(crate) const TABLE: &str = include_str!("oasdiff.md");

/// What becomes of a kind of change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Counterpart {
    /// A rule of ours, or `cargo xtask check`, reports it.
    Covered,
    /// The lint rejects the document.
    Rejected,
    /// OpenAPI 3.0.3 cannot express it.
    Absent,
}

/// Every id of oasdiff in the table, with what becomes of it.
pub(crate) fn kinds() -> impl Iterator<Item = (String, Counterpart)> {
    TABLE.lines().flat_map(|row| {
        let [ids, here, _] = cells(row);
        let counterpart = match here {
            "–" => Counterpart::Absent,
            here if here.starts_with("rejected by ") => Counterpart::Rejected,
            _ => Counterpart::Covered,
        };
        let patterns = ids.split("<br>").map(|id| id.trim_matches('`'));
        patterns.flat_map(expanded).map(move |id| (id, counterpart))
    })
}

/// Ids, rules and remark of a row.
fn cells(row: &str) -> [&str; 3] {
    let mut cells = row.trim_matches('|').splitn(3, " | ").map(str::trim);
    [(); 3].map(|()| cells.next().unwrap_or_default())
}

/// The ids that a pattern stands for.
fn expanded(pattern: &str) -> Vec<String> {
    let Some((before, rest)) = pattern.split_once('{') else { return vec![pattern.to_owned()] };
    let Some((words, after)) = rest.split_once('}') else { return vec![pattern.to_owned()] };
    let after = expanded(after);
    words.split(',').flat_map(|word| after.iter().map(move |end| format!("{before}{word}{end}"))).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::diff::rules::RULES;

    #[test]
    fn each_kind_is_listed_once() {
        let mut seen = BTreeSet::new();
        for (kind, _) in kinds() {
            assert!(!kind.contains(['{', '}', ',', '`', '|']) && !kind.contains("--"), "{kind}");
            assert!(seen.insert(kind.clone()), "duplicate {kind}");
        }
        assert!(seen.len() > 450, "only {} kinds", seen.len());
    }

    #[test]
    fn rows_name_rules_that_exist_and_give_a_reason_where_they_name_none() {
        for row in TABLE.lines() {
            assert!(row.starts_with("| `") && row.ends_with(" |"), "{row}");
            let [_, here, remark] = cells(row);
            if here == "–" || here == "`cargo xtask check`" {
                assert!(!remark.is_empty(), "{row}");
            } else if !here.starts_with("rejected by ") {
                for id in here.split(", ") {
                    assert!(RULES.iter().any(|rule| id.trim_matches('`') == rule.id), "{id} in {row}");
                }
            }
        }
    }

    #[test]
    fn braces_stand_for_each_of_their_words() {
        assert_eq!(expanded("a-{b,c-}{,d}"), ["a-b", "a-bd", "a-c-", "a-c-d"]);
        assert_eq!(expanded("plain"), ["plain"]);
    }
}

//! A misspelt keyword is one that every generator ignores.

use super::{Lint, Rule};

pub(super) const RULE: Rule =
    Rule { id: "unknown-keyword", refuses: "a keyword or an `x-` extension that nobody reads", run };

fn run(lint: &mut Lint<'_>) {
    for node in lint.nodes.clone() {
        if node.value.get("$ref").is_some() {
            continue;
        }
        let known = node.part.keywords();
        for (keyword, _) in node.members() {
            let refused = super::unsupported_keywords::advice(node.part, keyword).is_some();
            if refused || known.iter().any(|(name, _)| *name == keyword) {
                continue;
            }
            let kind = if keyword.starts_with("x-") { "extension" } else { "keyword" };
            let help = match nearest(keyword, known.iter().map(|(name, _)| *name)) {
                Some(name) => format!("did you mean `{name}`?"),
                None => {
                    let names: Vec<_> = known.iter().map(|(name, _)| *name).collect();
                    format!("remove it; here may stand {}", names.join(", "))
                }
            };
            lint.refuse(&node, node.at(keyword), format!("unknown {kind} `{keyword}`"), help);
        }
    }
}

/// The name that `word` was probably meant to be: at most a third of it differs.
fn nearest<'n>(word: &str, names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let lower = word.to_lowercase();
    names
        .map(|name| (distance(&lower, &name.to_lowercase()), name))
        .filter(|(distance, name)| *distance * 3 <= name.len().max(3))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

/// Levenshtein's distance: insertions, deletions and replacements from `a` to `b`.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, to) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(from != *to);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_offered_only_when_it_is_near() {
        assert_eq!(nearest("minimun", ["minimum", "maximum"].into_iter()), Some("minimum"));
        assert_eq!(nearest("xyz", ["minimum", "type"].into_iter()), None);
        assert_eq!(distance("kitten", "sitting"), 3);
    }
}

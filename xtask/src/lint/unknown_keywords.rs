//! Unknown keywords, such as misspelt ones, which every generator would ignore.

use super::{Lint, Rule};

pub(super) const RULE: Rule =
    Rule { id: "unknown-keyword", rejects: "an unknown keyword or `x-` extension", run };

fn run(lint: &mut Lint<'_>) {
    for node in lint.nodes.clone() {
        if node.value.get("$ref").is_some() {
            continue;
        }
        let known = node.part.keywords();
        for (keyword, _) in node.members() {
            let is_unsupported = super::unsupported_keywords::advice(node.part, keyword).is_some();
            if is_unsupported || known.iter().any(|(name, _)| *name == keyword) {
                continue;
            }
            let kind = if keyword.starts_with("x-") { "extension" } else { "keyword" };
            let help = match nearest(keyword, known.iter().map(|(name, _)| *name)) {
                Some(name) => format!("did you mean `{name}`?"),
                None => {
                    let names: Vec<_> = known.iter().map(|(name, _)| *name).collect();
                    format!("remove it; expected one of: {}", names.join(", "))
                }
            };
            lint.report(&node, node.at(keyword), format!("unknown {kind} `{keyword}`"), help);
        }
    }
}

/// The most similar name; `None` when more than a third of it differs.
fn nearest<'n>(word: &str, names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let lower = word.to_lowercase();
    names
        .map(|name| (distance(&lower, &name.to_lowercase()), name))
        .filter(|(distance, name)| *distance * 3 <= name.len().max(3))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

/// Levenshtein distance: insertions, deletions and replacements from `a` to `b`.
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
    fn the_most_similar_name_is_suggested() {
        assert_eq!(nearest("minimun", ["minimum", "maximum"].into_iter()), Some("minimum"));
        assert_eq!(nearest("xyz", ["minimum", "type"].into_iter()), None);
        assert_eq!(distance("kitten", "sitting"), 3);
    }
}

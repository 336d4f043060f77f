//! Paths of operations: their form, two of them that a request could mean at once, and the prefix that a clause promises.

use super::{Lint, Node, Part};
use crate::{document::unescaped, model::Citation};

pub(super) fn run(lint: &mut Lint<'_>) {
    for node in lint.parts(Part::PathItem) {
        let path = path(&node);
        if let Some(why) = fault(&path) {
            let help = "write `/` and segments of ASCII letters, digits, `.`, `_`, `~` and `-`, or of one parameter, such as \
                        /openapi/v1/groups/{groupId}";
            lint.report(&node, node.pointer.clone(), format!("invalid path `{path}`: {why}"), help);
        }
        let has_operation = node.members().next().is_some();
        if !has_operation {
            let help = "remove it, or add one";
            lint.report(&node, node.pointer.clone(), format!("the path `{path}` has no operation"), help);
        }
    }
    ambiguities(lint);
    let clauses: Vec<(String, String)> = lint
        .parts(Part::Clause)
        .iter()
        .filter_map(|clause| Some((clause.text("id")?.to_owned(), clause.text("text")?.to_owned())))
        .collect();
    for item in lint.parts(Part::PathItem) {
        let path = path(&item);
        let inside = format!("{}/", item.pointer);
        let operations =
            lint.parts(Part::Operation).into_iter().filter(|one| one.pointer.starts_with(&inside));
        for operation in operations.collect::<Vec<_>>() {
            let citation = Citation::read(operation.value).unwrap_or_default();
            for id in citation.all() {
                let Some((_, text)) = clauses.iter().find(|(clause, _)| clause == id) else { continue };
                for prefix in prefixes(text).filter(|prefix| !has_prefix(&path, prefix)) {
                    let message =
                        format!("the path `{path}` does not start with `{prefix}`, which `{id}` names");
                    let help = "change the path, or the text of the clause";
                    lint.report(&operation, item.pointer.clone(), message, help);
                }
            }
        }
    }
}

/// Where two paths are the same up to a segment that one of them has as a parameter and the other as a text or under another
/// name. The server cannot route such paths, and OpenAPI leaves open which of them a request means.
fn ambiguities(lint: &mut Lint<'_>) {
    let nodes = lint.parts(Part::PathItem);
    for (index, node) in nodes.iter().enumerate() {
        let path = path(node);
        for other in nodes[..index].iter().map(self::path) {
            let mut pairs = path.split('/').zip(other.split('/')).skip_while(|(one, other)| one == other);
            let Some((one, two)) = pairs.next() else { continue };
            if one.starts_with('{') || two.starts_with('{') {
                let message = format!("`{path}` has `{one}` where `{other}` has `{two}`");
                let help = "give the parameter one name in both, or put it behind another text";
                lint.report(node, node.pointer.clone(), message, help);
            }
        }
    }
}

fn path(node: &Node<'_>) -> String {
    unescaped(node.pointer.trim_start_matches("/paths/"))
}

/// What is wrong with a path.
fn fault(path: &str) -> Option<&'static str> {
    let Some(rest) = path.strip_prefix('/') else { return Some("it does not start with `/`") };
    if path.contains(['?', '#']) {
        return Some("it has a query or a fragment");
    }
    let mut names = Vec::new();
    for segment in rest.split('/') {
        if let Some(name) = segment.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')) {
            if name.is_empty() || name.contains(['{', '}']) {
                return Some("a parameter has no name");
            }
            if names.contains(&name) {
                return Some("a parameter occurs twice");
            }
            names.push(name);
            continue;
        }
        let plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '.' | '_' | '~' | '-');
        if segment.is_empty() {
            return Some("it has an empty segment");
        } else if matches!(segment, "." | "..") {
            return Some("it has a relative segment");
        } else if !segment.chars().all(plain) {
            return Some("a segment contains an invalid character");
        }
    }
    None
}

/// The paths that a text names: two segments at least, so that `/br` is none.
fn prefixes(text: &str) -> impl Iterator<Item = &str> {
    let trimmed =
        text.split_whitespace().map(|word| word.trim_matches(['`', '.', ',', ';', ':', '(', ')', '"']));
    trimmed.filter(|word| word.starts_with('/') && word.matches('/').count() >= 2)
}

fn has_prefix(path: &str, prefix: &str) -> bool {
    path.strip_prefix(prefix.trim_end_matches('/'))
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_has_plain_segments() {
        assert_eq!(fault("/openapi/v1/a-b_c.d~e"), None);
        assert_eq!(fault("/openapi/v1/groups/{groupId}/members/{memberId}"), None);
        for path in [
            "/a/{}",
            "/a/x{id}",
            "/a/{id}/{id}",
            "/a/{{id}}",
            "/a/{id",
            "openapi",
            "/a//b",
            "/a/",
            "/",
            "/a?b=c",
            "/a#b",
            "/a/../b",
            "/a b",
            "/ä",
        ] {
            assert!(fault(path).is_some(), "{path}");
        }
    }

    #[test]
    fn a_prefix_ends_at_a_segment() {
        let text = "The path of every operation starts with /openapi/v1. The text /br is none.";
        assert_eq!(prefixes(text).collect::<Vec<_>>(), ["/openapi/v1"]);
        assert!(has_prefix("/openapi/v1/x", "/openapi/v1") && has_prefix("/openapi/v1", "/openapi/v1/"));
        assert!(!has_prefix("/openapi/v10/x", "/openapi/v1") && !has_prefix("/openapi/v2/x", "/openapi/v1"));
    }
}

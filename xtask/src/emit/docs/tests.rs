//! The page shows the whole document, shows nothing else, and asks for nothing.

use std::collections::BTreeSet;

use serde_json::Value;

use super::*;
use crate::fixture::{contract as document, pointers};

fn page(document: &Document) -> String {
    emit(document).unwrap().remove(0).contents
}

/// What stands in quotes after `name=`, each time.
fn attributes<'a>(page: &'a str, name: &str) -> Vec<&'a str> {
    let start = format!(" {name}=\"");
    page.match_indices(&start)
        .map(|(at, _)| &page[at + start.len()..])
        .map(|rest| &rest[..rest.find('"').unwrap()])
        .collect()
}

/// The values at all pointers that end with one of `keys`.
fn values_of<'a>(document: &'a Document, keys: &[&str]) -> Vec<&'a Value> {
    let mut pointers = pointers(document.root(), "");
    pointers.retain(|at| at.rsplit('/').next().is_some_and(|key| keys.contains(&key)));
    pointers.iter().filter_map(|at| document.get(at)).collect()
}

#[test]
fn every_operation_parameter_header_property_clause_and_unspecified_behaviour_has_its_place() {
    let document = document();
    let contract = Contract::read(&document).unwrap();
    let page = page(&document);
    let places: BTreeSet<_> = attributes(&page, "id").into_iter().collect();
    let mut expected = Vec::new();
    for operation in &contract.operations {
        expected.push(operation.id.clone());
        for parameter in &operation.parameters {
            expected.push(format!("{}-{}-{}", operation.id, parameter.location, parameter.name));
        }
        for property in operation.body.iter().flat_map(|body| body.schema.properties()) {
            expected.push(format!("{}-body-{}", operation.id, property.name));
        }
        for response in operation.responses() {
            let anchor = format!("{}-{}", operation.id, response.status);
            expected.extend(response.headers.iter().map(|header| format!("{anchor}-{}", header.name)));
            expected.push(anchor);
        }
    }
    for schema in &contract.schemas {
        let anchor = format!("schema-{}", schema.name.as_deref().unwrap());
        expected.extend(schema.properties().iter().map(|property| format!("{anchor}-{}", property.name)));
        expected.push(anchor);
    }
    expected.extend(contract.clauses.iter().map(|clause| format!("clause-{}", clause.id)));
    expected.extend(contract.unspecified.iter().map(|open| format!("unspecified-{}", open.id)));
    for anchor in expected {
        assert!(places.contains(anchor.as_str()), "no place for {anchor}");
    }
}

#[test]
fn every_sentence_of_the_document_is_shown() {
    let document = document();
    let page = page(&document);
    let found = values_of(&document, &["description", "summary", "text", "reason", "section"]);
    assert!(found.len() > 200, "{}", found.len());
    for text in found.into_iter().filter_map(Value::as_str) {
        let (paragraphs, line) = (prose::paragraphs(text), prose::line(text));
        assert!(page.contains(&paragraphs) || page.contains(&line), "not shown: {text}");
    }
}

#[test]
fn every_example_is_shown() {
    let document = document();
    let page = page(&document);
    let found = values_of(&document, &["example"]);
    assert!(!found.is_empty());
    for example in found {
        let forms =
            [words::value(example), format!("{example:#}"), example.as_str().unwrap_or_default().to_owned()];
        let shown =
            |form: &String| !form.is_empty() && page.contains(&minijinja::HtmlEscape(form).to_string());
        assert!(forms.iter().any(shown), "not shown: {example}");
    }
}

#[test]
fn hostile_text_stays_text() {
    const HOSTILE: &str =
        "`<img src=x onerror=alert(1)>` \"'&</script></style><!-- the server's catalogue -->**<b>**";
    const TEXTS: &str = "description summary text reason section title version url email default equals";
    fn spoil(value: &mut Value, inside: bool) {
        match value {
            Value::Object(members) => {
                for (key, member) in members {
                    let own = TEXTS.split(' ').any(|text| text == key) && member.is_string();
                    spoil(member, inside || own || matches!(key.as_str(), "example" | "enum"));
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| spoil(item, inside)),
            Value::String(text) if inside => text.push_str(HOSTILE),
            _ => {}
        }
    }
    let document = document();
    let mut root = document.root().clone();
    spoil(&mut root, false);
    let (harmless, spoiled) = (page(&document), page(&document.with_root(root)));
    assert!(spoiled.contains("&lt;img src=x onerror=alert(1)&gt;"));
    for tag in ["<img", "<b>", "<script", "</script", "<style", "</style", "<!--", "<article", "<tr"] {
        assert_eq!(spoiled.matches(tag).count(), harmless.matches(tag).count(), "{tag}");
    }
    assert_eq!(attributes(&spoiled, "id"), attributes(&harmless, "id"));
    assert_eq!(attributes(&spoiled, "onerror"), Vec::<&str>::new());
}

#[test]
fn every_link_leads_to_one_place_on_the_page() {
    let page = page(&document());
    let places = attributes(&page, "id");
    let unique: BTreeSet<_> = places.iter().collect();
    assert_eq!(unique.len(), places.len(), "an id stands twice");
    for link in attributes(&page, "href") {
        // The empty picture that keeps a browser from asking for one.
        if link == "data:," {
            continue;
        }
        let place = link.strip_prefix('#').unwrap_or_else(|| panic!("a link off the page: {link}"));
        assert!(unique.contains(&place), "{link} leads nowhere");
    }
}

#[test]
fn nothing_is_loaded_and_only_the_own_style_and_script_may_be() {
    let page = page(&document());
    for way in [
        " src=",
        " srcset=",
        "url(",
        "@import",
        "fetch(",
        "XMLHttpRequest",
        "<iframe",
        " style=\"",
        " onclick=",
    ] {
        assert!(!page.contains(way), "{way}");
    }
    for (element, text) in [("style", STYLE), ("script", SCRIPT)] {
        assert_eq!(page.matches(&format!("<{element}>{text}</{element}>")).count(), 1, "{element}");
        let hash = BASE64_STANDARD.encode(Sha256::digest(text));
        let allowed = minijinja::HtmlEscape(&format!("{element}-src 'sha256-{hash}'")).to_string();
        assert!(page.contains(&allowed), "{allowed}");
    }
}

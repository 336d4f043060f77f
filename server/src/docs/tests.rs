//! The page shows the whole document and the catalogue, shows nothing else, and asks for nothing.

use std::collections::BTreeSet;

use super::*;

/// What stands in quotes after `name=`, each time.
fn attributes<'a>(page: &'a str, name: &str) -> Vec<&'a str> {
    let start = format!(" {name}=\"");
    page.match_indices(&start)
        .map(|(at, _)| &page[at + start.len()..])
        .map(|rest| &rest[..rest.find('"').unwrap()])
        .collect()
}

/// The values of `keys` in a value and inside of it.
fn values_of<'a>(value: &'a Value, keys: &[&str]) -> Vec<&'a Value> {
    let inside = |value| values_of(value, keys);
    match value {
        Value::Object(members) => {
            let own = members.iter().filter(|(key, _)| keys.contains(&key.as_str())).map(|(_, value)| value);
            own.chain(members.values().flat_map(inside)).collect()
        }
        Value::Array(items) => items.iter().flat_map(inside).collect(),
        _ => Vec::new(),
    }
}

fn members<'a>(value: &'a Value, pointer: &str) -> impl Iterator<Item = (&'a String, &'a Value)> {
    value.pointer(pointer).and_then(Value::as_object).into_iter().flatten()
}

#[test]
fn every_part_of_the_document_and_every_error_has_its_place() {
    let root = document();
    let places: BTreeSet<_> = attributes(page(), "id").into_iter().collect();
    let mut expected = Vec::new();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    for operation in operations(root) {
        let id = text(&operation["operationId"]);
        for parameter in operation["parameters"].as_array().unwrap() {
            let parameter = resolved(root, parameter);
            expected.push(format!("{id}-{}-{}", text(&parameter["in"]), text(&parameter["name"])));
        }
        expected.extend([format!("{id}-call"), id]);
    }
    for (name, schema) in members(root, "/components/schemas") {
        expected
            .extend(members(schema, "/properties").map(|(property, _)| format!("schema-{name}-{property}")));
    }
    let ids = |list: &str| values_of(&root[list], &["id"]);
    expected.extend(ids("x-clauses").iter().map(|id| format!("clause-{}", text(id))));
    expected.extend(ids("x-unspecified").iter().map(|id| format!("unspecified-{}", text(id))));
    expected.extend(ErrorCode::ALL.iter().map(|code| format!("error-{}", code.number())));
    for code in ErrorCode::ALL {
        let (number, status, description) = (code.number(), code.status(), escaped(code.description()));
        let row = format!("<code>{number}</code></a></th> <td>{status}</td> <td>{description}</td>");
        assert!(page().contains(&row), "no {row}");
    }
    assert!(expected.len() > 200, "{}", expected.len());
    for anchor in expected {
        assert!(places.contains(escaped(&anchor).as_str()), "no place for {anchor}");
    }
}

#[test]
fn every_sentence_and_every_example_is_shown() {
    let page = page();
    let found = values_of(document(), &["description", "summary", "text", "reason", "section"]);
    assert!(found.len() > 200, "{}", found.len());
    for text in found.into_iter().filter_map(Value::as_str) {
        let (paragraphs, line) = (words::paragraphs(text), words::line(text));
        assert!(page.contains(&paragraphs) || page.contains(&line), "not shown: {text}");
    }
    for example in values_of(document(), &["example"]) {
        let forms =
            [words::value(example), format!("{example:#}"), example.as_str().unwrap_or_default().to_owned()];
        let is_shown = |form: &String| !form.is_empty() && page.contains(&escaped(form));
        assert!(forms.iter().any(is_shown), "not shown: {example}");
    }
}

#[test]
fn limits_rules_credentials_and_clauses_are_in_words() {
    for words in include_str!("phrases.txt").lines() {
        assert!(page().contains(words), "no {words}");
    }
}

#[test]
fn calls_can_be_pasted_into_a_shell() {
    let calls: Vec<_> = operations(document())
        .iter()
        .map(|it| curl::command(document(), "https://api.invalid", it))
        .collect();
    assert_eq!(
        calls[0],
        "curl -sS 'https://api.invalid/openapi/v1/proxy/extract' \\\n  --url-query 'num=3' \\\n  -H \"X-API-Key: $SALLYPORT_API_KEY\""
    );
    let hostile = json!({ "path": "/a", "method": "PUT", "security": [{ "apiKeyQuery": [] }],
        "requestBody": { "content": { "application/json": { "example": { "it's": "$(id) `id`" } } } } });
    assert_eq!(
        curl::command(document(), "", &hostile),
        "curl -sS -X PUT '/a' \\\n  --url-query \"api_key=$SALLYPORT_API_KEY\" \\\n  --json '{\n  \"it'\\''s\": \"$(id) `id`\"\n}'"
    );
    let other = page_at("http://127.0.0.1:8080");
    for call in calls {
        assert!(page().contains(&escaped(&call)), "{call}");
        let call = call.replace("https://api.invalid", "http://127.0.0.1:8080");
        assert!(other.contains(&escaped(&call)), "{call}");
    }
    assert!(!other.contains(&escaped("https://api.invalid")));
}

#[test]
fn every_link_leads_to_one_place_and_nothing_is_loaded_or_run() {
    let page = page();
    let places = attributes(page, "id");
    let unique: BTreeSet<_> = places.iter().collect();
    assert_eq!(unique.len(), places.len(), "an id stands twice");
    for link in attributes(page, "href") {
        // The empty picture that keeps a browser from asking for one.
        if link == "data:," {
            continue;
        }
        let place = link.strip_prefix('#').unwrap_or_else(|| panic!("a link off the page: {link}"));
        assert!(unique.contains(&place), "{link} leads nowhere");
    }
    for way in [" src=", " srcset=", "url(", "@import", "<script", "<iframe", " style=\"", " onclick="] {
        assert!(!page.contains(way), "{way}");
    }
}

#[test]
fn code_strong_and_paragraphs_are_marked_and_a_mark_without_a_partner_is_text() {
    assert_eq!(words::line("a `b**c**` **d**"), "a <code>b**c**</code> <strong>d</strong>");
    assert_eq!(words::line("a ` b ** c"), "a ` b ** c");
    assert_eq!(words::line("`<b>` \"'&"), "<code>&lt;b&gt;</code> &quot;&#x27;&amp;");
    assert_eq!(words::paragraphs("one\nline\n\ntwo\n"), "<p>one\nline</p><p>two</p>");
}

//! What readers of reports accept: the parts that we write of the schemas of SARIF 2.1.0, HTTP Archive 1.2 and JUnit, as Jenkins'
//! xUnit plugin has it (`junit-10.xsd`). They are written by hand and say nothing of what these formats have beyond that.

use serde_json::{Value, json};

/// The attributes of an element, of which those with `!` are required, and its children.
fn element(name: &str) -> Option<(&'static str, &'static str)> {
    let rows = include_str!("junit.txt").lines().filter_map(|row| row.split_once(" |"));
    rows.filter(|(known, _)| *known == name).find_map(|(_, row)| row.split_once('|'))
}

/// The first thing in a JUnit report that its readers would reject.
pub(crate) fn wrong_junit(xml: &str) -> Option<String> {
    let mut open: Vec<&str> = Vec::new();
    // Neither texts nor values have an unescaped `<` or `>`.
    for tag in xml.split('<').skip(1).filter_map(|part| Some(part.split_once('>')?.0)) {
        if tag.starts_with('?') {
            continue;
        }
        if let Some(name) = tag.strip_prefix('/') {
            if open.pop() != Some(name) {
                return Some(format!("{name} ends and is not open"));
            }
            continue;
        }
        let (name, rest) = tag.split_once(' ').unwrap_or((tag.trim_end_matches('/'), ""));
        let Some((attributes, _)) = element(name) else {
            return Some(format!("unknown element {name}"));
        };
        let is_child = match open.last() {
            None => name == "testsuites",
            Some(parent) => {
                element(parent).is_some_and(|(_, children)| children.split(' ').any(|child| child == name))
            }
        };
        if !is_child {
            return Some(format!("{name} in {open:?}"));
        }
        let given: Vec<&str> =
            rest.split('"').step_by(2).filter_map(|name| name.trim().strip_suffix('=')).collect();
        let is_known = |name: &&str| attributes.split(' ').any(|known| known.trim_end_matches('!') == *name);
        if let Some(unknown) = given.iter().find(|name| !is_known(name)) {
            return Some(format!("attribute {unknown} of {name}"));
        }
        let mut required = attributes.split(' ').filter_map(|name| name.strip_suffix('!'));
        if let Some(missing) = required.find(|name| !given.contains(name)) {
            return Some(format!("{name} without {missing}"));
        }
        if !tag.ends_with('/') {
            open.push(name);
        }
    }
    open.first().map(|name| format!("{name} is not closed"))
}

/// The first thing in a SARIF log that its readers would reject.
pub(crate) fn wrong_sarif(text: &str) -> Option<String> {
    wrong_json(text, include_str!("sarif.json"))
}

/// The first thing in an HTTP Archive that its readers would reject.
pub(crate) fn wrong_har(text: &str) -> Option<String> {
    wrong_json(text, include_str!("har.json"))
}

fn wrong_json(text: &str, schemas: &str) -> Option<String> {
    let schemas: Value = serde_json::from_str(schemas).expect("JSON");
    let validator = jsonschema::options().should_validate_formats(true).build(&schema(&json!(""), &schemas));
    let json: Value = match serde_json::from_str(text) {
        Ok(json) => json,
        Err(error) => return Some(error.to_string()),
    };
    let validator = validator.expect("a schema");
    validator.iter_errors(&json).next().map(|error| format!("{}: {error}", error.instance_path()))
}

/// A schema in short: the name of one, a list of its items' schema, or all `members`, of which those with `!` are required.
fn schema(short: &Value, all: &Value) -> Value {
    match short {
        Value::String(name) => schema(&all[name], all),
        Value::Array(items) => json!({"type": "array", "items": schema(&items[0], all)}),
        other => {
            let Some(members) = other["members"].as_object() else { return other.clone() };
            let required: Vec<_> = members.keys().filter_map(|name| name.strip_suffix('!')).collect();
            let properties: Value = members
                .iter()
                .map(|(name, short)| (name.trim_end_matches('!').to_owned(), schema(short, all)))
                .collect();
            json!({"type": "object", "required": required, "properties": properties,
                   "additionalProperties": false, "patternProperties": {"^_": {}}})
        }
    }
}

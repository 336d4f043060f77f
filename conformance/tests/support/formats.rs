//! What readers of reports accept: the parts that we write of the schemas of SARIF 2.1.0, HTTP Archive 1.2 and JUnit, as Jenkins'
//! xUnit plugin has it (`junit-10.xsd`). They are written by hand and say nothing of what these formats have beyond that.

#![allow(dead_code, reason = "each test uses its part")]

use serde_json::{Value, json};

/// Elements with their attributes, of which those with `!` are required, and their children.
const JUNIT: [(&str, &str, &str); 12] = [
    ("testsuites", "name time tests failures errors", "testsuite"),
    (
        "testsuite",
        "name! tests! failures! errors! group time skipped timestamp hostname id package file log url",
        "testsuite properties testcase system-out system-err",
    ),
    ("properties", "", "property"),
    ("property", "name! value!", ""),
    (
        "testcase",
        "name! time classname group",
        "skipped error failure rerunFailure rerunError flakyFailure flakyError system-out system-err",
    ),
    ("skipped", "type message", ""),
    ("error", "type message", ""),
    ("failure", "type message", ""),
    ("flakyFailure", "type! message", "stackTrace system-out system-err"),
    ("stackTrace", "", ""),
    ("system-out", "", ""),
    ("system-err", "", ""),
];

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
        let Some((_, attributes, _)) = JUNIT.iter().find(|(known, ..)| *known == name) else {
            return Some(format!("unknown element {name}"));
        };
        let is_child = match open.last() {
            None => name == "testsuites",
            Some(parent) => JUNIT.iter().any(|(known, _, children)| {
                known == parent && children.split(' ').any(|child| child == name)
            }),
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
    wrong_json(text, &sarif())
}

/// The first thing in an HTTP Archive that its readers would reject.
pub(crate) fn wrong_har(text: &str) -> Option<String> {
    wrong_json(text, &har())
}

fn wrong_json(text: &str, schema: &Value) -> Option<String> {
    let validator = jsonschema::options().should_validate_formats(true).build(schema);
    let json: Value = match serde_json::from_str(text) {
        Ok(json) => json,
        Err(error) => return Some(error.to_string()),
    };
    match validator {
        Ok(validator) => {
            validator.iter_errors(&json).next().map(|error| format!("{}: {error}", error.instance_path()))
        }
        Err(error) => Some(format!("the schema: {error}")),
    }
}

/// An object with these members and no others; those with `!` are required.
fn object(members: Value) -> Value {
    let Value::Object(members) = members else { return Value::Null };
    let required: Vec<_> = members.keys().filter_map(|name| name.strip_suffix('!')).collect();
    let required = json!(required);
    let members: serde_json::Map<_, _> =
        members.into_iter().map(|(name, schema)| (name.trim_end_matches('!').to_owned(), schema)).collect();
    json!({"type": "object", "required": required, "properties": members, "additionalProperties": false,
           "patternProperties": {"^_": {}}})
}

fn array(items: Value) -> Value {
    json!({"type": "array", "items": items})
}

fn sarif() -> Value {
    let (text, bag) = (json!({"type": "string"}), json!({"type": "object"}));
    let message = object(json!({"text!": text}));
    let level = json!({"enum": ["none", "note", "warning", "error"]});
    let place = object(json!({"uri": {"type": "string", "format": "uri-reference"},
                              "index": {"type": "integer", "minimum": -1}}));
    let region = object(json!({"startLine": {"type": "integer", "minimum": 1}}));
    let location = object(json!({
        "id": {"type": "integer", "minimum": -1}, "message": message,
        "physicalLocation": object(json!({"artifactLocation!": place, "region": region})),
        "logicalLocations": array(object(json!({"fullyQualifiedName": text, "kind": text}))),
    }));
    let rule = object(json!({"id!": text, "shortDescription": message, "fullDescription": message,
                             "help": message, "properties": bag}));
    let suppression = object(json!({"kind!": {"enum": ["inSource", "external"]}, "justification": text,
                                    "status": {"enum": ["accepted", "underReview", "rejected"]}}));
    let result = object(json!({
        "ruleId": text, "ruleIndex": {"type": "integer", "minimum": -1}, "level": level, "message!": message,
        "locations": array(location.clone()), "relatedLocations": array(location),
        "partialFingerprints": {"type": "object", "additionalProperties": text},
        "suppressions": array(suppression), "properties": bag,
    }));
    let invocation = object(json!({
        "executionSuccessful!": {"type": "boolean"}, "startTimeUtc": {"type": "string", "format": "date-time"},
        "toolExecutionNotifications": array(object(json!({"message!": message, "level": level}))),
    }));
    let driver = object(json!({"name!": text, "semanticVersion": text, "rules": array(rule)}));
    let run = object(json!({
        "tool!": object(json!({"driver!": driver})), "invocations": array(invocation), "properties": bag,
        "artifacts": array(object(json!({"location": place}))), "results": array(result),
    }));
    object(json!({"$schema": text, "version!": {"const": "2.1.0"}, "runs!": array(run)}))
}

fn har() -> Value {
    let (text, number) = (json!({"type": "string"}), json!({"type": "number", "minimum": -1}));
    let size = json!({"type": "integer", "minimum": -1});
    let pairs = array(object(json!({"name!": text, "value!": text, "comment": text})));
    let post = object(json!({"mimeType!": text, "params": pairs, "text": text, "comment": text}));
    let request = object(json!({
        "method!": text, "url!": {"type": "string", "format": "uri"}, "httpVersion!": text,
        "cookies!": {"maxItems": 0}, "headers!": pairs, "queryString!": pairs, "postData": post,
        "headersSize!": size, "bodySize!": size,
    }));
    let content = object(json!({"size!": size, "mimeType!": text, "text": text, "comment": text}));
    let response = object(json!({
        "status!": size, "statusText!": text, "httpVersion!": text, "cookies!": {"maxItems": 0},
        "headers!": pairs, "content!": content, "redirectURL!": text, "headersSize!": size, "bodySize!": size,
    }));
    let timings = object(json!({"send!": number, "wait!": number, "receive!": number}));
    let entry = object(json!({
        "startedDateTime!": {"type": "string", "format": "date-time"}, "time!": number, "request!": request,
        "response!": response, "cache!": {"type": "object"}, "timings!": timings, "comment": text,
    }));
    let creator = object(json!({"name!": text, "version!": text}));
    object(json!({"log!": object(json!({"version!": {"const": "1.2"}, "creator!": creator,
                                        "entries!": array(entry), "comment": text}))}))
}

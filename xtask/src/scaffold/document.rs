//! The stub of an operation in the document.

use std::path::PathBuf;

use super::{Change, NewOperation};
use crate::{document::Document, problem::Problem};

pub(super) const PATH: &str = "openapi/openapi.yaml";

/// The document with the stub of the operation, its schemas and its clause.
pub(super) fn with(new: &NewOperation, text: &str) -> Result<Change, String> {
    let document = Document::parse(text).map_err(|problems| Problem::list(&problems))?;
    if text.contains(&format!("operationId: {}\n", new.id)) {
        return Err(format!("the operation `{}` already exists; choose another id", new.id));
    }
    let item = crate::document::join("/paths", &new.path);
    let of_method = crate::document::join(&item, new.method.key());
    if document.get(&of_method).is_some() {
        return Err(format!("{} {} already exists; choose another path or method", new.method, new.path));
    }
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let (at, operation) = match document.get(&item) {
        Some(_) => (end_of(&lines, &format!("  {}:", new.path))?, operation(new)),
        None => (end_of(&lines, "paths:")?, format!("\n  {}:\n{}", new.path, operation(new))),
    };
    insert(&mut lines, at, &operation);
    let at = end_of(&lines, "  schemas:")?;
    insert(&mut lines, at, &schemas(new));
    let id = format!("{}.envelope", new.kebab());
    let at = clause_place(&lines, &id)?;
    insert(&mut lines, at, &clause(new, &id));
    Ok(Change { path: PathBuf::from(PATH), contents: lines.join("\n") + "\n", is_new: false })
}

/// The line after the last one of a block: the first that is indented as its head or less, without empty lines before it.
fn end_of(lines: &[String], head: &str) -> Result<usize, String> {
    let start = lines.iter().position(|line| line == head);
    let start = start.ok_or_else(|| format!("{PATH}: expected a line `{head}`"))?;
    let depth = |line: &str| line.len() - line.trim_start().len();
    let is_inside = |line: &&String| line.trim().is_empty() || depth(line) > depth(head);
    let mut end = start + 1 + lines[start + 1..].iter().take_while(is_inside).count();
    while lines[end - 1].trim().is_empty() {
        end -= 1;
    }
    Ok(end)
}

/// Where a clause goes, so that ids stay sorted.
fn clause_place(lines: &[String], id: &str) -> Result<usize, String> {
    let head = "x-clauses:";
    let end = end_of(lines, head)?;
    let start = lines.iter().position(|line| line == head).unwrap_or_default();
    let is_after = |line: &&String| line.strip_prefix("  - id: ").is_some_and(|other| other > id);
    Ok(lines[start..end].iter().position(|line| is_after(&line)).map_or(end, |index| start + index))
}

fn insert(lines: &mut Vec<String>, at: usize, text: &str) {
    let text = text.trim_end_matches('\n').split('\n').map(str::to_owned);
    lines.splice(at..at, text);
}

fn operation(new: &NewOperation) -> String {
    let (id, pascal, kebab) = (&new.id, new.pascal(), new.kebab());
    let retry = if new.writes { "never" } else { "safe" };
    let mut text = format!(
        "    {}:\n      operationId: {id}\n      x-retry: {retry}\n      tags: [static]\n      \
         summary: Say in a few words what {id} does\n      \
         description: Say what a caller gets, and what it changes.\n      x-clause:\n        - all.https\n        \
         - all.own-account\n        - all.prefix\n        - all.token-required\n      security:\n        \
         - apiKeyQuery: []\n      parameters:\n",
        new.method.key()
    );
    for name in new.path_parameters() {
        text.push_str(&format!(
            "        - name: {name}\n          in: path\n          required: true\n          \
             description: Say what it identifies.\n          x-clause: {kebab}.envelope\n          \
             schema: {{ type: integer, minimum: 1 }}\n          example: 1\n"
        ));
    }
    text.push_str("        - $ref: \"#/components/parameters/ApiKey\"\n");
    if new.has_body() {
        text.push_str(&format!(
            "      requestBody:\n        required: true\n        description: Say what is sent.\n        \
             x-clause: {kebab}.envelope\n        content:\n          application/json:\n            \
             schema: {{ $ref: \"#/components/schemas/{pascal}Input\" }}\n            example: {{ name: a name }}\n"
        ));
    }
    text.push_str(&format!(
        "      responses:\n        \"{}\":\n          description: Say what comes back.\n          \
         x-clause: {kebab}.envelope\n          headers:\n            \
         Cache-Control: {{ $ref: \"#/components/headers/CacheControlNoStore\" }}\n            \
         X-Request-Id: {{ $ref: \"#/components/headers/XRequestId\" }}\n",
        new.status()
    ));
    if new.status() != "204" {
        text.push_str(&format!(
            "          content:\n            application/json:\n              \
             schema: {{ $ref: \"#/components/schemas/{pascal}Success\" }}\n"
        ));
    }
    text.push_str(
        "        \"429\": { $ref: \"#/components/responses/StaticThrottled\" }\n        \
         default: { $ref: \"#/components/responses/StaticRejected\" }\n",
    );
    text
}

fn schemas(new: &NewOperation) -> String {
    let (pascal, kebab, status) = (new.pascal(), new.kebab(), new.status());
    let mut text = String::from("\n");
    if new.has_body() {
        text.push_str(&format!(
            "    {pascal}Input:\n      description: Say what is sent.\n      type: object\n      required: [name]\n      \
             x-clause: {kebab}.envelope\n      properties:\n        \
             name: {{ type: string, description: Say what it is. }}\n"
        ));
    }
    if status != "204" {
        text.push_str(&format!(
            "    {pascal}Success:\n      description: Envelope of a success of {}.\n      type: object\n      \
             required: [code, message, requestId, data]\n      x-clause: {kebab}.envelope\n      properties:\n        \
             code: {{ type: integer, enum: [{status}], description: \"Business code, always {status}.\" }}\n        \
             message: {{ type: string, description: Description of the result. }}\n        requestId: {{ type: string, \
             description: Trace id for troubleshooting. }}\n        \
             data: {{ $ref: \"#/components/schemas/{pascal}Data\" }}\n    {pascal}Data:\n      \
             description: Say what comes back.\n      type: object\n      required: [name]\n      \
             x-clause: {kebab}.envelope\n      properties:\n        \
             name: {{ type: string, description: Say what it is. }}\n",
            new.id
        ));
    }
    if text.trim().is_empty() { String::new() } else { text }
}

fn clause(new: &NewOperation, id: &str) -> String {
    let what = match new.status() {
        "204" => "HTTP 204 without a body".to_owned(),
        status => format!("HTTP {status} with code {status}, message, requestId and data"),
    };
    let limits: String = new.path_parameters().map(|name| format!("; {name} is at least 1")).collect();
    format!(
        "  - id: {id}\n    section: \"say where the prose has it\"\n    text: \"A success of {} is {what}{limits}.\"\n    \
         observable: true\n",
        new.id
    )
}

//! Edits of the document, and what the comparison says of each.

use jiff::civil::date;
use serde_json::Value;

use super::*;
use crate::{
    document::join,
    fixture::{CONTRACT, contract, edited},
    lint,
};

const TODAY: Date = date(2026, 6, 1);

fn diff(old: &Document, new: &Document) -> Diff {
    compare(old, new, TODAY).unwrap()
}

/// The rules, operations and places of the changes.
fn told(old: &Document, new: &Document) -> Vec<String> {
    let told = |change: &Change| {
        let operation = change.operation.as_deref().unwrap_or("-");
        format!("{} {operation} {}", change.rule.id, change.at)
    };
    diff(old, new).changes.iter().map(told).collect()
}

/// An edit, what is said of it, and what is said of taking it back. Several are separated by `; `.
const EDITS: &[(&str, &str, &str, &str)] = &[
    // Limits.
    (
        "minimum: 1, maximum: 100 }",
        "minimum: 1, maximum: 50 }",
        "request-limit-narrowed extractProxies query num",
        "request-limit-widened extractProxies query num",
    ),
    (
        "{ type: integer, minimum: 1, maximum: 100 }",
        "{ type: integer, minimum: 1 }",
        "request-limit-widened extractProxies query num",
        "request-limit-narrowed extractProxies query num",
    ),
    (
        "x-max-utf8-bytes: 32 }",
        "x-max-utf8-bytes: 31 }",
        "request-limit-narrowed extractProxies query sb",
        "request-limit-widened extractProxies query sb",
    ),
    (
        "x-max-distinct: 500",
        "x-max-distinct: 400",
        "request-limit-narrowed searchStaticInstances body ips",
        "request-limit-widened searchStaticInstances body ips",
    ),
    (
        "x-port: { minimum: 1, ",
        "x-port: { minimum: 0, ",
        "request-limit-widened searchStaticInstances body ips[]",
        "request-limit-narrowed searchStaticInstances body ips[]",
    ),
    (
        "groupId: { type: integer, minimum: 1, description: Identifier of the group. }",
        "groupId: { type: integer, minimum: 2, description: Identifier of the group. }",
        "response-limit-narrowed listStaticGroups 200 body data.items[].groupId",
        "response-limit-widened listStaticGroups 200 body data.items[].groupId",
    ),
    // Presence.
    (
        "          required: true\n          description: How many",
        "          description: How many",
        "parameter-became-optional extractProxies query num",
        "parameter-became-required extractProxies query num",
    ),
    (
        "        - name: protocol\n",
        "        - name: city\n          in: query\n          schema: { type: string }\n        - name: protocol\n",
        "parameter-added extractProxies query city",
        "parameter-removed extractProxies query city",
    ),
    (
        "        - name: protocol\n",
        "        - name: city\n          in: query\n          required: true\n          schema: { type: string }\n        - \
         name: protocol\n",
        "parameter-added-required extractProxies query city",
        "parameter-removed extractProxies query city",
    ),
    (
        "      required: [ips]\n",
        "      required: [ips, orderNo]\n",
        "request-property-became-required searchStaticInstances body orderNo",
        "request-property-became-optional searchStaticInstances body orderNo",
    ),
    (
        "        orderNo:\n",
        "        note: { type: string }\n        orderNo:\n",
        "request-property-added searchStaticInstances body note",
        "request-property-removed searchStaticInstances body note",
    ),
    (
        "      required: [groupId, name, createdAt, updatedAt]",
        "      required: [groupId, name, createdAt]",
        "response-property-became-optional listStaticGroups 200 body data.items[].updatedAt",
        "response-property-became-required listStaticGroups 200 body data.items[].updatedAt",
    ),
    (
        "        changeIp: { type: boolean, description: The IP can be changed. }\n",
        "",
        "response-property-removed searchStaticInstances 200 body data.items[].capabilities.changeIp",
        "response-property-added searchStaticInstances 200 body data.items[].capabilities.changeIp",
    ),
    (
        "      description: The answer must not be stored.\n      required: true\n",
        "      description: The answer must not be stored.\n",
        "response-header-became-optional listStaticGroups 200 header Cache-Control; \
         response-header-became-optional searchStaticInstances 200 header Cache-Control",
        "response-header-became-required listStaticGroups 200 header Cache-Control; \
         response-header-became-required searchStaticInstances 200 header Cache-Control",
    ),
    (
        "            Cache-Control: { $ref: \"#/components/headers/CacheControlNoStore\" }\n            X-Request-Id",
        "            X-Request-Id",
        "response-header-removed-required listStaticGroups 200 header Cache-Control",
        "response-header-added-required listStaticGroups 200 header Cache-Control",
    ),
    // Values.
    (
        "enum: [http, socks5]",
        "enum: [http, socks5, socks4]",
        "request-enum-value-added extractProxies query protocol",
        "request-enum-value-removed extractProxies query protocol",
    ),
    (
        "enum: [provisioning, active,",
        "enum: [provisioning, paused, active,",
        "request-enum-value-added searchStaticInstances body status; \
         response-enum-value-added searchStaticInstances 200 body data.items[].status",
        "request-enum-value-removed searchStaticInstances body status; \
         response-enum-value-removed searchStaticInstances 200 body data.items[].status",
    ),
    (
        "default: 20\n",
        "default: 25\n",
        "default-changed searchStaticInstances body pageSize",
        "default-changed searchStaticInstances body pageSize",
    ),
    (
        "          default: 20\n",
        "",
        "default-removed searchStaticInstances body pageSize",
        "default-added searchStaticInstances body pageSize",
    ),
    (
        "      minimum: 0\n      nullable: true\n      x-clause: search.group\n",
        "      minimum: 0\n      x-clause: search.group\n",
        "request-null-removed searchStaticInstances body groupId",
        "request-null-added searchStaticInstances body groupId",
    ),
    (
        "minimum: 1, nullable: true, description: Group of the instance",
        "minimum: 1, description: Group of the instance",
        "response-null-removed searchStaticInstances 200 body data.items[].groupId",
        "response-null-added searchStaticInstances 200 body data.items[].groupId",
    ),
    (
        "name: { type: string, description: Name given",
        "name: { type: integer, description: Name given",
        "response-type-changed listStaticGroups 200 body data.items[].name",
        "response-type-changed listStaticGroups 200 body data.items[].name",
    ),
    (
        "          type: string\n          format: ipv4\n",
        "          type: string\n",
        "response-type-widened extractProxies 200 body request_ip",
        "response-type-narrowed extractProxies 200 body request_ip",
    ),
    (
        "total:\n          description: Records after filtering, on all pages together.\n          type: integer\n          \
         format: int64\n",
        "total:\n          description: Records after filtering, on all pages together.\n          type: integer\n",
        "integer-width-changed searchStaticInstances 200 body data.total",
        "integer-width-changed searchStaticInstances 200 body data.total",
    ),
    // Our extensions.
    (
        "\"4\": \"\\n\"",
        "\"4\": \"\\n\\n\"",
        "separator-changed extractProxies query lb",
        "separator-changed extractProxies query lb",
    ),
    (
        "          x-falls-back-to: X-Request-Id\n",
        "",
        "fallback-removed extractProxies query request_id",
        "fallback-added extractProxies query request_id",
    ),
    (
        "          x-aliases-agree: extract.country-equal\n",
        "",
        "aliases-may-differ extractProxies query country",
        "aliases-must-agree extractProxies query country",
    ),
    (
        "      x-credentials-agree: extract.token-equal\n",
        "",
        "credentials-may-differ extractProxies operation",
        "credentials-must-agree extractProxies operation",
    ),
    (
        "        - bearerToken: []\n",
        "",
        "credential-removed extractProxies operation",
        "credential-added extractProxies operation",
    ),
    (
        "        - rule: required-when\n          parameter: sb\n          when: { parameter: lb, equals: \"6\" }\n          \
         clause: extract.sb-required\n",
        "",
        "rule-removed extractProxies operation",
        "rule-added extractProxies operation",
    ),
    // Responses.
    (
        "            text/plain:\n              schema: { type: string }\n              example: \
         \"gw1.proxy.invalid:20001\\r\\n203.0.113.7:20002\"\n",
        "",
        "response-media-type-removed extractProxies 200 text",
        "response-media-type-added extractProxies 200 text",
    ),
    (
        "        \"429\": { $ref: \"#/components/responses/ExtractThrottled\" }\n",
        "",
        "response-status-removed extractProxies 429",
        "response-status-added extractProxies 429",
    ),
    // Operations, clauses and texts.
    (
        "  /openapi/v1/static/groups:",
        "  /openapi/v1/static/folders:",
        "operation-moved listStaticGroups operation",
        "operation-moved listStaticGroups operation",
    ),
    (
        "operationId: listStaticGroups",
        "operationId: listGroups",
        "operation-renamed listGroups operation",
        "operation-renamed listStaticGroups operation",
    ),
    (
        "text: \"Groups ascend by id.\"",
        "text: \"Groups descend by id.\"",
        "clause-reworded - groups.order",
        "clause-reworded - groups.order",
    ),
    (
        "  - id: open.search.order\n    text: \"Instances come in any order, as long as it holds still.\"\n",
        "",
        "unspecified-removed - open.search.order",
        "unspecified-added - open.search.order",
    ),
    (
        "  - id: search.total\n",
        "  - id: search.sorted\n    section: \"4.3\"\n    text: \"Sorted.\"\n    observable: true\n  - id: search.total\n",
        "clause-added - search.sorted",
        "clause-removed - search.sorted",
    ),
    (
        "url: https://{host}",
        "url: https://{host}/api",
        "servers-changed - #/servers; servers-changed - #/servers",
        "servers-changed - #/servers; servers-changed - #/servers",
    ),
    (
        "description: How many gateways to extract.",
        "description: Number of gateways.",
        "text-changed extractProxies #/paths/~1openapi~1v1~1proxy~1extract/get/parameters/0",
        "text-changed extractProxies #/paths/~1openapi~1v1~1proxy~1extract/get/parameters/0",
    ),
    (
        "          example: 3\n        - name: regions",
        "          example: 4\n        - name: regions",
        "example-changed extractProxies #/paths/~1openapi~1v1~1proxy~1extract/get/parameters/0",
        "example-changed extractProxies #/paths/~1openapi~1v1~1proxy~1extract/get/parameters/0",
    ),
    (
        "enum: [json, txt]",
        "enum: [txt, json]",
        "document-reordered - #/components/schemas/ReturnType",
        "document-reordered - #/components/schemas/ReturnType",
    ),
    (
        "x-clause: extract.return-type",
        "x-clause: extract.protocol",
        "citation-changed extractProxies #/paths/~1openapi~1v1~1proxy~1extract/get/parameters/4",
        "citation-changed extractProxies #/paths/~1openapi~1v1~1proxy~1extract/get/parameters/4",
    ),
];

#[test]
fn each_edit_is_told_once_and_taking_it_back_is_its_opposite() {
    let old = contract();
    for (from, to, forth, back) in EDITS {
        let new = edited(from, to);
        assert_eq!(told(&old, &new), forth.split("; ").collect::<Vec<_>>(), "{from:?} → {to:?}");
        assert_eq!(told(&new, &old), back.split("; ").collect::<Vec<_>>(), "{to:?} → {from:?}");
    }
}

#[test]
fn a_new_clause_in_an_area_that_was_open_says_that_services_may_fail() {
    let closed = CONTRACT
        .replace(
            "  - id: open.search.order\n    text: \"Instances come in any order, as long as it holds still.\"\n",
            "",
        )
        .replace(
            "  - id: search.total\n",
            "  - id: search.sorted\n    section: \"4.3\"\n    text: \"Sorted.\"\n    observable: true\n  - id: search.total\n",
        );
    let changes = diff(&contract(), &Document::parse(&closed).unwrap()).changes;
    let clause = &changes[0];
    assert_eq!(clause.rule.id, "clause-takes-unspecified");
    assert!(clause.rule.services_may_fail);
    assert_eq!(clause.clauses, ["open.search.order", "search.sorted"]);
    assert_eq!(changes[1].rule.id, "unspecified-removed");
}

#[test]
fn lines_clauses_and_values_of_both_documents_are_named() {
    let new = edited("minimum: 1, maximum: 100 }", "minimum: 1, maximum: 50 }");
    let changes = diff(&contract(), &new).changes;
    let [change] = changes.as_slice() else { panic!("{changes:?}") };
    let line = 1 + CONTRACT.lines().position(|line| line.contains("maximum: 100 }")).unwrap();
    let [old, new] = [change.old.as_ref().unwrap(), change.new.as_ref().unwrap()];
    assert_eq!([old.line, new.line], [line as u64; 2]);
    assert_eq!(change.summary(), "`maximum`: `100` → `50`");
    assert_eq!(change.clauses, ["extract.num-range"]);
}

#[test]
fn a_fingerprint_survives_moved_lines_and_differs_between_changes() {
    let narrow = |text: &str| {
        let text = text.replacen("minimum: 1, maximum: 100 }", "minimum: 1, maximum: 50 }", 1);
        let changes = diff(&contract(), &Document::parse(&text).unwrap()).changes;
        changes.into_iter().find(|change| change.keyword == "maximum").unwrap().fingerprint()
    };
    assert_eq!(narrow(CONTRACT), narrow(&format!("\n\n\n{CONTRACT}")));
    let mut all = Vec::new();
    for (from, to, ..) in EDITS {
        all.extend(diff(&contract(), &edited(from, to)).changes.iter().map(Change::fingerprint));
    }
    let count = all.len();
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), count);
}

/// Every value of a document with its pointer, without the document as a whole.
fn pointers(value: &Value, at: &str, found: &mut Vec<String>) {
    let children: Vec<(String, &Value)> = match value {
        Value::Object(members) => members.iter().map(|(name, value)| (join(at, name), value)).collect(),
        Value::Array(items) => {
            items.iter().enumerate().map(|(index, value)| (join(at, &index.to_string()), value)).collect()
        }
        _ => Vec::new(),
    };
    for (at, value) in children {
        pointers(value, &at, found);
        found.push(at);
    }
}

/// Removes the value at `pointer`.
fn without(root: &Value, pointer: &str) -> Value {
    let mut root = root.clone();
    let (parent, step) = pointer.rsplit_once('/').unwrap();
    match root.pointer_mut(parent).unwrap() {
        Value::Object(members) => {
            members.shift_remove(&step.replace("~1", "/").replace("~0", "~"));
        }
        Value::Array(items) => {
            items.remove(step.parse().unwrap());
        }
        _ => unreachable!("only these have children"),
    }
    root
}

#[test]
fn no_removal_from_the_document_passes_unnoticed_and_none_is_unclassified() {
    let old = contract();
    let mut all = Vec::new();
    pointers(old.root(), "", &mut all);
    // The first ones of each keyword stand for the others.
    const OF_EACH: usize = 6;
    let mut seen: std::collections::BTreeMap<String, usize> = std::collections::BTreeMap::new();
    all.retain(|at| {
        let count = seen.entry(at.rsplit('/').next().unwrap_or_default().to_owned()).or_default();
        *count += 1;
        *count <= OF_EACH
    });
    let mut compared = 0;
    // One entry of these lists is like another, and so is one member of an example.
    let is_repeated = |pointer: &str| {
        if pointer.contains("/example/") || pointer.contains("/x-clause/") {
            return true;
        }
        let rest = pointer.strip_prefix("/x-clauses/").or_else(|| pointer.strip_prefix("/x-unspecified/"));
        rest.is_some_and(|rest| !rest.starts_with("0"))
    };
    for pointer in all.iter().filter(|at| !at.starts_with("/info/version") && !is_repeated(at)) {
        let new = old.with_root(without(old.root(), pointer));
        let Ok(forth) = compare(&old, &new, TODAY) else { continue };
        let back = compare(&new, &old, TODAY).unwrap();
        for (way, diff) in [("removed", forth), ("added", back)] {
            let unknown = diff.changes.iter().find(|change| change.rule.id == "unclassified");
            if diff.changes.is_empty() || unknown.is_some() {
                // A document that breaks a rule of the lint is never compared.
                assert!(!lint::run(&new).is_empty(), "{pointer} {way} passes unnoticed: {unknown:?}");
            }
        }
        compared += 1;
    }
    assert!(compared > 100, "only {compared} documents were compared");
}

#[test]
fn a_document_does_not_differ_from_itself() {
    assert!(diff(&contract(), &contract()).changes.is_empty());
    assert_eq!(diff(&contract(), &contract()).worst(), None);
}

#[test]
fn a_part_in_place_of_a_reference_is_no_change_of_the_contract() {
    let new = edited(
        "          schema: { $ref: \"#/components/schemas/ReturnType\" }",
        "          schema: { type: string, enum: [json, txt], default: json }",
    );
    let changes = diff(&contract(), &new).changes;
    assert!(changes.iter().all(|change| change.rule.verdict == Verdict::Documentation), "{changes:?}");
    assert!(!changes.is_empty());
}

#[test]
fn a_deprecated_part_may_go_after_its_sunset() {
    let deprecated = |sunset: &str| {
        CONTRACT.replacen(
            "        - name: country\n          in: query\n",
            &format!(
                "        - name: country\n          in: query\n          deprecated: true\n          x-sunset: {sunset}\n"
            ),
            1,
        )
    };
    let start = CONTRACT.find("        - name: country\n").unwrap();
    let end = CONTRACT.find("        - name: protocol\n").unwrap();
    let gone = Document::parse(&format!("{}{}", &CONTRACT[..start], &CONTRACT[end..])).unwrap();
    for (sunset, rule) in [("2026-05-31", "removed-after-sunset"), ("2026-06-02", "alias-removed")] {
        let old = Document::parse(&deprecated(sunset)).unwrap();
        assert_eq!(told(&old, &gone), [format!("{rule} extractProxies query country")]);
    }
    let (near, far) = (deprecated("2026-07-01"), deprecated("2026-08-01"));
    let (near, far) = (Document::parse(&near).unwrap(), Document::parse(&far).unwrap());
    assert_eq!(told(&far, &near), ["sunset-earlier extractProxies query country"]);
    assert_eq!(told(&near, &far), ["sunset-later extractProxies query country"]);
    let both = ["deprecated extractProxies query country", "sunset-later extractProxies query country"];
    assert_eq!(told(&contract(), &near), both);
}

#[test]
fn an_operation_that_comes_or_goes_is_one_change() {
    let start = CONTRACT.find("  /openapi/v1/static/groups:").unwrap();
    let end = CONTRACT.find("  /openapi/v1/static/instances/search:").unwrap();
    let gone = Document::parse(&format!("{}{}", &CONTRACT[..start], &CONTRACT[end..])).unwrap();
    assert_eq!(told(&contract(), &gone), ["operation-removed listStaticGroups operation"]);
    assert_eq!(told(&gone, &contract()), ["operation-added listStaticGroups operation"]);
}

mod acceptance {
    use super::*;

    fn narrowed() -> Diff {
        diff(&contract(), &edited("minimum: 1, maximum: 100 }", "minimum: 1, maximum: 50 }"))
    }

    fn entries(text: &str) -> Vec<accepted::Accepted> {
        accepted::read(&Document::parse(text).unwrap()).unwrap()
    }

    #[test]
    fn an_accepted_change_counts_no_more_until_it_expires() {
        let fingerprint = narrowed().changes[0].fingerprint();
        for (expires, worst) in [("2026-06-01", None), ("2026-05-31", Some(Verdict::Breaking))] {
            let mut diff = narrowed();
            let text =
                format!("- {{ fingerprint: \"{fingerprint}\", reason: agreed, expires: {expires} }}\n");
            let notes = accepted::apply(&mut diff, &entries(&text), TODAY);
            assert_eq!(diff.worst(), worst);
            assert_eq!(notes.is_empty(), worst.is_none(), "{notes:?}");
        }
    }

    #[test]
    fn an_entry_for_no_change_is_told() {
        let text = "- { fingerprint: 00ff00ff00ff, reason: agreed, expires: 2027-01-01 }\n";
        let notes = accepted::apply(&mut narrowed(), &entries(text), TODAY);
        assert!(notes[0].contains("line 1: no change has the fingerprint `00ff00ff00ff`"), "{notes:?}");
    }

    #[test]
    fn every_problem_of_the_file_is_told_with_its_line() {
        let text = "- { fingerprint: a, reason: b, expires: soon }\n- { fingerprint: a, expires: 2027-01-01, why: c }\n";
        let problems = accepted::read(&Document::parse(text).unwrap()).unwrap_err();
        let told: Vec<_> = problems.iter().map(|problem| problem.message.as_str()).collect();
        assert_eq!(
            told,
            ["missing or invalid `expires`", "missing or invalid `reason`", "unknown key `why`"]
        );
        assert_eq!(problems[1].place.unwrap().line, 2);
    }
}

mod rendering {
    use super::*;
    use crate::diff::render::{Format, Shown, changelog, render};

    fn shown(format: Format) -> String {
        let text = CONTRACT.replacen("minimum: 1, maximum: 100 }", "minimum: 1, maximum: 50 }", 1).replacen(
            "Groups ascend by id.",
            "Groups: 100 %\\nascend | by id.",
            1,
        );
        let diff = diff(&contract(), &Document::parse(&text).unwrap());
        let asked = version::asked(&diff, "0.1.0");
        let (old, new) = ("old.yaml", "new.yaml");
        render(Shown { diff: &diff, asked: &asked, old, new, has_witnesses: true, notes: &[] }, format)
    }

    #[test]
    fn text_names_everything_that_a_reader_needs() {
        let text = shown(Format::Text);
        for part in [
            "extractProxies\n  breaking [request-limit-narrowed] request, query num: `maximum`: `100` → `50`",
            "old.yaml:",
            "new.yaml:",
            "extract.num-range",
            "may fail the new suite",
            "a request with query num = `51`",
            "1 breaking, 1 needs a decision",
            "major step: `info.version` 2.0.0 or higher; it is still `1.0.0`; crates 0.2.0",
        ] {
            assert!(text.contains(part), "{part:?} in {text}");
        }
    }

    #[test]
    fn markdown_keeps_its_cells() {
        let page = shown(Format::Md);
        let rows: Vec<_> = page.lines().filter(|line| line.starts_with("| **")).collect();
        assert_eq!(rows.len(), 2, "{page}");
        for row in rows {
            assert_eq!(row.replace("\\|", "").matches(" | ").count(), 7, "{row}");
        }
    }

    #[test]
    fn json_is_an_object_with_the_fingerprints() {
        let report: Value = serde_json::from_str(&shown(Format::Json)).unwrap();
        assert_eq!(report["schema_version"], 1);
        assert_eq!(report["step"], "major");
        assert_eq!(report["changes"][0]["fingerprint"].as_str().unwrap().len(), 12);
        assert_eq!(report["changes"][0]["new"]["value"], 50);
    }

    #[test]
    fn github_gets_one_command_on_one_line_for_each_change() {
        let text = shown(Format::Github);
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines.len(), 3, "{text}");
        assert!(lines[0].starts_with("::error file=openapi/openapi.yaml,line="), "{text}");
        assert!(lines[0].contains("title=breaking%3A request-limit-narrowed::"), "{text}");
        assert!(lines[1].starts_with("::warning") && lines[1].contains("100 %25"), "{text}");
    }

    #[test]
    fn a_changelog_has_the_sections_and_leaves_out_texts() {
        let new = CONTRACT.replacen("minimum: 1, maximum: 100 }", "minimum: 1, maximum: 50 }", 1).replacen(
            "description: How many gateways to extract.",
            "description: Number.",
            1,
        );
        let text = changelog(&diff(&contract(), &Document::parse(&new).unwrap()));
        assert_eq!(text.lines().count(), 3, "{text}");
        assert!(
            text.starts_with(
                "### Changed\n- Contract: **Breaking.** `extractProxies`, request `query num`: "
            ),
            "{text}"
        );
        assert!(changelog(&diff(&contract(), &contract())).contains("No change"));
    }
}

/// Every breaking change of the edits has a witness that fits the older document and not the newer one.
#[test]
fn breaking_changes_have_witnesses() {
    let mut without = Vec::new();
    for (from, to, ..) in EDITS {
        let new = edited(from, to);
        for diff in [diff(&contract(), &new), diff(&new, &contract())] {
            for change in diff.changes.iter().filter(|change| change.rule.verdict == Verdict::Breaking) {
                match witness::witness(change) {
                    Some(witness) => assert!(!witness.text.is_empty()),
                    None => without.push(change.rule.id),
                }
            }
        }
    }
    without.sort_unstable();
    without.dedup();
    // What these mean depends on more than one value.
    let known = [
        "default-changed",
        "fallback-removed",
        "response-media-type-removed",
        "rule-added",
        "separator-changed",
    ];
    assert!(without.iter().all(|id| known.contains(id)), "{without:?}");
}

#[test]
fn the_witness_of_a_limit_is_the_value_next_to_it() {
    let witness = |from: &str, to: &str| {
        let changes = diff(&contract(), &edited(from, to)).changes;
        witness::witness(&changes[0]).unwrap().value.unwrap()
    };
    assert_eq!(witness("minimum: 1, maximum: 100 }", "minimum: 1, maximum: 50 }"), 51);
    assert_eq!(witness("minimum: 1, maximum: 100 }", "minimum: 2, maximum: 100 }"), 1);
    assert_eq!(witness("x-max-utf8-bytes: 32 }", "x-max-utf8-bytes: 3 }"), "xxxx");
    assert_eq!(witness("maximum: 65535 }", "maximum: 1024 }"), "192.0.2.1:1025");
}

//! Tests each rule with a document that breaks it, and with the document as it is.

use std::collections::BTreeSet;

use super::*;
use crate::fixture::{CONTRACT, contract, edited, edited_text};

/// Edits the document and returns the problems of each rule.
fn broken(edit: &str) -> (Document, Vec<(&'static str, Problem)>) {
    let document = edited(edit);
    let found = findings(&document);
    (document, found)
}

#[test]
fn the_document_is_clean() {
    let problems = run(&contract());
    assert!(problems.is_empty(), "{}", Problem::list(&problems));
}

#[test]
fn rules_are_sorted_and_unique() {
    assert!(RULES.is_sorted_by(|a, b| a.0 < b.0));
}

<<<<<<< HEAD
/// Edits, the rules that reject the result, and the pointer of the problem.
fn corpus() -> Vec<[String; 3]> {
    serde_saphyr::from_str(include_str!("../../fixtures/lint.yaml")).unwrap()
}
=======
/// An edit, the rules that reject the result, and the pointer of the problem.
const CORPUS: &[(&str, &str, &str)] = &[
    // The range of `num`.
    ("minimum: «1→101», maximum: 100", "bounds example", "/minimum"),
    ("x-port: { minimum: «1→65536», ", "bounds wrong-value", "/x-port/minimum"),
    ("x-max-distinct: «500→10001»", "bounds", "/ips/x-max-distinct"),
    ("any: «extract.num-range→[extract.num-range, extract.nun-range]»", "citation", "/x-clause"),
    (
        "x-clause: «{ x-max-utf8-bytes: open.extract.request-id-length }→open.extract.request-id-length»",
        "citation",
        "/RequestId/x-clause",
    ),
    (
        "x-clause: { x-max-utf8-bytes: «open.extract.request-id-length→[extract.idempotent, open.extract.request-id-length]» }",
        "citation",
        "/RequestId/x-clause",
    ),
    ("clause: «extract.sb-required→open.catalogue»", "citation", "/x-rules/0/clause"),
    ("{ «required→requird»: extract.num-required,", "citation", "/x-clause"),
    ("clause: «extract.sb-required→extract.sb-requird»", "citation", "/x-rules/0/clause"),
    ("x-clause: «extract.protocol→7»", "uncited-clause wrong-value", "/x-clause"),
    ("- id: «all.no-secrets→all.https»", "citation clause-order", "/x-clauses/1/id"),
    ("- id: «all.own-account→zzz.own-account»", "citation clause-order", "/x-clauses/3/id"),
    ("- id: «open.catalogue→catalogue.open»", "clause-order wrong-value", "/x-unspecified"),
    ("default: «20→1001»\n", "example", "/pageSize/default"),
    ("default: «http→https»\n", "example", "/ProxyProtocol/default"),
    ("enum: [json, txt«→, json»]", "wrong-value", "/ReturnType/enum"),
    ("enum: [«no-store→»]", "example wrong-value", "/CacheControlNoStore/schema/enum"),
    ("enum: [http, socks5«→, 5»]", "wrong-value", "/ProxyProtocol/enum/2"),
    ("          example: «3→300»\n", "example", "/parameters/0/example"),
    ("ip: «203.0.113.7→7»\n", "example", "/application~1json/example"),
    ("activatedAt: \"2026-01-31T08:00:00«Z→»\"", "example", "/example"),
    ("bound: «activatedFrom→activatedFron»", "extension", "/x-rules/0"),
    ("equals: \"«6→7»\"", "extension", "/x-rules/0/when"),
    ("x-alias-of: «regions→region»", "extension", "/parameters"),
    ("x-falls-back-to: «X-Request-Id→X-Other»", "extension", "/parameters"),
    (
        "«          x-aliases-agree: extract.country-equal\n→»",
        "missing-keyword uncited-clause",
        "/parameters",
    ),
    ("\"5\": \"\\t\"«→, \"7\": \"x\"» }", "extension", "/x-separators"),
    ("x-format: «ip-endpoint→ip-address»", "wrong-value", "/AddressItem/x-format"),
    ("x-format: ip-endpoint«→\n      pattern: '^('»", "pattern", "/AddressItem/pattern"),
    ("x-format: ip-endpoint«→\n      pattern: '^[0-9.]+$'»", "example pattern", "/AddressItem/pattern"),
    ("x-format: ip-endpoint«→\n      pattern: '[.:]'»", "pattern", "/AddressItem/pattern"),
    ("minimum: 1, maximum: «100→9007199254740993»", "wrong-value", "/maximum"),
    ("«          schema: { type: string, default: GLOBAL }\n→»", "missing-keyword", "/parameters/1"),
    ("«          description: The groups of the caller.\n→»", "missing-keyword", "/responses/200"),
    ("    «reason: \"It binds the caller→#»", "missing-keyword", "/x-clauses/15"),
    ("schema: { type: string, default: GLOBAL«→, maximum: 3» }", "unsupported-keyword", "/maximum"),
    ("«      operationId: extractProxies\n→»", "missing-keyword", "/get"),
    ("operationId: «listStaticGroups→extractProxies»", "operation-id", "/operationId"),
    ("operationId: «listStaticGroups→list-static»", "wrong-value", "/operationId"),
    ("          in: «header→cookie»\n", "extension wrong-value", "/parameters/8/in"),
    ("        - name: «sb→lb»\n", "extension parameter", "/parameters/6"),
    ("/static/groups«→/{id}»:", "parameter", "/paths/~1openapi~1v1~1static~1groups~1{id}"),
    ("\"#/components/schemas/«ReturnType→ReturnTypo»\"", "reference", "/$ref"),
    ("\"#/components/«schemas/ReturnType→headers/RetryAfter»\"", "reference", "/$ref"),
    (
        "{ $ref: \"#/components/schemas/ReturnType\"«→, nullable: true» }",
        "wrong-value",
        "/parameters/4/schema",
    ),
    ("required: [groupId, «name→nane»,", "example required", "/StaticGroup/required/1"),
    ("required: [items«→, items»]", "wrong-value", "/GroupsData/required"),
    (
        "        default: { $ref: \"#/components/responses/«ExtractRejected→StaticRejected»\" }",
        "response",
        "/responses/default",
    ),
    (
        "        \"«429→202»\": { $ref: \"#/components/responses/StaticThrottled\" }",
        "response",
        "/responses/202",
    ),
    (
        "        «application/json→text/html»:\n          schema: { $ref: \"#/components/schemas/ExtractError\" }",
        "missing-keyword unknown-keyword",
        "/content/text~1html",
    ),
    ("        - «apiKeyHeader→apiKeyHeadr»: []", "reference", "/security/1"),
    ("scheme: «bearer→basic»", "wrong-value", "/securitySchemes/bearerToken"),
    ("«        - extract.idempotent\n→»", "uncited-clause", "/x-clauses/"),
    ("«          x-clause: search.page-size\n→»", "uncited-limit", "/pageSize/default"),
    (
        "«→        - name: city\n          in: query\n          schema: { type: string, maxLength: 5 }\n»        - name: protocol\n",
        "uncited-limit",
        "/schema/maxLength",
    ),
    ("«x-max-utf8-bytes→x-max-utf8-byte»: 32 }", "unknown-keyword", "/x-max-utf8-byte"),
    ("«minItems→minItem»: 1\n", "unknown-keyword", "/ips/minItem"),
    ("«minItems: 1→uniqueItems: true»\n", "unsupported-keyword", "/ips/uniqueItems"),
    ("«minItems: 1→deprecated: true»\n", "unsupported-keyword", "/ips/deprecated"),
    ("enum: [json, txt]«→\n      pattern: \"^j\"»", "unsupported-keyword", "/pattern"),
    ("«enum: [0]→const: 0»", "unsupported-keyword", "/code/const"),
    (
        "            schema: { «$ref: \"#/components/schemas/SearchRequest\"→type: object, allOf: [{ $ref: \"#/components/schemas/SearchRequest\" }]» }",
        "extension request-object unsupported-keyword unused-component",
        "/allOf",
    ),
    ("    «post→trace»:\n", "uncited-clause unsupported-keyword unused-component", "/trace"),
    ("    «post→delete»:\n", "unsupported-keyword", "/delete/requestBody"),
    ("        \"«200→204»\":\n          description: The groups", "response", "/responses/204/content"),
    ("        \"«200→203»\":\n          description: The groups", "wrong-value", "/responses/203"),
    ("/openapi/v1/«static→{area}»/groups:", "parameter path", "/paths/~1openapi~1v1~1{area}~1groups"),
    ("          in: «header→path\n          required: true»\n", "extension parameter", "/parameters"),
    (
        "          type: «string\n          x-clause: search.city\n          example: NYC→object\n          \
         x-clause: search.city\n          properties: { name: { type: string } }»\n",
        "request-object",
        "/SearchRequest/properties/cityCode",
    ),
    (
        "groupId: { $ref: \"#/components/schemas/«GroupFilter→TermRule»\" }",
        "example request-object unused-component",
        "/TermRule",
    ),
    ("«type: string\n      →»enum: [json, txt]", "missing-keyword", "/schemas/ReturnType"),
    ("«          items: { type: string }\n→»", "missing-keyword", "/protocols"),
    ("{ type: «integer→number», minimum: 1, maximum: 100 }", "wrong-value", "/type"),
    ("«→    Spare: { type: string }\n»    ReturnType:\n", "unused-component", "/schemas/Spare"),
    ("required: «true→\"true\"»\n          description: How many", "wrong-value", "/required"),
    ("maximum: «100→\"100\"» }", "wrong-value", "/maximum"),
    // Names.
    ("    «TermRule→term-rule»:\n", "name reference", "/schemas/term-rule"),
    ("        - name: «num→type»\n", "name", "/parameters/0/name"),
    ("        - name: «num→größe»\n", "wrong-value", "/parameters/0/name"),
    ("        - name: «num→return-type»\n", "name", "/parameters/4/name"),
    ("        - name: «num→credential»\n", "name", "/parameters/0/name"),
    ("        «orderNo→order__no»:\n", "wrong-value", "/properties/order__no"),
    ("        «orderNo→city_code»:\n", "name", "/properties/cityCode"),
    ("enum: [json, txt«→, JSON»]", "name text", "/ReturnType/enum/2"),
    ("enum: [json, txt«→, other»]", "name text", "/ReturnType/enum/2"),
    ("enum: [json, txt«→, \"|\"»]", "name text", "/ReturnType/enum/2"),
    ("operationId: «listStaticGroups→option»", "name", "/operationId"),
    ("operationId: «listStaticGroups→impl»", "name", "/operationId"),
    ("            «X-Proxy-Partial→X_Proxy»:", "wrong-value", "/headers/X_Proxy"),
    ("name: «X-API-Key→X API Key»", "wrong-value", "/apiKeyHeader/name"),
    ("openapi: «3.0.3→3.1.0»", "wrong-value", "/openapi"),
    // Paths.
    ("/openapi/v1/«static→»/groups:", "wrong-value", "/paths/"),
    ("/openapi/v1/«static/groups→groups?all»:", "wrong-value", "/paths/"),
    ("  «/→»openapi/v1/static/groups:", "path wrong-value", "/paths/"),
    ("/openapi/«v1→v2»/static/groups:", "path", "/paths/"),
    ("starts with /openapi/«v1→v2».", "path", "/paths/"),
    // Texts.
    ("minimum: 1, maximum: «100→50» }", "text", "/x-clauses/"),
    ("num is a whole number from 1 to «100→50».", "text", "/x-clauses/"),
    ("num is a whole number« from 1 to 100→».", "text", "/x-clauses/"),
    ("enum: [http, «socks5→socks4»]", "text", "/x-clauses/"),
    ("enum: [http, socks5«→, socks4»]", "text", "/x-clauses/"),
    ("default: «20→25»\n", "text", "/x-clauses/"),
    ("At most «32→64» bytes of UTF-8.", "text", "/parameters/6/description"),
    (
        "description: «How many gateways to extract.→|\n            Some.\n\n            ```\n            \
         let x = 1;\n            ```»",
        "wrong-value",
        "/parameters/0/description",
    ),
    // Null, and what must be sent.
    (
        "          schema: { type: string, default: GLOBAL«→, nullable: true» }",
        "nullable",
        "/parameters/1/schema/nullable",
    ),
    (
        "      enum: [http, socks5]\n«→      nullable: true\n»",
        "nullable wrong-value",
        "/ProxyProtocol/nullable",
    ),
    ("    StaticGroup:\n«→      nullable: true\n»", "nullable wrong-value", "/StaticGroup/nullable"),
    ("    AddressItem:\n«→      nullable: true\n»", "nullable", "/AddressItem/nullable"),
    ("          x-alias-of: regions\n«→          required: true\n»", "wrong-value", "/parameters/2/required"),
    ("        - name: regions\n«→          required: true\n»", "parameter", "/parameters/1/required"),
    ("          in: header\n«→          required: true\n»", "parameter", "/parameters/8/required"),
    // Searches.
    (
        "          clause: search.activated-order\n«→      x-page: { number: page, size: pageSize, items: data.items, \
         total: data.total, echo: { number: data.page, size: data.pageSize }, identity: instanceId, order: stable }\n»",
        "search",
        "/x-filter",
    ),
    // Repetition.
    ("«      x-retry: safe\n→»", "missing-keyword", "/get"),
    ("      x-retry: «safe→often»\n", "wrong-value", "/x-retry"),
    ("      x-retry: «safe→idempotency-key»\n", "extension", "/x-retry"),
];
>>>>>>> search

#[test]
fn each_change_is_rejected_by_exactly_its_rules_at_its_position() {
    let mut wrong = Vec::new();
    for [edit, rules, pointer] in &corpus() {
        let (document, found) = broken(edit);
        let said: Vec<_> = found.iter().map(|(_, problem)| problem.to_string()).collect();
        let mut by: BTreeSet<_> = found.iter().map(|(id, _)| *id).collect();
        // Most edits of a limit contradict the text of its clause as well.
        if !rules.contains("text") {
            by.remove("text");
        }
        if by != rules.split(' ').collect() {
            wrong.push(format!("{edit:?}: {said:#?}"));
        }
        assert!(
            found.iter().any(|(_, problem)| problem.pointer.contains(&**pointer)),
            "{pointer} in {said:#?}"
        );
        for (_, problem) in found {
            assert_eq!(problem.place, Some(document.place(&problem.pointer)), "{problem}");
            assert!(!problem.help.is_empty(), "{problem}");
        }
        let mut shown: Vec<String> = run(&document).iter().map(ToString::to_string).collect();
        let count = shown.len();
        shown.dedup();
        assert_eq!(shown.len(), count, "duplicate problem of {edit:?}");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A search of the document with a declaration changed, and what is said of it.
#[test]
fn what_a_search_declares_is_held_against_its_schemas() {
    const DECLARED: &str = include_str!("../../../openapi/openapi.yaml");
    for (edit, message) in [
        ("        cityCode: { «match→mach»: equal,", "unknown keyword `mach`"),
        ("        cityCode: { match: «equal→like»,", "unknown match `like`"),
        ("        cityCode: { match: equal, field: «cityCode→city» }", "unknown field of an item `city`"),
        ("        cityCode: { match: equal, field: «cityCode→port» }", "cannot be compared with `port`"),
        ("        cityCode: { match: «equal→contains», field:", "cannot be compared with `cityCode`"),
        ("        activatedTo: { match: at-most, field: «activatedAt→status» }", "cannot be compared"),
        ("        status: { match: equal, field: status«→, finds-null: 0» }", "the field is never null"),
        (
            "        groupId: { match: equal, field: groupId, finds-null: 0«, when-null: all→» }",
            "what null finds",
        ),
        ("        «cityCode→cityCod»: { match: equal,", "unknown property of the body `cityCod`"),
        (
            "«        cityCode: { match: equal, field: cityCode }\n→»",
            "nothing says what `cityCode` of the body finds",
        ),
        (
            "        orderNo: { match: equal, «hidden: true→letter-case: open.none, field: cityCode» }",
            "`open.none`",
        ),
        ("        orderNo: { match: equal«, hidden: true→» }", "missing `field`"),
        ("        orderNo: { match: «equal→at-most», hidden: true }", "needs a value that the items show"),
        ("        total: «data.total→data.count»", "the response has no integer `data.count`"),
        ("        items: «data.items→data.total»", "the response has no array `data.total`"),
        ("        identity: «instanceId→cityCode»", "unknown integer field of an item `cityCode`"),
        ("        size: «pageSize→status»", "unknown integer property of the body `status`"),
        ("        order: «stable→random»", "unknown order `random`"),
        ("«        identity: instanceId\n→»", "missing `identity`"),
    ] {
        let problems = run(&Document::parse(&edited_text(DECLARED, edit)).unwrap());
        assert!(Problem::list(&problems).contains(message), "{edit:?}: {}", Problem::list(&problems));
    }
}

#[test]
fn a_path_has_plain_segments_and_each_parameter_once() {
    let is_valid = |path: &str| {
        let text = CONTRACT.replacen("  /openapi/v1/static/groups:", &format!("  {path:?}:"), 1);
        let found = run(&Document::parse(&text).unwrap());
        !found.iter().any(|problem| problem.message.starts_with("invalid path"))
    };
    for path in ["/openapi/v1/a-b_c.d~e", "/openapi/v1/groups/{groupId}/members/{memberId}", "/a/.b/..c"] {
        assert!(is_valid(path), "{path}");
    }
    for path in
        "/a/{}¦/a/x{id}¦/a/{id}/{id}¦/a/{{id}}¦/a/{id¦openapi¦/a//b¦/a/¦/¦/a?b=c¦/a#b¦/a/../b¦/a/.¦/a b¦/ä"
            .split('¦')
    {
        assert!(!is_valid(path), "{path}");
    }
}

#[test]
fn every_rule_has_a_change_that_breaks_it() {
    let corpus = corpus();
    let of_schema = ["missing-keyword", "unknown-keyword", "unsupported-keyword", "wrong-value"];
    for rule in RULES.iter().map(|(id, _)| *id).chain(of_schema) {
        assert!(corpus.iter().any(|[_, ids, _]| ids.split(' ').any(|id| id == rule)), "no change for {rule}");
    }
}

#[test]
fn a_problem_in_a_shared_part_names_the_operations_that_use_it() {
    let misspelt = |found: &[(&str, Problem)]| {
        found.iter().find(|(id, _)| *id == "unknown-keyword").map(|(_, problem)| problem.clone()).unwrap()
    };
    let (_, found) = broken("«minItems→minItem»: 1\n");
    assert_eq!(misspelt(&found).operation.as_deref(), Some("searchStaticInstances"));
    let (_, found) = broken("schema: { type: string, «minLength→minLenght»: 1 }");
    let problem = misspelt(&found);
    assert_eq!(problem.operation.as_deref(), Some("listStaticGroups, searchStaticInstances"));
    assert!(problem.help.contains("`minLength`"), "{problem}");
}

/// One problem of the document is told once, with what is meant or where it was first.
#[test]
fn a_problem_names_its_cause_and_none_of_its_consequences() {
    for (edit, message, help) in [
        (
            "schemas/«SearchRequest→SearchReqest»\"",
            "unknown reference",
            "did you mean `#/components/schemas/SearchRequest`?",
        ),
        ("operationId: «listStaticGroups→extractProxies»", "used first in line", "unique id"),
        (
            "          x-clause: search.«page-size→page-sise»\n",
            "unknown clause",
            "did you mean `search.page-size`?",
        ),
        (
            "        - «apiKeyHeader→apiKeyHeadr»: []",
            "unknown security scheme",
            "did you mean `apiKeyHeader`?",
        ),
        ("required: [groupId, «name→nane»,", "unknown property `nane`", "did you mean `name`?"),
        (
            "«          x-clause: search.page-size\n→»",
            "`default` of body pageSize cites no clause",
            "add `x-clause`",
        ),
    ] {
        let problems = run(&edited(edit));
        let found = Problem::list(&problems);
        let is_consequence = |problem: &Problem| problem.message.contains("[example]");
        let [problem] = problems.iter().filter(|one| !is_consequence(one)).collect::<Vec<_>>()[..] else {
            panic!("{edit:?}: {found}")
        };
        assert!(problem.message.contains(message) && problem.help.contains(help), "{edit:?}: {found}");
    }
}

#[test]
fn all_problems_are_reported_at_once_and_in_order() {
    let text = edited_text(CONTRACT, "«maximum→maximun»: 100 }");
    let problems = run(&Document::parse(&edited_text(&text, "enum: [«json, txt→»]")).unwrap());
    assert!(problems.len() >= 2);
    assert!(problems.is_sorted_by_key(|problem| problem.place));
}

#[test]
fn every_type_that_generated_code_imports_is_a_reserved_name() {
    let code = crate::emit::code(&contract()).unwrap();
    for file in code.iter().filter(|file| file.path.ends_with(".rs") && !file.path.contains("conformance")) {
        for name in imported(&file.contents) {
            assert!(names::is_reserved_type(&name), "{name} of {}", file.path);
        }
    }
}

/// The types that the top-level imports of a file bring into scope.
fn imported(source: &str) -> Vec<String> {
    fn names(tree: &syn::UseTree, found: &mut Vec<String>) {
        match tree {
            syn::UseTree::Path(path) => names(&path.tree, found),
            syn::UseTree::Name(name) => found.push(name.ident.to_string()),
            syn::UseTree::Rename(rename) => found.push(rename.rename.to_string()),
            syn::UseTree::Group(group) => group.items.iter().for_each(|tree| names(tree, found)),
            syn::UseTree::Glob(_) => {}
        }
    }
    let mut found = Vec::new();
    for item in syn::parse_file(source).unwrap().items {
        if let syn::Item::Use(import) = item {
            names(&import.tree, &mut found);
        }
    }
    found.retain(|name| name.starts_with(|first: char| first.is_ascii_uppercase()));
    found
}

#[test]
fn a_file_that_is_no_document_is_one_problem() {
    for (text, found) in
        [("", "an empty file"), ("# Nothing yet.\n", "an empty file"), ("- a list\n", "another value")]
    {
        let problems = run(&Document::parse(text).unwrap());
        let [problem] = &problems[..] else { panic!("{}", Problem::list(&problems)) };
        assert!(problem.message.ends_with(&format!("found {found} [wrong-value]")), "{problem}");
    }
}

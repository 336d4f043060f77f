//! Edits of the document, the changes that the comparison reports for each, and a witness for each breaking one.

use super::*;

/// An edit (see [`edited`]), its changes, and those of its reversal. Several are separated by `; `.
pub(super) const EDITS: &[(&str, &str, &str, &str)] = &[
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
        "        - name: city\n          in: query\n          schema: { type: string }\n&",
        "parameter-added extractProxies query city",
        "parameter-removed extractProxies query city",
    ),
    (
        "        - name: protocol\n",
        "        - name: city\n          in: query\n          required: true\n          schema: { type: string }\n&",
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
        "        note: { type: string }\n&",
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
        "  - id: search.sorted\n    section: \"4.3\"\n    text: \"Sorted.\"\n    observable: true\n&",
        "clause-added - search.sorted",
        "clause-removed - search.sorted",
    ),
    (
        "url: https://{host}",
        "&/api",
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
    // Deprecation, and what stands beside our formats.
    (
        "        - name: protocol\n          in: query\n",
        "&          deprecated: true\n          x-deprecated-since: 2026-01-01\n          x-sunset: 2026-12-31\n",
        "deprecated extractProxies query protocol; text-changed extractProxies query protocol; sunset-later extractProxies query protocol",
        "undeprecated extractProxies query protocol; text-changed extractProxies query protocol; sunset-later extractProxies query protocol",
    ),
    (
        "      enum: [http, socks5]\n",
        "&      x-deprecated-values:\n        http: { x-deprecated-since: 2026-01-01, x-sunset: 2026-12-31 }\n",
        "deprecated extractProxies query protocol",
        "undeprecated extractProxies query protocol",
    ),
    (
        "      x-format: ip-endpoint\n",
        "&      pattern: '^[0-9A-Fa-f.:]+$'\n",
        "pattern-changed - #/components/schemas/AddressItem",
        "pattern-changed - #/components/schemas/AddressItem",
    ),
];

#[test]
fn each_edit_is_reported_once_and_its_reversal_is_the_opposite() {
    let old = contract();
    for (from, to, forth, back) in EDITS {
        let new = edited(from, to);
        assert_eq!(lines(&old, &new), forth.split("; ").collect::<Vec<_>>(), "{from:?} → {to:?}");
        assert_eq!(lines(&new, &old), back.split("; ").collect::<Vec<_>>(), "{to:?} → {from:?}");
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

//! Edits of the document, the changes that the comparison reports for each, and a witness for each breaking one.

use super::*;

<<<<<<< HEAD
/// Edits, and the changes of each with those of its reversal.
pub(super) fn edits() -> Vec<[String; 2]> {
    serde_saphyr::from_str(include_str!("../../../fixtures/diff.yaml")).unwrap()
}
=======
/// An edit, and its changes with those of its reversal (see [`sides`]). Several are separated by `; `.
pub(super) const EDITS: &[(&str, &str)] = &[
    // Limits.
    ("minimum: 1, maximum: «100→50» }", "request-limit-«narrowed→widened» extractProxies query num"),
    (
        "{ type: integer, minimum: 1«, maximum: 100→» }",
        "request-limit-«widened→narrowed» extractProxies query num",
    ),
    ("x-max-utf8-bytes: «32→31» }", "request-limit-«narrowed→widened» extractProxies query sb"),
    ("x-max-distinct: «500→400»", "request-limit-«narrowed→widened» searchStaticInstances body ips"),
    ("x-port: { minimum: «1→0», ", "request-limit-«widened→narrowed» searchStaticInstances body ips[]"),
    (
        "groupId: { type: integer, minimum: «1→2», description: Identifier of the group. }",
        "response-limit-«narrowed→widened» listStaticGroups 200 body data.items[].groupId",
    ),
    // Presence.
    (
        "«          required: true\n→»          description: How many",
        "parameter-became-«optional→required» extractProxies query num",
    ),
    (
        "«→        - name: city\n          in: query\n          schema: { type: string }\n»        - name: protocol\n",
        "parameter-«added→removed» extractProxies query city",
    ),
    (
        "«→        - name: city\n          in: query\n          required: true\n          schema: { type: string }\n\
         »        - name: protocol\n",
        "parameter-«added-required→removed» extractProxies query city",
    ),
    (
        "      required: [ips«→, orderNo»]\n",
        "request-property-became-«required→optional» searchStaticInstances body orderNo",
    ),
    (
        "«→        note: { type: string }\n»        orderNo:\n",
        "request-property-«added→removed» searchStaticInstances body note",
    ),
    (
        "      required: [groupId, name, createdAt«, updatedAt→»]",
        "response-property-became-«optional→required» listStaticGroups 200 body data.items[].updatedAt",
    ),
    (
        "      required: [ips«→, note»]\n      properties:\n«→        note: { type: string }\n»",
        "request-property-«added-required→removed» searchStaticInstances body note",
    ),
    (
        "«        changeIp: { type: boolean, description: The IP can be changed. }\n→»",
        "response-property-«removed→added» searchStaticInstances 200 body data.items[].capabilities.changeIp",
    ),
    (
        "      description: The response must not be stored.\n«      required: true\n→»",
        "response-header-became-«optional→required» listStaticGroups 200 header Cache-Control; \
         response-header-became-«optional→required» searchStaticInstances 200 header Cache-Control",
    ),
    (
        "«            Cache-Control: { $ref: \"#/components/headers/CacheControlNoStore\" }\n→»            X-Request-Id",
        "response-header-«removed→added»-required listStaticGroups 200 header Cache-Control",
    ),
    // Values.
    ("enum: [http, socks5«→, socks4»]", "request-enum-value-«added→removed» extractProxies query protocol"),
    (
        "enum: [provisioning, «→paused, »active,",
        "request-enum-value-«added→removed» searchStaticInstances body status; \
         response-enum-value-«added→removed» searchStaticInstances 200 body data.items[].status",
    ),
    ("default: «20→25»\n", "default-changed searchStaticInstances body pageSize"),
    ("«          default: 20\n→»", "default-«removed→added» searchStaticInstances body pageSize"),
    (
        "      minimum: 0\n«      nullable: true\n→»      x-clause: search.group\n",
        "request-null-«removed→added» searchStaticInstances body groupId",
    ),
    (
        "minimum: 1, «nullable: true, →»description: Group of the instance",
        "response-null-«removed→added» searchStaticInstances 200 body data.items[].groupId",
    ),
    (
        "name: { type: «string→integer», description: Name given",
        "response-type-changed listStaticGroups 200 body data.items[].name",
    ),
    (
        "          type: string\n«          format: ipv4\n→»",
        "response-type-«widened→narrowed» extractProxies 200 body request_ip",
    ),
    (
        "total:\n          description: Records after filtering, on all pages together.\n          type: integer\n\
         «          format: int64\n→»",
        "integer-width-changed searchStaticInstances 200 body data.total",
    ),
    (
        "      description: Addresses and filters of a search.\n      type: object\n«→      additionalProperties: false\n»",
        "request-object-«closed→opened» searchStaticInstances body",
    ),
    (
        "      description: A custom group of static instances.\n      type: object\n«→      additionalProperties: false\n»",
        "response-object-«closed→opened» listStaticGroups 200 body data.items[]",
    ),
    // What is the same on the wire.
    (
        "          type: string\n«→          minLength: 0\n»          x-clause: search.country\n",
        "limit-without-effect - #/components/schemas/SearchRequest/properties/countryCode",
    ),
    (
        "            «X-Request-Id→x-request-id»: { $ref",
        "header-respelled listStaticGroups #/paths/~1openapi~1v1~1static~1groups/get/responses/200/headers",
    ),
    (
        "        - name: «X-Request-Id→x-request-id»\n",
        "header-respelled extractProxies #/paths/~1openapi~1v1~1proxy~1extract/get/parameters/8",
    ),
    (
        "x-falls-back-to: «X-Request-Id→x-request-id»",
        "header-respelled extractProxies #/paths/~1openapi~1v1~1proxy~1extract/get/parameters/7",
    ),
    // Our extensions.
    ("\"4\": \"\\n«→\\n»\"", "separator-changed extractProxies query lb"),
    (
        "«          x-falls-back-to: X-Request-Id\n→»",
        "fallback-«removed→added» extractProxies query request_id",
    ),
    (
        "«          x-aliases-agree: extract.country-equal\n→»",
        "aliases-«may-differ→must-agree» extractProxies query country",
    ),
    (
        "«      x-credentials-agree: extract.token-equal\n→»",
        "credentials-«may-differ→must-agree» extractProxies operation",
    ),
    ("«        - bearerToken: []\n→»", "credential-«removed→added» extractProxies operation"),
    (
        "«        - rule: required-when\n          parameter: sb\n          \
         when: { parameter: lb, equals: \"6\" }\n          clause: extract.sb-required\n→»",
        "rule-«removed→added» extractProxies operation",
    ),
    // Responses.
    (
        "«            text/plain:\n              schema: { type: string }\n              \
         example: \"gw1.proxy.invalid:20001\\r\\n203.0.113.7:20002\"\n→»",
        "response-media-type-«removed→added» extractProxies 200 text",
    ),
    (
        "«        \"429\": { $ref: \"#/components/responses/ExtractThrottled\" }\n→»",
        "response-status-«removed→added» extractProxies 429",
    ),
    // Operations, clauses and texts.
    ("  /openapi/v1/static/«groups→folders»:", "operation-moved listStaticGroups operation"),
    (
        "operationId: «listStaticGroups→listGroups»",
        "operation-renamed «listGroups→listStaticGroups» operation",
    ),
    ("text: \"Groups «ascend→descend» by id.\"", "clause-reworded - groups.order"),
    (
        "«  - id: open.search.order\n    text: \"Instances come in any order, as long as it holds still.\"\n→»",
        "unspecified-«removed→added» - open.search.order",
    ),
    (
        "«→  - id: search.sorted\n    section: \"4.3\"\n    text: \"Sorted.\"\n    observable: true\n\
         »  - id: search.total\n",
        "clause-«added→removed» - search.sorted",
    ),
    ("url: https://{host}«→/api»", "servers-changed - #/servers; servers-changed - #/servers"),
    (
        "description: «How many gateways to extract→Number of gateways».",
        "text-changed extractProxies #/paths/~1openapi~1v1~1proxy~1extract/get/parameters/0",
    ),
    (
        "          example: «3→4»\n        - name: regions",
        "example-changed extractProxies #/paths/~1openapi~1v1~1proxy~1extract/get/parameters/0",
    ),
    ("enum: [«json, txt→txt, json»]", "document-reordered - #/components/schemas/ReturnType"),
    (
        "x-clause: extract.«return-type→protocol»",
        "citation-changed extractProxies #/paths/~1openapi~1v1~1proxy~1extract/get/parameters/4",
    ),
    // What a search finds.
    (
        "          clause: search.activated-order\n«→      x-filter: { cityCode: { match: equal, field: cityCode } }\n»",
        "meaning-«stated→removed» searchStaticInstances operation",
    ),
    // What stands beside our formats.
    (
        "      x-format: ip-endpoint\n«→      pattern: '^[0-9A-Fa-f.:]+$'\n»",
        "pattern-changed - #/components/schemas/AddressItem",
    ),
];
>>>>>>> search

#[test]
fn each_edit_is_reported_once_and_its_reversal_is_the_opposite() {
    let old = contract();
    for [edit, changes] in edits() {
        let new = edited(&edit);
        let [forth, back] = sides(&changes);
        assert_eq!(lines(&old, &new), forth.split("; ").collect::<Vec<_>>(), "{edit:?}");
        assert_eq!(lines(&new, &old), back.split("; ").collect::<Vec<_>>(), "reversal of {edit:?}");
    }
}

/// Every breaking change of the edits has a witness that fits the older document and not the newer one.
#[test]
fn breaking_changes_have_witnesses() {
    let mut without = Vec::new();
    for [edit, _] in edits() {
        let new = edited(&edit);
        for diff in [diff(&contract(), &new), diff(&new, &contract())] {
            for change in diff.changes.iter().filter(|change| change.rule.verdict == Verdict::Breaking) {
                match witness::witness(change) {
                    Some(witness) => assert!(!witness.text.is_empty()),
                    None => without.push(change.rule.id.clone()),
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
    assert!(without.iter().all(|id| known.contains(&id.as_str())), "{without:?}");
}

#[test]
fn the_witness_of_a_limit_is_the_value_next_to_it() {
    let witness = |edit: &str| {
        let changes = diff(&contract(), &edited(edit)).changes;
        witness::witness(&changes[0]).unwrap().value.unwrap()
    };
    assert_eq!(witness("minimum: 1, maximum: «100→50» }"), 51);
    assert_eq!(witness("minimum: «1→2», maximum: 100 }"), 1);
    assert_eq!(witness("x-max-utf8-bytes: «32→3» }"), "xxxx");
    assert_eq!(witness("maximum: «65535→1024» }"), "192.0.2.1:1025");
}

#[test]
fn another_meaning_of_a_search_breaks_its_callers() {
    let declared = |filters: &str| {
        let edit = format!("          clause: search.activated-order\n«→      x-filter: {{ {filters} }}\n»");
        edited(&edit)
    };
    let city = declared("cityCode: { match: equal, field: cityCode }");
    let both =
        declared("cityCode: { match: equal, field: cityCode }, orderNo: { match: equal, hidden: true }");
    let other = declared("cityCode: { match: equal, field: countryCode }");
    for (old, new, id) in [
        (&city, &both, "meaning-extended"),
        (&both, &city, "meaning-changed"),
        (&city, &other, "meaning-changed"),
    ] {
        assert_eq!(lines(old, new), [format!("{id} searchStaticInstances operation")]);
    }
}

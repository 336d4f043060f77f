//! The kinds of changes that oasdiff knows, and the rule of ours for each.

/// What becomes of a kind of change.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Counterpart {
    /// One of these rules reports it.
    Rules(&'static [&'static str]),
    /// `cargo xtask check` rejects the document.
    Check,
    /// This rule of the lint rejects the keyword, so that no document of ours can have the change.
    Rejected(&'static str),
    /// Nothing in OpenAPI 3.0.3 says it, or nothing here has it.
    Absent,
}

/// Kinds of changes that are treated alike.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    /// Ids of oasdiff; `{a,b}` stands for each of its words.
    pub(crate) kinds: &'static [&'static str],
    pub(crate) here: Counterpart,
    /// Where the two differ, or why; empty where they agree.
    pub(crate) note: &'static str,
}

const fn rules(kinds: &'static [&'static str], rules: &'static [&'static str], note: &'static str) -> Row {
    Row { kinds, here: Counterpart::Rules(rules), note }
}

const fn rejected(kinds: &'static [&'static str], rule: &'static str, note: &'static str) -> Row {
    Row { kinds, here: Counterpart::Rejected(rule), note }
}

const fn absent(kinds: &'static [&'static str], note: &'static str) -> Row {
    Row { kinds, here: Counterpart::Absent, note }
}

/// The catalogue, by what changes.
pub(crate) const ROWS: &[Row] = &[
    // Operations.
    rules(&["endpoint-added"], &["operation-added"], ""),
    rules(
        &["api-{path-,}removed-{without-deprecation,before-sunset}", "api-path-sunset-parse"],
        &["operation-removed", "operation-moved"],
        "an operation that keeps its id under another path or method is one change here, not a removal and an addition",
    ),
    rules(
        &["api-{path-,}removed-with-deprecation"],
        &["removed-after-sunset"],
        "only after the date of `x-sunset`",
    ),
    rules(
        &["api-operation-id-{added,removed}"],
        &["operation-renamed"],
        "needs a decision here: nothing changes on the wire, but generated callers do not compile",
    ),
    rules(&["api-tag-{added,removed}"], &["tags-changed"], ""),
    rules(&["endpoint-deprecated", "endpoint-deprecated-with-sunset"], &["deprecated"], ""),
    rules(&["endpoint-reactivated"], &["undeprecated"], ""),
    rejected(
        &["api-deprecated-sunset-{missing,parse}", "sunset-deleted"],
        "deprecation",
        "the lint requires a date of every deprecated part",
    ),
    rules(
        &["api-sunset-date-changed-too-small", "api-sunset-date-too-small"],
        &["sunset-earlier"],
        "an earlier date breaks; no minimum notice period is defined",
    ),
    Row {
        kinds: &["api-version-{not-bumped,decreased}", "api-major-version-not-bumped"],
        here: Counterpart::Check,
        note: "whatever the breaking change is; compared with the newest document of openapi/released",
    },
    rejected(
        &[
            "api-stability-{decreased,increased}",
            "api-invalid-stability-level",
            "{request,response}-property-stability-{decreased,increased}",
        ],
        "unknown-keyword",
        "stability levels are not supported",
    ),
    absent(&["webhook-{added,removed}"], "webhooks belong to OpenAPI 3.1"),
    rules(&["api-schema-removed"], &["wording-of-references"], "a schema counts where operations use it"),
    // Security.
    rules(&["api-security-added"], &["credential-added"], ""),
    rules(&["api-security-{removed,updated}"], &["credential-removed"], ""),
    rejected(&["api-global-security-{added,removed,scope-added,scope-removed}"], "unsupported-keyword", ""),
    rejected(
        &[
            "api-security-scope-{added,removed}",
            "api-security-component-oauth-{url-changed,token-url-changed,scope-added,scope-removed,scope-changed}",
        ],
        "unsupported-keyword",
        "OAuth flows are not supported",
    ),
    rules(
        &["api-security-component-{added,removed,type-changed}"],
        &["credential-added", "credential-removed"],
        "a scheme counts where operations name it",
    ),
    // Parameters.
    rules(&["new-required-request-{parameter,header-property}"], &["parameter-added-required"], ""),
    rules(&["new-optional-request-parameter"], &["parameter-added", "alias-added"], ""),
    rejected(
        &["new-{required,optional}-request-default-parameter-to-existing-path"],
        "unsupported-keyword",
        "parameters stand in operations",
    ),
    rejected(&["new-request-path-parameter"], "parameter", "path parameters are not supported yet"),
    rules(
        &["request-parameter-{removed,removed-before-sunset,sunset-parse}"],
        &["parameter-removed", "alias-removed"],
        "breaking here, a warning there: unknown query parameters may be rejected (`open.static.unknown-fields`)",
    ),
    rules(&["request-parameter-removed-with-deprecation"], &["removed-after-sunset"], ""),
    rules(&["request-{parameter,header-property}-became-required"], &["parameter-became-required"], ""),
    rules(&["request-parameter-became-optional"], &["parameter-became-optional"], ""),
    rules(&["request-parameter-deprecated"], &["deprecated"], ""),
    rules(&["request-parameter-reactivated"], &["undeprecated"], ""),
    rejected(&["request-parameter-{deprecated-sunset-missing,sunset-deleted}"], "deprecation", ""),
    rules(
        &["request-parameter-sunset-date-{too-small,changed-too-small}"],
        &["sunset-earlier"],
        "as for operations",
    ),
    rejected(
        &[
            "request-parameter-property-{enum-value-added,enum-value-removed,type-changed,type-generalized,type-specialized}",
            "request-parameter-property-{became-nullable,became-not-nullable,list-of-types-widened,list-of-types-narrowed}",
            "request-parameter-{min,max}-items-{increased,decreased}",
            "request-parameter-min-items-set",
        ],
        "parameter",
        "a parameter is no array and no object",
    ),
    // Request bodies.
    rules(&["request-body-added-required"], &["request-body-added-required"], ""),
    rules(&["request-body-added-optional"], &["request-body-added"], ""),
    rules(&["request-body-removed"], &["request-body-removed"], ""),
    rules(&["request-body-became-required"], &["request-body-became-required"], ""),
    rules(&["request-body-became-optional"], &["request-body-became-optional"], ""),
    rejected(
        &[
            "request-body-media-type-{added,removed,schema-added,schema-removed,item-schema-added,item-schema-removed}",
        ],
        "response",
        "a request body is application/json with a schema",
    ),
    // Properties of requests.
    rules(
        &["new-required-request-property", "new-required-request-property-with-default"],
        &["request-property-added-required"],
        "",
    ),
    rules(&["new-optional-request-property"], &["request-property-added"], ""),
    rules(
        &["request-property-removed"],
        &["request-property-removed"],
        "breaking here, a warning there: unknown members may be rejected",
    ),
    rules(
        &["request-property-became-required", "request-property-became-required-with-default"],
        &["request-property-became-required"],
        "",
    ),
    rules(&["request-property-became-optional"], &["request-property-became-optional"], ""),
    rules(&["request-property-deprecated", "request-property-deprecated-with-sunset"], &["deprecated"], ""),
    rules(&["request-property-reactivated"], &["undeprecated"], ""),
    rejected(&["request-property-deprecated-sunset-{missing,invalid}"], "deprecation", ""),
    rules(&["request-property-sunset-date-too-small"], &["sunset-earlier"], "as for operations"),
    // Limits of requests.
    rules(
        &[
            "request-{parameter,property,body}-{max,max-length}-{decreased,set}",
            "request-{parameter,property,body}-min-{increased,set}",
            "request-{parameter,property,body}-min-length-increased",
            "request-{property,body}-max-items-{decreased,set}",
            "request-{property,body}-min-items-{increased,set}",
        ],
        &["request-limit-narrowed"],
        "also `x-max-utf8-bytes`, `x-max-distinct` and `x-port`, which oasdiff does not know",
    ),
    rules(
        &[
            "request-{parameter,property,body}-{max,max-length}-increased",
            "request-{parameter,property,body}-{min,min-length}-decreased",
            "request-{property,body}-max-items-increased",
            "request-{property,body}-min-items-decreased",
        ],
        &["request-limit-widened"],
        "compatible for callers in both; here it is also said that services must follow",
    ),
    rejected(
        &[
            "request-{parameter,property,body}-exclusive-{min,max}-{increased,decreased,set}",
            "response-{property,body}-exclusive-max-increased",
            "response-{property,body}-exclusive-min-decreased",
            "request-{property,body}-multiple-of-{set,unset,changed,generalized}",
            "response-{property,body}-multiple-of-{unset,changed,specialized}",
            "request-{property,body}-unique-items-{set,unset}",
            "response-{property,body}-unique-items-unset",
            "request-{property,body}-max-properties-{decreased,increased,set}",
            "request-{property,body}-min-properties-increased",
            "response-{property,body}-max-properties-increased",
            "response-{property,body}-min-properties-decreased",
        ],
        "unsupported-keyword",
        "",
    ),
    rules(
        &[
            "request-{parameter,property}-pattern-{added,removed,changed,generalized}",
            "response-property-pattern-{added,removed,changed}",
        ],
        &["pattern-changed"],
        "a pattern stands beside an `x-format` only, which decides: `request-type-*` and `response-type-*` report its changes",
    ),
    rejected(
        &[
            "request-read-only-property-{enum-value-removed,max-decreased,max-length-decreased,min-increased}",
            "request-read-only-property-{exclusive-min-increased,exclusive-max-decreased}",
            "request-read-only-property-{max-items-decreased,max-properties-decreased}",
            "{request,response}-{required,optional}-property-became-{,not-}{read,write}-only",
            "response-{required,optional}-write-only-property-{added,removed}",
            "response-write-only-property-{became-optional,became-required,enum-value-added}",
        ],
        "unsupported-keyword",
        "requests and responses have schemas of their own",
    ),
    // Values of requests.
    rules(
        &[
            "request-{parameter,property,body}-enum-value-removed",
            "request-{parameter,property,body,header-property}-became-enum",
        ],
        &["request-enum-value-removed"],
        "",
    ),
    rules(&["request-{parameter,property}-enum-value-added"], &["request-enum-value-added"], ""),
    rejected(&["request-{parameter,property}-x-extensible-enum-value-removed"], "unknown-keyword", ""),
    rules(&["request-{parameter,property,body}-default-value-changed"], &["default-changed"], ""),
    rules(
        &["request-{parameter,property,body}-default-value-added"],
        &["default-added"],
        "needs a decision here: services may have done something else where the document was silent",
    ),
    rules(
        &["request-{parameter,property,body}-default-value-removed"],
        &["default-removed"],
        "needs a decision here: services may go on as before",
    ),
    rules(&["request-{parameter,property,body}-became-nullable"], &["request-null-added"], ""),
    rules(&["request-{parameter,property,body}-became-not-nullable"], &["request-null-removed"], ""),
    rules(
        &["request-{parameter,property,body}-type-changed", "request-{property,body}-type-compatible"],
        &["request-type-changed", "integer-width-changed"],
        "every change of a type breaks here, because servers and callers read values by their type",
    ),
    rules(
        &["request-{parameter,property,body}-type-generalized"],
        &["request-type-widened", "request-type-changed"],
        "only a removed format is wider here: no type contains another one",
    ),
    // Responses.
    rules(
        &["response-success-status-{added,removed}"],
        &["success-status-changed"],
        "an operation has exactly one success, so that both come together",
    ),
    rules(&["response-non-success-status-added"], &["response-status-added"], ""),
    rules(
        &["response-non-success-status-removed"],
        &["response-status-removed"],
        "needs a decision here: callers may rely on what it said, such as `Retry-After`",
    ),
    rules(&["response-header-added"], &["response-header-added", "response-header-added-required"], ""),
    rules(&["required-response-header-removed"], &["response-header-removed-required"], ""),
    rules(&["optional-response-header-removed"], &["response-header-removed"], ""),
    rules(&["response-header-became-optional"], &["response-header-became-optional"], ""),
    rules(
        &["response-header-{type-changed,type-generalized,type-specialized,type-compatible}"],
        &["response-type-changed", "response-type-widened", "response-type-narrowed"],
        "",
    ),
    rules(&["response-header-became-nullable"], &["response-null-added"], ""),
    rules(&["response-header-became-not-nullable"], &["response-null-removed"], ""),
    rules(&["response-media-type-added"], &["response-media-type-added"], ""),
    rules(&["response-media-type-removed"], &["response-media-type-removed"], ""),
    rejected(
        &["response-media-type-name-{changed,generalized,specialized}"],
        "response",
        "media types are application/json and text/plain, without parameters",
    ),
    rejected(
        &[
            "response-body-media-type-{schema-added,schema-removed,item-schema-added,item-schema-removed}",
            "response-body-media-type-item-schema-removed-untyped",
        ],
        "missing-keyword",
        "every media type has a schema",
    ),
    // Properties of responses.
    rules(&["response-required-property-added"], &["response-property-added-required"], ""),
    rules(&["response-optional-property-added"], &["response-property-added"], ""),
    rules(&["response-required-property-removed"], &["response-property-removed-required"], ""),
    rules(&["response-optional-property-removed"], &["response-property-removed"], ""),
    rules(&["response-property-became-required"], &["response-property-became-required"], ""),
    rules(&["response-property-became-optional"], &["response-property-became-optional"], ""),
    rules(&["response-property-deprecated", "response-property-deprecated-with-sunset"], &["deprecated"], ""),
    rules(&["response-property-reactivated"], &["undeprecated"], ""),
    rejected(&["response-property-deprecated-sunset-{missing,invalid}"], "deprecation", ""),
    rules(&["response-property-sunset-date-too-small"], &["sunset-earlier"], "as for operations"),
    // Values of responses.
    rules(
        &[
            "response-{property,body}-{max,max-length,max-items}-increased",
            "response-{property,body}-{min,min-length,min-items}-decreased",
            "response-{property,body}-{max-length,min-items}-unset",
        ],
        &["response-limit-widened"],
        "oasdiff has no kind for a `maximum` or `minimum` that is removed from a response",
    ),
    rules(
        &["response-property-enum-value-added"],
        &["response-enum-value-added"],
        "needs a decision here, an error there: our client keeps unknown values as text",
    ),
    rules(
        &["response-property-enum-value-removed", "response-mediatype-enum-value-removed"],
        &["response-enum-value-removed"],
        "",
    ),
    rules(
        &["response-{property,body}-default-value-added"],
        &["default-added"],
        "a response has no default in our document; if it had one, the rule would be that of requests",
    ),
    rules(&["response-{property,body}-default-value-changed"], &["default-changed"], "as above"),
    rules(&["response-{property,body}-default-value-removed"], &["default-removed"], "as above"),
    rules(&["response-{property,body}-became-nullable"], &["response-null-added"], ""),
    rules(&["response-{property,body}-became-not-nullable"], &["response-null-removed"], ""),
    rules(
        &["response-{property,body}-type-{changed,compatible}"],
        &["response-type-changed", "integer-width-changed"],
        "",
    ),
    rules(
        &["response-{property,body}-type-generalized"],
        &["response-type-widened"],
        "only a removed format",
    ),
    rules(
        &["response-{property,body}-type-specialized"],
        &["response-type-narrowed"],
        "only an added format",
    ),
    // What our document cannot say.
    rejected(
        &[
            "{request,response}-{body,property}-{any,one,all}-of-{added,removed}",
            "{request,response}-{body,property}-all-of-{added,removed}-annotation-only",
            "{request,response}-body-wrapped-in-one-of",
            "{request,response}-body-wrapped-in-one-of-original-preserved",
            "{request,response}-{body,property}-discriminator-{added,removed,property-name-changed}",
            "{request,response}-{body,property}-discriminator-mapping-{added,changed,deleted}",
            "{request,response}-{body,property}-const-{added,removed,changed}",
            "{request,response}-{body,property}-pattern-property-{added,removed}",
        ],
        "unsupported-keyword",
        "",
    ),
    rejected(
        &[
            "{request,response}-{body,property}-list-of-types-{widened,narrowed}",
            "request-parameter-list-of-types-{widened,narrowed}",
        ],
        "wrong-value",
        "a `type` is one name in OpenAPI 3.0.3",
    ),
    rejected(
        &[
            "{request,response}-{body,property}-prefix-items-{added,removed}",
            "{request,response}-{body,property}-{if,then,else}-{added,removed}",
            "{request,response}-{body,property}-contains-{added,removed}",
            "{request,response}-{body,property}-{min,max}-contains-{increased,decreased}",
            "{request,response}-{body,property}-dependent-required-{added,removed,changed}",
            "{request,response}-{body,property}-dependent-schema-{added,removed}",
            "{request,response}-{body,property}-property-names-{added,removed}",
            "{request,response}-{body,property}-unevaluated-{items,properties}-{added,removed}",
            "{request,response}-{body,property}-content-schema-{added,removed}",
            "{request,response}-{body,property}-content-{media-type,encoding}-changed",
        ],
        "unknown-keyword",
        "keywords of OpenAPI 3.1",
    ),
];

/// The ids that a pattern stands for.
pub(crate) fn expanded(pattern: &str) -> Vec<String> {
    let Some((before, rest)) = pattern.split_once('{') else { return vec![pattern.to_owned()] };
    let Some((words, after)) = rest.split_once('}') else { return vec![pattern.to_owned()] };
    let after = expanded(after);
    words.split(',').flat_map(|word| after.iter().map(move |end| format!("{before}{word}{end}"))).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::{diff::rules::RULES, lint};

    #[test]
    fn each_kind_stands_once_and_names_rules_that_exist() {
        let mut seen = BTreeSet::new();
        for row in ROWS {
            for kind in row.kinds.iter().flat_map(|pattern| expanded(pattern)) {
                assert!(!kind.contains(['{', '}', ',']) && !kind.contains("--"), "{kind}");
                assert!(seen.insert(kind.clone()), "{kind} stands twice");
            }
            match row.here {
                Counterpart::Rules(rules) => {
                    assert!(!rules.is_empty(), "{:?}", row.kinds);
                    for id in rules {
                        assert!(RULES.iter().any(|rule| rule.id == *id), "{id}");
                    }
                }
                Counterpart::Rejected(id) => assert!(lint::RULES.iter().any(|rule| rule.id == id), "{id}"),
                Counterpart::Check | Counterpart::Absent => assert!(!row.note.is_empty(), "{:?}", row.kinds),
            }
        }
        assert!(seen.len() > 450, "only {} kinds", seen.len());
    }

    #[test]
    fn braces_stand_for_each_of_their_words() {
        assert_eq!(expanded("a-{b,c-}{,d}"), ["a-b", "a-bd", "a-c-", "a-c-d"]);
        assert_eq!(expanded("plain"), ["plain"]);
    }
}

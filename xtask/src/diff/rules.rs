//! The kinds of changes, what each means for callers and services, and what to do about it.

/// What a change means for callers that follow the older document, from harmless to serious.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, clap::ValueEnum)]
pub(crate) enum Verdict {
    /// Only texts changed.
    Documentation,
    /// Callers need not change.
    Compatible,
    /// Only a person can say whether callers or services break.
    Decision,
    /// A caller that followed the older document fails.
    Breaking,
}

/// The section of a changelog that a change belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Section {
    Added,
    Changed,
    Deprecated,
    Removed,
}

/// A kind of change.
#[derive(Debug, PartialEq)]
pub(crate) struct Rule {
    /// Stable id, part of fingerprints.
    pub(crate) id: &'static str,
    pub(crate) verdict: Verdict,
    /// Whether a service that conformed to the older document may fail the newer suite.
    pub(crate) services_may_fail: bool,
    pub(crate) section: Section,
    /// What changed, in a few words.
    pub(crate) means: &'static str,
    /// What to do.
    pub(crate) advice: &'static str,
}

impl Verdict {
    pub(crate) const ALL: [Verdict; 4] =
        [Verdict::Breaking, Verdict::Decision, Verdict::Compatible, Verdict::Documentation];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Verdict::Breaking => "breaking",
            Verdict::Decision => "needs a decision",
            Verdict::Compatible => "compatible",
            Verdict::Documentation => "documentation",
        }
    }
}

impl Section {
    pub(crate) const ALL: [Section; 4] =
        [Section::Added, Section::Changed, Section::Deprecated, Section::Removed];
}

macro_rules! rules {
    ($($name:ident = $id:literal, $verdict:ident, $services:literal, $section:ident, $means:literal, $advice:expr;)*) => {
        $(pub(super) static $name: Rule = Rule {
            id: $id,
            verdict: Verdict::$verdict,
            services_may_fail: $services,
            section: Section::$section,
            means: $means,
            advice: $advice,
        };)*

        /// Every rule, sorted by id.
        pub(crate) static RULES: &[&Rule] = &[$(&$name),*];
    };
}

const NEW_MAJOR: &str = "give callers a new major version, or keep the older behaviour beside the new one";
const FOLLOW: &str = "services must follow; callers need not change";
const TELL: &str = "tell callers in the changelog";
const REVIEW: &str = "review the text; nothing on the wire changes";
const PROMISE: &str = "decide whether callers rely on it; accept the change with a reason if they do not";
const SUITE: &str =
    "services that conformed may fail: announce it, and run the new suite against the environments";

// Name, id, verdict, whether conforming services may fail, section, meaning, advice.
rules! {
    ALIAS_ADDED = "alias-added", Compatible, true, Added, "a parameter has a new alias", FOLLOW;
    ALIAS_REMOVED = "alias-removed", Breaking, false, Removed, "an alias of a parameter was removed, or belongs to another one", NEW_MAJOR;
    ALIASES_MAY_DIFFER = "aliases-may-differ", Compatible, true, Changed, "a parameter and its alias need no longer be equal", FOLLOW;
    ALIASES_MUST_AGREE = "aliases-must-agree", Breaking, true, Changed, "a parameter and its alias must now be equal", NEW_MAJOR;
    CITATION_CHANGED = "citation-changed", Documentation, false, Changed, "a part cites other clauses", REVIEW;
    CLAUSE_ADDED = "clause-added", Decision, true, Added, "a new clause: behaviour without a rule now has one", SUITE;
    CLAUSE_NOT_OBSERVABLE = "clause-not-observable", Compatible, false, Changed, "the suite no longer judges a clause", TELL;
    CLAUSE_OBSERVABLE = "clause-observable", Decision, true, Changed, "the suite judges a clause that it did not judge", SUITE;
    CLAUSE_REMOVED = "clause-removed", Decision, false, Removed, "a rule of the contract was removed", PROMISE;
    CLAUSE_REWORDED = "clause-reworded", Decision, true, Changed, "the text of a clause changed, and with it perhaps its meaning", "give a new meaning a new id; accept the change where the meaning is the same";
    CLAUSE_TAKES_UNSPECIFIED = "clause-takes-unspecified", Decision, true, Changed, "behaviour that was left open is now bound by a clause", SUITE;
    CREDENTIAL_ADDED = "credential-added", Compatible, true, Added, "the token may be sent in a further way", FOLLOW;
    CREDENTIAL_REMOVED = "credential-removed", Breaking, false, Removed, "the token may no longer be sent in this way", NEW_MAJOR;
    CREDENTIALS_MAY_DIFFER = "credentials-may-differ", Compatible, true, Changed, "tokens sent in several ways need no longer be equal", FOLLOW;
    CREDENTIALS_MUST_AGREE = "credentials-must-agree", Breaking, true, Changed, "tokens sent in several ways must now be equal", NEW_MAJOR;
    DEFAULT_ADDED = "default-added", Decision, true, Added, "an absent value now has a stated meaning", "make sure that it is what services do already";
    DEFAULT_CHANGED = "default-changed", Breaking, true, Changed, "an absent value means something else: callers that omit it see other behaviour", NEW_MAJOR;
    DEFAULT_REMOVED = "default-removed", Decision, false, Removed, "an absent value no longer has a stated meaning", PROMISE;
    DEPRECATED = "deprecated", Compatible, false, Deprecated, "a part is deprecated", "tell callers what replaces it and until when it works";
    DOCUMENT_REORDERED = "document-reordered", Documentation, false, Changed, "the order of entries changed", REVIEW;
    EXAMPLE_CHANGED = "example-changed", Documentation, false, Changed, "an example changed", REVIEW;
    FALLBACK_ADDED = "fallback-added", Decision, true, Added, "a header is now read where a parameter is absent", "make sure that callers who send the header already mean it so";
    FALLBACK_REMOVED = "fallback-removed", Breaking, false, Removed, "a header is no longer read where a parameter is absent", NEW_MAJOR;
    HEADER_RESPELLED = "header-respelled", Documentation, false, Changed, "the name of a header has another letter case, which HTTP ignores", REVIEW;
    INFORMATION_CHANGED = "information-changed", Documentation, false, Changed, "title, contact, licence or another entry about the document changed", REVIEW;
    INTEGER_WIDTH_CHANGED = "integer-width-changed", Decision, false, Changed, "generated callers may read the number in another width", "integers are 64 bits wide here with and without `format: int64`; tell callers in other languages";
    LIMIT_WITHOUT_EFFECT = "limit-without-effect", Documentation, false, Changed, "a limit that excludes nothing was added or removed", REVIEW;
    OPERATION_ADDED = "operation-added", Compatible, true, Added, "a new operation", FOLLOW;
    OPERATION_MOVED = "operation-moved", Breaking, true, Changed, "the path or method of an operation changed", NEW_MAJOR;
    OPERATION_REMOVED = "operation-removed", Breaking, false, Removed, "an operation was removed", "deprecate it with `x-sunset` first, and remove it after that date";
    OPERATION_RENAMED = "operation-renamed", Decision, false, Changed, "the id of an operation changed: nothing changes on the wire, but generated callers do not compile", "keep the id, or raise the version of the crates";
    PARAMETER_ADDED = "parameter-added", Compatible, true, Added, "a new optional parameter", FOLLOW;
    PARAMETER_ADDED_REQUIRED = "parameter-added-required", Breaking, true, Added, "a new required parameter", "make it optional with a default, or give callers a new major version";
    PARAMETER_BECAME_OPTIONAL = "parameter-became-optional", Compatible, true, Changed, "a parameter may be omitted", FOLLOW;
    PARAMETER_BECAME_REQUIRED = "parameter-became-required", Breaking, true, Changed, "a parameter must be sent", NEW_MAJOR;
    PARAMETER_REMOVED = "parameter-removed", Breaking, false, Removed, "a parameter was removed: services may reject callers that send it", "deprecate it with `x-sunset` first, and remove it after that date";
    PATH_PARAMETER_RENAMED = "path-parameter-renamed", Decision, false, Changed, "a path parameter has another name: nothing changes on the wire, but generated callers do not compile", "keep the name, or raise the version of the crates";
    PATTERN_CHANGED = "pattern-changed", Documentation, false, Changed, "the pattern beside an `x-format`, for other people's tools, changed", "nothing: `cargo xtask check` holds it against the format";
    REMOVED_AFTER_SUNSET = "removed-after-sunset", Compatible, false, Removed, "a deprecated part was removed after its sunset", TELL;
    REQUEST_BODY_ADDED = "request-body-added", Compatible, true, Added, "an optional request body", FOLLOW;
    REQUEST_BODY_ADDED_REQUIRED = "request-body-added-required", Breaking, true, Added, "a required request body", NEW_MAJOR;
    REQUEST_BODY_BECAME_OPTIONAL = "request-body-became-optional", Compatible, true, Changed, "the request body may be omitted", FOLLOW;
    REQUEST_BODY_BECAME_REQUIRED = "request-body-became-required", Breaking, true, Changed, "the request body must be sent", NEW_MAJOR;
    REQUEST_BODY_REMOVED = "request-body-removed", Breaking, false, Removed, "the request body was removed", NEW_MAJOR;
    REQUEST_ENUM_VALUE_ADDED = "request-enum-value-added", Compatible, true, Added, "a request may hold a further value", FOLLOW;
    REQUEST_ENUM_VALUE_REMOVED = "request-enum-value-removed", Breaking, true, Removed, "a request may no longer hold this value", NEW_MAJOR;
    REQUEST_LIMIT_NARROWED = "request-limit-narrowed", Breaking, true, Changed, "a limit of requests is narrower: values that were valid are rejected", NEW_MAJOR;
    REQUEST_LIMIT_WIDENED = "request-limit-widened", Compatible, true, Changed, "a limit of requests is wider: values that were rejected are valid", FOLLOW;
    REQUEST_NULL_ADDED = "request-null-added", Compatible, true, Added, "a request may hold null", FOLLOW;
    REQUEST_NULL_REMOVED = "request-null-removed", Breaking, true, Removed, "a request may no longer hold null", NEW_MAJOR;
    REQUEST_OBJECT_CLOSED = "request-object-closed", Breaking, true, Changed, "a request may no longer hold properties that the document does not name", NEW_MAJOR;
    REQUEST_OBJECT_OPENED = "request-object-opened", Compatible, true, Changed, "a request may hold properties that the document does not name", FOLLOW;
    REQUEST_PROPERTY_ADDED = "request-property-added", Compatible, true, Added, "a new optional property of a request", FOLLOW;
    REQUEST_PROPERTY_ADDED_REQUIRED = "request-property-added-required", Breaking, true, Added, "a new required property of a request", "make it optional with a default, or give callers a new major version";
    REQUEST_PROPERTY_BECAME_OPTIONAL = "request-property-became-optional", Compatible, true, Changed, "a property of a request may be omitted", FOLLOW;
    REQUEST_PROPERTY_BECAME_REQUIRED = "request-property-became-required", Breaking, true, Changed, "a property of a request must be sent", NEW_MAJOR;
    REQUEST_PROPERTY_REMOVED = "request-property-removed", Breaking, false, Removed, "a property of a request was removed: services may reject callers that send it", "deprecate it with `x-sunset` first, and remove it after that date";
    REQUEST_TYPE_CHANGED = "request-type-changed", Breaking, true, Changed, "a value of a request has another type or format", NEW_MAJOR;
    REQUEST_TYPE_NARROWED = "request-type-narrowed", Breaking, true, Changed, "a text of a request must now have a format", NEW_MAJOR;
    REQUEST_TYPE_WIDENED = "request-type-widened", Compatible, true, Changed, "a text of a request need no longer have a format", FOLLOW;
    RESPONSE_ENUM_VALUE_ADDED = "response-enum-value-added", Decision, false, Added, "a response may hold a value that callers do not know", "our client keeps unknown values as text; ask whether other callers do";
    RESPONSE_ENUM_VALUE_REMOVED = "response-enum-value-removed", Compatible, true, Removed, "a response no longer holds this value", FOLLOW;
    RESPONSE_HEADER_ADDED = "response-header-added", Compatible, false, Added, "an optional response header", TELL;
    RESPONSE_HEADER_ADDED_REQUIRED = "response-header-added-required", Compatible, true, Added, "a required response header", FOLLOW;
    RESPONSE_HEADER_BECAME_OPTIONAL = "response-header-became-optional", Breaking, false, Changed, "a response header may be absent", NEW_MAJOR;
    RESPONSE_HEADER_BECAME_REQUIRED = "response-header-became-required", Compatible, true, Changed, "a response header is always sent", FOLLOW;
    RESPONSE_HEADER_REMOVED = "response-header-removed", Decision, false, Removed, "an optional response header was removed", PROMISE;
    RESPONSE_HEADER_REMOVED_REQUIRED = "response-header-removed-required", Breaking, false, Removed, "a required response header was removed", NEW_MAJOR;
    RESPONSE_LIMIT_NARROWED = "response-limit-narrowed", Compatible, true, Changed, "a limit of responses is narrower", FOLLOW;
    RESPONSE_LIMIT_WIDENED = "response-limit-widened", Breaking, false, Changed, "a limit of responses is wider: callers may get values that were impossible", NEW_MAJOR;
    RESPONSE_MEDIA_TYPE_ADDED = "response-media-type-added", Compatible, false, Added, "a response may have a further media type", "make sure that callers get it only where they ask for it";
    RESPONSE_MEDIA_TYPE_REMOVED = "response-media-type-removed", Breaking, false, Removed, "a response no longer has this media type", NEW_MAJOR;
    RESPONSE_NULL_ADDED = "response-null-added", Breaking, false, Added, "a response may hold null", NEW_MAJOR;
    RESPONSE_NULL_REMOVED = "response-null-removed", Compatible, true, Removed, "a response never holds null", FOLLOW;
    RESPONSE_OBJECT_CLOSED = "response-object-closed", Compatible, true, Changed, "a response holds no properties that the document does not name", FOLLOW;
    RESPONSE_OBJECT_OPENED = "response-object-opened", Breaking, false, Changed, "a response may hold properties that the document does not name", NEW_MAJOR;
    RESPONSE_PROPERTY_ADDED = "response-property-added", Compatible, false, Added, "an optional property of a response", TELL;
    RESPONSE_PROPERTY_ADDED_REQUIRED = "response-property-added-required", Compatible, true, Added, "a required property of a response", FOLLOW;
    RESPONSE_PROPERTY_BECAME_OPTIONAL = "response-property-became-optional", Breaking, false, Changed, "a property of a response may be absent", NEW_MAJOR;
    RESPONSE_PROPERTY_BECAME_REQUIRED = "response-property-became-required", Compatible, true, Changed, "a property of a response is always sent", FOLLOW;
    RESPONSE_PROPERTY_REMOVED = "response-property-removed", Decision, false, Removed, "an optional property of a response was removed", PROMISE;
    RESPONSE_PROPERTY_REMOVED_REQUIRED = "response-property-removed-required", Breaking, false, Removed, "a required property of a response was removed", NEW_MAJOR;
    RESPONSE_STATUS_ADDED = "response-status-added", Compatible, true, Added, "an error has a description of its own", "it was covered by `default` where there is one; services must follow";
    RESPONSE_STATUS_REMOVED = "response-status-removed", Decision, false, Removed, "an error has no description of its own any more", PROMISE;
    RESPONSE_TYPE_CHANGED = "response-type-changed", Breaking, true, Changed, "a value of a response has another type or format", NEW_MAJOR;
    RESPONSE_TYPE_NARROWED = "response-type-narrowed", Compatible, true, Changed, "a text of a response now has a format", FOLLOW;
    RESPONSE_TYPE_WIDENED = "response-type-widened", Breaking, false, Changed, "a text of a response no longer has a format", NEW_MAJOR;
    RETRY_ALLOWED = "retry-allowed", Compatible, true, Changed, "callers may repeat an operation that they could not repeat", FOLLOW;
    RETRY_FORBIDDEN = "retry-forbidden", Breaking, false, Changed, "callers that repeat an operation may do twice what they want once", NEW_MAJOR;
    RETRY_STATED = "retry-stated", Compatible, false, Added, "the document now says whether an operation may be repeated", "make sure that it is what callers do already";
    RULE_ADDED = "rule-added", Breaking, true, Added, "a new rule between fields of a request", NEW_MAJOR;
    RULE_REMOVED = "rule-removed", Compatible, true, Removed, "a rule between fields of a request was removed", FOLLOW;
    SEPARATOR_CHANGED = "separator-changed", Breaking, true, Changed, "a separator value has another text", NEW_MAJOR;
    SERVERS_CHANGED = "servers-changed", Decision, false, Changed, "the addresses of the service changed", "make sure that callers reach the service under the older address too";
    SUCCESS_STATUS_CHANGED = "success-status-changed", Breaking, true, Changed, "the HTTP status of success changed", NEW_MAJOR;
    SUNSET_EARLIER = "sunset-earlier", Breaking, false, Changed, "the sunset of a deprecated part is earlier than announced", "keep the announced date";
    SUNSET_LATER = "sunset-later", Documentation, false, Changed, "the sunset of a deprecated part was announced, postponed or withdrawn", TELL;
    TAGS_CHANGED = "tags-changed", Documentation, false, Changed, "an operation belongs to other groups of the documentation", REVIEW;
    TEXT_CHANGED = "text-changed", Documentation, false, Changed, "a description changed", REVIEW;
    UNCLASSIFIED = "unclassified", Decision, false, Changed, "a change that no other rule knows", "decide what it means for callers, and add a rule in xtask/src/diff";
    UNDEPRECATED = "undeprecated", Compatible, false, Changed, "a part is no longer deprecated", TELL;
    UNSPECIFIED_ADDED = "unspecified-added", Decision, false, Added, "behaviour is now left open", PROMISE;
    UNSPECIFIED_REMOVED = "unspecified-removed", Decision, true, Removed, "behaviour is no longer left open", SUITE;
    UNSPECIFIED_REWORDED = "unspecified-reworded", Decision, true, Changed, "the text of unspecified behaviour changed, and with it perhaps what is open", "accept the change where the meaning is the same";
    WORDING_OF_REFERENCES = "wording-of-references", Documentation, false, Changed, "a part became inline or a reference, with the same meaning", REVIEW;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_sorted_unique_and_explained() {
        assert!(RULES.is_sorted_by(|a, b| a.id < b.id));
        for rule in RULES {
            assert!(rule.means.len() > 10 && rule.advice.len() > 10, "{}", rule.id);
            assert!(rule.id.chars().all(|c| c.is_ascii_lowercase() || c == '-'), "{}", rule.id);
        }
    }
}

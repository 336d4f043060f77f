//! How changes are judged: by what they do to the requests that are accepted and to the responses that are sent, and by a table of
//! the changes about which that says too little.

use crate::table::Direction;

/// What a change means for callers that follow the older document, from harmless to serious.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
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

/// What a change does to the set of valid requests or responses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    Narrows,
    Widens,
    /// A part that may be left out is new.
    Adds,
    /// A part that could be left out is gone.
    Removes,
}

/// A kind of change, and its verdict.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Rule {
    /// Stable id, part of fingerprints.
    pub(crate) id: String,
    pub(crate) verdict: Verdict,
    /// Whether a service that conformed to the older document may fail the newer suite.
    pub(crate) services_may_fail: bool,
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

const NEW_MAJOR: &str = "give callers a new major version, or keep the older behaviour beside the new one";
const FOLLOW: &str = "services must follow; callers need not change";
const TELL: &str = "tell callers in the changelog";
const REVIEW: &str = "review the text; nothing on the wire changes";
const PROMISE: &str = "decide whether callers rely on it; accept the change with a reason if they do not";
const SUITE: &str =
    "services that conformed may fail: announce it, and run the new suite against the environments";

use Verdict::{Breaking, Compatible, Decision, Documentation};

/// A verdict, whether conforming services may fail, what it means and what to do.
type Judgement = (Verdict, bool, &'static str, &'static str);

fn by_effect(direction: Direction, effect: Effect) -> Judgement {
    match (direction == Direction::Request, effect) {
        (true, Effect::Narrows) => (Breaking, true, "requests that were valid are rejected", NEW_MAJOR),
        (true, Effect::Widens) => (Compatible, true, "requests that were rejected are valid", FOLLOW),
        (true, Effect::Adds) => (Compatible, true, "requests may hold something new", FOLLOW),
        (true, Effect::Removes) => {
            (Breaking, false, "services may reject callers that still send it", NEW_MAJOR)
        }
        (false, Effect::Narrows) => (Compatible, true, "responses promise more than they did", FOLLOW),
        (false, Effect::Widens) => {
            (Breaking, false, "callers may get what was impossible, or miss what was certain", NEW_MAJOR)
        }
        (false, Effect::Adds) => (Compatible, false, "responses may hold something new", TELL),
        (false, Effect::Removes) => {
            (Decision, false, "responses no longer hold something that they could hold", PROMISE)
        }
    }
}

macro_rules! rules {
    ($($id:literal, $verdict:ident, $services:literal, $means:literal, $advice:expr;)*) => {
        /// Changes that are judged by what they are, sorted by id.
        const RULES: &[(&str, Judgement)] = &[$(($id, ($verdict, $services, $means, $advice))),*];
    };
}

// Id, verdict, whether conforming services may fail, what it means, what to do.
rules! {
    "citation-changed", Documentation, false, "a part cites other clauses", REVIEW;
    "clause-added", Decision, true, "behaviour without a rule now has one", SUITE;
    "clause-not-observable", Compatible, false, "the suite no longer judges a clause", TELL;
    "clause-observable", Decision, true, "the suite judges a clause that it did not judge", SUITE;
    "clause-removed", Decision, false, "a rule of the contract was removed", PROMISE;
    "clause-reworded", Decision, true, "the text of a clause changed, and with it perhaps its meaning", "give a new meaning a new id; accept the change where the meaning is the same";
    "default-added", Decision, true, "an absent value now has a stated meaning", "make sure that it is what services do already";
    "default-changed", Breaking, true, "callers that omit the value see other behaviour", NEW_MAJOR;
    "default-removed", Decision, false, "an absent value no longer has a stated meaning", PROMISE;
    "document-reordered", Documentation, false, "the order of entries changed", REVIEW;
    "example-changed", Documentation, false, "an example changed", REVIEW;
    "fallback-added", Decision, true, "a header is now read where a parameter is absent", "make sure that callers who send the header already mean it so";
    "fallback-removed", Breaking, false, "a header is no longer read where a parameter is absent", NEW_MAJOR;
    "header-respelled", Documentation, false, "the name of a header has another letter case, which HTTP ignores", REVIEW;
    "information-changed", Documentation, false, "title, contact, licence or another entry about the document changed", REVIEW;
    "integer-width-changed", Decision, false, "generated callers may read the number in another width", "integers are 64 bits wide here with and without `format: int64`; tell callers in other languages";
    "limit-without-effect", Documentation, false, "a limit that excludes nothing was added or removed", REVIEW;
    "meaning-changed", Breaking, true, "a search finds other items, or divides them into other pages", NEW_MAJOR;
    "meaning-extended", Decision, true, "the document says of more properties what they find", "make sure that it is what services do already";
    "meaning-removed", Decision, false, "the document no longer says what the properties of a search find, or how its pages work", PROMISE;
    "meaning-stated", Compatible, false, "the document now says what the properties of a search find, or how its pages work", "make sure that it is what services do already";
    "operation-added", Compatible, true, "a new operation", FOLLOW;
    "operation-moved", Breaking, true, "the path or method of an operation changed", NEW_MAJOR;
    "operation-removed", Breaking, false, "an operation was removed", NEW_MAJOR;
    "operation-renamed", Decision, false, "nothing changes on the wire, but generated callers do not compile", "keep the id, or raise the version of the crates";
    "path-parameter-renamed", Decision, false, "nothing changes on the wire, but generated callers do not compile", "keep the name, or raise the version of the crates";
    "pattern-changed", Documentation, false, "the pattern beside an `x-format`, for other people's tools, changed", "nothing: a test of the lint compares it with the format";
    "request-type-changed", Breaking, true, "a value has another type or format", NEW_MAJOR;
    "response-enum-value-added", Decision, false, "a response may hold a value that callers do not know", "our client keeps unknown values as text; ask whether other callers do";
    "response-media-type-removed", Breaking, false, "a response no longer has this media type", NEW_MAJOR;
    "response-status-added", Compatible, true, "an error has a description of its own", "it was covered by `default` where there is one; services must follow";
    "response-type-changed", Breaking, true, "a value has another type or format", NEW_MAJOR;
    "retry-allowed", Compatible, true, "callers may repeat an operation that they could not repeat", FOLLOW;
    "retry-forbidden", Breaking, false, "callers that repeat an operation may do twice what they want once", NEW_MAJOR;
    "retry-stated", Compatible, false, "the document now says whether an operation may be repeated", "make sure that it is what callers do already";
    "separator-changed", Breaking, true, "a separator value has another text", NEW_MAJOR;
    "servers-changed", Decision, false, "the addresses of the service changed", "make sure that callers reach the service under the older address too";
    "success-status-changed", Breaking, true, "the HTTP status of success changed", NEW_MAJOR;
    "tags-changed", Documentation, false, "an operation belongs to other groups of the documentation", REVIEW;
    "text-changed", Documentation, false, "a description changed", REVIEW;
    "unclassified", Decision, false, "a change that no rule knows", "decide what it means for callers, and add a rule in xtask/src/diff";
    "unspecified-added", Decision, false, "behaviour is now left open", PROMISE;
    "unspecified-removed", Decision, true, "behaviour is no longer left open", SUITE;
    "unspecified-reworded", Decision, true, "the text of unspecified behaviour changed, and with it perhaps what is open", "accept the change where the meaning is the same";
    "wording-of-references", Documentation, false, "a part became inline or a reference, with the same meaning", REVIEW;
}

impl Rule {
    /// The rule with that id in the table; a change without one is unclassified.
    pub(super) fn named(id: &str) -> Rule {
        let found = RULES.iter().find(|(known, _)| *known == id);
        let unclassified = (
            "unclassified",
            (Decision, false, "a change that no rule knows", "decide what it means for callers"),
        );
        let (id, judgement) = found.copied().unwrap_or(unclassified);
        Rule::new(id.to_owned(), judgement)
    }

    /// The rule for a change with that effect, such as `request-limit` and `narrowed`, unless the table has one.
    pub(super) fn by_effect(id: String, direction: Direction, effect: Effect) -> Rule {
        match RULES.iter().find(|(known, _)| *known == id) {
            Some((_, judgement)) => Rule::new(id, *judgement),
            None => Rule::new(id, by_effect(direction, effect)),
        }
    }

    fn new(id: String, (verdict, services_may_fail, means, advice): Judgement) -> Rule {
        Rule { id, verdict, services_may_fail, means, advice }
    }

    /// The section of a changelog that the change belongs to.
    pub(super) fn section(&self) -> &'static str {
        match &self.id {
            id if id.contains("-added") => "Added",
            id if id.contains("-removed") => "Removed",
            _ => "Changed",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_sorted_and_unique() {
        assert!(RULES.is_sorted_by(|one, other| one.0 < other.0));
        assert_eq!(Rule::named("no such rule").id, "unclassified");
    }
}

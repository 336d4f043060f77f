use std::fmt;

use schemars::JsonSchema;
use serde::Serialize;

/// A duty of callers. No response of a server shows it, so the document has no clause for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
pub enum Duty {
    /// See [`Duty::text`], as for all of them.
    #[serde(rename = "client.both-codes")]
    BothCodes,
    /// 429.
    #[serde(rename = "client.wait-throttled")]
    WaitThrottled,
    /// Too few gateways.
    #[serde(rename = "client.wait-shortage")]
    WaitShortage,
    /// 500 and 503.
    #[serde(rename = "client.limited-retries")]
    LimitedRetries,
    /// Interruptions.
    #[serde(rename = "client.same-request-id")]
    SameRequestId,
    /// Repeats of what takes gateways.
    #[serde(rename = "client.no-blind-repeat")]
    NoBlindRepeat,
    /// Plain http.
    #[serde(rename = "client.https-only")]
    HttpsOnly,
    /// Redirects, logs and errors.
    #[serde(rename = "client.token-private")]
    TokenPrivate,
    /// Unspecified behaviour.
    #[serde(rename = "client.tolerant")]
    Tolerant,
    /// Plain text.
    #[serde(rename = "client.text-entries")]
    TextEntries,
    /// Pages.
    #[serde(rename = "client.paging")]
    Paging,
    /// Time.
    #[serde(rename = "client.time-limit")]
    TimeLimit,
}

impl Duty {
    /// All of them, in the order of reports.
    pub const ALL: [Self; 12] = [
        Self::BothCodes,
        Self::WaitThrottled,
        Self::WaitShortage,
        Self::LimitedRetries,
        Self::SameRequestId,
        Self::NoBlindRepeat,
        Self::HttpsOnly,
        Self::TokenPrivate,
        Self::Tolerant,
        Self::TextEntries,
        Self::Paging,
        Self::TimeLimit,
    ];

    /// The duty of that id.
    #[must_use]
    pub fn from_id(id: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|duty| duty.id() == id)
    }

    /// Its id, such as `client.both-codes`.
    #[must_use]
    pub const fn id(self) -> &'static str {
        self.entry().0
    }

    /// Section of the prose contract.
    #[must_use]
    pub const fn section(self) -> &'static str {
        self.entry().1
    }

    /// What a caller does.
    #[must_use]
    pub const fn text(self) -> &'static str {
        self.entry().2
    }

    /// What goes wrong when it does not.
    #[must_use]
    pub const fn why(self) -> &'static str {
        self.entry().3
    }

    /// The sentences that presuppose it, where the contract does not state it.
    #[must_use]
    pub const fn inferred_from(self) -> Option<&'static str> {
        match self {
            Self::Tolerant => {
                Some("1 and 9: what the contract leaves open, and what a later version may add")
            }
            Self::TextEntries => Some("4.1: `lb` chooses the separator of the entries"),
            Self::Paging => Some("4.3: `page`, `pageSize` and `total`"),
            Self::TimeLimit => Some("7.3: retries are limited"),
            _ => None,
        }
    }

    const fn entry(self) -> (&'static str, &'static str, &'static str, &'static str) {
        match self {
            Self::BothCodes => (
                "client.both-codes",
                "4.1 rule 1, 7.1, 7.2",
                "A call has succeeded only with HTTP 200 and the success code of its operation.",
                "A rejection within HTTP 200 is taken for an empty result, or an error page for data.",
            ),
            Self::WaitThrottled => (
                "client.wait-throttled",
                "7.3",
                "After HTTP 429 nothing is sent until the time of Retry-After is over.",
                "Early retries keep the account throttled, for all of its callers.",
            ),
            Self::WaitShortage => (
                "client.wait-shortage",
                "4.1 rule 4, 7.4",
                "After a shortage, whatever its status, nothing is extracted until the time of Retry-After is over.",
                "Early retries find no gateways either, and load the service when it is short of them.",
            ),
            Self::LimitedRetries => (
                "client.limited-retries",
                "7.3",
                "HTTP 500 and 503 are retried a limited number of times.",
                "A service that fails gets more requests than one that works, and the caller never an error.",
            ),
            Self::SameRequestId => (
                "client.same-request-id",
                "4.1 rule 5",
                "An interrupted extraction is repeated with the same request id, and a new extraction has another one.",
                "Gateways are taken and paid for twice, or a new extraction returns the old ones.",
            ),
            Self::NoBlindRepeat => (
                "client.no-blind-repeat",
                "7.5",
                "An extraction whose outcome is unknown is not repeated without a request id.",
                "Gateways are taken and paid for that nobody uses.",
            ),
            Self::HttpsOnly => (
                "client.https-only",
                "head, 5.1",
                "Nothing is sent over plain http to another host than the loopback interface.",
                "Everybody on the way can read the token.",
            ),
            Self::TokenPrivate => (
                "client.token-private",
                "5.5",
                "The token goes to the service alone: not to the target of a redirect, a log or an error.",
                "Whoever reads a log or owns another host can use the account.",
            ),
            Self::Tolerant => (
                "client.tolerant",
                "1",
                "Further fields, further values and other decisions on unspecified behaviour break nothing.",
                "An update of the service that the contract allows stops the caller.",
            ),
            Self::TextEntries => (
                "client.text-entries",
                "4.1",
                "A plain-text response is split by the separator that was asked for.",
                "Gateways are lost, or an error text is read as gateways.",
            ),
            Self::Paging => (
                "client.paging",
                "4.3",
                "Pages are walked without gaps and repeats, up to the last one.",
                "Instances are missing from the result, or are in it twice.",
            ),
            Self::TimeLimit => (
                "client.time-limit",
                "7.3",
                "A call ends within the time that it was given, whatever the service does.",
                "One stalled response stops the caller.",
            ),
        }
    }
}

impl fmt::Display for Duty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_has_a_row_for_each_duty() {
        let page = include_str!("../../CLIENTS.md");
        let rows = page.lines().filter_map(|line| line.strip_prefix("| `client.")?.split('`').next());
        let rows: Vec<_> = rows.map(|id| format!("client.{id}")).collect();
        assert_eq!(rows, Duty::ALL.map(Duty::id), "the table of conformance/CLIENTS.md");
    }

    #[test]
    fn ids_are_unique_and_serialize_as_themselves() {
        for duty in Duty::ALL {
            assert_eq!(Duty::from_id(duty.id()), Some(duty));
            assert_eq!(serde_json::to_value(duty).expect("JSON"), duty.id());
            assert!(duty.text().ends_with('.') && duty.why().ends_with('.'), "{duty}");
        }
    }
}

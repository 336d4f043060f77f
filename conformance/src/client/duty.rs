use std::fmt;

use serde::Serialize;

/// The duties, in the order of reports: name, id and section of the prose contract; what a caller does; what goes wrong when it
/// does not; and the sentences that presuppose the duty, where the contract does not state it.
macro_rules! duties {
    ($($name:ident $id:literal, $section:literal: $text:literal, $why:literal $(, inferred from $from:literal)?;)+) => {
        /// A duty of callers. No response of a server shows it, so the document has no clause for it.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
        pub enum Duty {
            $(#[doc = $text] #[serde(rename = $id)] $name),+
        }

        impl Duty {
            /// All of them, in the order of reports.
            pub const ALL: [Self; [$($id),+].len()] = [$(Self::$name),+];

            /// Its id, such as `client.both-codes`.
            #[must_use]
            pub const fn id(self) -> &'static str { match self { $(Self::$name => $id),+ } }

            /// Section of the prose contract.
            #[must_use]
            pub const fn section(self) -> &'static str { match self { $(Self::$name => $section),+ } }

            /// What a caller does.
            #[must_use]
            pub const fn text(self) -> &'static str { match self { $(Self::$name => $text),+ } }

            /// What goes wrong when it does not.
            #[must_use]
            pub const fn why(self) -> &'static str { match self { $(Self::$name => $why),+ } }

            /// The sentences that presuppose it, where the contract does not state it.
            #[must_use]
            pub const fn inferred_from(self) -> Option<&'static str> {
                match self { $($(Self::$name => Some($from),)?)+ _ => None }
            }
        }
    };
}

duties! {
    BothCodes "client.both-codes", "4.1 rule 1, 7.1, 7.2":
        "A call has succeeded only with HTTP 200 and the success code of its operation.",
        "A rejection within HTTP 200 is taken for an empty result, or an error page for data.";
    WaitThrottled "client.wait-throttled", "7.3":
        "After HTTP 429 nothing is sent until the time of Retry-After is over.",
        "Early retries keep the account throttled, for all of its callers.";
    WaitShortage "client.wait-shortage", "4.1 rule 4, 7.4":
        "After a shortage, whatever its status, nothing is extracted until the time of Retry-After is over.",
        "Early retries find no gateways either, and load the service when it is short of them.";
    LimitedRetries "client.limited-retries", "7.3":
        "HTTP 500 and 503 are retried a limited number of times.",
        "A service that fails gets more requests than one that works, and the caller never an error.";
    SameRequestId "client.same-request-id", "4.1 rule 5":
        "An interrupted extraction is repeated with the same request id, and a new extraction has another one.",
        "Gateways are taken and paid for twice, or a new extraction returns the old ones.";
    NoBlindRepeat "client.no-blind-repeat", "7.5":
        "An extraction whose outcome is unknown is not repeated without a request id.",
        "Gateways are taken and paid for that nobody uses.";
    HttpsOnly "client.https-only", "head, 5.1":
        "Nothing is sent over plain http to another host than the loopback interface.",
        "Anybody on the network path can read the token.";
    TokenPrivate "client.token-private", "5.5":
        "The token goes to the service alone: not to the target of a redirect, a log or an error.",
        "Anybody who reads the log, or runs the host that a redirect names, can use the account.";
    Tolerant "client.tolerant", "1":
        "Further fields, further values and other decisions on unspecified behaviour break nothing.",
        "An update of the service that the contract allows stops the caller.",
        inferred from "1 and 9: what the contract leaves open, and what a later version may add";
    TextEntries "client.text-entries", "4.1":
        "A plain-text response is split by the separator that was asked for.",
        "Gateways are lost, or an error text is read as gateways.",
        inferred from "4.1: `lb` chooses the separator of the entries";
    Paging "client.paging", "4.3":
        "Pages are walked without gaps and repeats, up to the last one.",
        "Instances are missing from the result, or are in it twice.",
        inferred from "4.3: `page`, `pageSize` and `total`";
    TimeLimit "client.time-limit", "7.3":
        "A call ends within the time that it was given, whatever the service does.",
        "One stalled response stops the caller.",
        inferred from "7.3: retries are limited";
}

impl Duty {
    /// The duty of that id.
    #[must_use]
    pub fn from_id(id: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|duty| duty.id() == id)
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
}

//! The one table of refusals: what a caller is told, with which HTTP status and which business code. The contract
//! leaves statuses and codes open (`open.rejections.form`, `open.catalogue`); `server/DECISIONS.md` shows the same
//! table to people, and a test holds both together. A published code never changes its meaning.

use http::StatusCode;

macro_rules! catalogue {
    ($($reason:ident = $status:ident, $code:literal, $when:literal;)*) => {
        /// Why a request is refused.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Reason {
            $(#[doc = $when] $reason,)*
        }

        impl Reason {
            /// Every reason, by ascending code.
            pub const ALL: &[Self] = &[$(Self::$reason,)*];

            /// HTTP status of the answer.
            #[must_use]
            pub const fn status(self) -> StatusCode {
                match self { $(Self::$reason => StatusCode::$status,)* }
            }

            /// Stable business code, unlike every success code of the contract.
            #[must_use]
            pub const fn code(self) -> i64 {
                match self { $(Self::$reason => $code,)* }
            }

            /// When the refusal is given, in one sentence.
            #[must_use]
            pub const fn when(self) -> &'static str {
                match self { $(Self::$reason => $when,)* }
            }
        }
    };
}

catalogue! {
    Invalid = BAD_REQUEST, 40001, "A parameter or field has a wrong type, form or size.";
    Missing = BAD_REQUEST, 40002, "A required parameter or field is absent.";
    Empty = BAD_REQUEST, 40003, "A parameter, header or field is sent, but empty.";
    Repeated = BAD_REQUEST, 40004, "A parameter, header or field is sent more than once.";
    Unknown = BAD_REQUEST, 40005, "A parameter or field is none of the operation's.";
    Conflict = BAD_REQUEST, 40006, "Two values that must agree do not.";
    MalformedQuery = BAD_REQUEST, 40007, "The query is not percent-encoded UTF-8.";
    MalformedHeader = BAD_REQUEST, 40008, "A header is not UTF-8.";
    MalformedBody = BAD_REQUEST, 40009, "The body is not one JSON value, or it breaks off.";
    CallerUnknown = BAD_REQUEST, 40010, "What the proxies in front say does not tell where the call comes from.";
    TokenMissing = UNAUTHORIZED, 40101, "The call has no token.";
    TokenInvalid = UNAUTHORIZED, 40102, "The token is unknown, revoked or expired.";
    ExtractionOnly = FORBIDDEN, 40301, "A link credential is sent to an operation other than extraction.";
    CallerNotIpv4 = FORBIDDEN, 40302, "The call does not come from an IPv4 address, so that no whitelist can hold it.";
    NotWhitelisted = FORBIDDEN, 40303, "The caller's address is not in an enabled whitelist of the account.";
    NotVerified = FORBIDDEN, 40304, "The account has not passed real-name verification.";
    NotEntitled = FORBIDDEN, 40305, "The account has no entitlement for the protocol.";
    NotEncrypted = FORBIDDEN, 40306, "The call came over plain http, and not through a declared proxy.";
    MethodNotAllowed = METHOD_NOT_ALLOWED, 40501, "The path is known, but not with this method.";
    BodyTimeout = REQUEST_TIMEOUT, 40801, "The body did not arrive in time.";
    RequestIdReused = CONFLICT, 40901, "The request id stands for an extraction with other parameters.";
    BodyTooLarge = PAYLOAD_TOO_LARGE, 41301, "The body is larger than the server reads.";
    NotJson = UNSUPPORTED_MEDIA_TYPE, 41501, "The body is not declared as application/json.";
    Throttled = TOO_MANY_REQUESTS, 42900, "Too many calls. Retry-After says when to ask again.";
    Internal = INTERNAL_SERVER_ERROR, 50001, "A fault of the server.";
    Shortage = SERVICE_UNAVAILABLE, 50301, "No gateway is available. Retry-After says when to ask again.";
    Busy = SERVICE_UNAVAILABLE, 50302, "The storage is busy. Retry-After says when to ask again.";
    Unavailable = SERVICE_UNAVAILABLE, 50303, "The storage is unavailable. Retry-After says when to ask again.";
    Overloaded = SERVICE_UNAVAILABLE, 50304, "The server has too much to do. Retry-After says when to ask again.";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_ascend_and_begin_with_their_status() {
        assert!(Reason::ALL.is_sorted_by(|one, next| one.code() < next.code()));
        for reason in Reason::ALL {
            assert_eq!(reason.code() / 100, i64::from(reason.status().as_u16()), "{reason:?}");
        }
    }

    #[test]
    fn decisions_show_the_same_table() {
        let decisions = include_str!("../../DECISIONS.md");
        let shown: Vec<&str> =
            decisions.lines().filter(|line| line.starts_with("| 4") || line.starts_with("| 5")).collect();
        let rows: Vec<String> = Reason::ALL
            .iter()
            .map(|reason| format!("| {} | {} | {} |", reason.code(), reason.status().as_u16(), reason.when()))
            .collect();
        assert_eq!(shown, rows, "the table of server/DECISIONS.md must read:\n{}", rows.join("\n"));
    }
}

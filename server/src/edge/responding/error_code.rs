//! The catalogue of error codes: HTTP status, business code and description. The description is the message of a response, unless
//! `request_error.rs` says which input is wrong or `api_error.rs` which protocol. The contract does not specify statuses and
//! codes (`open.rejections.form`, `open.catalogue`). `server/DECISIONS.md` has the same table, and a test compares both. A
//! published code never changes its meaning.

use http::StatusCode;

macro_rules! catalogue {
    ($($name:ident = $status:ident, $code:literal, $description:literal;)*) => {
        /// Why a request is rejected.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum ErrorCode {
            $(#[doc = $description] $name,)*
        }

        impl ErrorCode {
            /// Every error code, ascending by number.
            pub const ALL: &[Self] = &[$(Self::$name,)*];

            /// HTTP status of the response.
            pub const fn status(self) -> StatusCode {
                match self { $(Self::$name => StatusCode::$status,)* }
            }

            /// Stable business code; no success code of the contract has the same number.
            pub const fn number(self) -> i64 {
                match self { $(Self::$name => $code,)* }
            }

            /// What is wrong with the request, in a sentence or two.
            pub const fn description(self) -> &'static str {
                match self { $(Self::$name => $description,)* }
            }
        }
    };
}

catalogue! {
    Invalid = BAD_REQUEST, 40001, "A parameter or field has a wrong type, form or size.";
    Missing = BAD_REQUEST, 40002, "A required parameter or field is absent.";
    Empty = BAD_REQUEST, 40003, "A parameter, header or field is empty.";
    Repeated = BAD_REQUEST, 40004, "A parameter, header or field is sent more than once.";
    Unknown = BAD_REQUEST, 40005, "A parameter or field is unknown.";
    Conflict = BAD_REQUEST, 40006, "Two values that must be equal differ.";
    MalformedQuery = BAD_REQUEST, 40007, "The query is not percent-encoded UTF-8.";
    MalformedHeader = BAD_REQUEST, 40008, "A header is not UTF-8.";
    MalformedBody = BAD_REQUEST, 40009, "The body is not one JSON value, or it is incomplete.";
    CallerUnknown = BAD_REQUEST, 40010, "The forwarding headers of the proxies do not identify the caller.";
    TokenMissing = UNAUTHORIZED, 40101, "The request has no token.";
    TokenInvalid = UNAUTHORIZED, 40102, "The token is unknown, revoked or expired.";
    ExtractionOnly = FORBIDDEN, 40301, "A link credential can be used for extraction only.";
    CallerNotIpv4 = FORBIDDEN, 40302, "The source address is not IPv4, so no whitelist entry can contain it; call from an IPv4 address.";
    NotWhitelisted = FORBIDDEN, 40303, "No enabled and unexpired whitelist entry contains the source address; add it to the whitelist.";
    NotVerified = FORBIDDEN, 40304, "The account has not passed real-name verification.";
    NotEntitled = FORBIDDEN, 40305, "The account has no entitlement for the protocol.";
    NotEncrypted = FORBIDDEN, 40306, "The request came over plain HTTP and not from a trusted proxy; use HTTPS.";
    NotFound = NOT_FOUND, 40401, "The account has no object with the id in the path or in a field.";
    MethodNotAllowed = METHOD_NOT_ALLOWED, 40501, "The path does not support this method.";
    BodyTimeout = REQUEST_TIMEOUT, 40801, "The body was not received in time.";
    RequestIdReused = CONFLICT, 40901, "The request id was already used with other parameters.";
    BodyTooLarge = PAYLOAD_TOO_LARGE, 41301, "The body is too large.";
    NotJson = UNSUPPORTED_MEDIA_TYPE, 41501, "The body is not declared as application/json.";
    Throttled = TOO_MANY_REQUESTS, 42900, "The rate limit is exceeded. Retry-After says when to try again.";
    Internal = INTERNAL_SERVER_ERROR, 50001, "Internal error.";
    Shortage = SERVICE_UNAVAILABLE, 50301, "No gateway is available. Retry-After says when to try again.";
    Busy = SERVICE_UNAVAILABLE, 50302, "The storage is busy. Retry-After says when to try again.";
    Unavailable = SERVICE_UNAVAILABLE, 50303, "The storage is unavailable. Retry-After says when to try again.";
    Overloaded = SERVICE_UNAVAILABLE, 50304, "The server is overloaded. Retry-After says when to try again.";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_ascend_and_begin_with_their_status() {
        assert!(ErrorCode::ALL.is_sorted_by(|one, next| one.number() < next.number()));
        for code in ErrorCode::ALL {
            assert_eq!(code.number() / 100, i64::from(code.status().as_u16()), "{code:?}");
        }
    }

    #[test]
    fn decisions_show_the_same_table() {
        let decisions = include_str!("../../../DECISIONS.md");
        let shown: Vec<&str> =
            decisions.lines().filter(|line| line.starts_with("| 4") || line.starts_with("| 5")).collect();
        let rows: Vec<String> = ErrorCode::ALL
            .iter()
            .map(|code| {
                format!("| {} | {} | {} |", code.number(), code.status().as_u16(), code.description())
            })
            .collect();
        assert_eq!(shown, rows, "the table of server/DECISIONS.md must read:\n{}", rows.join("\n"));
    }
}

//! Why the code of a side does not change although the ledger names it.

use super::{Side, mutants::Mutant};

pub(super) fn reason(mutant: &Mutant, side: Side) -> Option<&'static str> {
    let Mutant { pointer, what, .. } = mutant;
    let keyword = pointer.rsplit('/').next().unwrap_or_default();
    let is_credential = pointer.starts_with("/components/parameters/ApiKey");
    let is_error_header = pointer.starts_with("/components/headers/RetryAfter");
    Some(match (keyword, side) {
        ("default", Side::Client) => "the service applies defaults: the client leaves an absent value out",
        ("format", _) if what == "dropped" => "every integer has 64 bits, with and without `format: int64`",
        ("required" | "minLength", _) if is_credential => {
            "a token is sent with every call and never empty, whatever its parameter says"
        }
        ("required", _) if is_error_header => {
            "an error carries Retry-After whenever there is a time to wait, and the client reads it whenever it is there"
        }
        ("nullable", Side::Client)
            if pointer.contains("/SearchRequest/") || pointer.contains("/GroupFilter/") =>
        {
            "a value of a request that may be absent is an `Option`, and the client never needs to send null"
        }
        ("nullable", Side::Client) => {
            "the client reads the texts and flags beside the data as optional already"
        }
        _ => return None,
    })
}

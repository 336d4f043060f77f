//! The token of a search.

use super::*;
use crate::checks::row::{Credential, edits};
use crate::checks::token::{one_token, other_spellings};

pub(super) static PROGRAMS: &[Program] = &[active("search.token.single", token_cases)];

fn token_cases(_: &Scope<'_>) -> Vec<Case> {
    let rows = one_token(&Base::SEARCH, |wrong| wrong.reason).into_iter();
    // A token in the body does not count, and filters do not replace it.
    let in_body = with(|probe, request| {
        let name = &probe.contract().search.operation.api_key.name;
        Ok(request.without_query(name).field(name, probe.token().expose()))
    });
    let requests = [
        ("the token is only in the body", vec![in_body.clone(), Drop(STATUS), Drop(GROUP_ID)]),
        ("the token is only in the body, beside filters", vec![in_body]),
        ("the token is absent, beside filters", vec![Edit::NoToken]),
        ("the token is sent twice, beside filters", vec![Edit::AddToken(Credential::Own)]),
    ];
    let requests = requests.map(|(why, edits)| (why.to_owned(), edits));
    let beside = invalid("absent or repeated beside other fields", []).sending(requests);
    let beside =
        beside.changing("beside filters", edits(OperationId::Search, "status=listed & groupId=0"), 0);
    let other_spellings = other_spellings(SearchToken, OperationId::Search);
    cases(SearchToken, rows.chain([beside])).into_iter().chain([other_spellings]).collect()
}

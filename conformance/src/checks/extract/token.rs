//! The token of an extraction: its transports, and several tokens in one request.

use super::*;
use crate::checks::row::Edit::Token;

pub(super) static PROGRAMS: &[Program] = &[
    active("extract.token-equal.differing", differing),
    active("extract.token-equal.two-accounts", |scope| {
        let rows = |form: Extraction| {
            form.other_transports().map(move |other| {
                let row = beside(
                    other,
                    "second account",
                    "the token of another account",
                    Credential::Supplied(Fact::SecondToken),
                );
                row.in_form(form.clone())
            })
        };
        cases(ExtractTokenEqual, Extraction::all(&scope.contract.extract).into_iter().flat_map(rows))
    }),
    active("extract.token-transport.each", |scope| {
        // The same form with the token in another place is the control: if that is accepted, the token is valid.
        let row = |form: Extraction| {
            let elsewhere = form.other_transports().next().unwrap_or(Transport::Query);
            let moved = [Edit::NoToken, Token(form.transport(), Credential::Own)];
            let row = accept("", form.name(), moved).labelled(form.label());
            row.in_form(form.sent_in(elsewhere))
        };
        let rows = Extraction::all(&scope.contract.extract).into_iter().map(row);
        cases(ExtractTokenTransport, rows)
    }),
    active("extract.token-transport.unknown", |scope| {
        let json = Transport::ALL.map(Extraction::by);
        let others = Extraction::all(&scope.contract.extract).into_iter();
        let (combined, others): (Vec<_>, Vec<_>) =
            others.filter(|form| !json.contains(form)).partition(Extraction::is_combined);
        let each = |form: Extraction| {
            let in_query = form.transport() == Transport::Query;
            let wrong = WrongToken::IN_HEADER.into_iter().chain(in_query.then_some(WrongToken::BEHIND_NUL));
            wrong.map(|wrong| (form.clone(), wrong)).collect::<Vec<_>>()
        };
        let some =
            |form: Extraction| [WrongToken::EMPTY, WrongToken::UNKNOWN].map(|wrong| (form.clone(), wrong));
        let row = |(form, wrong): (Extraction, WrongToken)| {
            reject(wrong.label, wrong.reason, []).by(Credential::Wrong(wrong)).in_form(form)
        };
        let all = json.clone().into_iter().chain(combined).flat_map(each);
        cases(AllTokenRequired, all.chain(others.into_iter().flat_map(some)).map(row))
    }),
    active("extract.token-transport.revoked", |scope| {
        let why = format!("the token was revoked, by {}", Fact::RevokedToken);
        let forms = Extraction::all(&scope.contract.extract);
        cases(
            AllTokenRequired,
            each(&forms[1..], [reject("", why, []).by(Credential::Supplied(Fact::RevokedToken))]),
        )
    }),
];

/// A further token in another transport.
fn beside(other: Transport, label: &str, why: &str, credential: Credential) -> Row {
    let (label, why) = (format!("{label} in {}", other.label()), format!("{why} in {}", other.name()));
    reject(label, why, [Token(other, credential)])
}

fn differing(scope: &Scope<'_>) -> Vec<Case> {
    let wrong = |other, label, token| beside(other, label, "another token", Credential::Wrong(token));
    let mut rows = Vec::new();
    for form in Extraction::all(&scope.contract.extract) {
        for other in form.other_transports() {
            rows.push(wrong(other, "unknown", WrongToken::UNKNOWN).in_form(form.clone()));
            rows.push(wrong(other, "altered", WrongToken::ALTERED).in_form(form.clone()));
        }
    }
    // Tokens that differ in letter case, and different credentials of one account, are different tokens.
    let other_case = Credential::Wrong(WrongToken::OTHER_CASE);
    for form in Transport::ALL.map(Extraction::by) {
        for other in form.other_transports() {
            let near = beside(other, "other case", "the token in the other letter case", other_case);
            let link = "a link credential, which differs from the token,";
            let link = beside(other, "link credential", link, Credential::Supplied(Fact::LinkCredential));
            rows.extend([near, link.needing(Fact::LinkCredential)].map(|row| row.in_form(form.clone())));
        }
    }
    // Two places have the same token, and the third another one.
    for (wrong, tokens) in OTHER_TWO {
        for form in [Extraction::PLAIN, Extraction::TEXT] {
            let label = format!("{}/third in {}", form.label(), wrong.label());
            let why = format!("a third token, which differs, in {}, {}", wrong.name(), form.name());
            let row =
                reject("", why, [Token(wrong, Credential::Wrong(WrongToken::UNKNOWN))]).labelled(&*label);
            rows.push(row.in_form(Extraction { tokens, ..form }).changing(label, [], 1));
        }
    }
    cases(ExtractTokenEqual, rows)
}

const OTHER_TWO: [(Transport, &[Transport]); 3] = [
    (Transport::Query, &[Transport::Header, Transport::Bearer]),
    (Transport::Header, &[Transport::Query, Transport::Bearer]),
    (Transport::Bearer, &[Transport::Query, Transport::Header]),
];

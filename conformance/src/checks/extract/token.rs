//! The token of an extraction: its transports, and several tokens in one request.

use super::EXTRACT;
use super::forms::{Context, Transport, rejects};
use super::row::Edit::Token;
use super::row::{Credential, Row, accept, cases, each, flow, reject};
use crate::check::{Case, Check, Cost, Probe, Run, Scope, Stop};
use crate::checks::token::{UNKNOWN, WrongToken};
use crate::contract::Clause;
use crate::target::Fact;

pub(super) static CHECKS: &[Check] = &[
    Check {
        id: "extract.token-equal.agreeing",
        title: "the same token in two or three places (query, `X-API-Key`, `Authorization`) is accepted",
        why: "Clients that add the token as a header to every request can't use a URL that already has the token.",
        clauses: &[Clause::ExtractTokenEqual],
        run: Run::Cases(|scope| {
            let [query, header, bearer] = Transport::ALL;
            let sets: [(_, &[Transport]); 4] =
                [(query, &[header]), (query, &[bearer]), (query, &[header, bearer]), (header, &[bearer])];
            let row = |(form, (first, others)): (Context, (Transport, &[Transport]))| {
                let list = |word: fn(Transport) -> &'static str| {
                    others.iter().map(|other| word(*other)).collect::<Vec<_>>().join(" and ")
                };
                let why = format!("the same token in {} too", list(Transport::name));
                let edits: Vec<_> = others.iter().map(|other| Token(*other, Credential::Own)).collect();
                let row = accept(format!("and in {}", list(Transport::label)), why, edits);
                row.in_form(Context { transport: first, ..form })
            };
            let forms = Context::in_query(&scope.contract.extract).into_iter();
            let pairs = forms.flat_map(|form| sets.map(|set| (form.clone(), set)));
            cases(Clause::ExtractTokenEqual, pairs.map(row))
        }),
        ..EXTRACT
    },
    Check {
        id: "extract.token-equal.differing",
        title: "different tokens in query, `X-API-Key` and `Authorization` are rejected, whichever is the right one",
        why: "A service that uses the first valid token bills the wrong account when a proxy or a client adds another one, and \
              accepts a caller because of somebody else's header.",
        clauses: &[Clause::ExtractTokenEqual],
        run: Run::Cases(differing),
        ..EXTRACT
    },
    Check {
        id: "extract.token-equal.two-accounts",
        title: "valid tokens of two accounts in one request are rejected",
        why: "Which of the two accounts is billed depends on the order in which a service reads query and headers.",
        clauses: &[Clause::ExtractTokenEqual],
        needs: &[Fact::SecondToken],
        run: Run::Cases(|scope| {
            let rows = |form: Context| {
                form.other_transports().map(move |other| {
                    let row =
                        beside(other, "second account", "the token of another account", Credential::SECOND);
                    row.in_form(form.clone())
                })
            };
            cases(Clause::ExtractTokenEqual, Context::all(&scope.contract.extract).into_iter().flat_map(rows))
        }),
        ..EXTRACT
    },
    Check {
        id: "extract.token-transport.each",
        title: "the token is accepted in the query, in `X-API-Key` and in `Authorization: Bearer`",
        why: "Callers that keep the token out of URLs, so that it does not end up in logs, can't extract.",
        clauses: &[Clause::ExtractTokenTransport],
        run: Run::Cases(|scope| {
            let forms = Context::all(&scope.contract.extract).into_iter();
            forms.map(flow("", Cost::extraction(1, 1), is_accepted)).collect()
        }),
        ..EXTRACT
    },
    Check {
        id: "extract.token-transport.unknown",
        title: "a wrong token is rejected in the query, in `X-API-Key` and in `Authorization`",
        why: "Anybody can extract gateways at the expense of an account, with a token that is almost right or completely wrong.",
        clauses: &[Clause::AllTokenRequired],
        run: Run::Cases(|scope| {
            let json = Transport::ALL.map(Context::by);
            let others = Context::all(&scope.contract.extract).into_iter();
            let (combined, others): (Vec<_>, Vec<_>) =
                others.filter(|context| !json.contains(context)).partition(Context::is_combined);
            let each = |context: Context| {
                let in_query = context.transport == Transport::Query;
                let wrong = WrongToken::in_header().chain(in_query.then_some(WrongToken::BehindNul));
                wrong.map(|wrong| (context.clone(), wrong)).collect::<Vec<_>>()
            };
            let some = |context: Context| {
                [WrongToken::Empty, WrongToken::Unknown].map(|wrong| (context.clone(), wrong))
            };
            let row = |(form, wrong): (Context, WrongToken)| {
                reject(wrong.label(), wrong.reason(), []).by(Credential::Wrong(wrong)).in_form(form)
            };
            let all = json.clone().into_iter().chain(combined).flat_map(each);
            cases(Clause::AllTokenRequired, all.chain(others.into_iter().flat_map(some)).map(row))
        }),
        ..EXTRACT
    },
    Check {
        id: "extract.token-transport.revoked",
        title: "the token that was supplied as revoked is rejected in the query, in `X-API-Key` and in `Authorization`",
        why: "A customer that revokes a leaked token believes that it is safe, and is not.",
        clauses: &[Clause::AllTokenRequired],
        needs: &[Fact::RevokedToken],
        run: Run::Cases(|scope| {
            let why = format!("the token was revoked, by {}", Fact::RevokedToken);
            let forms = Context::all(&scope.contract.extract);
            cases(Clause::AllTokenRequired, each(&forms[1..], [reject("", why, []).by(Credential::REVOKED)]))
        }),
        ..EXTRACT
    },
];

/// A further token in another transport.
fn beside(other: Transport, label: &str, why: &str, credential: Credential) -> Row {
    let (label, why) = (format!("{label} in {}", other.label()), format!("{why} in {}", other.name()));
    reject(label, why, [Token(other, credential)])
}

fn differing(scope: &Scope<'_>) -> Vec<Case> {
    let wrong = |other, label, token| beside(other, label, "another token", Credential::Wrong(token));
    let mut rows = Vec::new();
    for form in Context::all(&scope.contract.extract) {
        for other in form.other_transports() {
            rows.push(wrong(other, "unknown", WrongToken::Unknown).in_form(form.clone()));
            rows.push(wrong(other, "altered", WrongToken::Altered).in_form(form.clone()));
        }
    }
    // Tokens that differ in letter case, and different credentials of one account, are different tokens.
    let other_case = Credential::Wrong(WrongToken::OtherCase);
    for form in Transport::ALL.map(Context::by) {
        for other in form.other_transports() {
            let near = beside(other, "other case", "the token in the other letter case", other_case);
            let link = "a link credential, which differs from the token,";
            let link = beside(other, "link credential", link, Credential::LINK);
            rows.extend([near, link.needing(Fact::LinkCredential)].map(|row| row.in_form(form.clone())));
        }
    }
    let mut cases = cases(Clause::ExtractTokenEqual, rows);
    for context in [Context::PLAIN, Context::TEXT] {
        for wrong in Transport::ALL {
            let data = (context.clone(), wrong);
            let label = format!("{}/third in {}", context.label(), wrong.label());
            cases.push(Case::for_data(label, Cost::extraction(2, 1), data, third_differs));
        }
    }
    cases
}

/// The control has the same token in two transports.
async fn third_differs(probe: &Probe<'_>, (context, wrong): (Context, Transport)) -> Result<(), Stop> {
    let right = Transport::ALL.into_iter().filter(|right| *right != wrong);
    let token = probe.token().expose();
    let good = right.fold(context.without_token(probe), |request, right| right.carry(probe, request, token));
    context.accepted(probe, &good).await?;
    let why = format!("a third token, which differs, in {}, {}", wrong.name(), context.name());
    rejects(probe, Clause::ExtractTokenEqual, &why, &wrong.carry(probe, good, UNKNOWN)).await
}

/// If the service accepts the token in any transport, the token is valid and the form accepted.
async fn is_accepted(probe: &Probe<'_>, context: Context) -> Result<(), Stop> {
    let control = accepted_in_any_transport(probe, &context);
    let request = context.request(probe);
    probe.accepts_or_control(Clause::ExtractTokenTransport, &context.name(), &request, control).await?;
    Ok(())
}

async fn accepted_in_any_transport(probe: &Probe<'_>, context: &Context) -> Result<(), Stop> {
    let by = |transport: Transport| Context { transport, ..context.clone() };
    let Err(stop) = by(Transport::Query).control(probe).await else { return Ok(()) };
    for transport in [Transport::Header, Transport::Bearer] {
        if by(transport).control(probe).await.is_ok() {
            return Ok(());
        }
    }
    Err(stop)
}

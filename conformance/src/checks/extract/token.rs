//! The token of an extraction: its transports, and several tokens in one request.

use super::EXTRACT;
use super::forms::{Context, Transport, rejects};
use crate::check::{Case, Check, Cost, Probe, Run, Scope, Stop};
use crate::checks::token::{UNKNOWN, WrongToken, altered};
use crate::contract::Clause;
use crate::target::Fact;
use crate::wire::Request;

pub(super) static AGREEING: Check = Check {
    id: "extract.token-equal.agreeing",
    title: "the same token in two or three places (query, `X-API-Key`, `Authorization`) is accepted",
    why: "Clients that add the token as a header to every request can't use a URL that already has the token.",
    clauses: &[Clause::ExtractTokenEqual],
    run: Run::Cases(|scope| {
        let [query, header, bearer] = Transport::ALL;
        let sets = [vec![header], vec![bearer], vec![header, bearer]].map(|others| (query, others));
        let sets: Vec<_> = sets.into_iter().chain([(header, vec![bearer])]).collect();
        let case = |(context, (first, others)): (Context, (Transport, Vec<Transport>))| {
            let context = Context { transport: first, ..context };
            let labels: Vec<_> = others.iter().map(|transport| transport.label()).collect();
            let names: Vec<_> = others.iter().map(|transport| transport.name()).collect();
            let reason = format!("the same token in {} too", names.join(" and "));
            let what = format!("and in {}", labels.join(" and "));
            context.valid(what, Clause::ExtractTokenEqual, reason, move |probe, request| {
                let token = probe.token().expose();
                others.iter().fold(request, |request, transport| transport.carry(probe, request, token))
            })
        };
        let forms = Context::in_query(&scope.contract.extract).into_iter();
        let each =
            |form: Context| sets.iter().map(move |set| (form.clone(), set.clone())).collect::<Vec<_>>();
        forms.flat_map(each).map(case).collect()
    }),
    ..EXTRACT
};

type MakeToken = fn(&Probe<'_>) -> String;

/// The wrong tokens of requests with two tokens, with their labels.
const OTHER_TOKENS: [(&str, MakeToken); 2] =
    [("unknown", |_| UNKNOWN.to_owned()), ("altered", |probe| altered(probe.token()))];

/// A second token that is similar to the right one, if there is any.
#[derive(Debug, Clone, Copy)]
enum SimilarToken {
    OtherCase,
    Link,
}

pub(super) static DIFFERING: Check = Check {
    id: "extract.token-equal.differing",
    title: "different tokens in query, `X-API-Key` and `Authorization` are rejected, whichever is the right one",
    why: "A service that uses the first valid token bills the wrong account when a proxy or a client adds another one, and \
          accepts a caller because of somebody else's header.",
    clauses: &[Clause::ExtractTokenEqual],
    run: Run::Cases(differing),
    ..EXTRACT
};

fn differing(scope: &Scope<'_>) -> Vec<Case> {
    let extract = &scope.contract.extract;
    let mut cases = Vec::new();
    for right in Context::all(extract) {
        for wrong in Transport::ALL.into_iter().filter(|wrong| *wrong != right.transport) {
            for (label, token) in OTHER_TOKENS {
                let what = format!("{label} in {}", wrong.label());
                let reason = format!("another token in {}", wrong.name());
                let change =
                    move |probe: &Probe<'_>, request: Request| wrong.carry(probe, request, &token(probe));
                cases.push(right.clone().invalid(what, Clause::ExtractTokenEqual, reason, change));
            }
        }
    }
    for right in Transport::ALL {
        for wrong in Transport::ALL.into_iter().filter(|wrong| *wrong != right) {
            for (near, label) in
                [(SimilarToken::OtherCase, "other case"), (SimilarToken::Link, "link credential")]
            {
                let context = Context::by(right);
                let label = format!("{}/{label} in {}", context.label(), wrong.label());
                let needs = matches!(near, SimilarToken::Link).then_some(Fact::LinkCredential);
                let (shared, data) = (context.clone(), (context, wrong, near));
                let case = Case::for_data(label, Cost::requests(1), data, nearly);
                cases.push(shared.share(case.needs(needs)));
            }
        }
    }
    for context in [Context::PLAIN, Context::TEXT] {
        for wrong in Transport::ALL {
            let data = (context.clone(), wrong);
            let label = format!("{}/third in {}", context.label(), wrong.label());
            cases.push(Case::for_data(label, Cost::extraction(2, 1), data, third_differs));
        }
    }
    cases
}

/// Tokens that differ in letter case, and different credentials of one account, are different tokens.
async fn nearly(
    probe: &Probe<'_>,
    (context, wrong, near): (Context, Transport, SimilarToken),
) -> Result<(), Stop> {
    let (token, what) = match near {
        SimilarToken::OtherCase => (WrongToken::OtherCase.text(probe)?, "the token in the other letter case"),
        SimilarToken::Link => {
            let link =
                probe.facts().link_credential.as_ref().ok_or_else(|| probe.skip("no link credential"))?;
            (link.expose().to_owned(), "a link credential, which differs from the token,")
        }
    };
    if token == probe.token().expose() {
        return Err(probe.skip("the other value is the token itself"));
    }
    context.control(probe).await?;
    let why = format!("{what} in {}, {}", wrong.name(), context.name());
    rejects(probe, Clause::ExtractTokenEqual, &why, &wrong.carry(probe, context.request(probe), &token)).await
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

pub(super) static TWO_ACCOUNTS: Check = Check {
    id: "extract.token-equal.two-accounts",
    title: "valid tokens of two accounts in one request are rejected",
    why: "Which of the two accounts is billed depends on the order in which a service reads query and headers.",
    clauses: &[Clause::ExtractTokenEqual],
    needs: &[Fact::SecondToken],
    run: Run::Cases(|scope| {
        let contexts = Context::all(&scope.contract.extract).into_iter();
        let pair = |first: Context| {
            let others = Transport::ALL.into_iter().filter(move |other| *other != first.transport);
            let (clause, reason) = (Clause::ExtractTokenEqual, "the token of another account in");
            let case = |other: Transport| {
                let (what, why) =
                    (format!("second account in {}", other.label()), format!("{reason} {}", other.name()));
                first.clone().invalid(what, clause, why, move |probe, request| {
                    let second = probe.facts().second_token.as_ref();
                    second.map_or(request.clone(), |second| other.carry(probe, request, second.expose()))
                })
            };
            others.map(case).collect::<Vec<_>>()
        };
        contexts.flat_map(pair).collect()
    }),
    ..EXTRACT
};

pub(super) static EACH: Check = Check {
    id: "extract.token-transport.each",
    title: "the token is accepted in the query, in `X-API-Key` and in `Authorization: Bearer`",
    why: "Callers that keep the token out of URLs, so that it does not end up in logs, can't extract.",
    clauses: &[Clause::ExtractTokenTransport],
    run: Run::Cases(|scope| {
        let case = |context: Context| Case::for_data(context.label(), Cost::extraction(1, 1), context, each);
        Context::all(&scope.contract.extract).into_iter().map(case).collect()
    }),
    ..EXTRACT
};

/// If the service accepts the token in any transport, the token is valid and the form accepted.
async fn each(probe: &Probe<'_>, context: Context) -> Result<(), Stop> {
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

pub(super) static WRONG: Check = Check {
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
        let some =
            |context: Context| [WrongToken::Empty, WrongToken::Unknown].map(|wrong| (context.clone(), wrong));
        let case = |data: (Context, WrongToken)| {
            let label = format!("{}/{}", data.0.label(), data.1.label());
            // The form must be accepted. Another check tests the transports.
            let shared = data.0.without_transport();
            shared.share(Case::for_data(label, Cost::requests(1), data, wrong))
        };
        let all = json.clone().into_iter().chain(combined).flat_map(each);
        all.chain(others.into_iter().flat_map(some)).map(case).collect()
    }),
    ..EXTRACT
};

async fn wrong(probe: &Probe<'_>, (context, wrong): (Context, WrongToken)) -> Result<(), Stop> {
    let token = wrong.text(probe)?;
    context.without_transport().control(probe).await?;
    let why = format!("{}, {}", wrong.reason(), context.name());
    rejects(probe, Clause::AllTokenRequired, &why, &context.with_token(probe, &token)).await
}

pub(super) static REVOKED: Check = Check {
    id: "extract.token-transport.revoked",
    title: "the token that was supplied as revoked is rejected in the query, in `X-API-Key` and in `Authorization`",
    why: "A customer that revokes a leaked token believes that it is safe, and is not.",
    clauses: &[Clause::AllTokenRequired],
    needs: &[Fact::RevokedToken],
    run: Run::Cases(|scope| {
        let contexts = Context::all(&scope.contract.extract).into_iter();
        let case = |context: Context| {
            let shared = context.without_transport();
            let case = Case::for_data(context.label(), Cost::requests(1), context, revoked);
            shared.share(case)
        };
        contexts.filter(|context| *context != Context::PLAIN).map(case).collect()
    }),
    ..EXTRACT
};

async fn revoked(probe: &Probe<'_>, context: Context) -> Result<(), Stop> {
    let revoked = probe.required(Fact::RevokedToken, |facts| facts.revoked_token.as_ref())?;
    context.without_transport().control(probe).await?;
    let why = format!("the token was revoked, by {}, {}", Fact::RevokedToken, context.name());
    rejects(probe, Clause::AllTokenRequired, &why, &context.with_token(probe, revoked.expose())).await
}

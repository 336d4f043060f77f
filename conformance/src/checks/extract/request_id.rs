//! The request id: its source, and that it stands for one extraction.

use super::*;
use crate::checks::extraction::content::{gateways, judge_repeated};

/// Entries of the cheapest repetitions. Two extractions of a large pool rarely return the same two.
const FEW: u32 = 2;

/// Entries of the others: two extractions rarely return the same ones by chance.
pub(super) const SEVERAL: u32 = 4;

const QUERY: Edit = Edit::Id(Place::Query, 0);
const HEADER: Edit = Edit::Id(Place::Header, 0);

/// The same extraction once more, with a difference.
fn again(clause: Clause, why: &str, edits: impl Into<Vec<Edit>>) -> Then {
    Then::Again(clause, why.to_owned(), edits.into())
}

/// The cheapest repetitions, and one of each form with one request more. The first request of a repetition is its control.
fn repetitions<const N: usize>(
    scope: &Scope<'_>,
    clause: Clause,
    ids: [Edit; N],
    [second, third]: [Then; 2],
) -> Vec<Case> {
    let forms = Extraction::all_without_id(&scope.contract.extract);
    let is_cheap = |form: &&Extraction| **form == Extraction::PLAIN || form.is_combined();
    let few: Vec<_> = forms.iter().filter(is_cheap).map(|form| (form.clone(), FEW)).collect();
    // A service may handle a single entry in another way. The same one three times is no coincidence either.
    let one = (Extraction::PLAIN, u32::try_from(*scope.contract.extract.num_range.start()).unwrap_or(1));
    let several = [one].into_iter().chain(forms.into_iter().map(|form| (form, SEVERAL)));
    let row = |(form, num): (Extraction, u32)| {
        let edits: Vec<_> = [set(NUM, num)].into_iter().chain(ids.clone()).collect();
        let third = Some(third.clone()).filter(|_| num != FEW);
        // The repetitions return the same gateways.
        let row = accept(format!("num={num}"), "", edits).giving(num, Unless::Control, &[]).in_form(form);
        row.then([second.clone()].into_iter().chain(third).collect::<Vec<_>>())
    };
    cases(clause, few.into_iter().chain(several).map(row))
}

pub(super) static PROGRAMS: &[Program] = &[
    active("extract.idempotent.query", |scope| {
        let same = ["sent again", "sent a third time"].map(|why| again(ExtractIdempotent, why, []));
        repetitions(scope, ExtractIdempotent, [QUERY], same)
    }),
    // No form has a request id in the query, which would take precedence.
    active("extract.idempotent.header", |scope| {
        let same = again(ExtractIdempotent, "sent again", []);
        let why = "the id of the header sent in the query";
        let moved = again(ExtractRequestIdSource, why, [Edit::NoHeaderId, QUERY]);
        repetitions(scope, ExtractIdempotent, [HEADER], [same, moved])
    }),
    active("extract.idempotent.concurrent", |scope| {
        let case = |data: (Extraction, Place)| {
            let label = format!("{}/{}", data.0.label(), data.1.label());
            Case::for_data(label, Cost::extraction(2, 2 * SEVERAL), data, concurrent)
        };
        let forms = Extraction::in_query(&scope.contract.extract).into_iter().filter(|form| !form.has_id());
        let places = [Place::Query, Place::Header];
        forms.flat_map(|form| places.map(|place| (form.clone(), place))).map(case).collect()
    }),
    active("extract.idempotent.interleaved", |_| {
        let others = (1..=OTHERS).map(|number| Then::Other(vec![Edit::Id(Place::Query, number)]));
        let last = again(ExtractIdempotent, &format!("sent again after {OTHERS} other ids"), []);
        // The rejected calls in between have no id, so they stand for no extraction.
        let rejected = [
            Then::Invalid(vec![Drop(NUM)]),
            Then::Invalid(vec![Edit::NoToken]),
            again(ExtractIdempotent, "sent again after rejected calls", []),
        ];
        let row = |label, gateways, then: Vec<Then>| {
            let row = accept("", "", [set(NUM, SEVERAL), QUERY]).labelled(label);
            cases(ExtractIdempotent, [row.giving(gateways, Unless::Control, &[]).then(then)])
        };
        let gateways = u32::try_from(OTHERS).unwrap_or(u32::MAX).saturating_add(SEVERAL);
        // A service may reject an id that is not ASCII. One that accepts it must recognize it.
        let other_letters = with(|probe, request| {
            Ok(request.query(REQUEST_ID, format!("\u{e9}\u{4e2d}{}", probe.fresh_request_id())))
        });
        let letters = accept("", "", [set(NUM, SEVERAL), other_letters]).labelled("of other letters");
        let letters = letters.giving(SEVERAL, Unless::Nothing, &[]);
        let letters = letters.then([again(ExtractIdempotent, "sent again, an id that is not ASCII", [])]);
        [
            row("after other ids", gateways, others.chain([last]).collect()),
            row("after rejections", SEVERAL, rejected.into()),
            cases(ExtractIdempotent, [letters]),
        ]
        .concat()
    }),
    active("extract.idempotent.maximum", |scope| {
        let max = u32::try_from(*scope.contract.extract.num_range.end()).unwrap_or(u32::MAX);
        // The default region may have too few gateways, and no fact says otherwise.
        let row = accept("", "", [set(NUM, Max(0)), QUERY]).labelled("");
        let row = row.giving(max, Unless::Nothing, &[]).then([again(ExtractIdempotent, "sent again", [])]);
        cases(ExtractIdempotent, [row])
    }),
    active("extract.idempotent.per-account", |_| {
        let case = |(label, place, form): (&'static str, Place, Extraction)| {
            Case::for_data(label, Cost::extraction(4, 2 + SEVERAL), (place, form), per_account)
        };
        let forms = [
            ("query", Place::Query, Extraction::PLAIN),
            ("header", Place::Header, Extraction::PLAIN),
            ("text", Place::Query, Extraction::TEXT),
        ];
        forms.map(case).into()
    }),
    active("extract.request-id-source.absent", |scope| {
        // The control has an id, in case the service wrongly requires one. If a server gave all these calls the same id, they
        // would stand for one extraction.
        let text = || set(RETURN_TYPE, &scope.contract.extract.text);
        let (one, two) = (|| set(NUM, Min(0)), || set(NUM, Min(1)));
        let row = accept("", "no request id", [Drop(REQUEST_ID)])
            .and("no request id, as text", [Drop(REQUEST_ID), one(), text()])
            .and("no request id, one more gateway", [Drop(REQUEST_ID), two()])
            .and("no request id, one more gateway, as text", [Drop(REQUEST_ID), two(), text()]);
        let row = row.labelled("").changing("with a request id", [QUERY], 1);
        let row = row.giving(6, Unless::Finding, &[Judge::Most(ExtractRequestIdSource)]);
        cases(ExtractRequestIdSource, [row])
    }),
    active("extract.request-id-source.precedence", |scope| {
        let other = Edit::Id(Place::Header, 2);
        let why = "the id of the query beside another header";
        let beside = again(ExtractRequestIdSource, why, [other]);
        let alone = again(ExtractRequestIdSource, "the id of the query alone", [Edit::NoHeaderId]);
        let both = [QUERY, Edit::Id(Place::Header, 1)];
        repetitions(scope, ExtractRequestIdSource, both, [beside, alone])
    }),
];

async fn concurrent(probe: &Probe<'_>, (form, place): (Extraction, Place)) -> Result<(), Stop> {
    let several = form.request(probe).query(NUM, SEVERAL);
    let request = place.carry(several, &probe.fresh_request_id());
    let (first, second) = futures::future::join(probe.send(&request), probe.send(&request)).await;
    let ((first, first_class), (second, second_class)) = (first?, second?);
    let accepted = |exchange: &Exchange| {
        let response = exchange.result.as_ref().ok()?;
        Some(gateways(probe, &exchange.request, response))
    };
    let is_accepted = [&first_class, &second_class].map(|class| *class == ResponseClass::Accepted);
    if is_accepted == [false; 2] {
        form.control(probe).await?;
    }
    // A service may reject one of the two while the other is in flight.
    if is_accepted == [true; 2] && accepted(&first) != accepted(&second) {
        let expected = format!("the same gateways for both calls, {}", form.name());
        probe.finding(ExtractIdempotent, &expected, "different gateways", &[&first, &second]);
    }
    Ok(())
}

/// Number of calls with other ids between two with the same id.
const OTHERS: usize = 12;

async fn per_account(probe: &Probe<'_>, (place, form): (Place, Extraction)) -> Result<(), Stop> {
    let second = probe.secret(Fact::SecondToken, 0)?;
    let id = probe.fresh_request_id();
    let first = place.carry(form.request(probe).query(NUM, SEVERAL), &id);
    let by_second = || form.with_token(probe, second.expose());

    // The control of the second account.
    probe.control(&place.carry(by_second(), &probe.fresh_request_id())).await?;
    let before = probe.control(&first).await?;
    let why = "the second account sends an id that the first one has used";
    let other = place.carry(by_second(), &id);
    if let Some(accepted) = probe.accepts(ExtractIdempotent, why, &other).await? {
        let count = content::count(probe, &other, &accepted.response);
        let min = *probe.contract().extract.num_range.start();
        if i64::try_from(count).is_ok_and(|count| count > min) {
            let actual = format!("{}, as the first account requested", quantity(count, "entry"));
            let exchanges = [&before.exchange, &accepted.exchange];
            probe.finding(AllOwnAccount, "an extraction of its own", &actual, &exchanges);
        }
    }
    judge_repeated(probe, ExtractIdempotent, "sent again by the first account", &before, &first).await
}

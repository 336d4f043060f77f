//! The legacy API Link credential: extraction accepts it, and every rule of an extraction applies to it as to a token.

use super::text::{FEW, separated};
use super::*;
use crate::checks::extraction::link::{find_transport, request_by};

pub(super) static PROGRAMS: &[Program] = &[
    active("extract.link-credential.accepted", |scope| {
        let case = |form: Extraction| {
            // Rejected transports take no gateway.
            let case = Case::for_data(form.label(), Cost::extraction(4, 3), form.clone(), accepted);
            if form == Extraction::PLAIN { case } else { form.share(case) }
        };
        let extract = &scope.contract.extract;
        let combined = Extraction::all(extract).into_iter().filter(Extraction::is_combined);
        Extraction::in_query(extract).into_iter().chain(combined).map(case).collect()
    }),
    active("extract.link-credential.effects", effects),
];

/// The contract does not define the transport of the credential, so one that works is enough.
async fn accepted(probe: &Probe<'_>, form: Extraction) -> Result<(), Stop> {
    if form != Extraction::PLAIN {
        form.control(probe).await?;
    }
    let rejected = match find_transport(probe, &form).await? {
        Ok(transport) => {
            let range = &probe.contract().extract.num_range;
            let more = (range.start() + 1).min(*range.end());
            let (place, form_name) = (transport.name(), form.name());
            let why = format!("the legacy credential in {place}, {form_name}, once more, {NUM}={more}");
            let again = request_by(probe, &form, transport)?.query(NUM, more);
            return probe.accepts(ExtractLinkCredential, &why, &again).await.map(|_| ());
        }
        Err(rejected) => rejected,
    };
    if form == Extraction::PLAIN {
        form.control(probe).await?;
    }
    let exchanges: Vec<_> = rejected.iter().map(|(exchange, _)| exchange).collect();
    let expected =
        format!("the legacy credential accepted in the query, X-API-Key or Authorization, {}", form.name());
    let actual = rejected.first().map_or("no response", |(_, class)| class.description());
    probe.finding(ExtractLinkCredential, &expected, actual, &exchanges);
    Ok(())
}

fn effects(scope: &Scope<'_>) -> Vec<Case> {
    let extract = &scope.contract.extract;
    let custom = |text: String| Separator { code: extract.custom_separator.clone(), text };
    let longest = custom(of_bytes('\u{e9}', extract.separator_bytes));
    let separators = extract.separators.iter().map(|of| (format!("lb={}", of.code), of.clone()));
    let customs = [("sb".to_owned(), custom("&=+% |".to_owned())), ("the longest sb".to_owned(), longest)];
    let texts = separators
        .chain(customs)
        .map(|(label, separator)| separated(extract, String::new(), &separator, FEW).labelled(label));
    let texts = each(&[Extraction::TEXT], texts);
    let max = *extract.num_range.end();
    let most = u32::try_from(max).unwrap_or(u32::MAX);
    let largest = accept("", format!("{NUM}={max}"), [set(NUM, Max(0))]).labelled("num is the largest");
    let largest = largest.citing(ExtractNumRange).needing(Fact::PlentifulRegion);
    let largest = largest.giving(most, Unless::Finding, &[Judge::Response]);
    let again = "a request id with the legacy credential, sent again".to_owned();
    let repeated = accept("", "", [set(NUM, Min(2)), Edit::Id(Place::Query, 0)]).labelled("a request id");
    let repeated = repeated.giving(3, Unless::Control, &[]);
    let repeated = repeated.then([Then::Again(ExtractIdempotent, again, Vec::new())]);
    let few = supply::more_than_scarce(scope, &Extraction::PLAIN);
    let partial = supply::partial_result(scope, few, &[Judge::Partial]).labelled("a partial result");
    let rows = texts.into_iter().chain([largest, repeated, partial]).map(Row::by_link);
    cases(ExtractSeparator, rows)
}

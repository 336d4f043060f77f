//! Valid extractions from a region without gateways. A service checks the caller and the parameters before it looks for
//! gateways, so any rejection other than the shortage shows that it does not accept one of them. These requests take no
//! gateway, where other extractions take one each.

use super::*;
use crate::checks::extraction::by_country;
use crate::checks::extraction::link::request_by;
use crate::checks::extraction::shortage::{CONTROL, control, is_short, must_be_short, send};

pub(super) static PROGRAMS: &[Program] = &[
    active("extract.envelope.empty-region", |scope| {
        let extract = &scope.contract.extract;
        let rows = forms(scope).into_iter().chain([protocol_by_name(scope)]).chain(numbers(extract));
        let rows = rows.chain(separators(extract)).chain(repeated());
        let rows = rows.chain(stated("extract.envelope.empty-region", scope));
        shared(cases(ExtractRegion, rows))
    }),
    active("extract.link-credential.empty-region", |scope| {
        let forms = usable(scope, Extraction::in_query(&scope.contract.extract));
        shared(forms.map(flow("", Cost::requests(2), link)))
    }),
];

/// The supplied region may have gateways after all. The control reserves the gateway that such a run would take, so that a
/// budget without gateways leaves these cases out.
fn shared(cases: impl IntoIterator<Item = Case>) -> Vec<Case> {
    cases.into_iter().map(|case| case.sharing_in_run(CONTROL, Cost::extraction(1, 1))).collect()
}

/// A row that must get the shortage, as an extraction of the form `like` does.
fn short(like: Extraction, label: &str, clause: Clause, why: &str, edits: impl Into<Vec<Edit>>) -> Row {
    accept(label, why, edits).citing(clause).in_form(like.clone()).short_like(like)
}

/// The forms that name no region, since these cases set it themselves, and whose protocol the account may use as far as the facts say.
fn usable(scope: &Scope<'_>, forms: Vec<Extraction>) -> impl Iterator<Item = Extraction> {
    let Facts { entitled_protocols: entitled, .. } = scope.facts;
    let fits = |form: &Extraction| {
        form.names_no_region() && form.protocol.as_ref().is_none_or(|own| entitled.contains(own))
    };
    forms.into_iter().filter(fits)
}

/// Each form, on the clause that it tests.
fn forms(scope: &Scope<'_>) -> Vec<Row> {
    let row = |form: Extraction| {
        let like = match form.transport() {
            Transport::Query => Extraction::PLAIN,
            _ => form.sent_in(Transport::Query),
        };
        short(like, &form.label(), form.clause(), &form.name(), []).in_form(form)
    };
    let forms = usable(scope, Extraction::all(&scope.contract.extract));
    forms.filter(|form| *form != Extraction::PLAIN && !form.is_combined()).map(row).collect()
}

/// The default protocol by its name, or one that the account may use.
fn protocol_by_name(scope: &Scope<'_>) -> Row {
    let extract = &scope.contract.extract;
    let protocol = protocol_to_name(extract, scope.facts).cloned();
    let protocol = protocol.unwrap_or_else(|| extract.protocol.default_text());
    let why = format!("{PROTOCOL}={protocol}");
    short(Extraction::PLAIN, "protocol by name", ExtractProtocol, &why, [set(PROTOCOL, protocol)])
}

/// The maximum `num`, and one above the middle of its range.
fn numbers(extract: &Extract) -> Vec<Row> {
    let (start, end) = (*extract.num_range.start(), *extract.num_range.end());
    let row = |(form, label, num): (Extraction, &str, i64)| {
        let (label, why) = (format!("{}/{label}", form.label()), format!("{NUM}={num}, {}", form.name()));
        short(form, &label, ExtractNumRange, &why, [set(NUM, num)])
    };
    let largest = Extraction::all_without_id(extract).into_iter().filter(Extraction::is_bare);
    let largest = largest.map(|form| (form, "the largest num", end));
    let middle = (Extraction::PLAIN, "a num above the middle", (start + end) / 2 + 1);
    largest.chain([middle]).map(row).collect()
}

/// Each separator; custom ones are stated.
fn separators(extract: &Extract) -> Vec<Row> {
    let listed = extract.separators.iter().map(|separator| {
        let label = format!("{LB}={}", separator.code);
        let edits = [set(LB, &separator.code)];
        short(Extraction::TEXT, &label, ExtractSeparatorRange, &label, edits)
    });
    listed.collect()
}

/// The same token in several transports.
fn repeated() -> Vec<Row> {
    const SEVERAL: [&[Transport]; 4] = [
        &[Transport::Query, Transport::Header],
        &[Transport::Query, Transport::Bearer],
        &[Transport::Header, Transport::Bearer],
        &Transport::ALL,
    ];
    let row = |transports: &'static [Transport]| {
        let labels: Vec<_> = transports.iter().map(|transport| transport.label()).collect();
        let why = format!("the same token in {}", Transport::names(transports));
        let label = format!("tokens in {}", labels.join(", "));
        let row = short(Extraction::PLAIN, &label, ExtractTokenEqual, &why, []);
        row.in_form(Extraction { tokens: transports, ..Extraction::PLAIN })
    };
    SEVERAL.map(row).into()
}

/// Sends the link credential in the transport that the service accepts, with either name of the region.
async fn link(probe: &Probe<'_>, form: Extraction) -> Result<(), Stop> {
    let why = format!("a link credential, {}", form.name());
    control(probe).await?;
    for transport in Transport::ALL {
        let request = request_by(probe, &form, transport)?;
        let (exchange, class) = send(probe, &request).await?;
        if is_short(probe, &exchange, &class)? {
            let by_alias = by_country(&probe.contract().extract, request);
            return must_be_short(probe, ExtractCountryAlias, &why, &form, &by_alias).await;
        }
        if class.decision() != Decision::Rejected {
            return must_be_short(probe, ExtractLinkCredential, &why, &form, &request).await;
        }
    }
    let request = request_by(probe, &form, Transport::Query)?;
    must_be_short(probe, ExtractLinkCredential, &why, &form, &request).await
}

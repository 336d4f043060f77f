//! Valid extractions from a region without gateways. A service checks the caller and the parameters before it looks for
//! gateways, so any rejection other than the shortage shows that it does not accept one of them. These requests take no
//! gateway, where other extractions take one each.

use super::access::{HEADERS, OTHER_CLAIMS, UNUSED_ADDRESS, claiming};
use super::content::{gives_gateways, has_retry_after};
use super::extraction::shortage::{
    CONTROL, control, is_short, is_throttled, must_be_short, no_shortage, send, send_patiently,
};
use super::extraction::{Extraction, Place, Transport, by_country};
use super::separator_input::of_bytes;
use crate::check::{Case, Check, Cost, Decision, Probe, Run, Scope, Stop};
use crate::checks::State;
use crate::checks::requests::{Requests, protocol_to_name};
use crate::checks::row::{self, Edit, Row, accept, flow, set};
use crate::checks::token::rejected_alike;
use crate::contract::part::{
    COUNTRY, LB, NUM, PROTOCOL, REGIONS, REQUEST_ID, REQUEST_ID_HEADER, RETURN_TYPE, SB,
};
use crate::contract::{Clause, Extract, OperationId};
use crate::target::{Fact, Facts};
use crate::wire::Request;

const fn check(
    id: &'static str,
    title: &'static str,
    why: &'static str,
    clauses: &'static [Clause],
    cases: fn(&Scope<'_>) -> Vec<Case>,
) -> Check {
    let (operation, run) = (Some(OperationId::Extract), Run::Cases(cases));
    Check { id, title, why, operation, clauses, needs: &[Fact::EmptyRegion], run }
}

/// The clauses of a check, and those that each of these checks judges: the region has no gateways, and the shortage has
/// `Retry-After`.
macro_rules! clauses {
    ($($own:ident),*) => {
        &[$(Clause::$own,)* Clause::ExtractRegion, Clause::ExtractShortageRetryAfter]
    };
}

pub(super) static CHECKS: &[Check] = &[
    check(
        "extract.envelope.empty-region",
        "a region without gateways needs no other parameters than one with gateways",
        "A service that wrongly asks for an optional parameter turns away callers who keep to the contract.",
        clauses!(
            ExtractNumRange,
            ExtractProtocol,
            ExtractRequestIdSource,
            ExtractReturnType,
            ExtractTokenTransport
        ),
        |_| shared([Extraction::PLAIN, Extraction::TEXT].map(flow("nothing more", Cost::requests(1), least))),
    ),
    check(
        "extract.link-credential.empty-region",
        "a legacy API Link credential gets the shortage response of a region without gateways",
        "Links that customers generated in the past stop working, or get gateways of another region.",
        clauses!(ExtractCountryAlias, ExtractLinkCredential),
        |scope| shared(links(scope)),
    ),
    check(
        "extract.num-range.empty-region",
        "each `num` in its range gets the shortage response of a region without gateways",
        "A limit below the documented one breaks callers that extract in full batches.",
        clauses!(ExtractNumRange),
        |scope| cases(numbers(&scope.contract.extract)),
    ),
    check(
        "extract.protocol.empty-region",
        "each protocol of the account gets the shortage response of a region without gateways",
        "Callers who name the default protocol, or buy another one, are rejected.",
        clauses!(ExtractProtocol),
        |scope| {
            let extract = &scope.contract.extract;
            let named = protocol_to_name(extract, scope.facts).cloned();
            let named = named.unwrap_or_else(|| extract.protocol.default_text());
            cases(values(scope, PROTOCOL, named, Clause::ExtractProtocol))
        },
    ),
    check(
        "extract.request-id-source.empty-region",
        "a request id in either place gets the shortage response of a region without gateways",
        "Callers who send the id where their library puts it are rejected.",
        clauses!(ExtractRequestIdSource),
        |scope| {
            let (clause, why) =
                (Clause::ExtractRequestIdSource, format!("a request id in {REQUEST_ID_HEADER}"));
            let in_header =
                short(Extraction::PLAIN, "in its header", clause, &why, [Edit::Id(Place::Header, 0)]);
            cases(forms(scope, clause).into_iter().chain([in_header]))
        },
    ),
    check(
        "extract.return-type.empty-region",
        "each `return_type` gets the shortage response of a region without gateways",
        "Callers who ask for the default form by its name, or for text, are rejected.",
        clauses!(ExtractReturnType),
        |scope| {
            let json = scope.contract.extract.json.clone();
            cases(values(scope, RETURN_TYPE, json, Clause::ExtractReturnType))
        },
    ),
    check(
        "extract.sb-length.empty-region",
        "each separator gets the shortage response of a region without gateways",
        "A separator that the contract allows and the service does not costs a caller every extraction.",
        clauses!(ExtractSbLength, ExtractSeparatorRange),
        |scope| cases(separators(&scope.contract.extract)),
    ),
    check(
        "extract.token-equal.empty-region",
        "equal tokens and equal regions get the shortage response of a region without gateways",
        "Clients that send the token in every place that they know are rejected.",
        clauses!(ExtractCountryEqual, ExtractTokenEqual),
        |scope| {
            let (empty, clause) =
                (scope.facts.empty_region.clone().unwrap_or_default(), Clause::ExtractCountryEqual);
            let why = format!("{REGIONS} and {COUNTRY} that are equal");
            let regions = short(Extraction::PLAIN, "regions", clause, &why, [set(COUNTRY, empty)]);
            cases(tokens().into_iter().chain([regions]))
        },
    ),
    check(
        "extract.token-transport.empty-region",
        "each transport of the token gets the shortage response of a region without gateways",
        "Callers whose library puts the token into a header are rejected.",
        clauses!(ExtractTokenTransport),
        |scope| cases(forms(scope, Clause::ExtractTokenTransport)),
    ),
    check(
        "extract.whitelist.empty-region",
        "a claimed address does not take the place of the real one where a region has no gateways",
        "Callers behind a proxy that adds a header are rejected.",
        clauses!(ExtractWhitelist),
        |_| shared(addresses()),
    ),
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

fn cases(rows: impl IntoIterator<Item = Row>) -> Vec<Case> {
    shared(row::cases(Clause::ExtractRegion, rows))
}

/// The forms that name no region, since these cases set it themselves, and whose protocol the account may use as far as the facts say.
fn usable(scope: &Scope<'_>, forms: Vec<Extraction>) -> impl Iterator<Item = Extraction> {
    let Facts { entitled_protocols: entitled, .. } = scope.facts;
    let fits = |form: &Extraction| {
        form.names_no_region() && form.protocol.as_ref().is_none_or(|own| entitled.contains(own))
    };
    forms.into_iter().filter(fits)
}

/// The forms that test a clause.
fn forms(scope: &Scope<'_>, clause: Clause) -> Vec<Row> {
    let row = |form: Extraction| {
        let like = match form.transport() {
            Transport::Query => Extraction::PLAIN,
            _ => form.sent_in(Transport::Query),
        };
        short(like, &form.label(), clause, &form.name(), []).in_form(form)
    };
    let forms = usable(scope, Extraction::all(&scope.contract.extract));
    let tests =
        |form: &Extraction| *form != Extraction::PLAIN && !form.is_combined() && form.clause() == clause;
    forms.filter(tests).map(row).collect()
}

fn links(scope: &Scope<'_>) -> Vec<Case> {
    let forms = usable(scope, Extraction::in_query(&scope.contract.extract));
    let cases = forms.map(flow("", Cost::requests(2), link));
    cases.map(|case| case.needs([Fact::LinkCredential])).collect()
}

/// The plain form has nothing that a service could reject, but it may lack what a service wrongly requires. Then a request with
/// that parameter gets the shortage.
async fn least(probe: &Probe<'_>, form: Extraction) -> Result<(), Stop> {
    let extract = &probe.contract().extract;
    State::check_empty_region(probe)?;
    let (plain, class) = send(probe, &form.request(probe)).await?;
    // A shortage with status 429 can't be distinguished from throttling.
    if is_throttled(&plain) {
        return Err(no_shortage(probe));
    }
    if is_short(probe, &plain, &class)? {
        return Ok(());
    }
    if class.decision() != Decision::Rejected {
        return Err(no_shortage(probe));
    }
    let second = (*extract.num_range.start() + 1).min(*extract.num_range.end());
    let with = |name: &str, value: &str| form.request(probe).query(name, value);
    let others = [
        (Clause::ExtractRequestIdSource, REQUEST_ID, with(REQUEST_ID, &probe.fresh_request_id())),
        (Clause::ExtractReturnType, RETURN_TYPE, with(RETURN_TYPE, &extract.json)),
        (Clause::ExtractProtocol, PROTOCOL, with(PROTOCOL, &extract.protocol.default_text())),
        (Clause::ExtractNumRange, NUM, with(NUM, &second.to_string())),
        (Clause::ExtractTokenTransport, "transport", form.sent_in(Transport::Header).request(probe)),
    ];
    for (clause, name, request) in others {
        let (other, _) = send(probe, &request).await?;
        if has_retry_after(&other) && !rejected_alike(&plain, &other) {
            let expected = format!("accepted without another {name}, {}", form.name());
            probe.finding(clause, &expected, class.description(), &[&plain, &other]);
            return Ok(());
        }
    }
    Err(no_shortage(probe))
}

/// The maximum `num`, and one above the middle of its range.
fn numbers(extract: &Extract) -> Vec<Row> {
    let (start, end) = (*extract.num_range.start(), *extract.num_range.end());
    let row = |(form, label, num): (Extraction, &str, i64)| {
        let (label, why) = (format!("{}/{label}", form.label()), format!("{NUM}={num}, {}", form.name()));
        short(form, &label, Clause::ExtractNumRange, &why, [set(NUM, num)])
    };
    let largest = Extraction::all_without_id(extract).into_iter().filter(Extraction::is_bare);
    let largest = largest.map(|form| (form, "the largest num", end));
    let middle = (Extraction::PLAIN, "a num above the middle", (start + end) / 2 + 1);
    largest.chain([middle]).map(row).collect()
}

/// Each separator, and custom ones, some of the maximum length.
fn separators(extract: &Extract) -> Vec<Row> {
    let listed = extract.separators.iter().map(|separator| {
        let label = format!("{LB}={}", separator.code);
        let edits = [set(LB, &separator.code)];
        short(Extraction::TEXT, &label, Clause::ExtractSeparatorRange, &label, edits)
    });
    let most = extract.separator_bytes;
    let custom = [
        ("the longest sb", "-".repeat(most)),
        ("the longest sb, of wide characters", of_bytes('\u{1f6aa}', most)),
        ("the longest sb, of percent signs", "%".repeat(most)),
        ("a tab", "\t".to_owned()),
        ("spaces", "  ".to_owned()),
        ("line breaks", "\r\n".to_owned()),
    ];
    let custom = custom.map(|(label, separator)| {
        let why = format!("{SB}={separator:?}");
        let edits = [set(LB, &extract.custom_separator), set(SB, separator)];
        short(Extraction::TEXT, label, Clause::ExtractSbLength, &why, edits)
    });
    listed.chain(custom).collect()
}

/// The same token in several transports.
fn tokens() -> Vec<Row> {
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
        let row = short(Extraction::PLAIN, &label, Clause::ExtractTokenEqual, &why, []);
        row.in_form(Extraction { tokens: transports, ..Extraction::PLAIN })
    };
    SEVERAL.map(row).to_vec()
}

/// Addresses that a whitelisted caller claims to have.
fn addresses() -> Vec<Case> {
    let each = HEADERS.into_iter().map(|header| (header, UNUSED_ADDRESS));
    let case = |(header, address): (&'static str, &'static str)| {
        let label = format!("{header}={address}");
        Case::for_data(label, Cost::requests(1), (header, address), claimed)
    };
    each.chain(OTHER_CLAIMS).map(case).collect()
}

/// The service may reject the header itself, or trust it on this machine, so a rejection is compared with that of the header
/// with the real address.
async fn claimed(probe: &Probe<'_>, (header, address): (&'static str, &'static str)) -> Result<(), Stop> {
    control(probe).await?;
    let request = claiming(Extraction::PLAIN.request(probe), header, address);
    let (exchange, class) = send(probe, &request).await?;
    if is_short(probe, &exchange, &class)? {
        return Ok(());
    }
    if class.decision() != Decision::Rejected {
        let why = format!("{address} in {header}");
        return must_be_short(probe, Clause::ExtractWhitelist, &why, &Extraction::PLAIN, &request).await;
    }
    let Some(egress) = probe.facts().egress_ip else {
        return Err(
            probe.skip(&format!("the service may reject the header itself; supply {}", Fact::EgressIp))
        );
    };
    let real = claiming(Extraction::PLAIN.request(probe), header, &egress.to_string());
    let (real, _) = send(probe, &real).await?;
    let is_trusted = crate::wire::is_loopback(probe.base()) && !egress.is_loopback();
    if !is_trusted && has_retry_after(&real) && !rejected_alike(&real, &exchange) {
        let expected = "the shortage, since the real address is whitelisted";
        let actual = format!("{} for {address} in {header}", class.description());
        probe.finding(Clause::ExtractWhitelist, expected, &actual, &[&exchange, &real]);
    }
    Ok(())
}

/// The forms of a parameter with a default, and the default by its name.
fn values(scope: &Scope<'_>, part: &'static str, default: String, clause: Clause) -> Vec<Row> {
    let why = format!("{part}={default}");
    let by_name = short(Extraction::PLAIN, "the default by its name", clause, &why, [set(part, default)]);
    forms(scope, clause).into_iter().chain([by_name]).collect()
}

/// Sends the link credential in the transport that the service accepts, with either name of the region.
async fn link(probe: &Probe<'_>, form: Extraction) -> Result<(), Stop> {
    let credential = probe.secret(Fact::LinkCredential, 0)?;
    let by = |transport| form.sent_in(transport).with_token(probe, credential.expose());
    let (extract, why) = (&probe.contract().extract, format!("a link credential, {}", form.name()));
    control(probe).await?;
    for transport in Transport::ALL {
        let (exchange, class) = send(probe, &by(transport)).await?;
        if is_short(probe, &exchange, &class)? {
            let region = probe.facts().empty_region.as_deref().unwrap_or_default();
            let by_alias = by_country(extract, by(transport).query(REGIONS, region));
            return meets_shortage(probe, Clause::ExtractCountryAlias, &by_alias).await;
        }
        if class.decision() != Decision::Rejected {
            return must_be_short(probe, Clause::ExtractLinkCredential, &why, &form, &by(transport)).await;
        }
    }
    must_be_short(probe, Clause::ExtractLinkCredential, &why, &form, &by(Transport::Query)).await
}

async fn meets_shortage(probe: &Probe<'_>, clause: Clause, request: &Request) -> Result<(), Stop> {
    let mut exchanges = Vec::new();
    for _ in 0..2 {
        let (exchange, class) = send_patiently(probe, request.clone()).await?;
        if is_short(probe, &exchange, &class)? {
            return Ok(());
        }
        exchanges.push((exchange, class));
    }
    let gives = exchanges.iter().map(|(exchange, _)| gives_gateways(probe, exchange)).collect::<Vec<_>>();
    if gives.contains(&true) {
        State::note_gateway_of_empty_region(probe)?;
    }
    let expected = "the shortage of the empty region, with a link credential";
    let actual = if gives[1] { "gateways" } else { exchanges[1].1.description() };
    probe.finding(clause, expected, actual, &[&exchanges[0].0, &exchanges[1].0]);
    Ok(())
}

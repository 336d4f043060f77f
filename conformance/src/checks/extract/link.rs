//! The legacy API Link credential: extraction accepts it, and every rule of an extraction applies to it as to a token.

use super::EXTRACT;
use super::content;
use super::forms::{Context, Transport, default_of, rejects};
use super::region::ANY_COUNTRY;
use super::separator_input::of_bytes;
use super::text::judge_separator;
use crate::check::{Case, Check, Cost, Probe, ResponseClass, Run, Scope, Stop};
use crate::checks::{Requests, State};
use crate::contract::{Clause, Extract, Separator};
use crate::target::Fact;
use crate::wire::Request;

pub(super) static ACCEPTED: Check = Check {
    id: "extract.link-credential.accepted",
    title: "a legacy API Link credential is accepted repeatedly",
    why: "Links that customers generated in the past stop working.",
    clauses: &[Clause::ExtractLinkCredential],
    needs: &[Fact::LinkCredential],
    run: Run::Cases(|scope| {
        let case = |context: Context| {
            let (label, shared) = (context.label(), context.clone());
            let is_plain = shared.extra.is_nothing() && !shared.is_text;
            // Rejected transports take no gateway.
            let case = Case::for_data(label, Cost::extraction(4, 3), context, accepted);
            if is_plain { case } else { shared.share(case) }
        };
        let extract = &scope.contract.extract;
        let combined = Context::all(extract).into_iter().filter(Context::is_combined);
        Context::in_query(extract).into_iter().chain(combined).map(case).collect()
    }),
    ..EXTRACT
};

/// The contract does not define the transport of the credential, so one that works is enough.
async fn accepted(probe: &Probe<'_>, context: Context) -> Result<(), Stop> {
    let credential = probe.required(Fact::LinkCredential, |facts| facts.link_credential.as_ref())?;
    if context != Context::PLAIN {
        context.control(probe).await?;
    }
    let by = |transport| Context { transport, ..context.clone() }.with_token(probe, credential.expose());
    let mut rejected = Vec::new();
    for transport in Transport::ALL {
        let (exchange, class) = probe.send(&by(transport)).await?;
        if class == ResponseClass::Accepted {
            let extract = &probe.contract().extract;
            let more = (*extract.num_range.start() + 1).min(*extract.num_range.end());
            let (num, transport_name) = (&extract.num.name, transport.name());
            let why = format!(
                "the legacy credential in {transport_name}, {}, once more, {num}={more}",
                context.name()
            );
            let again = by(transport).query(num, more);
            probe.accepts(Clause::ExtractLinkCredential, &why, &again).await?;
            return Ok(());
        }
        if matches!(class, ResponseClass::Shortage(_) | ResponseClass::Timeout(_)) {
            return Err(content::undecided(probe, &class));
        }
        rejected.push((exchange, class.description().to_owned()));
    }
    if context == Context::PLAIN {
        context.control(probe).await?;
    }
    let exchanges: Vec<_> = rejected.iter().map(|(exchange, _)| exchange).collect();
    let expected = format!(
        "the legacy credential accepted in the query, X-API-Key or Authorization, {}",
        context.name()
    );
    let actual = rejected.first().map_or("no response", |(_, what)| what.as_str());
    probe.finding(Clause::ExtractLinkCredential, &expected, actual, &exchanges);
    Ok(())
}

pub(super) static LIMITS: Check = Check {
    id: "extract.link-credential.limits",
    title: "the limits of every extraction apply to a legacy API Link credential",
    why: "A legacy credential with fewer checks lets callers take more than they may, and hides their mistakes.",
    clauses: &[
        Clause::ExtractCountryEqual,
        Clause::ExtractNumRange,
        Clause::ExtractNumRequired,
        Clause::ExtractProtocol,
        Clause::ExtractReturnType,
        Clause::ExtractSbLength,
        Clause::ExtractSbRequired,
        Clause::ExtractSeparatorRange,
    ],
    needs: &[Fact::LinkCredential],
    run: Run::Cases(|scope| {
        limits(&scope.contract.extract)
            .into_iter()
            .flat_map(|limit| [Context::PLAIN, Context::TEXT].map(|form| (form, limit.clone())))
            .filter(|(form, limit)| form.is_text || !limit.is_of_text)
            .map(|(form, limit)| {
                let label = format!("{}/{}", form.label(), limit.label);
                shared(&form, Case::for_data(label, Cost::requests(1), (form.clone(), limit), is_rejected))
            })
            .collect()
    }),
    ..EXTRACT
};

/// An extraction that must be rejected.
#[derive(Debug, Clone)]
struct Limit {
    label: String,
    clause: Clause,
    /// Whether it applies to text responses only.
    is_of_text: bool,
    /// The parameters that replace those of a valid extraction. Without a value, the parameter is absent.
    parameters: Vec<(String, Option<String>)>,
}

fn limits(extract: &Extract) -> Vec<Limit> {
    let limit = |clause, label: &str, parameters: &[(&str, Option<&str>)]| {
        let of_separator = parameters.iter().any(|(name, _)| *name == extract.lb.name);
        let parameters =
            parameters.iter().map(|(name, value)| ((*name).to_owned(), value.map(str::to_owned)));
        let (label, parameters) = (label.to_owned(), parameters.collect());
        Limit { label, clause, is_of_text: of_separator, parameters }
    };
    let (num, lb, sb) = (&*extract.num.name, &*extract.lb.name, &*extract.sb.name);
    let below = (extract.num_range.start() - 1).to_string();
    let above = (extract.num_range.end() + 1).to_string();
    let custom = (lb, Some(&*extract.custom_separator));
    let (longer, wide) =
        (of_bytes('-', extract.separator_bytes + 1), of_bytes('\u{20ac}', extract.separator_bytes + 1));
    let beyond = extract.custom_separator.parse::<i64>().unwrap_or_default() + 1;
    let (beyond, tenfold) = (beyond.to_string(), format!("{}0", extract.custom_separator));
    use Clause::{
        ExtractCountryEqual, ExtractNumRange, ExtractNumRequired, ExtractProtocol, ExtractReturnType,
        ExtractSbLength, ExtractSbRequired, ExtractSeparatorRange,
    };
    vec![
        limit(ExtractNumRequired, "num is absent", &[(num, None)]),
        limit(ExtractNumRequired, "num is empty", &[(num, Some(""))]),
        limit(ExtractNumRange, "num is one below the smallest value", &[(num, Some(&below))]),
        limit(ExtractNumRange, "num is one above the largest value", &[(num, Some(&above))]),
        limit(ExtractNumRange, "num is a word", &[(num, Some("ten"))]),
        limit(ExtractProtocol, "protocol=https", &[(&extract.protocol.name, Some("https"))]),
        limit(ExtractProtocol, "protocol=ftp", &[(&extract.protocol.name, Some("ftp"))]),
        limit(ExtractReturnType, "return_type=xml", &[(&extract.return_type.name, Some("xml"))]),
        limit(
            ExtractCountryEqual,
            "regions and country differ",
            &[
                (&extract.regions.name, Some(ANY_COUNTRY)),
                (&extract.country.name, Some(&default_of(&extract.regions))),
            ],
        ),
        limit(ExtractSeparatorRange, "lb=0", &[(lb, Some("0"))]),
        limit(ExtractSeparatorRange, "lb is one above the largest value", &[(lb, Some(&beyond))]),
        limit(ExtractSeparatorRange, "lb is ten times the largest value", &[(lb, Some(&tenfold))]),
        limit(ExtractSbRequired, "sb is absent", &[custom]),
        limit(ExtractSbRequired, "sb is empty", &[custom, (sb, Some(""))]),
        limit(ExtractSbLength, "sb is one byte too long", &[custom, (sb, Some(&longer))]),
        limit(ExtractSbLength, "sb of wide characters is too long", &[custom, (sb, Some(&wide))]),
    ]
}

async fn is_rejected(probe: &Probe<'_>, (form, limit): (Context, Limit)) -> Result<(), Stop> {
    let valid = by_link(probe, &form).await?;
    let invalid = limit.parameters.iter().fold(valid, |request, (name, value)| match value {
        Some(value) => request.query(name, value),
        None => request.without_query(name),
    });
    let why = format!("{} with the legacy credential, {}", limit.label, form.name());
    rejects(probe, limit.clause, &why, &invalid).await
}

pub(super) static EFFECTS: Check = Check {
    id: "extract.link-credential.effects",
    title: "parameters have the same effect with a legacy API Link credential as with a token",
    why: "A customer with an old link gets gateways in a form that its program does not read, or twice.",
    clauses: &[
        Clause::ExtractCount,
        Clause::ExtractIdempotent,
        Clause::ExtractNumRange,
        Clause::ExtractSbLength,
        Clause::ExtractSeparator,
    ],
    needs: &[Fact::LinkCredential],
    run: Run::Cases(effects),
    ..EXTRACT
};

/// The smallest number of entries with a separator between them.
const TWO: u32 = 2;

fn effects(scope: &Scope<'_>) -> Vec<Case> {
    let extract = &scope.contract.extract;
    let custom = |text: String| Separator { code: extract.custom_separator.clone(), text };
    let longest = custom(of_bytes('\u{e9}', extract.separator_bytes));
    let separators = extract.separators.iter().map(|of| (format!("lb={}", of.code), of.clone()));
    let customs = [("sb".to_owned(), custom("&=+% |".to_owned())), ("the longest sb".to_owned(), longest)];
    let separated = separators.chain(customs).map(|(label, separator)| {
        // Another extraction follows when an entry contains the separator itself.
        let case = Case::for_data(label, Cost::extraction(1, TWO + 1), separator, is_separated);
        shared(&Context::TEXT, case)
    });
    let max = u32::try_from(*extract.num_range.end()).unwrap_or(u32::MAX);
    let largest = Case::new("num is the largest", Cost::extraction(1, max), largest);
    let repeated = Case::new("a request id", Cost::extraction(2, 3), repeated);
    let json = [repeated, largest.needs([Fact::PlentifulRegion])];
    separated.chain(json.map(|case| shared(&Context::PLAIN, case))).collect()
}

async fn is_separated(probe: &Probe<'_>, separator: Separator) -> Result<(), Stop> {
    let extract = &probe.contract().extract;
    let valid = by_link(probe, &Context::TEXT).await?;
    let mut request = valid.query(&extract.num.name, TWO).query(&extract.lb.name, &separator.code);
    if separator.code == extract.custom_separator {
        request = request.query(&extract.sb.name, &separator.text);
    }
    let why = format!("{}={} with the legacy credential", extract.lb.name, separator.code);
    match probe.accepts(Clause::ExtractSeparator, &why, &request).await? {
        Some(accepted) => judge_separator(probe, &accepted, &separator.text).await,
        None => Ok(()),
    }
}

async fn largest(probe: &Probe<'_>) -> Result<(), Stop> {
    let extract = &probe.contract().extract;
    let max = *extract.num_range.end();
    let request = by_link(probe, &Context::PLAIN).await?.query(&extract.num.name, max);
    let why = format!("{}={max} with the legacy credential", extract.num.name);
    if let Some(accepted) = probe.accepts(Clause::ExtractNumRange, &why, &request).await? {
        content::judge_count(probe, &accepted.exchange, &accepted.response, max);
    }
    Ok(())
}

async fn repeated(probe: &Probe<'_>) -> Result<(), Stop> {
    let extract = &probe.contract().extract;
    let num = (*extract.num_range.start() + 2).min(*extract.num_range.end());
    let request = by_link(probe, &Context::PLAIN).await?;
    let request =
        request.query(&extract.num.name, num).query(&extract.request_id.name, probe.fresh_request_id());
    let before = probe.control(&request).await?;
    let why = "a request id with the legacy credential, sent again";
    content::judge_repeated(probe, Clause::ExtractIdempotent, why, &before, &request).await
}

/// The case, which needs [`by_link`] for this form.
fn shared(form: &Context, case: Case) -> Case {
    let tries = u32::try_from(Transport::ALL.len()).unwrap_or(u32::MAX);
    case.sharing_in_run(control_label(form), Cost::extraction(tries, 1))
}

fn control_label(form: &Context) -> String {
    format!("extract {} with the link credential", form.label())
}

/// An extraction of this form with the legacy credential, in the transport that the service accepts. A run finds it out once for
/// each form.
async fn by_link(probe: &Probe<'_>, form: &Context) -> Result<Request, Stop> {
    let credential = probe.required(Fact::LinkCredential, |facts| facts.link_credential.as_ref())?;
    let by = |transport| Context { transport, ..form.clone() }.with_token(probe, credential.expose());
    let find_out = async {
        for transport in Transport::ALL {
            if probe.is_accepted(&by(transport)).await?.1 {
                return Ok(Some(transport));
            }
        }
        Ok::<_, Stop>(None)
    };
    let known = State::from_probe(probe)?.link.of_form(form.is_text);
    let label = control_label(form);
    let found = known.get_or_try_init(|| probe.as_control(&label, find_out)).await?;
    let none = || probe.skip("the legacy credential is not accepted; see extract.link-credential.accepted");
    found.map(by).ok_or_else(none)
}

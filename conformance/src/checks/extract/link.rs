//! The legacy API Link credential: extraction accepts it, and every rule of an extraction applies to it as to a token.

use serde_json::json;

use super::EXTRACT;
use super::content;
use super::forms::{Context, Transport, rejects};
use super::region::ANY_COUNTRY;
use super::separator_input::{codes, of_bytes};
use super::text::{FEW, cost_of_separated, judge_separator, with_separator};
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
    use Clause::{
        ExtractCountryEqual, ExtractNumRange, ExtractNumRequired, ExtractProtocol, ExtractReturnType,
        ExtractSbLength, ExtractSbRequired, ExtractSeparatorRange,
    };
    let (num, lb, sb) = (&*extract.num.name, &*extract.lb.name, &*extract.sb.name);
    let limit = |clause, label: &str, parameters: &[(&str, Option<&str>)]| {
        let is_of_text = parameters.iter().any(|(name, _)| *name == lb);
        let parameters =
            parameters.iter().map(|(name, value)| ((*name).to_owned(), value.map(str::to_owned)));
        Limit { label: label.to_owned(), clause, is_of_text, parameters: parameters.collect() }
    };
    let sent = |clause, label: &str, name: &str, value: &str| limit(clause, label, &[(name, Some(value))]);
    let beside_custom = |clause, label: &str, value: Option<&str>| {
        limit(clause, label, &[(lb, Some(&*extract.custom_separator)), (sb, value)])
    };
    let (nums, codes) = (&extract.num_range, codes(extract));
    let (below, above) = ((nums.start() - 1).to_string(), (nums.end() + 1).to_string());
    let (first, last) = ((codes.start() - 1).to_string(), (codes.end() + 1).to_string());
    let too_long = ['-', '\u{20ac}'].map(|character| of_bytes(character, extract.separator_bytes + 1));
    let regions = (&*extract.regions.name, Some(ANY_COUNTRY));
    let default_region = extract.regions.default_text();
    let mut limits = vec![
        limit(ExtractNumRequired, "num is absent", &[(num, None)]),
        sent(ExtractNumRequired, "num is empty", num, ""),
        sent(ExtractNumRange, "num is one below the smallest value", num, &below),
        sent(ExtractNumRange, "num is one above the largest value", num, &above),
        sent(ExtractNumRange, "num is a word", num, "ten"),
        limit(
            ExtractCountryEqual,
            "regions and country differ",
            &[regions, (&extract.country.name, Some(&default_region))],
        ),
        sent(ExtractSeparatorRange, "lb is one below the smallest value", lb, &first),
        sent(ExtractSeparatorRange, "lb is one above the largest value", lb, &last),
        sent(ExtractSeparatorRange, "lb is ten times the largest value", lb, &format!("{}0", codes.end())),
        beside_custom(ExtractSbRequired, "sb is absent", None),
        beside_custom(ExtractSbRequired, "sb is empty", Some("")),
        beside_custom(ExtractSbLength, "sb is one byte too long", Some(&too_long[0])),
        beside_custom(ExtractSbLength, "sb of wide characters is too long", Some(&too_long[1])),
    ];
    let unlisted = [
        (ExtractProtocol, &extract.protocol, "https"),
        (ExtractProtocol, &extract.protocol, "ftp"),
        (ExtractReturnType, &extract.return_type, "xml"),
    ];
    let unlisted =
        unlisted.into_iter().filter(|(_, parameter, value)| !parameter.schema.values.contains(&json!(value)));
    limits.extend(unlisted.map(|(clause, parameter, value)| {
        sent(clause, &format!("{}={value}", parameter.name), &parameter.name, value)
    }));
    limits
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

fn effects(scope: &Scope<'_>) -> Vec<Case> {
    let extract = &scope.contract.extract;
    let custom = |text: String| Separator { code: extract.custom_separator.clone(), text };
    let longest = custom(of_bytes('\u{e9}', extract.separator_bytes));
    let separators = extract.separators.iter().map(|of| (format!("lb={}", of.code), of.clone()));
    let customs = [("sb".to_owned(), custom("&=+% |".to_owned())), ("the longest sb".to_owned(), longest)];
    let separated = separators.chain(customs).map(|(label, separator)| {
        let cost = cost_of_separated(extract, &separator, FEW);
        shared(&Context::TEXT, Case::for_data(label, cost, separator, is_separated))
    });
    let max = u32::try_from(*extract.num_range.end()).unwrap_or(u32::MAX);
    let largest = Case::new("num is the largest", Cost::extraction(1, max), largest);
    let repeated = Case::new("a request id", Cost::extraction(2, 3), repeated);
    let json = [repeated, largest.needs([Fact::PlentifulRegion])];
    separated.chain(json.map(|case| shared(&Context::PLAIN, case))).collect()
}

async fn is_separated(probe: &Probe<'_>, separator: Separator) -> Result<(), Stop> {
    let extract = &probe.contract().extract;
    let request = with_separator(extract, by_link(probe, &Context::TEXT).await?, &separator, FEW);
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

//! The limits of every extraction, in forms that callers of the compatibility format use: with a legacy API Link credential, and
//! with the region named by its alias.

use serde_json::json;

use super::EXTRACT;
use super::forms::{Context, rejects};
use super::link;
use super::region::ANY_COUNTRY;
use super::separator_input::{codes, of_bytes};
use crate::check::{Case, Check, Cost, Probe, Run, Scope, Stop};
use crate::contract::{Clause, Extract};
use crate::target::Fact;
use crate::wire::Request;

pub(super) static BY_LINK: Check = Check {
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
        in_forms(&scope.contract.extract)
            .map(|(form, limit)| {
                let label = format!("{}/{}", form.label(), limit.label);
                link::shared(&form, Case::for_data(label, Cost::requests(1), (form.clone(), limit), by_link))
            })
            .collect()
    }),
    ..EXTRACT
};

pub(super) static BY_COUNTRY: Check = Check {
    id: "extract.country-alias.limits",
    title: "the limits of every extraction apply where `country` names the region",
    why: "Older clients send `country`. With fewer checks for them, a mistake takes gateways that nobody asked for.",
    clauses: &[
        Clause::ExtractNumRange,
        Clause::ExtractNumRequired,
        Clause::ExtractProtocol,
        Clause::ExtractReturnType,
        Clause::ExtractSbLength,
        Clause::ExtractSbRequired,
        Clause::ExtractSeparatorRange,
    ],
    run: Run::Cases(by_country_cases),
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

/// Each limit in JSON and, as far as it applies there, in text.
fn in_forms(extract: &Extract) -> impl Iterator<Item = (Context, Limit)> {
    limits(extract)
        .into_iter()
        .flat_map(|limit| [Context::PLAIN, Context::TEXT].map(|form| (form, limit.clone())))
        .filter(|(form, limit)| form.is_text || !limit.is_of_text)
}

impl Limit {
    /// Replaces the parameters of a valid extraction.
    fn exceed(&self, valid: Request) -> Request {
        self.parameters.iter().fold(valid, |request, (name, value)| match value {
            Some(value) => request.query(name, value),
            None => request.without_query(name),
        })
    }
}

async fn by_link(probe: &Probe<'_>, (form, limit): (Context, Limit)) -> Result<(), Stop> {
    let invalid = limit.exceed(link::by_link(probe, &form).await?);
    let why = format!("{} with the legacy credential, {}", limit.label, form.name());
    rejects(probe, limit.clause, &why, &invalid).await
}

/// The change of the control request, for its label.
const ALIAS: &str = "by country";

fn by_country_cases(scope: &Scope<'_>) -> Vec<Case> {
    in_forms(&scope.contract.extract)
        .filter(|(_, limit)| limit.clause != Clause::ExtractCountryEqual)
        .map(|(form, limit)| {
            let label = format!("{}/{}", form.label(), limit.label);
            let case = Case::for_data(label, Cost::requests(1), (form.clone(), limit), by_country);
            form.share_with(case, ALIAS, 1)
        })
        .collect()
}

async fn by_country(probe: &Probe<'_>, (form, limit): (Context, Limit)) -> Result<(), Stop> {
    let extract = &probe.contract().extract;
    let name_region = |request: &Request| {
        let region = request.query_value(&extract.regions.name).map(str::to_owned);
        let region = region.unwrap_or_else(|| extract.regions.default_text());
        request.clone().without_query(&extract.regions.name).query(&extract.country.name, region)
    };
    // Another check judges whether the alias is accepted.
    form.control_with(probe, ALIAS, name_region).await.map_err(|stop| match stop {
        Stop::Inconclusive(reason) => {
            probe.skip(&format!("a valid extraction with {} is not accepted: {reason}", extract.country.name))
        }
        other => other,
    })?;
    let invalid = limit.exceed(name_region(&form.request(probe)));
    let why = format!("{}, with {}, {}", limit.label, extract.country.name, form.name());
    rejects(probe, limit.clause, &why, &invalid).await
}

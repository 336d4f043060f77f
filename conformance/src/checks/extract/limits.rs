//! The limits of every extraction, in forms that callers of the compatibility format use: with a legacy API Link credential, and
//! with the region named by its alias.

use serde_json::json;

use super::EXTRACT;
use super::forms::{Context, rejects};
use super::link;
use super::region::{ANY_COUNTRY, by_country};
use super::separator_input::{codes, of_bytes, separated};
use crate::check::{Case, Check, Cost, Probe, Run, Scope, Stop};
use crate::contract::{Clause, Extract};
use crate::target::Fact;
use crate::wire::Request;

const CLAUSES: [Clause; 8] = [
    Clause::ExtractCountryEqual,
    Clause::ExtractNumRange,
    Clause::ExtractNumRequired,
    Clause::ExtractProtocol,
    Clause::ExtractReturnType,
    Clause::ExtractSbLength,
    Clause::ExtractSbRequired,
    Clause::ExtractSeparatorRange,
];

/// Where `country` stands alone, it cannot differ from `regions`.
const CLAUSES_OF_COUNTRY: &[Clause] = CLAUSES.split_at(1).1;

pub(super) static BY_LINK: Check = Check {
    id: "extract.link-credential.limits",
    title: "the limits of every extraction apply to a legacy API Link credential",
    why: "A legacy credential with fewer checks lets callers take more than they may, and hides their mistakes.",
    clauses: &CLAUSES,
    needs: &[Fact::LinkCredential],
    run: Run::Cases(|scope| {
        in_forms(&scope.contract.extract)
            .map(|(form, limit)| {
                let label = format!("{}/{}", form.label(), limit.label);
                let is_of_separators = limit.is_of_separators;
                let case = Case::for_data(label, Cost::requests(1), (form.clone(), limit), rejects_link);
                match link::shared(&form, case) {
                    case if is_of_separators => case.sharing(form.label(), Cost::extraction(1, 1)),
                    case => case,
                }
            })
            .collect()
    }),
    ..EXTRACT
};

pub(super) static BY_COUNTRY: Check = Check {
    id: "extract.country-alias.limits",
    title: "the limits of every extraction apply where `country` names the region",
    why: "Older clients send `country`. With fewer checks for them, a mistake takes gateways that nobody asked for.",
    clauses: CLAUSES_OF_COUNTRY,
    run: Run::Cases(by_country_cases),
    ..EXTRACT
};

/// A limit, as a change of a valid extraction that must be rejected.
#[derive(Debug, Clone)]
struct Limit {
    label: String,
    clause: Clause,
    /// Whether it is about separators, and so applies to text responses only: the valid extraction has a custom separator.
    is_of_separators: bool,
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
        let is_of_separators = parameters.iter().any(|(name, _)| [lb, sb].contains(name));
        let parameters =
            parameters.iter().map(|(name, value)| ((*name).to_owned(), value.map(str::to_owned)));
        Limit { label: label.to_owned(), clause, is_of_separators, parameters: parameters.collect() }
    };
    let sent = |clause, label: &str, name: &str, value: &str| limit(clause, label, &[(name, Some(value))]);
    let named =
        |label: &str, code: &str| limit(ExtractSeparatorRange, label, &[(lb, Some(code)), (sb, None)]);
    let custom = |clause, label: &str, value: Option<&str>| limit(clause, label, &[(sb, value)]);
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
        named("lb is one below the smallest value", &first),
        named("lb is one above the largest value", &last),
        named("lb is ten times the largest value", &format!("{}0", codes.end())),
        custom(ExtractSbRequired, "sb is absent", None),
        custom(ExtractSbRequired, "sb is empty", Some("")),
        custom(ExtractSbLength, "sb is one byte too long", Some(&too_long[0])),
        custom(ExtractSbLength, "sb of wide characters is too long", Some(&too_long[1])),
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
        .filter(|(form, limit)| form.is_text || !limit.is_of_separators)
}

impl Limit {
    /// A valid extraction that the limit is tested with.
    fn valid(&self, extract: &Extract, request: Request) -> Request {
        match self.is_of_separators {
            true => separated(extract, &request, *extract.num_range.start()),
            false => request,
        }
    }

    /// The change of the control request, for its label.
    const fn control_by_country(&self) -> &'static str {
        if self.is_of_separators { "by country, with a custom separator" } else { "by country" }
    }

    /// Replaces the parameters of a valid extraction.
    fn exceed(&self, valid: Request) -> Request {
        self.parameters.iter().fold(valid, |request, (name, value)| match value {
            Some(value) => request.query(name, value),
            None => request.without_query(name),
        })
    }
}

async fn rejects_link(probe: &Probe<'_>, (form, limit): (Context, Limit)) -> Result<(), Stop> {
    let valid = limit.valid(&probe.contract().extract, link::by_link(probe, &form).await?);
    if limit.is_of_separators {
        probe.control_once(&valid).await?;
    }
    let why = format!("{} with the legacy credential, {}", limit.label, form.name());
    rejects(probe, limit.clause, &why, &limit.exceed(valid)).await
}

fn by_country_cases(scope: &Scope<'_>) -> Vec<Case> {
    in_forms(&scope.contract.extract)
        .filter(|(_, limit)| CLAUSES_OF_COUNTRY.contains(&limit.clause))
        .map(|(form, limit)| {
            let label = format!("{}/{}", form.label(), limit.label);
            let control = limit.control_by_country();
            let case = Case::for_data(label, Cost::requests(1), (form.clone(), limit), rejects_country);
            form.share_with(case, control, 1)
        })
        .collect()
}

async fn rejects_country(probe: &Probe<'_>, (form, limit): (Context, Limit)) -> Result<(), Stop> {
    let extract = &probe.contract().extract;
    let valid = |request: &Request| limit.valid(extract, by_country(extract, request.clone()));
    let is_valid = form.control_with(probe, limit.control_by_country(), valid).await.is_ok()
        || probe.is_accepted(&valid(&form.request(probe))).await?.1;
    if !is_valid {
        // Another check judges whether the alias is accepted.
        let country = &extract.country.name;
        return Err(probe.skip(&format!("a valid extraction with {country} is rejected, {}", form.name())));
    }
    let why = format!("{}, with {}, {}", limit.label, extract.country.name, form.name());
    rejects(probe, limit.clause, &why, &limit.exceed(valid(&form.request(probe)))).await
}

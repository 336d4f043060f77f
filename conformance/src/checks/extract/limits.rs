//! The limits of every extraction, in forms that callers of the compatibility format use: with a legacy API Link credential, and
//! with the region named by its alias.

use super::region::ANY_COUNTRY;
use super::separator_input::of_bytes;
use super::*;
use crate::checks::row::limit;

const CLAUSES: [Clause; 8] = [
    ExtractCountryEqual,
    ExtractNumRange,
    ExtractNumRequired,
    ExtractProtocol,
    ExtractReturnType,
    ExtractSbLength,
    ExtractSbRequired,
    ExtractSeparatorRange,
];

/// Where `country` stands alone, it cannot differ from `regions`.
const CLAUSES_OF_COUNTRY: &[Clause] = CLAUSES.split_at(1).1;

pub(super) static CHECKS: &[Check] = &[
    check("extract.link-credential.limits", &CLAUSES)
        .title("the limits of every extraction apply to a legacy API Link credential")
        .why("A legacy credential with fewer checks lets callers take more than they may, and hides their mistakes.")
        .needs(&[Fact::LinkCredential])
        .with_cases(|scope| limits(scope, &CLAUSES, Row::by_link)),
    check("extract.country-alias.limits", CLAUSES_OF_COUNTRY)
        .title("the limits of every extraction apply where `country` names the region")
        .why("Older clients send `country`. With fewer checks for them, a mistake takes gateways that nobody asked for.")
        .with_cases(|scope| limits(scope, CLAUSES_OF_COUNTRY, Row::by_country)),
];

/// Each limit in JSON and, as far as it applies there, in text.
fn limits(scope: &Scope<'_>, clauses: &[Clause], sent: fn(Row) -> Row) -> Vec<Case> {
    let extract = &scope.contract.extract;
    let too_long = |character| set(SB, of_bytes(character, extract.separator_bytes + 1));
    let ten_times = format!("{}0", extract.range(LB).end());
    let rows = [
        limit(ExtractNumRequired, "num is absent", [Drop(NUM)]),
        limit(ExtractNumRequired, "num is empty", [set(NUM, "")]),
        limit(ExtractNumRange, "num is one below the smallest value", [set(NUM, Min(-1))]),
        limit(ExtractNumRange, "num is one above the largest value", [set(NUM, Max(1))]),
        limit(ExtractNumRange, "num is a word", [set(NUM, "ten")]),
        limit(
            ExtractCountryEqual,
            "regions and country differ",
            [set(REGIONS, ANY_COUNTRY), set(COUNTRY, extract.regions.default_text())],
        ),
        limit(ExtractSeparatorRange, "lb is one below the smallest value", [set(LB, Min(-1)), Drop(SB)]),
        limit(ExtractSeparatorRange, "lb is one above the largest value", [set(LB, Max(1)), Drop(SB)]),
        limit(ExtractSeparatorRange, "lb is ten times the largest value", [set(LB, ten_times), Drop(SB)]),
        limit(ExtractSbRequired, "sb is absent", [Drop(SB)]),
        limit(ExtractSbRequired, "sb is empty", [set(SB, "")]),
        limit(ExtractSbLength, "sb is one byte too long", [too_long('-')]),
        limit(ExtractSbLength, "sb of wide characters is too long", [too_long('\u{20ac}')]),
        limit(ExtractProtocol, "protocol=https", [set(PROTOCOL, "https")]),
        limit(ExtractProtocol, "protocol=ftp", [set(PROTOCOL, "ftp")]),
        limit(ExtractReturnType, "return_type=xml", [set(RETURN_TYPE, "xml")]),
    ];
    let num = *extract.num_range.start();
    let applies = |row: &Row| row.clause().is_some_and(|clause| clauses.contains(&clause));
    let in_forms = |row: Row| match row.is_of_separators() {
        true => each(&[Extraction::TEXT], [sent(row.separated(num))]),
        false => each(&[Extraction::PLAIN, Extraction::TEXT], [sent(row)]),
    };
    cases(ExtractNumRange, rows.into_iter().filter(applies).flat_map(in_forms))
}

//! The limits of every extraction, in forms that callers of the compatibility format use: with a legacy API Link credential, and
//! with the region named by its alias.

use super::region::ANY_COUNTRY;
use super::separator_input::of_bytes;
use super::*;
use crate::checks::row::limit;

pub(super) static PROGRAMS: &[Program] = &[
    active("extract.link-credential.limits", |scope| limits(scope, true, Row::by_link)),
    active("extract.country-alias.limits", |scope| limits(scope, false, Row::by_country)),
];

/// Each limit in JSON and, as far as it applies there, in text.
fn limits(scope: &Scope<'_>, has_both: bool, sent: fn(Row) -> Row) -> Vec<Case> {
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
    // Where `country` stands alone, it can't differ from `regions`.
    let applies = |row: &Row| has_both || row.clause() != Some(ExtractCountryEqual);
    let in_forms = |row: Row| match row.is_of_separators() {
        true => each(&[Extraction::TEXT], [sent(row.separated(num))]),
        false => each(&[Extraction::PLAIN, Extraction::TEXT], [sent(row)]),
    };
    cases(ExtractNumRange, rows.into_iter().filter(applies).flat_map(in_forms))
}

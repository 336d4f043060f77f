//! The limits of every extraction, in forms that callers of the compatibility format use: with a legacy API Link credential, and
//! with the region named by its alias.

use super::*;

pub(super) static PROGRAMS: &[Program] = &[
    active("extract.link-credential.limits", |scope| limits(scope, true, Row::by_link)),
    active("extract.country-alias.limits", |scope| limits(scope, false, Row::by_country)),
];

/// The limits that are stated for the credential, each in JSON and, as far as it applies there, in text.
fn limits(scope: &Scope<'_>, has_both: bool, sent: fn(Row) -> Row) -> Vec<Case> {
    let rows = stated("extract.link-credential.limits", scope);
    let num = *scope.contract.extract.num_range.start();
    // Where `country` stands alone, it can't differ from `regions`.
    let applies = |row: &Row| has_both || row.clause() != Some(ExtractCountryEqual);
    let in_forms = |row: Row| match row.is_of_separators() {
        true => each(&[Extraction::TEXT], [sent(row.separated(num))]),
        false => each(&[Extraction::PLAIN, Extraction::TEXT], [sent(row)]),
    };
    cases(ExtractNumRange, rows.into_iter().filter(applies).flat_map(in_forms))
}

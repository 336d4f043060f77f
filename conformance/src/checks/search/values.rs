//! Single filters, held against what the instances show.

use crate::check::{Probe, Stop};
use crate::checks::Requests;
use crate::checks::relation::{Comparison, Filter, read_accepted};
use crate::contract::Clause;

/// The filter must find what the survey says that it admits, by address and by address with port.
pub(super) async fn judge(
    probe: &Probe<'_>,
    comparison: &mut Comparison<'_>,
    clause: Clause,
    filter: &Filter,
) -> Result<(), Stop> {
    let search = &probe.contract().search;
    let survey = comparison.survey();
    let admitted = survey.admitted(std::slice::from_ref(filter));
    for batch in survey.batches(search).iter().take(2) {
        let what = format!("{} among {}", filter.describe(), batch.name);
        let request = filter.on(search, probe.search(batch.items.clone()));
        if let Some(found) = read_accepted(probe, clause, &what, &request).await? {
            let expected = admitted.intersection(&batch.ids).copied().collect();
            comparison.same(clause, &what, &expected, &found);
        }
    }
    Ok(())
}

/// Texts that resemble a value and are not equal to it: its beginning, its end, more than it, and patterns that fit it.
pub(super) fn resembling(value: &str) -> Vec<String> {
    let shorter = value.char_indices().next_back().map(|(last, _)| value[..last].to_owned());
    let tail = value.char_indices().nth(1).map(|(second, _)| value[second..].to_owned());
    let whole =
        [format!("{value}X"), format!("X{value}"), format!("{}%", shorter.clone().unwrap_or_default())];
    shorter.into_iter().chain(tail).chain(whole).filter(|text| !text.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_resembles_differs_and_is_not_empty() {
        assert_eq!(resembling("USA"), ["US", "SA", "USAX", "XUSA", "US%"]);
        assert_eq!(resembling("é"), ["éX", "Xé", "%"]);
    }
}

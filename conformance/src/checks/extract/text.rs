//! What separator checks read in a plain-text answer. The form of an entry is open; it only has no line break in it.

use super::count::default_separator;
use crate::check::{Accepted, Probe, ResponseClass, Stop};
use crate::checks::Requests;
use crate::contract::{Clause, Unspecified};
use crate::wire::Request;

/// Entries that are asked for: enough to have a separator between them.
pub(super) const ENTRIES: usize = 3;

/// The same, for costs.
pub(super) const ENTRIES_COUNT: u32 = ENTRIES as u32;

/// An extraction of several entries as text.
pub(super) fn request(probe: &Probe<'_>) -> Request {
    let extract = &probe.contract().extract;
    probe.extract().query(&extract.num.name, ENTRIES).query(&extract.return_type.name, &extract.text)
}

/// Reports a text answer whose entries are not separated by `separator`. What stands at its end is left open.
pub(super) async fn judge(probe: &Probe<'_>, accepted: &Accepted, separator: &str) -> Result<(), Stop> {
    let text = accepted.answer.text();
    let extract = &probe.contract().extract;
    let entries = entries(probe, accepted);
    if entries < 2 {
        return Err(probe.inconclusive("a single entry has no separator: supply a plentiful region"));
    }
    let pieces: Vec<&str> = trimmed(&text, separator).split(separator).collect();
    let broken = pieces.iter().any(|piece| piece.is_empty() || piece.contains(['\r', '\n']));
    if !broken && pieces.len() == entries {
        return Ok(());
    }
    // The entries themselves may hold the separator, unless it is a line break.
    let in_lines = default_separator(extract).filter(|default| *default != separator);
    let within = match in_lines {
        Some(default) => within(probe, &accepted.exchange.request, default, separator).await?,
        None => None,
    };
    let fits = |(fewest, most): (usize, usize)| {
        let more = pieces.len().checked_sub(entries);
        more.is_some_and(|more| (entries * fewest..=entries * most).contains(&more))
    };
    if !broken && within.is_some_and(fits) {
        probe.observe(
            Unspecified::ExtractTxtLayout,
            &format!("an entry holds the separator {separator:?} itself"),
        );
        return Ok(());
    }
    let expected = format!("{entries} entries separated by {separator:?}");
    let actual = format!("splitting at {separator:?} gives {} in {text:?}", pieces.len());
    probe.finding(Clause::ExtractSeparator, &expected, &actual, &[&accepted.exchange]);
    Ok(())
}

/// How many entries an answer should have: as many as were asked for, or as a partial result says.
fn entries(probe: &Probe<'_>, accepted: &Accepted) -> usize {
    let extract = &probe.contract().extract;
    let asked = accepted.exchange.request.query_value(&extract.num.name).and_then(|num| num.parse().ok());
    let asked = asked.unwrap_or(ENTRIES);
    let returned = accepted.answer.header(&extract.returned_count).and_then(|count| count.parse().ok());
    returned.map_or(asked, |returned: usize| returned.min(asked))
}

/// The text without what ends it: one line break, one separator, or both.
fn trimmed<'a>(text: &'a str, separator: &str) -> &'a str {
    let text = text.strip_suffix("\r\n").or_else(|| text.strip_suffix('\n')).unwrap_or(text);
    text.strip_suffix(separator).unwrap_or(text)
}

/// How often, at least and at most, `separator` stands within one entry of the same extraction with the default separator.
/// None when the answer to that does not show its entries.
async fn within(
    probe: &Probe<'_>,
    request: &Request,
    default: &str,
    separator: &str,
) -> Result<Option<(usize, usize)>, Stop> {
    let extract = &probe.contract().extract;
    let plain = request.clone().without_query(&extract.lb.name).without_query(&extract.sb.name);
    let (exchange, class) = probe.send(&plain).await?;
    let (ResponseClass::Accepted, Ok(answer)) = (class, &exchange.result) else { return Ok(None) };
    let accepted = Accepted { answer: answer.clone(), exchange: exchange.clone() };
    let text = answer.text();
    let lines: Vec<&str> = trimmed(&text, default).split(default).collect();
    if lines.len() != entries(probe, &accepted) {
        return Ok(None);
    }
    let counts = || lines.iter().map(|line| line.matches(separator).count());
    Ok(counts().min().zip(counts().max()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_ends_a_text_is_taken_off_once() {
        for (text, separator) in
            [("a,b", ","), ("a,b,", ","), ("a,b\n", ","), ("a,b\r\n", ","), ("a,b,\n", ",")]
        {
            assert_eq!(trimmed(text, separator), "a,b", "{text:?}");
        }
        assert_eq!(trimmed("a\r\nb\r\n", "\r\n"), "a\r\nb");
        assert_eq!(trimmed("a\nb\n\n\n", "\n"), "a\nb\n", "an empty entry is no end");
        assert_eq!(trimmed("a\rb\r\n", "\r"), "a\rb");
        assert_eq!(trimmed("a,b,,", ","), "a,b,");
    }
}

//! `return_type`, and the separators of a text response: `lb` and `sb`. The form of an entry is unspecified, except that it has
//! no line break.

use serde_json::json;

use super::EXTRACT;
use super::content::{default_separator, is_envelope};
use super::forms::{Context, says_error};
use super::protocol::capitalized;
use super::row::{self, Edit, Judge, Max, Row, Unless, accept, cases, each, in_forms, set};
use crate::check::{AcceptedResponse, Case, Check, Cost, Probe, ResponseClass, Run, Scope, Stop};
use crate::checks::Requests;
use crate::contract::part::{LB, NUM, REGIONS, REQUEST_ID, RETURN_TYPE, SB};
use crate::contract::{Clause, Extract, Separator, Unspecified, boundaries};
use crate::grammar::Spelling;
use crate::quantity::quantity;
use crate::response::gateways::is_endpoint;
use crate::target::Fact;
use crate::wire::{Exchange, Request, Response};

pub(super) static CHECKS: &[Check] = &[
    Check {
        id: "extract.return-type.forms",
        title: "`json` and `txt` return their form, and JSON is the default",
        why: "A tool that expects plain text gets JSON, or a JSON parser gets plain text.",
        clauses: &[Clause::ExtractReturnType],
        run: Run::Cases(|scope| {
            let extract = &scope.contract.extract;
            let json = Case::new("json", Cost::extraction(2, 2), in_json);
            let texts = Context::in_text(extract).into_iter().map(|form| {
                let in_json = Context { is_text: false, ..form.clone() };
                let row = accept("", "text is requested", []).giving(1, Unless::Finding, Judge::Text);
                row.in_form(form).controlled_by(in_json)
            });
            let texts = cases(Clause::ExtractReturnType, texts);
            // A partial result has the requested form. A shortage is not a result.
            let max = *extract.num_range.end();
            let region = scope.facts.scarce_region.clone().unwrap_or_default();
            let partial = [set(RETURN_TYPE, &extract.text), set(REGIONS, region), set(NUM, Max(0))];
            let partial = accept("", "text is requested, of a scarce region", partial).named("scarce-region");
            let most = u32::try_from(max).unwrap_or(u32::MAX);
            let partial = partial.giving(most, Unless::Nothing, Judge::Text).needing(Fact::ScarceRegion);
            let partial = cases(Clause::ExtractReturnType, [partial]);
            let lone = extract.lb.schema.values.iter().filter_map(|code| code.as_str()).map(|code| {
                let data = code.to_owned();
                Case::for_data(format!("json/lb={code}"), Cost::extraction(1, 1), data, separator_alone)
            });
            // The parameter decides the form, whatever the header `Accept` prefers.
            let beside =
                [("application/json", Context::TEXT), ("text/plain", Context::PLAIN)].map(|(media, form)| {
                    let (what, judge) =
                        if form.is_text { ("text", Judge::Text) } else { ("JSON", Judge::Nothing) };
                    let why = format!("{what} is requested, beside the header Accept: {media}");
                    let row = accept("", why, [Edit::Header("Accept", format!("{media}, */*;q=0.1"))])
                        .in_form(form);
                    row.labelled(format!("accept={media}")).giving(1, Unless::Finding, judge)
                });
            let beside = cases(Clause::ExtractReturnType, beside);
            [json].into_iter().chain(lone).chain(texts).chain(partial).chain(beside).collect()
        }),
        ..EXTRACT
    },
    Check {
        id: "extract.return-type.unlisted",
        title: "a `return_type` outside the list is rejected",
        why: "If a misspelled form returns the default one, the caller notices it only when its parser fails.",
        clauses: &[Clause::ExtractReturnType],
        run: Run::Cases(unlisted),
        ..EXTRACT
    },
    Check {
        id: "extract.separator.custom",
        title: "`lb=6` separates entries by the text of `sb`, whatever its characters",
        why: "A caller splits the text at its separator; with another one it reads all gateways as a single address.",
        clauses: &[Clause::ExtractSeparator],
        run: Run::Cases(|scope| {
            // Characters that are special in URLs, shells, regular expressions and JSON, and wide ones. The first value has many of
            // them, for runs with few gateways.
            let values = [
                "&=+%2C $1.\\n<br>\"#?/{}\u{e9}A\u{20ac}",
                "|",
                "a&b;c",
                "e\u{301}",
                ",",
                ";",
                " ",
                "&=+%",
                "+",
                "%2C",
                "#?/",
                "$1.*",
                "\\n",
                // Quotes, a byte order mark and a zero-width space, which some parsers drop.
                "\"\u{feff}'\u{200b}\"",
                // No-break spaces, which a parser may trim.
                "\u{a0}|\u{a0}",
                "<br>",
                "{}",
                "A\u{20ac}\u{1f6aa}",
                "\u{e9}",
                // Longer ones, and ones with line breaks.
                "0123456789abcdef|",
                "<---- ---- next ---- ---->",
                "-\n\t-",
                "\r\n--\r\n",
                "\n\n",
            ];
            let extract = &scope.contract.extract;
            let rows = values.map(|value| {
                let separator = Separator { code: extract.custom_separator.clone(), text: value.to_owned() };
                separated(extract, format!("sb={value}"), &separator, FEW)
            });
            let rows = in_forms(Context::some_for_each(&Context::in_text(extract), rows));
            cases(Clause::ExtractSeparator, rows)
        }),
        ..EXTRACT
    },
    Check {
        id: "extract.separator.named",
        title: "each `lb` puts its own separator between entries",
        why: "A caller splits the text at the requested separator; with another one it reads all gateways as a single address.",
        clauses: &[Clause::ExtractSeparator],
        run: Run::Cases(|scope| {
            let extract = &scope.contract.extract;
            let named = |what: &str, separator: &Separator, entries| {
                separated(extract, format!("lb={}{what}", separator.code), separator, entries)
            };
            let in_form = |form: Context| {
                let entries = if form.extra.is_nothing() { FEW } else { SEVERAL };
                each(&[form], extract.separators.iter().map(|separator| named("", separator, entries)))
            };
            let more =
                extract.separators.iter().map(|separator| named(&format!(" num={MANY}"), separator, MANY));
            let max = u32::try_from(*extract.num_range.end()).unwrap_or(u32::MAX);
            // A service that writes the text in blocks may use another separator between them.
            let default = extract.lb.default_text();
            let other = extract.separators.iter().rfind(|separator| separator.code != default);
            let largest = other
                .map(|separator| named(" num=the largest", separator, max).needing(Fact::PlentifulRegion));
            let more = each(&[Context::TEXT], more.chain(largest));
            // A scarce region rarely has more.
            let partial = extract.separators.iter().map(|separator| {
                let (label, num) = (format!("scarce-region/lb={}", separator.code), SEVERAL + 2);
                let case = Case::for_data(
                    label,
                    Cost::extraction(2, num),
                    (separator.clone(), num),
                    partial_separator,
                );
                case.needs([Fact::ScarceRegion])
            });
            let rows = Context::in_text(extract).into_iter().flat_map(in_form).chain(more);
            cases(Clause::ExtractSeparator, rows).into_iter().chain(partial).collect()
        }),
        ..EXTRACT
    },
    Check {
        id: "extract.separator.default",
        title: "without `lb` the default separator is used",
        why: "Callers without `lb` read the text line by line, and get one line with all gateways.",
        clauses: &[Clause::ExtractSeparator],
        run: Run::Cases(|scope| {
            let extract = &scope.contract.extract;
            let Some(separator) = default_separator(extract) else {
                return vec![Case::error("lb", "the document names no default separator")];
            };
            let rows = Context::in_text(extract).into_iter().map(|form| {
                let entries = if form.extra.is_nothing() { FEW } else { SEVERAL };
                let row = accept("", "", [set(NUM, entries)]).in_form(form);
                row.giving(entries, Unless::Control, Judge::Separator(separator.to_owned()))
            });
            cases(Clause::ExtractSeparator, rows)
        }),
        ..EXTRACT
    },
];

/// A JSON success has the business code, so an accepted response has the right form. Each of the two requests is the control of
/// the other.
async fn in_json(probe: &Probe<'_>) -> Result<(), Stop> {
    let extract = &probe.contract().extract;
    let absent = probe.extract();
    let json = absent.clone().query(RETURN_TYPE, &extract.json);
    if probe.control_once(&json).await.is_err() {
        probe.control_once(&absent).await?;
        probe.accepts(Clause::ExtractReturnType, "JSON is requested by name", &json).await?;
        return Ok(());
    }
    probe
        .accepts(Clause::ExtractReturnType, "no form is requested, so the response is JSON", &absent)
        .await?;
    Ok(())
}

/// A separator does not apply to JSON. A service may validate it or not, but must not return text because of it.
async fn separator_alone(probe: &Probe<'_>, code: String) -> Result<(), Stop> {
    let extract = &probe.contract().extract;
    let mut request = probe.extract().query(LB, &code);
    if code == extract.custom_separator {
        request = request.query(SB, "|");
    }
    let (exchange, class) = probe.send_once(&request).await?;
    if class != ResponseClass::Accepted {
        Context::PLAIN.control(probe).await?;
    }
    if exchange.result.as_ref().is_ok_and(|response| is_served_text(extract, response)) {
        let expected = format!("JSON or a rejection: {LB}={code} without {RETURN_TYPE}");
        probe.finding(Clause::ExtractReturnType, &expected, "plain text", &[&exchange]);
    }
    Ok(())
}

/// Whether a response is a text success: rejections are JSON, or error messages in plain text.
pub(super) fn is_served_text(extract: &Extract, response: &Response) -> bool {
    response.status == extract.operation.success.status && response.json().is_none() && !says_error(response)
}

/// A text extraction of the maximum number of gateways from the scarce region.
fn text_of_scarce(probe: &Probe<'_>) -> Request {
    let extract = &probe.contract().extract;
    let region = probe.facts().scarce_region.as_deref().unwrap_or_default();
    let text = probe.extract().query(RETURN_TYPE, &extract.text);
    text.query(REGIONS, region).query(NUM, extract.num_range.end())
}

pub(super) fn judge_form(probe: &Probe<'_>, exchange: &Exchange, response: &Response, why: &str) {
    if is_envelope(response) {
        let expected = format!("plain text: {why}");
        probe.finding(Clause::ExtractReturnType, &expected, "the JSON envelope", &[exchange]);
    }
}

/// Values that callers may try as forms.
const NEAR: [&str; 20] = [
    "text",
    "xml",
    "plain",
    "csv",
    "html",
    "yaml",
    "jsonp",
    "json5",
    "jso",
    "tx",
    "jsontxt",
    "application/json",
    "text/plain",
    "json:",
    ".txt",
    "0",
    "1",
    "true",
    "null",
    "*",
];

fn unlisted(scope: &Scope<'_>) -> Vec<Case> {
    let extract = &scope.contract.extract;
    let parameter = &extract.return_type;
    let derived = boundaries(&parameter.schema).into_iter().filter(|value| !value.allowed);
    let both = [format!("{},{}", extract.json, extract.text), format!("{}|{}", extract.text, extract.json)];
    let spelled = [&extract.json, &extract.text].into_iter().flat_map(|listed| {
        [listed.to_uppercase(), capitalized(listed), format!(" {listed}"), format!("{listed} ")]
    });
    let values = derived.map(|value| value.text()).chain(NEAR.map(str::to_owned)).chain(spelled).chain(both);
    let values = values.filter(|value| !parameter.schema.values.contains(&json!(value)));
    let forms: Vec<_> = Context::all(extract).into_iter().filter(|context| !context.is_text).collect();
    let values =
        row::values(RETURN_TYPE, values.map(|value| Spelling::malformed(value, "not a listed value")));
    let rows = values.into_iter().map(Row::even_as_text);
    cases(Clause::ExtractReturnType, in_forms(Context::one_for_each(&forms, rows)))
}

/// The minimum number of entries with a separator between them.
pub(super) const FEW: u32 = 2;

/// More entries than a service is likely to write at once.
const MANY: u32 = 13;

/// Enough entries to see a separator that is not beside the last entry.
const SEVERAL: u32 = 3;

/// The extraction of so many entries with a separator between them. Another one follows when an entry contains the separator
/// itself, as a custom one may.
pub(super) fn separated(extract: &Extract, label: String, separator: &Separator, entries: u32) -> Row {
    let Separator { code, text } = separator;
    let is_custom = *code == extract.custom_separator;
    let mut edits = vec![set(NUM, entries), set(LB, code)];
    edits.extend(is_custom.then(|| set(SB, text)));
    let why = if is_custom { format!("{SB}={text:?}, {LB}={code}") } else { format!("{LB}={code}") };
    let judge = Judge::Separator(text.clone());
    accept(label, why, edits).giving(entries + u32::from(is_custom), Unless::Finding, judge)
}

/// A partial result has the requested separator, too. A shortage and a single entry have none.
async fn partial_separator(probe: &Probe<'_>, (separator, num): (Separator, u32)) -> Result<(), Stop> {
    let extract = &probe.contract().extract;
    let request = text_of_scarce(probe).query(LB, &separator.code).query(NUM, num);
    let (exchange, class) = probe.send_once(&request).await?;
    let (ResponseClass::Accepted, Ok(response)) = (class, &exchange.result) else { return Ok(()) };
    let accepted = AcceptedResponse { response: response.clone(), exchange: exchange.clone() };
    let returned = response.header(&extract.returned_count).and_then(|count| count.parse::<u64>().ok());
    if returned.is_some_and(|returned| returned > 1) {
        judge_separator(probe, &accepted, &separator.text).await?;
    }
    Ok(())
}

/// Reports a text response whose entries are not separated by `separator`. The end of the text is unspecified.
pub(super) async fn judge_separator(
    probe: &Probe<'_>,
    accepted: &AcceptedResponse,
    separator: &str,
) -> Result<(), Stop> {
    let text = accepted.response.text();
    let extract = &probe.contract().extract;
    let entries = expected_entries(probe, accepted);
    if entries < 2 {
        return Err(probe.skip_lacking(
            "a single entry has no separator",
            "a region that returns as many gateways as are requested",
            Fact::PlentifulRegion,
        ));
    }
    let pieces: Vec<&str> = trimmed(&text, separator).split(separator).collect();
    let broken = pieces.iter().any(|piece| piece.is_empty() || piece.contains(['\r', '\n']));
    if !broken && pieces.len() == entries {
        return Ok(());
    }
    // Entries may contain the separator, unless it is white space: some of them, as host names do, or each. Then as many pieces as
    // there are entries end with a port.
    let ports = pieces.iter().filter(|piece| is_endpoint(piece)).count();
    let in_some = pieces.len() > entries && (pieces.len() < 2 * entries || ports == entries);
    if !broken && in_some && !separator.contains(char::is_whitespace) {
        probe.observe(
            Unspecified::ExtractTxtLayout,
            &format!("some entries contain the separator {separator:?}"),
        );
        return Ok(());
    }
    let in_lines = default_separator(extract).filter(|default| *default != separator);
    let within = match in_lines {
        Some(default) => within(probe, &accepted.exchange.request, default, separator).await?,
        None => None,
    };
    let fits = |(min, max): (usize, usize)| {
        let more = pieces.len().checked_sub(entries);
        more.is_some_and(|more| (entries * min..=entries * max).contains(&more))
    };
    if !broken && within.is_some_and(fits) {
        let seen = format!("an entry contains the separator {separator:?} itself");
        probe.observe(Unspecified::ExtractTxtLayout, &seen);
        return Ok(());
    }
    let expected = format!("{} separated by {separator:?}", quantity(entries, "entry"));
    let actual = format!("splitting at {separator:?} yields {} in {text:?}", pieces.len());
    probe.finding(Clause::ExtractSeparator, &expected, &actual, &[&accepted.exchange]);
    Ok(())
}

/// The number of entries that a response should have: the requested number, or that of a partial result.
fn expected_entries(probe: &Probe<'_>, accepted: &AcceptedResponse) -> usize {
    let extract = &probe.contract().extract;
    let num = accepted.exchange.request.query_value(NUM).and_then(|num| num.parse().ok());
    let num = num.unwrap_or(1);
    let returned = accepted.response.header(&extract.returned_count).and_then(|count| count.parse().ok());
    returned.map_or(num, |returned: usize| returned.min(num))
}

/// The text without one line break, one separator, or both at its end.
fn trimmed<'a>(text: &'a str, separator: &str) -> &'a str {
    let before_break = text.strip_suffix("\r\n").or_else(|| text.strip_suffix('\n')).unwrap_or(text);
    // A separator may end with a line break itself.
    let both = before_break.strip_suffix(separator);
    both.or_else(|| text.strip_suffix(separator)).unwrap_or(before_break)
}

/// The minimum and maximum number of times that `separator` occurs in an entry, from the same extraction with the default
/// separator. `None` when its response can't be split into entries.
async fn within(
    probe: &Probe<'_>,
    request: &Request,
    default: &str,
    separator: &str,
) -> Result<Option<(usize, usize)>, Stop> {
    let plain = request.clone().without_query(LB).without_query(SB);
    let (exchange, class) = probe.send(&plain.without_query(REQUEST_ID)).await?;
    let (ResponseClass::Accepted, Ok(response)) = (class, &exchange.result) else { return Ok(None) };
    let accepted = AcceptedResponse { response: response.clone(), exchange: exchange.clone() };
    let text = response.text();
    let lines: Vec<&str> = trimmed(&text, default).split(default).collect();
    if lines.len() != expected_entries(probe, &accepted) {
        return Ok(None);
    }
    let counts = || lines.iter().map(|line| line.matches(separator).count());
    Ok(counts().min().zip(counts().max()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_text_is_trimmed_once() {
        for (text, separator) in
            [("a,b", ","), ("a,b,", ","), ("a,b\n", ","), ("a,b\r\n", ","), ("a,b,\n", ",")]
        {
            assert_eq!(trimmed(text, separator), "a,b", "{text:?}");
        }
        assert_eq!(trimmed("a\r\nb\r\n", "\r\n"), "a\r\nb");
        assert_eq!(trimmed("a\nb\n\n\n", "\n"), "a\nb\n", "an empty entry is not the end");
        assert_eq!(trimmed("a\rb\r\n", "\r"), "a\rb");
        assert_eq!(trimmed("a,b,,", ","), "a,b,");
        assert_eq!(trimmed("a\n\nb\n\n", "\n\n"), "a\n\nb");
        assert_eq!(trimmed("a\r\n--\r\nb\r\n--\r\n", "\r\n--\r\n"), "a\r\n--\r\nb");
    }
}

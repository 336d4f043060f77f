//! `return_type`, and the separators of a text response: `lb` and `sb`. The form of an entry is unspecified, except that it has
//! no line break.

use serde_json::json;

use super::*;
use crate::checks::extraction::content::is_served_text;

pub(super) static PROGRAMS: &[Program] = &[
    active("extract.return-type.forms", |scope| {
        let extract = &scope.contract.extract;
        // A JSON success has the business code, so an accepted response has the right form.
        let by_name = ("JSON is requested by name".to_owned(), vec![set(RETURN_TYPE, &extract.json)]);
        let absent = ("no form is requested, so the response is JSON".to_owned(), Vec::new());
        let json = alike("", [by_name, absent]).labelled("json");
        let lone = extract.lb.schema.values.iter().filter_map(|code| code.as_str()).map(|code| {
            let data = code.to_owned();
            Case::for_data(format!("json/lb={code}"), Cost::extraction(1, 1), data, separator_alone)
        });
        let text = || [set(RETURN_TYPE, &extract.text)];
        let texts = Extraction::in_text(extract).into_iter().map(|form| {
            let (label, why) = (form.label(), format!("text is requested, {}", form.name()));
            let row = accept("", why, text()).in_form(Extraction { form: Asked::Json, ..form });
            row.labelled(label).giving(1, Unless::Finding, &[Judge::Text])
        });
        let stated = stated("extract.return-type.forms", scope);
        let rows = cases(ExtractReturnType, texts.chain([json]).chain(stated));
        lone.chain(rows).collect()
    }),
    active("extract.return-type.unlisted", unlisted),
    active("extract.separator.named", |scope| {
        let extract = &scope.contract.extract;
        let named = |what: &str, separator: &Separator, entries| {
            separated(extract, format!("lb={}{what}", separator.code), separator, entries)
        };
        let in_form = |form: Extraction| {
            let entries = if form.is_bare() { FEW } else { SEVERAL };
            each(&[form], extract.separators.iter().map(|separator| named("", separator, entries)))
        };
        let more = extract.separators.iter().map(|separator| named(&format!(" num={MANY}"), separator, MANY));
        let max = u32::try_from(*extract.num_range.end()).unwrap_or(u32::MAX);
        // A service that writes the text in blocks may use another separator between them.
        let default = extract.lb.default_text();
        let other = extract.separators.iter().rfind(|separator| separator.code != default);
        let largest =
            other.map(|separator| named(" num=the largest", separator, max).needing(Fact::PlentifulRegion));
        let more = each(&[Extraction::TEXT], more.chain(largest));
        // A scarce region rarely has more.
        let partial = extract.separators.iter().map(|separator| {
            let row = supply::partial_result(scope, i64::from(SEVERAL) + 2, &[Judge::Separator]);
            let form = Extraction { separator: Some(separator.clone()), ..Extraction::TEXT };
            row.in_form(form).labelled(format!("scarce-region/lb={}", separator.code))
        });
        let rows = Extraction::in_text(extract).into_iter().flat_map(in_form).chain(more);
        cases(ExtractSeparator, rows.chain(partial))
    }),
    passive("extract.separator.watched", |observed| {
        // In the traffic of others, a known request id may come with another separator, which is unspecified.
        let is_known =
            observed.request.is_recorded() && !request_ids(observed.contract, observed.request).is_empty();
        Served::observed(observed)?.separated().filter(|_| !is_known)
    }),
    active("extract.separator.default", |scope| {
        let rows = Extraction::in_text(&scope.contract.extract).into_iter().map(|form| {
            let entries = if form.is_bare() { FEW } else { SEVERAL };
            let row = accept("", "", [set(NUM, entries)]).in_form(form);
            row.giving(entries, Unless::Control, &[Judge::Separator])
        });
        cases(ExtractSeparator, rows)
    }),
];

/// A separator does not apply to JSON. A service may validate it or not, but must not return text because of it.
async fn separator_alone(probe: &Probe<'_>, code: String) -> Result<(), Stop> {
    let extract = &probe.contract().extract;
    let mut request = probe.extract().query(LB, &code);
    if code == extract.custom_separator {
        request = request.query(SB, "|");
    }
    let (exchange, class) = probe.send_once(&request).await?;
    if class != ResponseClass::Accepted {
        Extraction::PLAIN.control(probe).await?;
    }
    if exchange.result.as_ref().is_ok_and(|response| is_served_text(extract, response)) {
        let expected = format!("JSON or a rejection: {LB}={code} without {RETURN_TYPE}");
        probe.finding(ExtractReturnType, &expected, "plain text", &[&exchange]);
    }
    Ok(())
}

/// Values that callers may try as forms, between spaces.
const NEAR: &str = "text xml plain csv html yaml jsonp json5 jso tx jsontxt application/json text/plain json: .txt 0 1 true null *";

fn unlisted(scope: &Scope<'_>) -> Vec<Case> {
    let extract = &scope.contract.extract;
    let parameter = &extract.return_type;
    let derived = boundaries(&parameter.schema).into_iter().filter(|value| !value.allowed);
    let both = [format!("{},{}", extract.json, extract.text), format!("{}|{}", extract.text, extract.json)];
    let listed = [&extract.json, &extract.text].into_iter();
    let spelled = listed.flat_map(|listed| near("listed text").map(|near| near.of(listed)));
    let values = derived
        .map(|value| value.text())
        .chain(NEAR.split(' ').map(str::to_owned))
        .chain(spelled)
        .chain(both);
    let values = values.filter(|value| !parameter.schema.values.contains(&json!(value)));
    let forms: Vec<_> = Extraction::all(extract).into_iter().filter(|form| !form.is_text()).collect();
    let malformed = values.map(|value| Spelling::malformed(value, "not a listed value"));
    let rows = row::values(RETURN_TYPE, malformed).into_iter().map(Row::even_as_text);
    cases(ExtractReturnType, in_two(&forms, rows))
}

/// The minimum number of entries with a separator between them.
pub(super) const FEW: u32 = 2;

/// More entries than a service is likely to write at once.
const MANY: u32 = 13;

/// Enough entries to see a separator that is not beside the last entry.
const SEVERAL: u32 = 3;

/// The extraction of so many entries with a separator between them. The budget may take a custom one for a part of an entry, and so
/// count one more.
pub(super) fn separated(extract: &Extract, label: String, separator: &Separator, entries: u32) -> Row {
    let Separator { code, text } = separator;
    let is_custom = *code == extract.custom_separator;
    let mut edits = vec![set(NUM, entries), set(LB, code)];
    edits.extend(is_custom.then(|| set(SB, text)));
    let why = if is_custom { format!("{SB}={text:?}, {LB}={code}") } else { format!("{LB}={code}") };
    accept(label, why, edits).giving(entries + u32::from(is_custom), Unless::Finding, &[Judge::Separator])
}

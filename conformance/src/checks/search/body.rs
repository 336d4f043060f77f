//! The body of a search, the JSON types of its members, and the token.

use super::*;
use crate::checks::row::Credential;
use crate::checks::token::{one_token, other_spellings};
use crate::contract::Kind;

pub(super) static PROGRAMS: &[Program] = &[
    active("search.fields.types", type_cases),
    active("search.json-body.malformed", |_| {
        let rows = MALFORMED.map(|(label, malform)| {
            invalid(format!("the body is {label}"), [Edit::Body(malform)]).labelled(label)
        });
        // A lenient Content-Type is unspecified, and another language than JSON is not.
        let others = OTHER_LANGUAGES.map(|(label, media, text)| {
            let edit = with(move |_, request| Ok(request.body(media, text)));
            invalid(format!("the body is {label}, as Content-Type says"), [edit]).labelled(label)
        });
        cases(SearchJsonBody, rows.into_iter().chain(others))
    }),
    active("search.json-body.forms", |_| {
        let rows = FORMS.map(|(label, write)| {
            let edits = [field(IPS, vec![UNKNOWN_ADDRESS]), Edit::Body(write)];
            valid(format!("the body is JSON {label}"), edits).labelled(label)
        });
        cases(SearchJsonBody, rows)
    }),
    active("search.json-body.open", |_| {
        let rows = OPEN.map(|(label, unspecified, edits)| either(unspecified, label, label, edits));
        cases(SearchJsonBody, rows.map(|row| row.of(Base::SEARCH)))
    }),
    active("search.token.single", token_cases),
];

/// Values of types that no text filter has.
type Values = fn() -> Vec<Json>;

const OTHER_TYPES: [(&str, Values); 4] = [
    ("a number", || vec![json!(1), json!(0), json!(1.5), json!(1_767_225_600)]),
    ("a boolean", || vec![json!(true), json!(false)]),
    ("an array", || vec![json!([1]), json!([]), json!(["active"]), json!(["2020-01-01T00:00:00Z"])]),
    ("an object", || vec![json!({"a": 1}), json!({})]),
];

fn type_cases(_: &Scope<'_>) -> Vec<Case> {
    let count = |values: Values| u32::try_from(values().len()).unwrap_or(u32::MAX);
    // The lists include lists of matching values.
    let of_survey = |values: Values| count(values) + if values()[0].is_array() { 3 } else { 0 };
    let texts = kinds().filter(|kind| kind.property.schema.kind == Kind::String);
    let (any_text, closed): (Vec<_>, Vec<_>) = texts.partition(|kind| kind.is_free_text());
    let each = |kinds: Vec<FilterKind>| {
        kinds.into_iter().flat_map(|kind| OTHER_TYPES.map(|(what, values)| (kind, what, values)))
    };
    let label = |kind: FilterKind, what: &str| format!("{}: {what}", kind.property.name);
    let closed = each(closed).flat_map(|(kind, what, values)| {
        let name = &*kind.property.name;
        let values = values().into_iter().map(|value| (format!("{name} is {value}"), field(name, value)));
        cases(kind.clause, [each_invalid(label(kind, what), values)])
    });
    let any_text =
        each(any_text).map(|(kind, what, values)| (label(kind, what), of_survey(values), (kind, values)));
    let any_text = surveyed(any_text, not_ignored_types);
    closed.chain(any_text.into_iter().map(|case| case.needs([Fact::OwnAddresses]))).collect()
}

/// A server may read a number as text, which then matches no instance.
async fn not_ignored_types(probe: &Probe<'_>, (kind, values): (FilterKind, Values)) -> Result<(), Stop> {
    let survey = survey(probe).await?;
    // A list of a matching value is not a value.
    let shown = shown_kinds().filter(|kind| kind.is_free_text());
    let shown = shown.filter_map(|kind| survey.values(|instance| kind.shown(instance)).into_iter().next());
    let known: Vec<_> = shown.filter_map(|filter| filter.as_text().map(str::to_owned)).collect();
    let orders = probe.facts().orders.first().map(|order| order.number.clone());
    let known = known.into_iter().chain(orders).filter(|_| values()[0].is_array());
    for value in values().into_iter().chain(known.map(|value| json!([value]))) {
        let what = format!("{} is {value}", kind.property.name);
        let request = survey.request.clone().field(&kind.property.name, value);
        let Some(found) = read_unless_rejected(probe, kind.clause, &what, &request).await? else { continue };
        if !found.instances.is_empty() {
            let expected = format!("rejected, or no instance: {what}");
            let actual = quantity(found.instances.len(), "instance");
            probe.finding(kind.clause, &expected, &actual, &found.evidence());
        }
    }
    Ok(())
}

/// Writes another body from that of a valid search.
type Write = fn(&Search, &str) -> String;

const MALFORMED: [(&str, Write); 33] = [
    ("an array of addresses", |_, _| "[\"203.0.113.250\"]".to_owned()),
    ("an object as a string", |_, text| Json::from(text).to_string()),
    ("a comma behind the last member", |_, text| format!("{},}}", &text[..text.len() - 1])),
    ("a comma behind the last item", |_, text| text.replacen(']', ",]", 1)),
    ("names in single quotes", |_, text| text.replacen('"', "'", 2)),
    ("an object with a comment", |_, text| format!("{{/* ips */{}", &text[1..])),
    ("an array", |_, text| format!("[{text}]")),
    ("an empty array", |_, _| "[]".to_owned()),
    ("a string", |_, _| "\"203.0.113.250\"".to_owned()),
    ("a number", |_, _| "1".to_owned()),
    ("true", |_, _| "true".to_owned()),
    ("null", |_, _| "null".to_owned()),
    ("no body", |_, _| String::new()),
    ("spaces", |_, _| "  \n".to_owned()),
    ("an object that does not end", |_, text| text[..text.len() - 1].to_owned()),
    ("an object and more", |_, text| format!("{text}}}")),
    ("two objects", |_, text| format!("{text}{text}")),
    ("names without quotes", |_, text| text.replacen('"', "", 2)),
    ("a text with a raw line break", |_, text| with_note(text, "a\nb")),
    ("no JSON", |_, _| "ips=203.0.113.250".to_owned()),
    ("nested a thousand times", |_, _| "[".repeat(1_000)),
    // What lenient parsers add to JSON.
    ("an object with NaN for a number", |_, text| with_page(text, "NaN")),
    ("an object with a hexadecimal number", |_, text| with_page(text, "0x1")),
    ("an object with a zero before a number", |_, text| with_page(text, "01")),
    ("an object with a plus before a number", |_, text| with_page(text, "+1")),
    ("an object with a number that ends at its point", |_, text| with_page(text, "1.")),
    ("an object with an escape that JSON lacks", |_, text| with_note(text, "\\x61")),
    ("an object with a raw tab in a text", |_, text| with_note(text, "a\tb")),
    ("an object with a line comment", |_, text| format!("{{// ips\n{}", &text[1..])),
    ("an object without a comma between its members", |_, text| with_page(text, "1").replacen("1,", "1 ", 1)),
    ("an object with an equals sign for a colon", |_, text| text.replacen(':', "=", 1)),
    ("an object behind a prefix against scripts", |_, text| format!(")]}}',\n{text}")),
    ("an object with a NUL behind it", |_, text| format!("{text}\0")),
];

/// Bodies in other languages: label, media type and text.
const OTHER_LANGUAGES: [(&str, &str, &str); 4] = [
    ("a form", "application/x-www-form-urlencoded", "ips=203.0.113.250&page=1"),
    ("a list in a form", "application/x-www-form-urlencoded", "ips[]=203.0.113.250&ips[]=203.0.113.251"),
    ("XML", "application/xml", "<search><ips><ip>203.0.113.250</ip></ips></search>"),
    ("lines of text", "text/plain", "203.0.113.250\n203.0.113.251\n"),
];

fn with_page(text: &str, page: &str) -> String {
    format!("{{\"{PAGE}\":{page},{}", &text[1..])
}

fn with_note(text: &str, note: &str) -> String {
    format!("{},\"note\":\"{note}\"}}", &text[..text.len() - 1])
}

const FORMS: [(&str, Write); 3] = [
    ("with line breaks and spaces", |_, text| {
        let lines =
            text.replace('[', "\n [ ").replace(':', " :\t").replace(',', " ,\r\n").replace('}', "\n} \n");
        format!("\r\n {lines}")
    }),
    ("with characters as escapes", |_, text| {
        // The text has no escapes of its own.
        let pieces = text.split('"').enumerate().map(|(index, piece)| match index % 2 {
            0 => piece.to_owned(),
            _ => piece.chars().map(|c| format!("\\u{:04x}", u32::from(c))).collect(),
        });
        pieces.collect::<Vec<_>>().join("\"")
    }),
    ("with another member before `ips`", |search, text| {
        format!("{{\"{PAGE_SIZE}\":{},{}", search.default_page_size, &text[1..])
    }),
];

const OPEN: [(&str, Unspecified, &[Edit]); 10] = [
    (
        "text/plain as Content-Type",
        Unspecified::StaticContentType,
        &[Edit::Change(|_, request| {
            let bytes = request.body_bytes().unwrap_or_default();
            Ok(request.body("text/plain", bytes))
        })],
    ),
    ("an unknown body field", Unspecified::StaticUnknownFields, &[Set("sallyportUnknown", Value::Number(1))]),
    (
        "an unknown query parameter",
        Unspecified::StaticUnknownFields,
        &[Edit::Add("sallyport_unknown", Value::Number(1))],
    ),
    (
        "a fraction of zero",
        Unspecified::StaticFractionalInteger,
        &[Edit::Change(|_, request| Ok(request.field(PAGE, 1.0)))],
    ),
    ("a status of null", Unspecified::StaticNullOptional, &[Set(STATUS, Value::Json(Json::Null))]),
    ("an order number of null", Unspecified::StaticNullOptional, &[Set(ORDER_NO, Value::Json(Json::Null))]),
    ("an empty country", Unspecified::SearchEmptyFilter, &[Set(COUNTRY_CODE, Value::Word(""))]),
    ("an empty order number", Unspecified::SearchEmptyFilter, &[Set(ORDER_NO, Value::Word(""))]),
    ("the largest page", Unspecified::SearchPagePastEnd, &[Set(PAGE, Max(0))]),
    (
        "a country that no directory has",
        Unspecified::SearchUnknownFilter,
        &[Set(COUNTRY_CODE, Value::Word("QQQ"))],
    ),
];

fn token_cases(_: &Scope<'_>) -> Vec<Case> {
    let rows = one_token(&Base::SEARCH, |wrong| wrong.reason).into_iter();
    // A token in the body does not count, and filters do not replace it.
    let in_body = with(|probe, request| {
        let name = &probe.contract().search.operation.api_key.name;
        Ok(request.without_query(name).field(name, probe.token().expose()))
    });
    let requests = [
        ("the token is only in the body", vec![in_body.clone(), Drop(STATUS), Drop(GROUP_ID)]),
        ("the token is only in the body, beside filters", vec![in_body]),
        ("the token is absent, beside filters", vec![Edit::NoToken]),
        ("the token is sent twice, beside filters", vec![Edit::AddToken(Credential::Own)]),
    ];
    let requests = requests.map(|(why, edits)| (why.to_owned(), edits));
    let filters = [Set(STATUS, Value::Listed), Set(GROUP_ID, Value::Number(0))];
    let beside = invalid("absent or repeated beside other fields", []).sending(requests);
    let beside = beside.changing("beside filters", filters, 0);
    let other_spellings = other_spellings(SearchToken, OperationId::Search);
    cases(SearchToken, rows.chain([beside])).into_iter().chain([other_spellings]).collect()
}

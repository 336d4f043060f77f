//! Deprecated parts of requests, and the headers that announce them in responses (RFC 9745, RFC 8594).

use http::{
    HeaderMap, HeaderValue,
    header::{HeaderName, LINK},
};

use super::{reading::query, types::json::Json};

/// A parameter, a field of the body, or one value of either, that callers should stop sending. Generated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeprecatedPart {
    /// Where it is sent.
    pub place: Place,
    /// The deprecated value; `None` when the part itself is deprecated.
    pub value: Option<&'static str>,
    /// Begin of the deprecation, in seconds since 1970.
    pub since: i64,
    /// End of the support, in seconds since 1970.
    pub sunset: i64,
    /// The same as HTTP writes dates.
    pub sunset_date: &'static str,
    /// A value for `Link`, which points to documentation.
    pub link: Option<&'static str>,
}

/// Where a part of a request is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// A query parameter.
    Query(&'static str),
    /// A header, in lower case.
    Header(&'static str),
    /// A field of the body, by the names that lead to it; lists on the way are not named.
    Field(&'static [&'static str]),
}

/// The deprecated parts that a request uses.
pub type Used = Vec<&'static DeprecatedPart>;

/// Adds the parts that a query and headers use. Parts of the query that cannot be decoded are ignored.
pub(super) fn add_head(
    parts: &'static [DeprecatedPart],
    raw: Option<&str>,
    headers: &HeaderMap,
    used: &mut Used,
) {
    used.extend(parts.iter().filter(|part| {
        match part.place {
            Place::Query(name) => query::pairs(raw)
                .any(|(sent, value)| sent == name && part.value.is_none_or(|wanted| value == wanted)),
            Place::Header(name) => headers
                .get_all(name)
                .iter()
                .any(|value| part.value.is_none_or(|wanted| value.as_bytes() == wanted.as_bytes())),
            Place::Field(_) => false,
        }
    }));
}

/// Adds the parts that a body uses.
pub(super) fn add_body(parts: &'static [DeprecatedPart], body: &Json<'_>, used: &mut Used) {
    used.extend(parts.iter().filter(|part| match part.place {
        Place::Field(path) => holds(body, path, part.value),
        Place::Query(_) | Place::Header(_) => false,
    }));
}

fn holds(json: &Json<'_>, path: &[&str], value: Option<&str>) -> bool {
    match (json, path, value) {
        (_, [], None) => true,
        (Json::String(text), [], Some(value)) => text == value,
        (Json::Array(items), ..) => items.iter().any(|item| holds(item, path, value)),
        (Json::Object(fields), [name, rest @ ..], _) => {
            fields.iter().any(|(sent, inner)| sent == name && holds(inner, rest, value))
        }
        _ => false,
    }
}

/// Adds the headers `Deprecation` and `Sunset` with the earliest dates of the used parts, and `Link` with each link.
pub(super) fn announce(used: &Used, headers: &mut HeaderMap) {
    let (Some(since), Some(first)) =
        (used.iter().map(|part| part.since).min(), used.iter().min_by_key(|part| part.sunset))
    else {
        return;
    };
    if let Ok(value) = HeaderValue::try_from(format!("@{since}")) {
        headers.insert(HeaderName::from_static("deprecation"), value);
    }
    headers.insert(HeaderName::from_static("sunset"), HeaderValue::from_static(first.sunset_date));
    for link in used.iter().filter_map(|part| part.link) {
        headers.append(LINK, HeaderValue::from_static(link));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn part(place: Place, value: Option<&'static str>, since: i64) -> DeprecatedPart {
        let link = Some("<https://docs.invalid>; rel=\"deprecation\"");
        DeprecatedPart {
            place,
            value,
            since,
            sunset: since,
            sunset_date: "Thu, 31 Dec 2026 00:00:00 GMT",
            link,
        }
    }

    static PARTS: [DeprecatedPart; 4] = [
        part(Place::Query("old"), None, 3),
        part(Place::Query("kind"), Some("a b"), 2),
        part(Place::Header("x-old"), None, 1),
        part(Place::Field(&["lines", "note"]), Some("x"), 4),
    ];

    fn used(query: &str, header: Option<&'static str>, body: &str) -> Vec<i64> {
        let mut headers = HeaderMap::new();
        if let Some(name) = header {
            headers.insert(name, HeaderValue::from_static("1"));
        }
        let mut used = Used::new();
        add_head(&PARTS, Some(query), &headers, &mut used);
        add_body(&PARTS, &Json::parse(body.as_bytes()).unwrap(), &mut used);
        used.iter().map(|part| part.since).collect()
    }

    #[test]
    fn only_what_is_sent_is_used() {
        assert_eq!(used("new=1&kind=c", Some("x-new"), "{\"note\": \"x\"}"), [0; 0]);
        assert_eq!(used("old", None, "{}"), [3]);
        assert_eq!(used("k%69nd=a+b&%ff=1", Some("x-old"), "{}"), [2, 1]);
        assert_eq!(used("", None, "{\"lines\": [{\"note\": \"y\"}, {\"note\": \"x\"}]}"), [4]);
    }

    #[test]
    fn a_response_names_the_earliest_dates() {
        let mut headers = HeaderMap::new();
        announce(&Used::new(), &mut headers);
        assert!(headers.is_empty());
        announce(&PARTS.iter().collect(), &mut headers);
        assert_eq!(headers["deprecation"], "@1");
        assert_eq!(headers["sunset"], "Thu, 31 Dec 2026 00:00:00 GMT");
        assert_eq!(headers.get_all(LINK).iter().count(), 4);
    }
}

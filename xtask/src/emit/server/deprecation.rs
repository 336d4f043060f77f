//! What responses say of deprecated operations, and of deprecated parts that a request uses.

use jiff::{Timestamp, civil::Date, tz::TimeZone};
use proc_macro2::TokenStream;
use quote::quote;
use serde_json::Value;

use super::Emitter;
use crate::model::{Deprecation, Location, Operation, Schema};

impl Emitter<'_> {
    /// The headers of a deprecated operation: `Deprecation` (RFC 9745), `Sunset` (RFC 8594), and `Link` to what replaces it.
    pub(super) fn deprecation(&self, operation: &Operation) -> Vec<TokenStream> {
        let Some(Deprecation { since, sunset, replaced_by }) = &operation.deprecation else {
            return Vec::new();
        };
        let mut headers = vec![
            ("deprecation", format!("@{}", midnight(*since).as_second())),
            ("sunset", http_date(midnight(*sunset))),
        ];
        let other = self.contract.operations.iter().find(|other| Some(&other.id) == replaced_by.as_ref());
        // A path with a parameter is no address.
        if let Some(other) = other.filter(|other| !other.path.contains('{')) {
            headers.push(("link", format!("<{}>; rel=\"successor-version\"", other.path)));
        }
        headers.into_iter().map(|(name, value)| quote!((#name, #value))).collect()
    }

    /// The constant with the deprecated parts of an operation's requests; nothing without one.
    pub(super) fn deprecated_parts(&mut self, operation: &Operation) -> Option<TokenStream> {
        let mut parts = Vec::new();
        for parameter in &operation.parameters {
            let name = &parameter.name;
            let place = match parameter.location {
                Location::Query => quote!(Place::Query(#name)),
                Location::Header => {
                    let lower = name.to_ascii_lowercase();
                    quote!(Place::Header(#lower))
                }
                Location::Path if values(&parameter.schema).is_empty() => continue,
                Location::Path => {
                    let help = "deprecate the operation, or leave the value as it is";
                    let message = "a value in a path is deprecated, which no response can say";
                    return self.reject(&parameter.pointer, message, help);
                }
            };
            let label = format!("{} parameter {name}", parameter.location);
            let found = with_values(parameter.deprecation.as_ref(), &parameter.schema);
            parts.extend(found.map(|(value, it)| self.deprecated_part(&place, value, it, &label)));
        }
        if let Some(body) = &operation.body {
            self.deprecated_fields(&body.schema, &mut Vec::new(), &mut parts);
        }
        if parts.is_empty() {
            return Some(TokenStream::new());
        }
        Some(quote! {
            const DEPRECATED_PARTS: &'static [crate::edge::deprecation::DeprecatedPart] = {
                use crate::edge::deprecation::{DeprecatedPart, Place};
                &[#(#parts),*]
            };
        })
    }

    /// The deprecated fields of an object at `path`, and of the objects in it.
    fn deprecated_fields(&self, schema: &Schema, path: &mut Vec<String>, parts: &mut Vec<TokenStream>) {
        if let Some(items) = schema.items() {
            return self.deprecated_fields(items, path, parts);
        }
        for property in schema.properties() {
            path.push(property.name.clone());
            let label = format!("field {}", path.join("."));
            let place = quote!(Place::Field(&[#(#path),*]));
            let found = with_values(property.schema.deprecation.as_ref(), &property.schema);
            parts.extend(found.map(|(value, it)| self.deprecated_part(&place, value, it, &label)));
            self.deprecated_fields(&property.schema, path, parts);
            path.pop();
        }
    }

    fn deprecated_part(
        &self,
        place: &TokenStream,
        value: Option<&str>,
        deprecation: &Deprecation,
        label: &str,
    ) -> TokenStream {
        let (since, sunset) = (midnight(deprecation.since), midnight(deprecation.sunset));
        let (since, until, date) = (since.as_second(), sunset.as_second(), http_date(sunset));
        let of = value.map_or_else(|| label.to_owned(), |value| format!("value {value} of {label}"));
        let instead =
            deprecation.replaced_by.as_ref().map(|other| format!("; use {other}")).unwrap_or_default();
        let value = value.map_or_else(|| quote!(None), |value| quote!(Some(#value)));
        // RFC 9745 links to what people can read about it.
        let contact = self.document.get("/info/contact/url").and_then(Value::as_str);
        let link = match contact.filter(|url| is_header_text(url) && !url.contains('>')) {
            None => quote!(None),
            Some(url) => {
                let title = format!("{of}{instead}");
                let is_plain = is_header_text(&title) && !title.contains(['"', '\\']);
                let title = if is_plain { format!("; title=\"{title}\"") } else { String::new() };
                let link = format!("<{url}>; rel=\"deprecation\"{title}");
                quote!(Some(#link))
            }
        };
        quote! {
            DeprecatedPart {
                place: #place, value: #value, since: #since, sunset: #until, sunset_date: #date, link: #link,
            }
        }
    }
}

/// The deprecated values of an enum, or of the items of a list of one.
fn values(schema: &Schema) -> Vec<(&str, &Deprecation)> {
    let own = &schema.items().unwrap_or(schema).deprecated_values;
    own.iter().map(|(value, deprecation)| (value.as_str(), deprecation)).collect()
}

/// The deprecation of a part, and those of its values.
fn with_values<'a>(
    own: Option<&'a Deprecation>,
    schema: &'a Schema,
) -> impl Iterator<Item = (Option<&'a str>, &'a Deprecation)> {
    let of_values = values(schema).into_iter().map(|(value, deprecation)| (Some(value), deprecation));
    own.map(|deprecation| (None, deprecation)).into_iter().chain(of_values)
}

/// The begin of a day in UTC.
fn midnight(date: Date) -> Timestamp {
    date.to_zoned_datetime(TimeZone::UTC).map_or(Timestamp::MAX, |time| time.timestamp())
}

/// The format of dates in HTTP headers.
fn http_date(time: Timestamp) -> String {
    time.strftime("%a, %d %b %Y %H:%M:%S GMT").to_string()
}

/// Whether a header can hold the text.
fn is_header_text(text: &str) -> bool {
    text.bytes().all(|byte| (b' '..=b'~').contains(&byte))
}

//! Reads schemas.

use serde_json::Value;

use super::{Format, Kind, Property, Schema, Separator, read::Reader};
use crate::document::join;

const INTEGER_HELP: &str = "write an integer without quotes";

impl Reader<'_> {
    /// The schema at `at`; `None` after a problem was recorded.
    pub(super) fn schema(&mut self, at: &str) -> Option<Schema> {
        let pointer = self.document.definition(at).to_owned();
        if self.open.contains(&pointer) {
            let help = "no generator supports recursive schemas; write a fixed number of levels";
            return self.report(at, format!("recursive schema {pointer}"), help);
        }
        self.open.push(pointer.clone());
        let schema = self.definition(pointer);
        self.open.pop();
        schema
    }

    fn definition(&mut self, pointer: String) -> Option<Schema> {
        let Some(source) = self.document.get(&pointer).filter(|value| value.is_object()) else {
            let help = "write a mapping with a `type`, or a `$ref`";
            return self.report(&pointer, "expected a schema here", help);
        };
        let citation = self.citation(&pointer);
        let kind = match source.get("type").and_then(Value::as_str) {
            Some("string") => self.string(&pointer)?,
            Some("integer") => Kind::Integer {
                int64: match self.optional_text(&pointer, "format").as_deref() {
                    None => false,
                    Some("int64") => true,
                    Some(other) => return self.unknown_format(&pointer, other),
                },
                minimum: self.bound(&pointer, "minimum", Value::as_i64)?,
                maximum: self.bound(&pointer, "maximum", Value::as_i64)?,
            },
            Some("boolean") => Kind::Boolean,
            Some("array") => Kind::Array {
                items: Box::new({
                    let mut items = self.schema(&join(&pointer, "items"))?;
                    items.inherit(&citation);
                    items
                }),
                min_items: self.bound(&pointer, "minItems", Value::as_u64)?,
                max_items: self.bound(&pointer, "maxItems", Value::as_u64)?,
                max_distinct: self.bound(&pointer, "x-max-distinct", Value::as_u64)?,
            },
            Some("object") => {
                let required = source.get("required").and_then(Value::as_array);
                let required: Vec<_> = required.into_iter().flatten().filter_map(Value::as_str).collect();
                let mut properties = Vec::new();
                for (name, at, _) in self.document.members(&join(&pointer, "properties")) {
                    let mut schema = self.schema(&at)?;
                    schema.inherit(&citation);
                    properties.push(Property {
                        name: name.to_owned(),
                        required: required.contains(&name),
                        schema,
                    });
                }
                Kind::Object { properties }
            }
            other => {
                let message = match other {
                    Some(other) => format!("unsupported type `{other}`"),
                    None => "missing `type`".to_owned(),
                };
                let help = "expected one of: string, integer, boolean, array, object";
                return self.report(&pointer, message, help);
            }
        };
        Some(Schema {
            name: pointer
                .strip_prefix("/components/schemas/")
                .filter(|name| !name.contains('/'))
                .map(str::to_owned),
            description: self.optional_text(&pointer, "description"),
            kind,
            nullable: source.get("nullable").and_then(Value::as_bool).unwrap_or(false),
            default: source.get("default").cloned(),
            variants: source.get("enum").and_then(Value::as_array).cloned(),
            example: source.get("example").cloned(),
            citation,
            pointer,
        })
    }

    fn string(&mut self, pointer: &str) -> Option<Kind> {
        let format = match (
            self.optional_text(pointer, "format").as_deref(),
            self.optional_text(pointer, "x-format").as_deref(),
        ) {
            (None, None) => None,
            (Some("date-time"), None) => Some(Format::DateTime),
            (Some("ipv4"), None) => Some(Format::Ipv4),
            (None, Some("ip-endpoint")) => Some(Format::IpEndpoint { port: self.port(pointer)? }),
            (format, extension) => {
                return self.unknown_format(pointer, extension.or(format).unwrap_or_default());
            }
        };
        Some(Kind::String {
            format,
            min_length: self.bound(pointer, "minLength", Value::as_u64)?,
            max_length: self.bound(pointer, "maxLength", Value::as_u64)?,
            max_utf8_bytes: self.bound(pointer, "x-max-utf8-bytes", Value::as_u64)?,
            separators: self.separators(pointer),
        })
    }

    fn unknown_format<T>(&mut self, pointer: &str, format: &str) -> Option<T> {
        let help = "use one of: date-time or ipv4 for strings, int64 for integers, `x-format: ip-endpoint`";
        self.report(pointer, format!("unsupported format `{format}`"), help)
    }

    fn port(&mut self, pointer: &str) -> Option<(u16, u16)> {
        let at = join(pointer, "x-port");
        let mut bound = |key| {
            let value = self.document.get(&join(&at, key)).and_then(Value::as_u64);
            match value.and_then(|number| u16::try_from(number).ok()) {
                Some(number) => Some(number),
                None => {
                    let help = "write `x-port: { minimum: …, maximum: … }` with ports from 0 to 65535";
                    self.report(&at, format!("missing or invalid `{key}` in `x-port`"), help)
                }
            }
        };
        bound("minimum").zip(bound("maximum"))
    }

    fn separators(&mut self, pointer: &str) -> Option<Vec<Separator>> {
        let texts = self.document.get(&join(pointer, "x-separators"))?;
        let values = self.document.get(&join(pointer, "enum")).and_then(Value::as_array);
        let separator = |value: &str| Separator {
            value: value.to_owned(),
            text: texts.get(value).and_then(Value::as_str).map(str::to_owned),
        };
        Some(values.into_iter().flatten().filter_map(Value::as_str).map(separator).collect())
    }

    /// The number under `key`: `Some(None)` when it is absent, `None` after a problem.
    fn bound<N>(&mut self, pointer: &str, key: &str, read: fn(&Value) -> Option<N>) -> Option<Option<N>> {
        let at = join(pointer, key);
        match self.document.get(&at) {
            None => Some(None),
            Some(value) => match read(value) {
                Some(number) => Some(Some(number)),
                None => {
                    self.report(&at, format!("`{key}`: expected an integer, found `{value}`"), INTEGER_HELP)
                }
            },
        }
    }
}

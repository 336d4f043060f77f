//! The Rust type of a schema, and the types that the document gives a name.

use proc_macro2::{Literal, TokenStream};
use quote::{ToTokens as _, quote};
use serde_json::Value;

use super::{Emitter, names};
use crate::model::{Citation, Format, Kind, Schema, Side};

impl Emitter<'_> {
    /// The type of a value of `schema`. `hint` names it when the document does not.
    pub(super) fn rust_type(&mut self, schema: &Schema, hint: &str, side: Side) -> Option<TokenStream> {
        let name = schema.name.as_deref().map_or_else(|| names::pascal(hint), names::pascal);
        let at = &schema.pointer;
        Some(match &schema.kind {
            Kind::String { .. } if schema.variants.is_some() => names::ident(&name).into_token_stream(),
            Kind::Integer { .. } | Kind::Boolean if schema.variants.is_some() => {
                return self.constant_type(schema, side);
            }
            Kind::String { format, min_length, max_length, max_utf8_bytes, .. } => {
                let bounds = [min_length, max_length, max_utf8_bytes];
                match (format, side) {
                    (None, _) if bounds.iter().all(|bound| bound.is_none()) => quote!(String),
                    (None, Side::Request) => {
                        let [min, max, bytes] = bounds;
                        let min = size(min.unwrap_or(0));
                        let (max, bytes) = (upper(*max), upper(*bytes));
                        quote!(Text<#min, #max, #bytes>)
                    }
                    (Some(_), _) if bounds.iter().any(|bound| bound.is_some()) => {
                        let help = "keep one of the two";
                        return self.reject(at, "unsupported: a string with a format and a length", help);
                    }
                    (Some(Format::DateTime), _) => quote!(Timestamp),
                    (Some(Format::Ipv4), Side::Response) => quote!(std::net::Ipv4Addr),
                    (Some(Format::IpEndpoint { port: (min, max) }), Side::Request) => {
                        let (min, max) = (Literal::u16_unsuffixed(*min), Literal::u16_unsuffixed(*max));
                        quote!(IpEndpoint<#min, #max>)
                    }
                    _ => {
                        let keywords: Vec<String> = (schema.kind.keywords().iter())
                            .map(|(keyword, value)| format!("`{keyword}: {value}`"))
                            .collect();
                        let message =
                            format!("unsupported in a {side}: a string with {}", keywords.join(" and "));
                        let help = "remove the keyword, or say it in the description";
                        return self.reject(at, message, help);
                    }
                }
            }
            Kind::Integer { minimum: None, maximum: None, .. } if side == Side::Response => quote!(i64),
            Kind::Integer { minimum, maximum, .. } => {
                let minimum = minimum.map_or_else(|| quote!({ i64::MIN }), literal);
                let maximum = maximum.map_or_else(|| quote!({ i64::MAX }), literal);
                quote!(BoundedInteger<#minimum, #maximum>)
            }
            Kind::Boolean => quote!(bool),
            Kind::Array { items, min_items, max_items, max_distinct } => {
                let item = match &items.name {
                    // `named_type` declares it.
                    Some(name) if side == Side::Request => names::type_ident(name).into_token_stream(),
                    _ => self.rust_type(items, &format!("{hint}-item"), side)?,
                };
                match (side, (min_items, max_items, max_distinct)) {
                    (Side::Response, (None, None, None)) => quote!(Vec<#item>),
                    (Side::Response, _) => {
                        let help = "remove the bounds of a response's list; the server does not enforce them";
                        return self.reject(at, "unsupported: bounds of a list in a response", help);
                    }
                    (Side::Request, (min, max, distinct)) => {
                        let (min, max) = (size(min.unwrap_or(0)), upper(*max));
                        match distinct.map(size) {
                            None => quote!(List<#item, #min, #max>),
                            Some(distinct) => quote!(DistinctList<#item, #min, #max, #distinct>),
                        }
                    }
                }
            }
            Kind::Object { .. } if side == Side::Response => match &schema.name {
                Some(name) => names::type_ident(name).into_token_stream(),
                None => {
                    let help = "give the object a name under components/schemas";
                    return self.reject(at, "unsupported: an object without a name inside a response", help);
                }
            },
            // `named_type` declares it.
            Kind::Object { .. } => names::ident(&name).into_token_stream(),
        })
    }

    /// The type of a number or truth value that has a list of values.
    fn constant_type(&mut self, schema: &Schema, side: Side) -> Option<TokenStream> {
        let values = schema.variants.as_deref().unwrap_or_default();
        match (side, &schema.kind, values) {
            (Side::Response, Kind::Integer { .. }, [Value::Number(number)]) if number.as_i64().is_some() => {
                let number = literal(number.as_i64()?);
                Some(quote!(Constant<#number>))
            }
            (Side::Response, Kind::Boolean, [Value::Bool(value)]) => Some(quote!(ConstantBool<#value>)),
            _ => {
                let help = "list values of strings only, or a single one in a response";
                self.reject(&schema.pointer, "the server does not enforce this `enum`", help)
            }
        }
    }

    /// The value that an absent one stands for, as an expression of the type that `rust_type` gives.
    pub(super) fn default_value(&mut self, schema: &Schema, ty: &TokenStream) -> Option<Option<TokenStream>> {
        let Some(default) = &schema.default else { return Some(None) };
        Some(Some(match (&schema.kind, default) {
            (Kind::String { .. }, Value::String(text)) if schema.variants.is_some() => {
                let variant = names::variant_ident(text);
                quote!(#ty::#variant)
            }
            (Kind::String { format: None, .. }, Value::String(text)) if ty.to_string() == "String" => {
                quote!(#text.to_owned())
            }
            (Kind::Integer { .. }, Value::Number(number)) if number.as_i64().is_some() => {
                let number = literal(number.as_i64()?);
                quote!(<#ty>::constant::<#number>())
            }
            (Kind::Boolean, Value::Bool(value)) => quote!(#value),
            _ => {
                let help = "use a default for plain strings, string enums, integers and booleans only";
                return self.reject(&schema.pointer, "the server cannot apply this `default`", help);
            }
        }))
    }

    /// A string enum: its variants, their texts, and for requests how it is read.
    pub(super) fn text_enum(&mut self, schema: &Schema, name: &str, side: Side) -> Option<TokenStream> {
        let Some(values) = schema.text_variants() else {
            let help = "list strings only";
            return self.reject(&schema.pointer, "an `enum` of strings holds something else", help);
        };
        let ident = names::ident(name);
        let variants: Vec<_> = values.iter().map(|value| names::variant_ident(value)).collect();
        if (1..variants.len()).any(|index| variants[..index].contains(&variants[index])) {
            let help = "choose values that differ in more than letter case and punctuation";
            return self.reject(&schema.pointer, "two values get the same name in Rust", help);
        }
        let docs = values.iter().map(|value| format!(" `{}`", value.escape_debug()));
        let doc = doc(&schema.description, &schema.citation, &format!("Values of `{name}`."));
        let expected = format!("one of {}", values.join(", "));
        let separators = separator_texts(schema, &variants);
        let reading = (side == Side::Request).then(|| {
            quote! {
                impl FromText for #ident {
                    fn from_text(text: &str, input: Input<'_>) -> Result<Self, RequestError> {
                        match text {
                            #(#values => Ok(Self::#variants),)*
                            other => Err(input.invalid("enum", #expected, Excerpt::quote(other))),
                        }
                    }
                }

                impl FromJson for #ident {
                    fn from_json(value: &Json<'_>, input: Input<'_>) -> Result<Self, RequestError> {
                        from_json_string(value, input)
                    }
                }
            }
        });
        Some(quote! {
            #doc
            #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
            pub enum #ident {
                #(#[doc = #docs] #[serde(rename = #values)] #variants,)*
            }

            impl #ident {
                /// Every value, in the document's order.
                pub const ALL: &[Self] = &[#(Self::#variants),*];

                /// The value's text.
                #[must_use]
                pub const fn as_str(self) -> &'static str {
                    match self { #(Self::#variants => #values,)* }
                }

                #separators
            }

            #reading
        })
    }
}

/// `x-separators`: the text of each value, where it has one.
fn separator_texts(schema: &Schema, variants: &[proc_macro2::Ident]) -> TokenStream {
    let Kind::String { separators: Some(separators), .. } = &schema.kind else { return TokenStream::new() };
    let texts = separators.iter().map(|separator| match &separator.text {
        Some(text) => quote!(Some(#text)),
        None => quote!(None),
    });
    quote! {
        /// The text that the value stands for; `None` where another parameter has it.
        #[must_use]
        pub const fn separator(self) -> Option<&'static str> {
            match self { #(Self::#variants => #texts,)* }
        }
    }
}

/// A description as a doc comment, with the clauses behind it.
pub(super) fn doc(description: &Option<String>, citation: &Citation, otherwise: &str) -> TokenStream {
    let mut text = description.as_deref().unwrap_or(otherwise).trim().to_owned();
    let mut clauses: Vec<&str> = citation.all().collect();
    clauses.sort_unstable();
    clauses.dedup();
    if !clauses.is_empty() {
        let clauses: Vec<_> = clauses.iter().map(|clause| format!("`{clause}`")).collect();
        text.push_str(&format!("\n\nClauses: {}.", clauses.join(", ")));
    }
    doc_lines(&text)
}

/// Text as doc comments, a line each.
pub(super) fn doc_lines(text: &str) -> TokenStream {
    // Rustdoc would take <API_KEY> for HTML and [IPv6] for a link.
    let text = text
        .replace('<', "\\<")
        .replace("[IPv6]", "\\[IPv6\\]")
        .replace("`\\[IPv6\\]:port`", "`[IPv6]:port`");
    let lines = text.lines().map(|line| if line.is_empty() { String::new() } else { format!(" {line}") });
    quote!(#(#[doc = #lines])*)
}

pub(super) fn literal(number: i64) -> TokenStream {
    let literal = Literal::i64_unsuffixed(number.saturating_abs());
    if number == i64::MIN {
        quote!({ i64::MIN })
    } else if number < 0 {
        quote!({ -#literal })
    } else {
        quote!(#literal)
    }
}

fn size(number: u64) -> TokenStream {
    Literal::u64_unsuffixed(number).into_token_stream()
}

fn upper(number: Option<u64>) -> TokenStream {
    number.map_or_else(|| quote!({ usize::MAX }), size)
}

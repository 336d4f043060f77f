//! From the constraints of a schema to calls of the client's checks.

use proc_macro2::{Ident, TokenStream};
use quote::quote;

use super::name;
use crate::{
    document::Document,
    model::{Kind, Rule, Schema},
    problem::Problem,
};

/// A value to check: how the generated code spells it and what messages call it.
pub(super) struct Place<'a> {
    /// For example `self.body.page_size`.
    pub(super) value: TokenStream,
    /// For example `body pageSize`.
    pub(super) label: &'a str,
    /// Whether the value is an `Option` because it may be left out.
    pub(super) optional: bool,
}

/// Statements that return early with a `Refused` when the value breaks its schema; empty when its type says it all.
pub(super) fn statements(
    document: &Document,
    schema: &Schema,
    place: &Place<'_>,
) -> Result<TokenStream, Vec<Problem>> {
    let label = place.label;
    let mut checks = Vec::new();
    match &schema.kind {
        Kind::Integer { minimum, maximum, .. } => {
            if let Some(bound) = minimum {
                let clause = clause(schema, "minimum");
                checks.push(quote!(check::minimum(#label, #clause, #bound, *value)?;));
            }
            if let Some(bound) = maximum {
                let clause = clause(schema, "maximum");
                checks.push(quote!(check::maximum(#label, #clause, #bound, *value)?;));
            }
        }
        Kind::String { min_length, max_length, max_utf8_bytes, .. } => {
            for (keyword, function, bound) in [
                ("minLength", quote!(min_length), min_length),
                ("maxLength", quote!(max_length), max_length),
                ("x-max-utf8-bytes", quote!(max_utf8_bytes), max_utf8_bytes),
            ] {
                if let Some(bound) = bound {
                    let (clause, bound) = (clause(schema, keyword), count(*bound));
                    checks.push(quote!(check::#function(#label, #clause, #bound, value)?;));
                }
            }
            if schema.variants.is_some() && is_opened(document, schema) {
                let clause = clause(schema, "enum");
                checks.push(quote!(check::known(#label, #clause, value.unknown())?;));
            }
        }
        Kind::Array { items, min_items, max_items, max_distinct } => {
            for (keyword, function, bound) in [
                ("minItems", quote!(min_items), min_items),
                ("maxItems", quote!(max_items), max_items),
                ("x-max-distinct", quote!(max_distinct), max_distinct),
            ] {
                if let Some(bound) = bound {
                    let (clause, bound) = (clause(schema, keyword), count(*bound));
                    checks.push(quote!(check::#function(#label, #clause, #bound, value)?;));
                }
            }
            if !is_checked_by_type(items) {
                return Err(unsupported(document, items, "limits on the items of an array"));
            }
        }
        Kind::Boolean => {}
        Kind::Object { .. } => return Err(unsupported(document, schema, "an object inside another")),
    }
    if checks.is_empty() {
        return Ok(TokenStream::new());
    }
    let value = &place.value;
    let pattern = pattern(schema, place.optional);
    Ok(match pattern {
        Some(pattern) => quote!(if let #pattern = &#value { #(#checks)* }),
        None => quote!({ let value = &#value; #(#checks)* }),
    })
}

/// The check of a rule between fields. `field` gives the code for a field of that name.
pub(super) fn rule(rule: &Rule, field: impl Fn(&str) -> TokenStream, condition: &TokenStream) -> TokenStream {
    match rule {
        Rule::RequiredWhen { parameter, condition: other, equals, clause, .. } => {
            let value = field(parameter);
            let label = format!("query {parameter}");
            let when = format!("{other} is {equals}");
            quote!(check::required_when(#label, #clause, #when, #condition, #value.as_deref())?;)
        }
        Rule::NotBefore { property, bound, clause, .. } => {
            let (value, earliest) = (field(property), field(bound));
            let label = format!("body {property}");
            quote!(check::not_before(#label, #clause, #bound, #value.as_ref(), #earliest.as_ref())?;)
        }
    }
}

/// The first clause behind a keyword; the lint sees to it that there is one.
pub(super) fn clause(schema: &Schema, keyword: &str) -> String {
    schema.citation.clauses_for(keyword).first().cloned().unwrap_or_default()
}

/// A constant for each limit, so that the face can name it: `NUM_MAXIMUM`, `IPS_MAX_DISTINCT`.
pub(super) fn constants(field: &str, schema: &Schema) -> Vec<TokenStream> {
    let mut found = Vec::new();
    let mut constant = |keyword: &str, suffix: &str, ty: TokenStream, value: TokenStream| {
        let name: Ident = name::constant(&format!("{field}_{suffix}"));
        let doc = format!(" `{keyword}` of `{field}` (clause `{}`).", clause(schema, keyword));
        found.push(quote!(#[doc = #doc] pub const #name: #ty = #value;));
        let clause = clause(schema, keyword);
        let name: Ident = name::constant(&format!("{field}_{suffix}_clause"));
        let doc = format!(" The clause behind `{keyword}` of `{field}`.");
        found.push(quote!(#[doc = #doc] pub const #name: &'static str = #clause;));
    };
    match &schema.kind {
        Kind::Integer { minimum, maximum, .. } => {
            for (keyword, suffix, bound) in [("minimum", "minimum", minimum), ("maximum", "maximum", maximum)]
            {
                if let Some(bound) = bound {
                    constant(keyword, suffix, quote!(i64), quote!(#bound));
                }
            }
        }
        Kind::String { min_length, max_length, max_utf8_bytes, .. } => {
            for (keyword, suffix, bound) in [
                ("minLength", "min_length", min_length),
                ("maxLength", "max_length", max_length),
                ("x-max-utf8-bytes", "max_utf8_bytes", max_utf8_bytes),
            ] {
                if let Some(bound) = bound {
                    let bound = count(*bound);
                    constant(keyword, suffix, quote!(usize), quote!(#bound));
                }
            }
        }
        Kind::Array { min_items, max_items, max_distinct, .. } => {
            for (keyword, suffix, bound) in [
                ("minItems", "min_items", min_items),
                ("maxItems", "max_items", max_items),
                ("x-max-distinct", "max_distinct", max_distinct),
            ] {
                if let Some(bound) = bound {
                    let bound = count(*bound);
                    constant(keyword, suffix, quote!(usize), quote!(#bound));
                }
            }
        }
        Kind::Boolean | Kind::Object { .. } => {}
    }
    found
}

/// Whether answers can hold the enum, so that its type is open.
pub(super) fn is_opened(document: &Document, schema: &Schema) -> bool {
    let opened = crate::lower::opened_enums(document.root());
    schema.name.as_ref().is_some_and(|name| opened.contains(name))
}

/// Whether the type alone keeps everything that the schema asks for.
fn is_checked_by_type(schema: &Schema) -> bool {
    match &schema.kind {
        Kind::String { min_length, max_length, max_utf8_bytes, .. } => {
            schema.variants.is_none()
                && [min_length, max_length, max_utf8_bytes].iter().all(|bound| bound.is_none())
        }
        Kind::Integer { minimum, maximum, .. } => minimum.is_none() && maximum.is_none(),
        Kind::Boolean => true,
        Kind::Array { .. } | Kind::Object { .. } => false,
    }
}

/// What binds `value` to the innermost value: an `Option` for a field that may be left out, then the newtype that a named
/// schema becomes, then an `Option` for `nullable`. `None` when the field is the value itself.
fn pattern(schema: &Schema, optional: bool) -> Option<TokenStream> {
    let is_newtype = schema.variants.is_none()
        && matches!(&schema.kind, Kind::Integer { .. } | Kind::String { format: None, .. });
    let mut pattern = quote!(value);
    let mut plain = true;
    if schema.nullable {
        pattern = quote!(Some(#pattern));
        plain = false;
    }
    if let Some(name) = schema.name.as_ref().filter(|_| is_newtype) {
        let name = name::pascal(name);
        pattern = quote!(types::#name(#pattern));
        plain = false;
    }
    // typify folds an optional value that is nullable in place into one `Option`.
    if optional && !(schema.nullable && schema.name.is_none()) {
        pattern = quote!(Some(#pattern));
        plain = false;
    }
    (!plain).then_some(pattern)
}

pub(super) fn count(bound: u64) -> usize {
    usize::try_from(bound).unwrap_or(usize::MAX)
}

fn unsupported(document: &Document, schema: &Schema, what: &str) -> Vec<Problem> {
    let help =
        "express it with limits on the field itself, or teach xtask/src/emit/client/check.rs to check it";
    vec![document.problem(
        schema.pointer.clone(),
        format!("the client cannot check {what} before sending"),
        help,
    )]
}

//! Generates the calls that validate arguments against the constraints of a schema.

use proc_macro2::{Ident, TokenStream};
use quote::quote;

use super::name;
use crate::{
    document::Document,
    lower,
    model::{Contract, Kind, Location, Operation, Rule, Schema},
    problem::Problem,
};

/// A value to validate: its expression in the generated code and its name in messages.
pub(super) struct Argument<'a> {
    /// For example `self.body.page_size`.
    pub(super) value: TokenStream,
    /// For example `body pageSize`.
    pub(super) label: &'a str,
    /// Whether the value may be left out: it is an `Option`, or for a list of a body one that is empty.
    pub(super) optional: bool,
    /// Whether the value is a parameter, in which a list that may be left out is an `Option` as well.
    pub(super) is_parameter: bool,
}

/// Statements that return early with an `InvalidArgument` when the value breaks its schema; empty when its type already
/// excludes such values.
pub(super) fn statements(
    document: &Document,
    schema: &Schema,
    argument: &Argument<'_>,
) -> Result<TokenStream, Vec<Problem>> {
    let label = argument.label;
    let mut calls = Vec::new();
    match &schema.kind {
        Kind::String { format: Some(_), min_length, max_length, max_utf8_bytes, .. }
            if [min_length, max_length, max_utf8_bytes].iter().any(|bound| bound.is_some()) =>
        {
            return Err(unsupported(document, schema, "a length beside a format"));
        }
        Kind::Array { .. } if schema.name.is_some() => {
            return Err(unsupported(document, schema, "a list with a name"));
        }
        Kind::Object { .. } if schema.nullable => {
            return Err(unsupported(document, schema, "an object that may be null"));
        }
        Kind::Integer { minimum, maximum, .. } => {
            let (low, high) = (clause(schema, "minimum"), clause(schema, "maximum"));
            match (minimum, maximum) {
                (Some(minimum), Some(maximum)) if low == high => {
                    calls.push(quote!(validate::range(#label, #low, #minimum, #maximum, *value)?;));
                }
                (minimum, maximum) => {
                    calls.extend(
                        minimum.map(|bound| quote!(validate::minimum(#label, #low, #bound, *value)?;)),
                    );
                    calls.extend(
                        maximum.map(|bound| quote!(validate::maximum(#label, #high, #bound, *value)?;)),
                    );
                }
            }
        }
        Kind::String { .. } => {
            calls.extend(sizes(schema, label));
            if schema.variants.is_some() && is_opened(document, schema) {
                let clause = clause(schema, "enum");
                calls.push(quote!(validate::known(#label, #clause, value.unknown())?;));
            }
        }
        Kind::Array { items, .. } => {
            calls.extend(sizes(schema, label));
            let label = format!("{label}[]");
            let item = Argument { value: quote!(*item), label: &label, optional: false, is_parameter: false };
            let inner = statements(document, items, &item)?;
            if !inner.is_empty() {
                calls.push(quote!(for item in value { #inner }));
            }
        }
        Kind::Boolean => {}
        Kind::Object { properties } => {
            for property in properties {
                let field = name::snake(&property.name);
                let label = format!("{label}.{}", property.name);
                let inner = Argument {
                    value: quote!(value.#field),
                    label: &label,
                    optional: !property.required,
                    is_parameter: false,
                };
                calls.push(statements(document, &property.schema, &inner)?);
            }
            calls.retain(|call| !call.is_empty());
        }
    }
    if calls.is_empty() {
        return Ok(TokenStream::new());
    }
    let value = &argument.value;
    // typify gives a list of a body that may be absent no `Option`: an empty one is not sent.
    let is_list = matches!(schema.kind, Kind::Array { .. }) && !schema.nullable && !argument.is_parameter;
    if is_list && argument.optional {
        return Ok(quote!(if !#value.is_empty() { let value = &#value; #(#calls)* }));
    }
    let (pattern, may_be_absent) = pattern(schema, argument.optional);
    Ok(if may_be_absent {
        quote!(if let #pattern = &#value { #(#calls)* })
    } else {
        quote!({ let #pattern = &#value; #(#calls)* })
    })
}

/// The calls that validate the length of a text or the number of items.
fn sizes(schema: &Schema, label: &str) -> impl Iterator<Item = TokenStream> {
    schema.kind.limits().into_iter().map(move |(keyword, bound)| {
        let (function, clause, bound) = (limit_name(keyword), clause(schema, keyword), size(bound));
        quote!(validate::#function(#label, #clause, #bound, value)?;)
    })
}

/// `min_length` for `minLength`, and `max_utf8_bytes` for `x-max-utf8-bytes`.
fn limit_name(keyword: &str) -> Ident {
    name::snake(keyword.trim_start_matches("x-"))
}

/// The call that validates a rule between fields.
pub(super) fn rule(document: &Document, operation: &Operation, rule: &Rule) -> TokenStream {
    match rule {
        Rule::RequiredWhen { parameter, condition: other, equals, clause, .. } => {
            let (value, condition) = (name::snake(parameter), condition(document, operation, other, equals));
            let label = format!("query {parameter}");
            let when = format!("`{other}` is `{equals}`");
            quote!(validate::required_when(#label, #clause, #when, #condition, self.#value.as_deref())?;)
        }
        Rule::NotBefore { property, bound, clause, .. } => {
            let (value, earliest) = (name::snake(property), name::snake(bound));
            let (value, earliest) = (quote!(self.body.#value), quote!(self.body.#earliest));
            let label = format!("body {property}");
            quote!(validate::not_before(#label, #clause, #bound, #value.as_ref(), #earliest.as_ref())?;)
        }
    }
}

/// The condition that the query parameter `name` has the value `equals`, perhaps by its default.
fn condition(document: &Document, operation: &Operation, name: &str, equals: &str) -> TokenStream {
    let value = name::snake(name);
    match operation.parameter(Location::Query, name).map(|parameter| &parameter.schema) {
        Some(schema @ Schema { name: Some(name), variants: Some(_), default, .. })
            if !is_opened(document, schema) =>
        {
            let (ty, variant) = (name::pascal(name), name::pascal(equals));
            if default.as_ref().is_some_and(|default| default == equals) {
                quote!(self.#value.is_none_or(|value| value == types::#ty::#variant))
            } else {
                quote!(self.#value == Some(types::#ty::#variant))
            }
        }
        _ => quote!(self.#value.as_deref() == Some(#equals)),
    }
}

/// The first clause that a keyword cites; the lint requires one.
pub(super) fn clause(schema: &Schema, keyword: &str) -> String {
    schema.citation.clauses_for(keyword).first().cloned().unwrap_or_default()
}

/// A constant for each limit, such as `NUM_MAXIMUM` and `IPS_MAX_DISTINCT`, for the hand-written code and its docs.
pub(super) fn constants(field: &str, schema: &Schema) -> Vec<TokenStream> {
    let mut found = Vec::new();
    for (keyword, bound) in schema.kind.limits() {
        let (ty, value) = match schema.kind {
            Kind::Integer { .. } => (quote!(i64), quote!(#bound)),
            _ => {
                let size = size(bound);
                (quote!(usize), quote!(#size))
            }
        };
        let (suffix, clause) = (limit_name(keyword), clause(schema, keyword));
        let name = name::constant(&format!("{field}_{suffix}"));
        let doc = format!(" {} of `{field}` (clause `{clause}`).", meaning(keyword));
        found.push(quote!(#[doc = #doc] pub const #name: #ty = #value;));
        let name = name::constant(&format!("{field}_{suffix}_clause"));
        let doc = format!(" The clause that sets `{keyword}` of `{field}`.");
        found.push(quote!(#[doc = #doc] pub const #name: &'static str = #clause;));
    }
    found
}

/// What a limit's keyword means, as the beginning of a doc comment.
fn meaning(keyword: &str) -> &str {
    match keyword {
        "minimum" => "Minimum",
        "maximum" => "Maximum",
        "minLength" => "Minimum length, in characters,",
        "maxLength" => "Maximum length, in characters,",
        "x-max-utf8-bytes" => "Maximum length, in bytes of UTF-8,",
        "minItems" => "Minimum number of items",
        "maxItems" => "Maximum number of items, duplicates included,",
        "x-max-distinct" => "Maximum number of distinct items",
        other => other,
    }
}

/// Whether responses can hold the enum, so that its type is open.
pub(super) fn is_opened(document: &Document, schema: &Schema) -> bool {
    let opened = Contract::read(document).map(|contract| lower::opened_enums(&contract)).unwrap_or_default();
    schema.name.as_ref().is_some_and(|name| opened.contains(name))
}

/// The pattern that binds `value` to the innermost value: an `Option` for an optional field, then the newtype of a named
/// schema, then an `Option` for `nullable`. The second value says whether the pattern may fail to match.
fn pattern(schema: &Schema, optional: bool) -> (TokenStream, bool) {
    let is_newtype = schema.variants.is_none() && matches!(&schema.kind, Kind::String { format: None, .. });
    let is_named = is_newtype && schema.name.is_some();
    let mut pattern = quote!(value);
    let mut may_be_absent = false;
    if schema.nullable {
        pattern = quote!(Some(#pattern));
        may_be_absent = true;
    }
    if let Some(name) = schema.name.as_ref().filter(|_| is_newtype) {
        let name = name::pascal(name);
        pattern = quote!(types::#name(#pattern));
    }
    // typify folds an optional value that is nullable in place into one `Option`.
    if optional && (is_named || !schema.nullable) {
        pattern = quote!(Some(#pattern));
        may_be_absent = true;
    }
    (pattern, may_be_absent)
}

pub(super) fn size(bound: i64) -> usize {
    usize::try_from(bound).unwrap_or(usize::MAX)
}

fn unsupported(document: &Document, schema: &Schema, what: &str) -> Vec<Problem> {
    let help =
        "set the limit on the field itself, or add its validation to xtask/src/emit/client/validate.rs";
    vec![document.problem(schema.pointer.clone(), format!("the client cannot validate {what}"), help)]
}

//! The filters of a search: `x-filter` of the document as data, and the values that a request has for them.

use proc_macro2::{Ident, Literal, TokenStream};
use quote::quote;

use super::Emitter;
use crate::{
    emit::name,
    model::{Filter, Kind, Match, Schema},
};

impl Emitter<'_> {
    /// The filters of the operation whose body has this schema, except addresses, which are no conditions on a single field.
    pub(super) fn filters(&self, body: &Schema, ident: &Ident) -> Option<TokenStream> {
        let is_body = |schema: &Schema| schema.pointer == body.pointer;
        let mut operations = self.contract.operations.iter();
        let operation = operations.find(|one| one.body.as_ref().is_some_and(|body| is_body(&body.schema)))?;
        let (mut filters, mut values) = (Vec::new(), Vec::new());
        for filter in operation.filters.iter().filter(|filter| filter.r#match != Match::Address) {
            let Filter { name, field, finds_null, .. } = filter;
            let condition = match (filter.r#match, finds_null) {
                (Match::Equal, Some(null)) => {
                    let null = Literal::i64_unsuffixed(*null);
                    quote!(EqualOrNull(#null))
                }
                (Match::Equal | Match::Address, _) => quote!(Equal),
                (Match::Contains, _) => quote!(Contains),
                (Match::AtLeast, _) => quote!(AtLeast),
                (Match::AtMost, _) => quote!(AtMost),
            };
            // What items do not show is stored under the name of the property.
            let field = field.as_ref().unwrap_or(name);
            filters.push(quote!(Filter { property: #name, field: #field, condition: Condition::#condition }));
            let Some(property) = body.properties().iter().find(|property| property.name == *name) else {
                continue;
            };
            let (schema, field) = (&property.schema, name::snake(name));
            let value = match (property.required || schema.default.is_some(), schema.nullable) {
                (true, false) => quote!(Some(self.#field.clone())),
                (true, true) | (false, false) => quote!(self.#field.take()),
                (false, true) => quote!(self.#field.take().flatten()),
            };
            values.push(match (&schema.kind, &schema.variants) {
                (Kind::String, Some(_)) => quote!(#value.map(|value| value.name().into())),
                _ => quote!(#value.map(Into::into)),
            });
        }
        (!operation.filters.is_empty()).then(|| quote! {
            impl #ident {
                /// The filters, in the order of the document.
                pub const FILTERS: &'static [crate::domain::search::Filter] = {
                    use crate::domain::search::{Condition, Filter};
                    &[#(#filters),*]
                };

                /// Takes the filters that are set, with their values.
                pub fn take_filters(&mut self) -> crate::domain::search::Filters {
                    let values = [#(#values),*];
                    Self::FILTERS.iter().zip(values).filter_map(|(filter, value)| Some((filter, value?))).collect()
                }
            }
        })
    }
}

//! One struct per operation with everything that can be sent; its methods build a request only after validation.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

use super::{
    docs::{self, Docs},
    name,
    validate::{self, Argument},
};
use crate::{
    document::Document,
    lower,
    model::{Format, Kind, Operation, Parameter, Schema},
    problem::Problem,
};

/// The struct for `operation`, the constants of its limits, its validation and its calls.
pub(super) fn input(
    document: &Document,
    operation: &Operation,
    docs: &Docs,
) -> Result<TokenStream, Vec<Problem>> {
    let title = name::pascal(&operation.id);
    let parameters: Vec<&Parameter> = operation.distinct_parameters().collect();
    let mut fields = Vec::new();
    let mut validations = Vec::new();
    let mut constants = Vec::new();
    let mut setters = Vec::new();
    for parameter in &parameters {
        let field = name::snake(&parameter.name);
        let ty = parameter_type(document, parameter)?;
        let doc = docs::attributes(docs.lines(&title.to_string(), &field.to_string()));
        let ty = if parameter.required { ty } else { quote!(Option<#ty>) };
        fields.push(quote!(#(#doc)* pub #field: #ty));
        let label = format!("{} {}", parameter.location, parameter.name);
        let argument = Argument {
            value: quote!(self.#field),
            label: &label,
            optional: !parameter.required,
            is_parameter: true,
        };
        validations.push(validate::statements(document, &as_parameter(&parameter.schema), &argument)?);
        constants.extend(validate::constants(&parameter.name, &parameter.schema));
        setters.push(if parameter.required {
            quote!(call = call.#field(self.#field.clone());)
        } else {
            quote!(if let Some(value) = &self.#field { call = call.#field(value.clone()); })
        });
    }
    if let Some(body) = &operation.body {
        let name = body.schema.name.as_deref().map(name::pascal).ok_or_else(|| {
            let help = "move the schema to components/schemas and reference it";
            vec![document.problem(body.pointer.clone(), "the schema of the body has no name", help)]
        })?;
        let doc = docs::attributes(docs.lines(&title.to_string(), "body"));
        fields.push(quote!(#(#doc)* pub body: types::#name));
        setters.push(quote!(call = call.body(self.body.clone());));
        for property in body.schema.properties() {
            let field = name::snake(&property.name);
            let label = format!("body {}", property.name);
            let argument = Argument {
                value: quote!(self.body.#field),
                label: &label,
                optional: !property.required,
                is_parameter: false,
            };
            validations.push(validate::statements(document, &property.schema, &argument)?);
            constants.extend(validate::constants(&property.name, &property.schema));
        }
    }
    validations.extend(operation.rules.iter().map(|rule| validate::rule(document, operation, rule)));
    let calls = lower::builder_ids(operation).into_iter().zip(["call", "call_text"]);
    let calls = calls.map(|(id, function)| call(&id, &format_ident!("{function}"), &setters));
    let doc = format!(" Everything that `{}` sends except the token.", operation.id);
    Ok(quote! {
        #[doc = #doc]
        #[derive(Clone, Debug)]
        pub struct #title { #(#fields),* }

        impl #title {
            #(#constants)*

            /// Checks every limit that the document sets.
            ///
            /// # Errors
            /// The first limit that is broken, with its clause.
            pub fn validate(&self) -> Result<(), InvalidArgument> {
                #(#validations)*
                Ok(())
            }

            #(#calls)*
        }
    })
}

fn call(id: &str, function: &Ident, setters: &[TokenStream]) -> TokenStream {
    let (builder, method) = (name::pascal(id), name::snake(id));
    let binding = if setters.is_empty() { quote!(let call) } else { quote!(let mut call) };
    quote! {
        /// Builds the request after validation.
        ///
        /// # Errors
        /// As [`validate`](Self::validate).
        pub fn #function<'c>(
            &self,
            client: &'c generated::Client,
        ) -> Result<generated::builder::#builder<'c>, InvalidArgument> {
            self.validate()?;
            #binding = client.#method();
            #(#setters)*
            Ok(call)
        }
    }
}

/// The schema as the lowered document has it: a parameter that is a plain string has no named type.
fn as_parameter(schema: &Schema) -> Schema {
    let is_plain = matches!(&schema.kind, Kind::String { format: None, .. }) && schema.variants.is_none();
    let mut schema = Schema { name: schema.name.clone().filter(|_| !is_plain), ..schema.clone() };
    if let Kind::Array { items, .. } = &mut schema.kind {
        **items = as_parameter(items);
    }
    schema
}

fn parameter_type(document: &Document, parameter: &Parameter) -> Result<TokenStream, Vec<Problem>> {
    scalar_type(document, &parameter.schema).ok_or_else(|| {
        let help = "use a plain or named string, an integer, a boolean, a named string enum, or a list of these in the query";
        let message = "the client cannot send a parameter of this kind";
        vec![document.problem(parameter.pointer.clone(), message, help)]
    })
}

fn scalar_type(document: &Document, schema: &Schema) -> Option<TokenStream> {
    Some(match (&schema.kind, &schema.name, &schema.variants) {
        (Kind::String { .. }, Some(name), Some(_)) => {
            let ty = name::pascal(name);
            if validate::is_opened(document, schema) { quote!(#ty) } else { quote!(types::#ty) }
        }
        (Kind::String { format: None, .. }, _, None) => quote!(String),
        (Kind::String { format: Some(Format::DateTime), .. }, None, None) => quote!(jiff::Timestamp),
        (Kind::Integer { .. }, None, None) => quote!(i64),
        (Kind::Boolean, None, None) => quote!(bool),
        (Kind::Array { items, .. }, None, None) => {
            let item = scalar_type(document, items)?;
            quote!(Vec<#item>)
        }
        _ => return None,
    })
}

//! Rules between the fields of a request (`x-rules`).

use proc_macro2::{Ident, TokenStream};
use quote::quote;

use super::{Emitter, names, request::Request};
use crate::model::{Kind, Location, Operation, Parameter, Rule, Schema, Side};

/// A field that has been read: its name in Rust, its type, and whether it may be absent.
struct Field<'a> {
    ident: Ident,
    ty: TokenStream,
    optional: bool,
    schema: &'a Schema,
}

impl Emitter<'_> {
    /// The calls that enforce the operation's rules, but for those that are `enforced` already.
    pub(super) fn rules(
        &mut self,
        operation: &Operation,
        enforced: &[&Rule],
        request: &mut Request,
    ) -> Option<()> {
        for rule in operation.rules.iter().filter(|rule| !enforced.contains(rule)) {
            match rule {
                Rule::RequiredWhen { pointer, parameter, condition, equals, clause } => {
                    let needed = self.rule_parameter(operation, pointer, parameter)?;
                    let cause = self.rule_parameter(operation, pointer, condition)?;
                    let is_enum =
                        cause.schema.text_variants().is_some_and(|values| values.contains(&equals.as_str()));
                    if cause.optional || !is_enum || !needed.optional {
                        let help =
                            "use it for an optional parameter, and a condition on an enum that has a default";
                        return self.reject(pointer, "the server cannot enforce this rule", help);
                    }
                    let (needed, cause_ident, ty) = (&needed.ident, &cause.ident, &cause.ty);
                    let variant = names::variant_ident(equals);
                    let words = format!("`{condition}` is `{equals}`");
                    request.reading.extend(quote! {
                        rules::required_when(
                            #cause_ident == #ty::#variant,
                            #needed.is_some(),
                            #words,
                            Input::new(Part::Parameter(#parameter), &[("required", #clause)]),
                        )?;
                    });
                }
                Rule::NotBefore { pointer, property, bound, clause } => {
                    let value = self.rule_property(operation, pointer, property)?;
                    let limit = self.rule_property(operation, pointer, bound)?;
                    if !value.optional || !limit.optional || value.ty.to_string() != limit.ty.to_string() {
                        let help = "use it for two optional fields of one type";
                        return self.reject(pointer, "the server cannot enforce this rule", help);
                    }
                    let (value, limit) = (&value.ident, &limit.ident);
                    request.reading.extend(quote! {
                        rules::not_before(
                            #value.as_ref(),
                            #limit.as_ref(),
                            #bound,
                            Input::new(Part::Field(#property), &[("not-before", #clause)]),
                        )?;
                    });
                }
            }
        }
        Some(())
    }

    fn rule_parameter<'o>(
        &mut self,
        operation: &'o Operation,
        pointer: &str,
        name: &str,
    ) -> Option<Field<'o>> {
        let own = |parameter: &&Parameter| parameter.alias_of.is_none() && !parameter.credential;
        let Some(parameter) = operation.parameter(Location::Query, name).filter(own) else {
            let help = "correct the name";
            return self.reject(pointer, format!("the rule names no query parameter `{name}`"), help);
        };
        let schema = &parameter.schema;
        let ty = self.rust_type(schema, &format!("{}-{name}", operation.id), Side::Request)?;
        let optional = !parameter.required && schema.default.is_none();
        Some(Field { ident: names::field_ident(name), ty, optional, schema })
    }

    fn rule_property<'o>(
        &mut self,
        operation: &'o Operation,
        pointer: &str,
        name: &str,
    ) -> Option<Field<'o>> {
        let properties = operation.body.as_ref().map_or(&[][..], |body| body.schema.properties());
        let Some(property) = properties.iter().find(|property| property.name == name) else {
            let help = "correct the name";
            return self.reject(pointer, format!("the rule names no body field `{name}`"), help);
        };
        let schema = &property.schema;
        let ty = self.rust_type(schema, name, Side::Request)?;
        let ordered = matches!(&schema.kind, Kind::Integer { .. }) || ty.to_string() == "Timestamp";
        let optional = ordered && !property.required && schema.default.is_none() && !schema.nullable;
        Some(Field { ident: names::field_ident(name), ty, optional, schema })
    }
}

//! `x-separators`: an enum of codes and the parameter with the custom text become the separator itself.

use quote::{format_ident, quote};

use super::{Emitter, input::with_required, names, request::Request, types::doc};
use crate::model::{Kind, Location, Operation, Parameter, Rule, Side};

impl Emitter<'_> {
    /// For a parameter with `x-separators`: the parameter that holds the custom text, and the rule that requires it.
    pub(super) fn separator_rule<'o>(
        &mut self,
        operation: &'o Operation,
        parameter: &Parameter,
    ) -> Option<Option<(&'o Parameter, &'o Rule)>> {
        let Kind::String { separators: Some(separators), .. } = &parameter.schema.kind else {
            return Some(None);
        };
        let mut without_text = separators.iter().filter(|separator| separator.text.is_none());
        let (Some(code), None) = (without_text.next(), without_text.next()) else {
            let help = "leave exactly one value without text; its text comes from the parameter of the rule";
            let message = "x-separators has several custom values or none";
            return self.reject(&parameter.schema.pointer, message, help);
        };
        let rule = operation.rules.iter().find_map(|rule| match rule {
            Rule::RequiredWhen { parameter: custom, condition, equals, .. }
                if *condition == parameter.name && *equals == code.value =>
            {
                Some((operation.parameter(Location::Query, custom)?, rule))
            }
            _ => None,
        });
        match rule {
            Some(rule) => Some(Some(rule)),
            None => {
                let help = format!("add a `required-when` rule for {} = {}", parameter.name, code.value);
                self.reject(&parameter.pointer, "no rule says where the custom separator stands", &help)
            }
        }
    }

    pub(super) fn separator(
        &mut self,
        operation: &Operation,
        parameter: &Parameter,
        (custom, rule): (&Parameter, &Rule),
        request: &mut Request,
    ) -> Option<()> {
        let (code_ty, code_input) = self.parameter_type(operation, parameter, request)?;
        let custom_ty = self.named_type(
            &custom.schema,
            &format!("{}-{}", operation.id, custom.name),
            &custom.description,
            request,
        )?;
        let text = matches!(custom.schema.kind, Kind::String { format: None, .. })
            && custom.schema.variants.is_none();
        let plain_ty = self.rust_type(&parameter.schema, &parameter.name, Side::Request)?;
        let default = self.default_value(&parameter.schema, &plain_ty)?;
        let (Some(default), false, true) = (default, custom.required, text) else {
            let help = "give the code a default, and make the custom text an optional plain string";
            return self.reject(&parameter.pointer, "the server cannot read this separator", help);
        };
        let Rule::RequiredWhen { condition, equals, clause, .. } = rule else { return None };
        let condition = format!("`{condition}` is `{equals}`");
        let (name, custom_name) = (&parameter.name, &custom.name);
        let citation = with_required(&custom.schema.citation, std::slice::from_ref(clause));
        let input = request.input("Parameter", custom_name, &citation, None);
        let (code, text) = (names::field_ident(name), names::field_ident(custom_name));
        let ident = format_ident!("separator");
        let doc = doc(&parameter.description, &parameter.citation, "The separator's text.");
        let reading = quote! {
            let #code: #code_ty = query.optional(#name, #code_input)?.unwrap_or(#default);
            let #text: Option<#custom_ty> = query.optional(#custom_name, #input)?;
            let #ident = rules::separator(#code.separator(), #text, #condition, #input)?;
        };
        request.push(&ident, &quote!(Cow<'static, str>), doc, reading);
        Some(())
    }
}

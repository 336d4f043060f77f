//! Requests: a struct that holds only valid values, and the calls that read it.

use std::collections::HashSet;

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};
use serde_json::Value;

use super::{
    Emitter,
    headers::header_name,
    input::{alias_citation, input, with_required},
    names,
    types::{doc, doc_lines},
};
use crate::emit::field;
use crate::model::{Citation, Credential, Kind, Location, Operation, Parameter, Property, Schema, Side};

/// The code of one request.
#[derive(Default)]
pub(super) struct Request {
    /// Type aliases and enums that its fields need.
    pub(super) types: TokenStream,
    /// Fields of the struct, with their docs.
    pub(super) fields: TokenStream,
    /// The inputs that messages name, as constants.
    pub(super) inputs: TokenStream,
    /// Defaults that a handler may want to compare with.
    pub(super) defaults: TokenStream,
    /// The query parameters, by name.
    pub(super) query: Vec<String>,
    /// The call that reads the token out of `query` and `headers`.
    pub(super) credential: TokenStream,
    /// Statements that read the fields out of `parts`.
    pub(super) reading: TokenStream,
    /// The fields, by name, once they are read.
    pub(super) names: Vec<Ident>,
    /// The struct that the fields belong to, as its own code names it.
    owner: TokenStream,
}

impl Request {
    /// Notes the input of a value with the clauses of its constraints, and gives the name of its constant.
    pub(super) fn input(
        &mut self,
        at: &str,
        name: &str,
        citation: &Citation,
        items: Option<&Citation>,
    ) -> Ident {
        let ident = names::constant_ident(&format!("{at}-{name}"));
        let input = input(&names::ident(at), Some(name), citation, items);
        self.inputs.extend(quote!(const #ident: Input<'static> = #input;));
        ident
    }

    pub(super) fn push(&mut self, ident: &Ident, ty: &TokenStream, doc: TokenStream, reading: TokenStream) {
        self.fields.extend(quote!(#doc pub #ident: #ty,));
        self.reading.extend(reading);
        self.names.push(ident.clone());
    }
}

impl Emitter<'_> {
    /// The request of an operation.
    pub(super) fn request(&mut self, operation: &Operation) -> Option<Request> {
        let mut request = Request { owner: quote!(Self::Request), ..Request::default() };
        let in_query = operation.parameters.iter().filter(|parameter| parameter.location == Location::Query);
        request.query = in_query.map(|parameter| parameter.name.clone()).collect();
        let query = parsed_query(operation, &quote!(parts.query));
        request.reading = quote!(let mut query = #query;);
        let mut custom_texts: HashSet<&str> = HashSet::new();
        let mut enforced = Vec::new();
        for parameter in &operation.parameters {
            if let Some((custom, rule)) = self.separator_rule(operation, parameter)? {
                custom_texts.insert(&custom.name);
                enforced.push(rule);
            }
        }
        for parameter in operation.distinct_parameters() {
            if !custom_texts.contains(parameter.name.as_str()) {
                self.parameter(operation, parameter, &mut request)?;
            }
        }
        if let Some(body) = &operation.body {
            self.body_fields(&body.schema, &mut request)?;
        }
        self.rules(operation, &enforced, &mut request)?;
        self.credential(operation, &mut request)?;
        let mut names = HashSet::new();
        match request.names.iter().find(|name| !names.insert(name.to_string())) {
            None => Some(request),
            Some(name) => {
                let help = "rename one of them, or tie them by x-alias-of or x-falls-back-to";
                let message = format!("two parts of the request would be called `{name}`");
                self.reject(&operation.pointer, message, help)
            }
        }
    }

    fn parameter(
        &mut self,
        operation: &Operation,
        parameter: &Parameter,
        request: &mut Request,
    ) -> Option<()> {
        let name = &parameter.name;
        if let Some(custom) = self.separator_rule(operation, parameter)? {
            return self.separator(operation, parameter, custom, request);
        }
        let (ty, input) = self.parameter_type(operation, parameter, request)?;
        let ident = names::field_ident(name);
        let mut read = read_parameter(parameter, &input);
        if let Some(alias) = operation.parameters.iter().find(|other| other.alias_of.as_deref() == Some(name))
        {
            let alias_name = &alias.name;
            let alias_ty = self.rust_type(&alias.schema, name, Side::Request)?;
            if alias_ty.to_string() != self.rust_type(&parameter.schema, name, Side::Request)?.to_string() {
                let help = "give both names one schema";
                let message = format!("`{alias_name}` has another type than `{name}`");
                return self.reject(&alias.pointer, message, help);
            }
            let alias_input = request.input("Parameter", alias_name, &alias_citation(alias), None);
            read =
                quote!(rules::alias(#read, query.optional(#alias_name, #alias_input)?, #name, #alias_input)?);
        }
        if let Some(header) = &parameter.falls_back_to {
            let Some(header) = operation.parameter(Location::Header, header) else {
                let help = "declare the header among the operation's parameters";
                let message = format!("x-falls-back-to names no header `{header}`");
                return self.reject(&parameter.pointer, message, help);
            };
            let (header_ty, header_input) = self.parameter_type(operation, header, request)?;
            if header_ty.to_string() != ty.to_string() {
                let help = "give the parameter and its header the same schema";
                return self.reject(&header.pointer, "the header has another type than its parameter", help);
            }
            let header_name = header_name(&header.name);
            read = quote! {
                match #read {
                    Some(value) => Some(value),
                    None => headers::optional(parts.headers, &#header_name, #header_input)?,
                }
            };
        }
        let doc = doc_lines(&field::parameter(self.contract, operation, parameter).rustdoc().join("\n"));
        self.finish(parameter.required, &parameter.schema, &ident, &ty, doc, read, request)
    }

    /// Adds a field whose `read` gives an option unless it is `required`.
    #[expect(
        clippy::too_many_arguments,
        reason = "parameters and body fields end alike, and share nothing else"
    )]
    fn finish(
        &mut self,
        required: bool,
        schema: &Schema,
        ident: &Ident,
        ty: &TokenStream,
        doc: TokenStream,
        read: TokenStream,
        request: &mut Request,
    ) -> Option<()> {
        let optional = quote!(Option<#ty>);
        match (required, self.default_value(schema, ty)?) {
            (true, None) => request.push(ident, ty, doc, quote!(let #ident: #ty = #read;)),
            (true, Some(_)) => {
                let help = "remove `required` or `default`";
                return self.reject(&schema.pointer, "unsupported: a required value with a default", help);
            }
            (false, None) => request.push(ident, &optional, doc, quote!(let #ident: #optional = #read;)),
            (false, Some(default)) => {
                let reading = match &schema.default {
                    Some(Value::String(text)) if schema.variants.is_none() => {
                        let constant = names::constant_ident(&format!("{ident}-default"));
                        let owner = &request.owner;
                        let summary = format!(" What an absent `{ident}` stands for.");
                        request.defaults.extend(quote! {
                            #[doc = #summary]
                            pub const #constant: &'static str = #text;
                        });
                        quote!(let #ident = #ident.unwrap_or_else(|| #owner::#constant.to_owned());)
                    }
                    _ => quote!(let #ident = #ident.unwrap_or(#default);),
                };
                request.push(ident, ty, doc, quote!(let #ident: #optional = #read; #reading));
            }
        }
        Some(())
    }

    /// The type of a parameter and the input that names it; notes the alias or enum that the type needs.
    pub(super) fn parameter_type(
        &mut self,
        operation: &Operation,
        parameter: &Parameter,
        request: &mut Request,
    ) -> Option<(TokenStream, Ident)> {
        let Parameter { name, schema, pointer, .. } = parameter;
        let is_scalar = !matches!(schema.kind, Kind::Array { .. } | Kind::Object { .. });
        if schema.nullable || !(is_list(parameter) || is_scalar) {
            let help =
                "use a string, an integer or a boolean that is not nullable, or a list of them in the query";
            return self.reject(
                pointer,
                "the server cannot read this value from a path, query or header",
                help,
            );
        }
        let hint = format!("{}-{name}", operation.id);
        let ty = self.named_type(schema, &hint, &parameter.description, request)?;
        let at = part(parameter.location);
        let required = parameter.citation.clauses_for("required");
        let items = schema.items().map(|items| &items.citation);
        let input = request.input(at, name, &with_required(&schema.citation, required), items);
        Some((ty, input))
    }

    /// The type of a schema under a name of its own where it has constraints, so that the limits can be cited.
    pub(super) fn named_type(
        &mut self,
        schema: &Schema,
        hint: &str,
        description: &Option<String>,
        request: &mut Request,
    ) -> Option<TokenStream> {
        if let Kind::Object { .. } = &schema.kind {
            return self.inner_object(schema, request);
        }
        if let Some(items) = schema.items() {
            self.named_type(items, &format!("{hint}-item"), description, request)?;
        }
        let ty = self.rust_type(schema, hint, Side::Request)?;
        let plain = matches!(ty.to_string().as_str(), "String" | "bool" | "Timestamp");
        if schema.name.is_some() && schema.variants.is_some() || schema.name.is_none() && plain {
            return Some(ty);
        }
        let name = schema.name.as_deref().map_or_else(|| names::pascal(hint), names::pascal);
        let ident = names::ident(&name);
        if !self.declared.insert(name.clone()) {
            return Some(quote!(#ident));
        }
        if schema.variants.is_some() {
            request.types.extend(self.text_enum(schema, &name, Side::Request)?);
        } else {
            let description = schema.description.clone().or_else(|| description.clone());
            let doc = doc(&description, &schema.citation, "A value within its limits.");
            request.types.extend(quote!(#doc pub type #ident = #ty;));
        }
        Some(quote!(#ident))
    }

    fn body_fields(&mut self, schema: &Schema, request: &mut Request) -> Option<()> {
        let Some(owner) = schema.name.as_deref() else {
            let help = "give the body's schema a name under components/schemas";
            return self.reject(&schema.pointer, "unsupported: a body whose schema has no name", help);
        };
        if schema.properties().is_empty() || schema.nullable {
            let help = "make the body an object with properties that is not nullable";
            return self.reject(&schema.pointer, "the server reads only objects as bodies", help);
        }
        let known = schema.properties().iter().map(|property| &property.name);
        request.reading.extend(quote! {
            let Some(json) = parts.json else { return Err(Self::BODY_INPUT.missing()) };
            let mut fields = Fields::new(json, Self::BODY_INPUT, &[#(#known),*])?;
        });
        self.object_fields(schema, owner, request)
    }

    /// The struct of an object inside a body: it is read as a value of a field or of a list.
    fn inner_object(&mut self, schema: &Schema, request: &mut Request) -> Option<TokenStream> {
        let Some(name) = schema.name.as_deref() else {
            let help = "give the object a name under components/schemas";
            let message = "unsupported: an object without a name inside a request";
            return self.reject(&schema.pointer, message, help);
        };
        let ident = names::type_ident(name);
        if !self.declared.insert(name.to_owned()) {
            return Some(quote!(#ident));
        }
        let mut inner = Request { owner: quote!(Self), ..Request::default() };
        self.object_fields(schema, name, &mut inner)?;
        let Request { types, fields, inputs, defaults, reading, names, .. } = inner;
        let defaults = if defaults.is_empty() { defaults } else { quote!(impl #ident { #defaults }) };
        let known = schema.properties().iter().map(|property| &property.name);
        let doc = doc(&schema.description, &schema.citation, &format!("`{name}` of the document."));
        request.types.extend(quote! {
            #types

            #doc
            #[derive(Clone, Debug)]
            pub struct #ident { #fields }
            #defaults

            impl FromJson for #ident {
                fn from_json(value: &Json<'_>, input: Input<'_>) -> Result<Self, RequestError> {
                    #inputs
                    let mut fields = Fields::inside(value, input, &[#(#known),*])?;
                    let mut read = || {
                        #reading
                        Ok(Self { #(#names),* })
                    };
                    read().map_err(|error: RequestError| error.inside(input.part))
                }
            }
        });
        Some(quote!(#ident))
    }

    /// The fields of an object, and the calls that read them out of `fields`.
    fn object_fields(&mut self, schema: &Schema, owner: &str, request: &mut Request) -> Option<()> {
        let fields = field::properties(self.contract, None, schema);
        for (Property { name, required, schema }, field) in schema.properties().iter().zip(fields) {
            let hint = format!("{owner}-{name}");
            let ty = self.named_type(schema, &hint, &None, request)?;
            let items = schema.items().map(|items| &items.citation);
            let input = request.input("Field", name, &schema.citation, items);
            let ident = names::field_ident(name);
            let doc = doc_lines(&field.rustdoc().join("\n"));
            match (required, schema.nullable, &schema.default) {
                (false, true, None) => {
                    let read = quote!(let #ident: Tristate<#ty> = fields.tristate(#name, #input)?;);
                    request.push(&ident, &quote!(Tristate<#ty>), doc, read);
                    continue;
                }
                (_, true, _) => {
                    let help = "a nullable field of a body is optional and has no default";
                    return self.reject(&schema.pointer, "the server cannot read this nullable field", help);
                }
                (_, false, _) => {}
            }
            let read = if *required {
                quote!(fields.required(#name, #input)?)
            } else {
                quote!(fields.optional(#name, #input)?)
            };
            self.finish(*required, schema, &ident, &ty, doc, read, request)?;
        }
        Some(())
    }

    fn credential(&mut self, operation: &Operation, request: &mut Request) -> Option<()> {
        if operation.credentials.is_empty() {
            let help = "add `security`; every operation of this server needs a token";
            return self.reject(&operation.pointer, "the operation takes no token", help);
        }
        let transports = operation.credentials.iter().map(|credential| match credential {
            Credential::Query { name } => quote!(Transport::Query(#name)),
            Credential::Header { name } => {
                let header = header_name(name);
                quote!(Transport::Header(#name, #header))
            }
            Credential::Bearer => quote!(Transport::Bearer),
        });
        let transports: Vec<_> = transports.collect();
        let Some(parameter) = operation.parameters.iter().find(|parameter| parameter.credential) else {
            let help = "declare the parameter that carries the token, with `x-credential: true`";
            return self.reject(&operation.pointer, "no parameter of the operation carries its token", help);
        };
        let Kind::String {
            format: None,
            min_length: None | Some(0 | 1),
            max_length: None,
            max_utf8_bytes: None,
            ..
        } = &parameter.schema.kind
        else {
            let help = "a token is a string, perhaps with `minLength: 1`";
            return self.reject(
                &parameter.schema.pointer,
                "the server does not enforce this limit on a token",
                help,
            );
        };
        let name = &parameter.name;
        let at = part(parameter.location);
        let required = operation.citation.all().find(|clause| *clause == "all.token-required");
        let fallback = required.map(str::to_owned).into_iter().collect::<Vec<_>>();
        let citation = with_required(&parameter.citation, &fallback);
        let input = input(&names::ident(at), Some(name), &citation, None);
        let agree = match &operation.credentials_agree {
            Some(clause) => quote!(Some(#clause)),
            None if transports.len() == 1 => quote!(None),
            None => {
                let help = "add `x-credentials-agree` with the clause that requires equal tokens";
                let message = "unsupported: tokens in several places that may differ";
                return self.reject(&operation.pointer, message, help);
            }
        };
        let ident = format_ident!("credential");
        request.credential = quote!(credential::read(query, headers, &[#(#transports),*], #input, #agree));
        let reading = quote!(let #ident = Self::read_credential(&mut query, parts.headers)?;);
        request.push(&ident, &quote!(Token), doc_lines("The caller's token."), reading);
        Some(())
    }
}

/// The variant of `Part` for a parameter.
fn part(location: Location) -> &'static str {
    match location {
        Location::Path => "Path",
        Location::Query => "Parameter",
        Location::Header => "Header",
    }
}

fn is_list(parameter: &Parameter) -> bool {
    parameter.location == Location::Query && parameter.schema.items().is_some()
}

/// The call that parses a query; lists may be sent as several pairs.
pub(super) fn parsed_query(operation: &Operation, raw: &TokenStream) -> TokenStream {
    let lists: Vec<_> =
        operation.parameters.iter().filter(|one| is_list(one)).map(|one| one.name.as_str()).collect();
    if lists.is_empty() {
        return quote!(Query::parse(#raw, &Self::QUERY)?);
    }
    quote!(Query::parse_with_lists(#raw, &Self::QUERY, &[#(#lists),*])?)
}

/// The call that reads a parameter; it gives an option unless the parameter is required.
fn read_parameter(parameter: &Parameter, input: &Ident) -> TokenStream {
    let name = &parameter.name;
    let header = header_name(name);
    match (parameter.location, parameter.required) {
        (Location::Path, _) => {
            quote!(crate::edge::reading::path::required(Self::PATH, parts.path, #name, #input)?)
        }
        (Location::Query, true) if is_list(parameter) => quote!(query.required_list(#name, #input)?),
        (Location::Query, false) if is_list(parameter) => quote!(query.list(#name, #input)?),
        (Location::Query, true) => quote!(query.required(#name, #input)?),
        (Location::Query, false) => quote!(query.optional(#name, #input)?),
        (Location::Header, true) => quote!(headers::required(parts.headers, &#header, #input)?),
        (Location::Header, false) => quote!(headers::optional(parts.headers, &#header, #input)?),
    }
}

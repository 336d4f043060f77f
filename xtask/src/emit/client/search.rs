//! Emits what a search can be narrowed by (`x-filter`): the setters of the client's `Search`, and the flags of its program.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use serde_json::Value;

use crate::{
    document::Document,
    emit::name,
    lower,
    model::{Contract, Filter, Format, Kind, Match, Operation, Property, Side, field},
    problem::Problem,
};

/// A filter of a search.
struct Narrowing<'a> {
    property: &'a Property,
    declared: &'a Filter,
    /// Whether `contract` has the enum of the property, because responses hold it as well.
    is_open: bool,
}

/// The setters of the search, if the document has one, and the flags of the program.
pub(super) fn emit(
    document: &Document,
    contract: &Contract,
) -> Result<(TokenStream, TokenStream), Vec<Problem>> {
    let mut searches = contract.operations.iter().filter(|operation| !operation.filters.is_empty());
    let Some(search) = searches.next() else { return Ok(Default::default()) };
    if let Some(second) = searches.next() {
        let help = "give it a type of its own beside `Search`, and emit its setters in xtask/src/emit/client/search.rs";
        return Err(vec![document.problem(&second.pointer, "found a second search, expected one", help)]);
    }
    let properties = search.body.as_ref().map(|body| body.schema.properties()).unwrap_or_default();
    let opened = lower::opened_enums(contract);
    let declared = search.filters.iter().filter(|filter| filter.r#match != Match::Address);
    let filters = declared.filter_map(|declared| {
        let property = properties.iter().find(|property| property.name == declared.name)?;
        let is_open = property.schema.name.as_ref().is_some_and(|name| opened.contains(name));
        Some(Narrowing { property, declared, is_open })
    });
    let filters: Vec<_> = filters.collect();
    let identity = search.page.as_ref().map_or("itemId", |page| &page.identity);
    let items = format!("{}s", name::noun(identity).to_string().replace('_', " "));
    Ok((setters(search, properties, &filters, &items), flags(&filters, &items)))
}

/// The setters of `Search`, and the request that they begin with. A filter that finds null has a type and a setter of its own.
fn setters(
    search: &Operation,
    properties: &[Property],
    filters: &[Narrowing<'_>],
    items: &str,
) -> TokenStream {
    let request = search.body.as_ref().and_then(|body| body.schema.name.as_deref()).map(name::pascal);
    let fields = properties.iter().map(|Property { name, required, .. }| {
        let (name, value) = (name::snake(name), if *required { quote!(Vec::new()) } else { quote!(None) });
        quote!(#name: #value)
    });
    let setters = filters.iter().filter(|filter| filter.declared.finds_null.is_none()).map(|filter| {
        let (setter, name) = (filter.setter(), &filter.property.name);
        let field = name::snake(name);
        let mut lines = vec![format!("Only {items} {}.", filter.condition(name)), String::new()];
        lines.extend(field::property(filter.property, Side::Request));
        let docs = lines.iter().map(|line| if line.is_empty() { String::new() } else { format!(" {line}") });
        let (ty, value) = filter.argument();
        quote! {
            #(#[doc = #docs])*
            pub fn #setter(mut self, value: #ty) -> Self {
                self.request.#field = Some(#value);
                self
            }
        }
    });
    quote! {
        use super::Search;

        /// A request without filters and addresses.
        pub(super) fn request() -> crate::generated::types::#request {
            crate::generated::types::#request { #(#fields),* }
        }

        impl Search {
            #(#setters)*
        }
    }
}

/// The flags of the program.
fn flags(filters: &[Narrowing<'_>], items: &str) -> TokenStream {
    let (mut fields, mut calls) = (Vec::new(), Vec::new());
    for filter in filters {
        let (field, setter, help) = (filter.flag(), filter.setter(), filter.help(items));
        let (ty, parser) = filter.parser();
        fields.push(quote!(#[arg(long, #parser help = #help)] #field: Option<#ty>));
        calls.push(quote!(search = crate::set(search, self.#field, sallyport_client::Search::#setter);));
    }
    quote! {
        /// What a search is narrowed by.
        #[derive(clap::Args)]
        pub(crate) struct Filters { #(#fields),* }

        impl Filters {
            /// The search with these filters.
            pub(crate) fn apply(self, mut search: sallyport_client::Search) -> sallyport_client::Search {
                #(#calls)*
                search
            }
        }
    }
}

impl Narrowing<'_> {
    fn flag(&self) -> proc_macro2::Ident {
        name::noun(&self.property.name)
    }

    fn setter(&self) -> proc_macro2::Ident {
        match self.property.name.strip_suffix("No") {
            Some(noun) => name::snake(&format!("{noun}-number")),
            None => self.flag(),
        }
    }

    fn is_time(&self) -> bool {
        self.property.schema.format == Some(Format::DateTime)
    }

    /// The enum of the property, in the module of the client that has it.
    fn choice(&self) -> Option<TokenStream> {
        let schema = &self.property.schema;
        let name = schema.name.as_deref().filter(|_| schema.text_variants().is_some()).map(name::pascal)?;
        Some(if self.is_open { quote!(contract::#name) } else { quote!(generated::types::#name) })
    }

    /// What a setter takes, and the value that it sends.
    fn argument(&self) -> (TokenStream, TokenStream) {
        match (self.property.schema.kind, self.choice()) {
            (_, Some(choice)) => (quote!(crate::#choice), quote!(value)),
            _ if self.is_time() => (quote!(jiff::Timestamp), quote!(value)),
            (Kind::Integer, _) => (quote!(impl TryInto<i64>), quote!(crate::integer::to_i64(value))),
            (Kind::Boolean, _) => (quote!(bool), quote!(value)),
            _ => (quote!(impl Into<String>), quote!(value.into())),
        }
    }

    /// The type of a flag, and how its value is read.
    fn parser(&self) -> (TokenStream, TokenStream) {
        let flag = self.flag();
        match (self.property.schema.kind, self.choice()) {
            _ if self.declared.finds_null.is_some() => {
                let ty = format_ident!("{}Filter", name::pascal(&flag.to_string()));
                let parser = quote!(value_parser = crate::parse::#flag, allow_negative_numbers = true,);
                (quote!(sallyport_client::#ty), parser)
            }
            (_, Some(choice)) => {
                let ty = quote!(sallyport_client::#choice);
                (ty.clone(), quote!(value_parser = crate::parse::one_of::<#ty>(#ty::KNOWN),))
            }
            _ if self.is_time() => (quote!(sallyport_client::jiff::Timestamp), quote!()),
            (Kind::Integer, _) => {
                let limit = |keyword| self.property.schema.limit(keyword);
                let (least, most) =
                    (limit("minimum").unwrap_or(i64::MIN), limit("maximum").unwrap_or(i64::MAX));
                let range = quote!(clap::value_parser!(i64).range(#least..=#most));
                (quote!(i64), quote!(value_parser = #range, allow_negative_numbers = true,))
            }
            (Kind::Boolean, _) => (quote!(bool), quote!()),
            _ if self.declared.letter_case.is_some() => {
                (quote!(String), quote!(value_parser = crate::parse::upper_case,))
            }
            _ => (quote!(String), quote!(value_parser = crate::parse::text,)),
        }
    }

    /// What holds for the items that are found by the property `name`.
    fn condition(&self, name: &str) -> String {
        let field = self.declared.field.as_deref().unwrap_or_default();
        let (this, more, less) =
            if self.is_time() { ("this time", "later", "earlier") } else { ("this number", "more", "less") };
        match self.declared.r#match {
            Match::Contains => format!("whose `{field}` contain this one"),
            Match::AtLeast => format!("whose `{field}` is {this} or {more}"),
            Match::AtMost => format!("whose `{field}` is {this} or {less}"),
            Match::Equal | Match::Address => format!("with this `{name}`"),
        }
    }

    /// The help of a flag.
    fn help(&self, items: &str) -> String {
        let Property { name, schema, .. } = self.property;
        let case = self.declared.letter_case.as_ref().map_or("", |_| ", which is sent in upper case");
        let example = schema.example.as_ref().map(|example| format!(", such as {}", shown(example)));
        let end = match self.declared.finds_null {
            Some(_) => ", or `none` for those without".to_owned(),
            None => example.unwrap_or_default(),
        };
        format!("Include only {items} {}{case}{end}", self.condition(name))
    }
}

fn shown(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

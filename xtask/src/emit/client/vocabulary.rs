//! Emits what the document names: operations, enum values, separators, headers.

use proc_macro2::TokenStream;
use quote::quote;
use sallyport_contract::table::Transport;

use crate::{
    document::Document,
    emit::name,
    lower,
    model::{Contract, Header, Kind, Operation, Response, Retry, Schema},
    problem::Problem,
};

/// Operations, limits, separators, headers and open enums, for the hand-written code.
pub(super) fn generate(document: &Document, contract: &Contract) -> Result<TokenStream, Vec<Problem>> {
    let parts = [operations(document, contract), separators(document, contract), headers(document, contract)];
    let (parts, problems): (Vec<_>, Vec<_>) = parts.into_iter().partition(Result::is_ok);
    if !problems.is_empty() {
        return Err(problems.into_iter().filter_map(Result::err).flatten().collect());
    }
    let parts = parts.into_iter().flatten();
    let others = [limits(contract), addresses(contract), open_enums(contract), closed_enums(contract)];
    let parts = parts.chain(others);
    Ok(quote! {
        use std::fmt;

        use crate::{
            generated::types,
            operation::{Credential, Operation, Retry},
        };

        #(#parts)*
    })
}

/// The properties of each operation, named as the builder that progenitor makes for it.
fn operations(document: &Document, contract: &Contract) -> Result<TokenStream, Vec<Problem>> {
    let mut statics = Vec::new();
    for operation in &contract.operations {
        for (id, text) in lower::builder_ids(operation).into_iter().zip([false, true]) {
            let (constant, properties) = (name::constant(&id), properties(document, operation, text)?);
            statics.push(quote!(pub(crate) static #constant: Operation = #properties;));
        }
    }
    let header = request_id_header(document, contract)?;
    let prefix = path_prefix(contract);
    Ok(quote! {
        /// The header that carries the trace id in responses, and the request id in requests that have none in their query.
        pub const REQUEST_ID_HEADER: &str = #header;

        /// What the paths of all operations begin with; the base URL ends before it.
        pub const PATH_PREFIX: &str = #prefix;

        #(#statics)*
    })
}

/// The segments with which the paths of all operations begin. The last segment of a path is never part of it.
fn path_prefix(contract: &Contract) -> String {
    let folder = |operation: &Operation| {
        let mut segments: Vec<String> = operation.path.split('/').map(str::to_owned).collect();
        segments.pop();
        segments
    };
    let common = |before: Vec<String>, next: Vec<String>| {
        before.into_iter().zip(next).take_while(|(one, other)| one == other).map(|(one, _)| one).collect()
    };
    contract.operations.iter().map(folder).reduce(common).unwrap_or_default().join("/")
}

/// An open enum for each named enum that a response can hold.
fn open_enums(contract: &Contract) -> TokenStream {
    let mut made = TokenStream::new();
    for name in lower::opened_enums(contract) {
        let Some(schema) = contract.schemas.iter().find(|schema| schema.name.as_ref() == Some(&name)) else {
            continue;
        };
        let Some(values) = schema.text_variants() else { continue };
        let title = name::pascal(&name);
        let variants: Vec<_> = values.iter().map(|value| name::pascal(value)).collect();
        let docs: Vec<_> = values.iter().map(|value| format!(" `{value}`.")).collect();
        let doc = name::sentence(schema.description.as_deref().unwrap_or(&name));
        made.extend(quote! {
            #[doc = #doc]
            ///
            /// An unknown value is kept as `Other`.
            #[derive(Clone, Debug, PartialEq, Eq, Hash)]
            #[non_exhaustive]
            pub enum #title {
                #(#[doc = #docs] #variants,)*
                /// A value that the document does not define.
                Other(String),
            }

            impl #title {
                /// The values that the document defines.
                pub const KNOWN: &'static [&'static str] = &[#(#values),*];

                /// The value as it is sent.
                pub fn as_str(&self) -> &str {
                    match self { #(Self::#variants => #values,)* Self::Other(value) => value }
                }

            }

            impl From<&str> for #title {
                fn from(value: &str) -> Self {
                    match value { #(#values => Self::#variants,)* other => Self::Other(other.to_owned()) }
                }
            }

            impl std::str::FromStr for #title {
                type Err = std::convert::Infallible;

                fn from_str(value: &str) -> Result<Self, Self::Err> {
                    Ok(Self::from(value))
                }
            }

            impl fmt::Display for #title {
                fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                    out.write_str(self.as_str())
                }
            }

            impl serde::Serialize for #title {
                fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                    serializer.serialize_str(self.as_str())
                }
            }

            impl<'de> serde::Deserialize<'de> for #title {
                fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                    let value = <std::borrow::Cow<'_, str> as serde::Deserialize>::deserialize(deserializer)?;
                    Ok(Self::from(value.as_ref()))
                }
            }
        });
    }
    made
}

/// The values of each other named string enum, for messages: its type is progenitor's.
fn closed_enums(contract: &Contract) -> TokenStream {
    let opened = lower::opened_enums(contract);
    let mut made = TokenStream::new();
    for schema in &contract.schemas {
        let (Some(name), Some(values)) = (&schema.name, schema.text_variants()) else { continue };
        if opened.contains(name) {
            continue;
        }
        let title = name::pascal(name);
        made.extend(quote! {
            impl types::#title {
                /// The values that the document defines.
                pub const KNOWN: &'static [&'static str] = &[#(#values),*];
            }
        });
    }
    made
}

/// The separators of a text response, with the code of each.
fn separators(document: &Document, contract: &Contract) -> Result<TokenStream, Vec<Problem>> {
    let mut found = contract.schemas.iter().filter(|schema| schema.separators.is_some());
    let Some(schema) = found.next() else { return Ok(TokenStream::new()) };
    if let Some(second) = found.next() {
        let help = "use the same enum in every operation";
        let message = "found a second enum with `x-separators`, expected one";
        return Err(vec![document.problem(second.pointer.clone(), message, help)]);
    }
    let code = name::pascal(schema.name.as_deref().unwrap_or_default());
    let (mut variants, mut codes, mut texts, mut made_of) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for sent in schema.text_variants().unwrap_or_default() {
        let value = name::pascal(sent);
        match schema.separator(sent) {
            Some(text) => {
                let variant = name::separator(text);
                let doc = format!(" `{}`, sent as `{sent}`.", text.escape_debug());
                variants.push(quote!(#[doc = #doc] #variant));
                codes.push(quote!(Self::#variant => types::#code::#value));
                texts.push(quote!(Self::#variant => #text));
                made_of.push(quote!(#sent => Self::#variant));
            }
            None => {
                let doc = format!(" Another text, sent as `{sent}` together with the text.");
                variants.push(quote!(#[doc = #doc] Custom(String)));
                codes.push(quote!(Self::Custom(_) => types::#code::#value));
                texts.push(quote!(Self::Custom(text) => text));
                made_of.push(quote!(#sent => Self::Custom(custom.into())));
            }
        }
    }
    let doc = format!(
        " The separator that is sent as `code`, one of [`KNOWN`](types::{code}::KNOWN); `None` for another text. \
         Only `Custom` takes the text `custom`."
    );
    Ok(quote! {
        /// The separator between two entries of a plain-text response (`extract.separator`).
        #[derive(Clone, Debug, PartialEq, Eq, Hash)]
        pub enum Separator { #(#variants),* }

        impl Separator {
            /// The text that separates entries.
            pub fn text(&self) -> &str {
                match self { #(#texts),* }
            }

            #[doc = #doc]
            pub fn from_code(code: &str, custom: impl Into<String>) -> Option<Self> {
                Some(match code { #(#made_of,)* _ => return None })
            }

            pub(crate) fn code(&self) -> types::#code {
                match self { #(#codes),* }
            }
        }
    })
}

/// The bounds of a port in an address, and the clauses of both.
fn addresses(contract: &Contract) -> TokenStream {
    let bodies = contract.operations.iter().filter_map(|operation| operation.body.as_ref());
    let schemas = bodies.flat_map(|body| body.schema.properties()).map(|property| &property.schema);
    let mut found = schemas.filter_map(|schema| {
        let schema = schema.items().unwrap_or(schema);
        Some((schema, schema.endpoint_ports()?))
    });
    let Some((schema, (minimum, maximum))) = found.next() else { return TokenStream::new() };
    let [item, port] = ["x-format", "x-port"].map(|keyword| schema.citation.clauses_for(keyword).join(", "));
    quote! {
        /// The ports that an address may have.
        pub const ADDRESS_PORTS: std::ops::RangeInclusive<u16> = #minimum..=#maximum;
        pub(crate) const ADDRESS_CLAUSE: &str = #item;
        pub(crate) const ADDRESS_PORT_CLAUSE: &str = #port;
    }
}

/// A type with a constant for each limit of each request, such as `ExtractProxies::NUM_MAXIMUM`, for the hand-written code and its
/// docs.
fn limits(contract: &Contract) -> TokenStream {
    let mut made = TokenStream::new();
    for operation in &contract.operations {
        let parameters =
            operation.distinct_parameters().map(|parameter| (&parameter.name, &parameter.schema));
        let properties = operation.body.iter().flat_map(|body| body.schema.properties());
        let properties = properties.map(|property| (&property.name, &property.schema));
        let constants: Vec<_> =
            parameters.chain(properties).flat_map(|(part, schema)| constants(part, schema)).collect();
        if !constants.is_empty() {
            let (title, doc) =
                (name::pascal(&operation.id), format!(" Limits of what `{}` sends.", operation.id));
            made.extend(quote! {
                #[doc = #doc]
                #[derive(Clone, Copy, Debug)]
                pub enum #title {}

                impl #title { #(#constants)* }
            });
        }
    }
    made
}

fn constants(part: &str, schema: &Schema) -> Vec<TokenStream> {
    let constant = |(keyword, bound): (&str, i64)| {
        let meaning = match keyword {
            "minimum" => "Minimum",
            "maximum" => "Maximum",
            "minLength" => "Minimum length, in characters,",
            "maxLength" => "Maximum length, in characters,",
            "x-max-utf8-bytes" => "Maximum length, in bytes of UTF-8,",
            "minItems" => "Minimum number of items",
            "maxItems" => "Maximum number of items, duplicates included,",
            _ => "Maximum number of distinct items",
        };
        let (ty, value) = match usize::try_from(bound) {
            Ok(size) if schema.kind != Kind::Integer => (quote!(usize), quote!(#size)),
            _ => (quote!(i64), quote!(#bound)),
        };
        let clause = schema.citation.clauses_for(keyword).join("`, `");
        let name = name::constant(&format!("{part}_{}", keyword.trim_start_matches("x-")));
        let doc = format!(" {meaning} of `{part}` (`{clause}`).");
        quote!(#[doc = #doc] pub const #name: #ty = #value;)
    };
    schema.limits().map(constant).collect()
}

/// A struct for the headers of each success response that has any.
fn headers(document: &Document, contract: &Contract) -> Result<TokenStream, Vec<Problem>> {
    let mut made = TokenStream::new();
    for operation in contract.operations.iter().filter(|operation| !operation.success.headers.is_empty()) {
        let title = name::pascal(&format!("{}_headers", operation.id));
        let (mut fields, mut names, mut reads) = (Vec::new(), Vec::new(), Vec::new());
        for Header { name, description, schema, pointer, .. } in &operation.success.headers {
            let field = name::snake(name);
            let doc = name::sentence(description.as_deref().unwrap_or(name));
            let (ty, read) = match schema.kind {
                Kind::Integer => (quote!(i64), quote!(integer)),
                Kind::String => (quote!(String), quote!(text)),
                _ => {
                    let help = "use a string or an integer";
                    let message = "unsupported type of a response header";
                    return Err(vec![document.problem(pointer.clone(), message, help)]);
                }
            };
            fields.push(quote!(#[doc = #doc] pub #field: Option<#ty>));
            let constant = name::constant(name);
            let doc = format!(" Name of the header of [`{field}`](Self::{field}).");
            names.push(quote!(#[doc = #doc] pub const #constant: &'static str = #name;));
            reads.push(quote!(#field: crate::lenient::header::#read(headers, Self::#constant)));
        }
        let doc = format!(
            " Response headers of a successful `{}`. A header that is absent or invalid is `None`.",
            operation.id
        );
        made.extend(quote! {
            #[doc = #doc]
            #[derive(Clone, Debug, Default, PartialEq, Eq)]
            #[non_exhaustive]
            pub struct #title { #(#fields),* }

            impl #title {
                #(#names)*

                /// Reads the headers of a response.
                pub fn read(headers: &reqwest::header::HeaderMap) -> Self {
                    Self { #(#reads),* }
                }
            }
        });
    }
    Ok(made)
}

fn properties(document: &Document, operation: &Operation, text: bool) -> Result<TokenStream, Vec<Problem>> {
    let Operation { id, path, .. } = operation;
    let method = operation.method.to_string();
    let status: u16 = operation.success.status.parse().map_err(|_| {
        let help = "write one success status, such as \"200\"";
        vec![document.problem(operation.success.pointer.clone(), "the success status must be a number", help)]
    })?;
    let (field, code) = business_code(&operation.success).ok_or_else(|| {
        let help = "add one integer property whose enum has one value";
        vec![document.problem(
            operation.success.pointer.clone(),
            "the success body has no business code",
            help,
        )]
    })?;
    let credential = credential(operation).ok_or_else(|| {
        let help = "list at least one scheme under `security`";
        vec![document.problem(operation.pointer.clone(), "the operation has no security scheme", help)]
    })?;
    let shortage =
        operation.errors.iter().any(|response| response.status == "default" && has_retry_after(response));
    let request_id = match operation.parameters.iter().find(|parameter| parameter.falls_back_to.is_some()) {
        Some(parameter) => {
            let name = &parameter.name;
            quote!(Some(#name))
        }
        None => quote!(None),
    };
    let retry = match operation.retry {
        Some(Retry::Safe) => quote!(Retry::Safe),
        Some(Retry::IdempotencyKey) => quote!(Retry::IdempotencyKey),
        // Without a statement nobody may rely on it.
        Some(Retry::Never) | None => quote!(Retry::Never),
    };
    Ok(quote! {
        Operation {
            retry: #retry,
            request_id: #request_id,
            id: #id, method: #method, path: #path, status: #status, code_field: #field, code: #code,
            credential: #credential, shortage: #shortage, text: #text,
        }
    })
}

/// The property that distinguishes success from rejection, and its value for success; an empty name where a success has no
/// body.
fn business_code(success: &Response) -> Option<(String, i64)> {
    if success.content.is_empty() {
        return Some((String::new(), 0));
    }
    let mut codes = success.json()?.properties().iter().filter_map(|property| {
        let [value] = property.schema.variants.as_deref()? else { return None };
        (property.schema.kind == Kind::Integer).then(|| Some((property.name.clone(), value.as_i64()?)))?
    });
    let found = codes.next()?;
    codes.next().is_none().then_some(found)
}

/// The transport of the token: a header where there is a choice, because URLs are logged on the way.
fn credential(operation: &Operation) -> Option<TokenStream> {
    let rank = |transport: &&Transport| match transport {
        Transport::Header(_) => 0,
        Transport::Bearer => 1,
        Transport::Query(_) => 2,
    };
    operation.credentials.iter().min_by_key(rank).map(|transport| match transport {
        Transport::Header(name) => quote!(Credential::Header(#name)),
        Transport::Bearer => quote!(Credential::Bearer),
        Transport::Query(name) => quote!(Credential::Query(#name)),
    })
}

/// Whether rejections other than throttling have `Retry-After`, which means a shortage.
fn has_retry_after(response: &Response) -> bool {
    response.headers.iter().any(|header| header.name.eq_ignore_ascii_case("retry-after"))
}

fn request_id_header(document: &Document, contract: &Contract) -> Result<String, Vec<Problem>> {
    let parameters = contract.operations.iter().flat_map(|operation| &operation.parameters);
    parameters.filter_map(|parameter| parameter.falls_back_to.clone()).next().ok_or_else(|| {
        let help = "add `x-falls-back-to` to one parameter";
        vec![document.problem("/paths", "no header carries a request id", help)]
    })
}

//! Emits the calls of plain listings, which send nothing but the token: a type and a method of `Client`, and a command of its program.

use heck::ToSnakeCase;
use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};
use syn::parse2;

use crate::{
    document::Document,
    emit::name,
    model::{Contract, Operation, Property, Schema},
    problem::Problem,
};

/// The hand-written methods of `Client`.
const CLIENT: &str = include_str!("../../../../client/src/client.rs");

/// What `Client` derives, and the other commands of its program.
const OTHERS: [&str; 4] = ["clone", "completions", "help", "man"];

/// A plain listing.
struct Listing<'a> {
    operation: &'a Operation,
    /// The members of the response that lead to the list.
    path: Vec<Ident>,
    item: &'a Schema,
    item_type: Ident,
}

/// The calls of the client, and the commands of its program.
pub(super) fn emit(
    document: &Document,
    contract: &Contract,
) -> Result<(TokenStream, TokenStream), Vec<Problem>> {
    let mut listings: Vec<Listing<'_>> = Vec::new();
    for operation in contract.operations.iter().filter(|operation| operation.is_plain()) {
        let listing = Listing::read(operation).ok_or_else(|| {
            let help = "return `data` or `data.items`, a list of objects with a name of their own, or teach this emitter \
                        (xtask/src/emit/client/plain.rs)";
            vec![document.problem(&operation.pointer, "the client cannot list what this operation returns", help)]
        })?;
        let method = listing.method();
        let is_written = ["(", "<"].iter().any(|end| CLIENT.contains(&format!("fn {method}{end}")));
        if is_written
            || OTHERS.iter().any(|other| method == other)
            || parse2::<Ident>(quote!(#method)).is_err()
            || listings.iter().any(|other| other.method() == method)
        {
            let message = format!(
                "the client cannot name this listing `{method}`: the name is taken, or a word of Rust"
            );
            let help = "cite a clause whose id begins with another word for the success response";
            return Err(vec![document.problem(&operation.pointer, message, help)]);
        }
        listings.push(listing);
    }
    Ok((calls(&listings), commands(&listings)))
}

fn calls(listings: &[Listing<'_>]) -> TokenStream {
    let calls = listings.iter().map(|listing| {
        let Listing { operation, path, item_type, .. } = listing;
        let (ty, method) = (listing.type_name(), listing.method());
        // As progenitor names a function after a keyword.
        let send = name::snake(&operation.id);
        let send = if parse2::<Ident>(quote!(#send)).is_ok() { send } else { format_ident!("{send}_") };
        let of_type = format!(
            " A call of `{}` that is not sent yet; see [`Client::{method}`]. Await it to send it.",
            operation.id
        );
        let errors = format!(" As [`Client::{method}`].");
        let what = operation.description.as_deref().or(operation.summary.as_deref()).unwrap_or(&operation.id);
        let what = format!("{} Await the result to send the request.", name::sentence(what));
        quote! {
            #[doc = #of_type]
            #[derive(Clone, Debug)]
            #[must_use = "a call is sent when it is awaited"]
            pub struct #ty { client: Client, options: CallOptions }

            crate::options::call_options!(#ty, options);

            impl #ty {
                /// Sends the call and returns its result together with the response.
                ///
                /// # Errors
                #[doc = #errors]
                pub async fn with_response(self) -> Result<WithResponse<Vec<types::#item_type>>, Error> {
                    let response = self.client.generated_for(self.options).#send().send().await?;
                    Ok(response.map(|success| success.#(#path).*))
                }
            }

            impl IntoFuture for #ty {
                type Output = Result<Vec<types::#item_type>, Error>;
                type IntoFuture = PendingCall<Vec<types::#item_type>>;

                fn into_future(self) -> Self::IntoFuture {
                    Box::pin(async { Ok(self.with_response().await?.value) })
                }
            }

            impl Client {
                #[doc = #what]
                ///
                /// # Errors
                /// When awaited: [`Error::Configuration`] for a token of a [`TokenSource`](crate::TokenSource) that cannot be sent,
                /// [`Error::Token`], [`Error::Rejected`], [`Error::Throttled`], [`Error::Transport`], [`Error::Timeout`] or
                /// [`Error::UnexpectedResponse`].
                pub fn #method(&self) -> #ty {
                    #ty { client: self.clone(), options: CallOptions::default() }
                }
            }
        }
    });
    quote! {
        use std::future::IntoFuture;

        use crate::{Client, Error, WithResponse, generated::types, options::{CallOptions, PendingCall}};

        #(#calls)*
    }
}

fn commands(listings: &[Listing<'_>]) -> TokenStream {
    let names: Vec<_> = listings.iter().map(|listing| name::pascal(listing.operation.prefix())).collect();
    let about =
        listings.iter().map(|listing| listing.operation.summary.as_deref().unwrap_or(&listing.operation.id));
    let methods = listings.iter().map(Listing::method);
    let columns = listings.iter().map(|listing| {
        let (headers, members): (Vec<String>, Vec<&str>) = listing.columns().into_iter().unzip();
        quote!(&[#((#headers, #members)),*])
    });
    quote! {
        /// The commands of plain listings.
        #[derive(clap::Subcommand)]
        pub(crate) enum Listing { #(#[command(about = #about)] #names(crate::args::ListingOptions)),* }

        impl Listing {
            /// Sends the call and writes its result.
            pub(crate) async fn run(self, client: &sallyport_client::Client) -> Result<(), crate::failure::Failure> {
                match self {
                    #(Self::#names(options) => options.write(&client.#methods().await?, #columns)),*
                }
            }
        }
    }
}

impl<'a> Listing<'a> {
    fn read(operation: &'a Operation) -> Option<Self> {
        let part = |schema: &'a Schema, name: &str| {
            schema.properties().iter().find(|property| property.name == name).map(|property| &property.schema)
        };
        let data = part(operation.success.json()?, "data")?;
        let (path, list) =
            part(data, "items").map_or((vec!["data"], data), |items| (vec!["data", "items"], items));
        let item = list.items()?;
        let item_type = name::pascal(item.name.as_deref()?);
        Some(Self { operation, path: path.into_iter().map(name::snake).collect(), item, item_type })
    }

    /// `groups`, what the ids of its clauses begin with.
    fn method(&self) -> Ident {
        name::snake(self.operation.prefix())
    }

    /// `ListGroups`, by the verb of its id.
    fn type_name(&self) -> Ident {
        let id = self.operation.id.to_snake_case();
        let verb = id.split('_').next().unwrap_or_default();
        format_ident!("{}{}", name::pascal(verb), name::pascal(self.operation.prefix()))
    }

    /// The columns of a table, each with its member of an item.
    fn columns(&self) -> Vec<(String, &'a str)> {
        let column = |(index, Property { name, .. }): (usize, &'a Property)| {
            let is_identity = index == 0 && name.ends_with("Id");
            let word = if is_identity { "id" } else { name.strip_suffix("At").unwrap_or(name) };
            (name::constant(word).to_string(), name.as_str())
        };
        self.item.properties().iter().enumerate().map(column).collect()
    }
}

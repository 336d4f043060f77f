//! Inputs: a part of a request with the clauses that its constraints come from.

use proc_macro2::{Ident, TokenStream};
use quote::quote;

use crate::model::{Citation, Parameter};

/// An input as an expression.
pub(super) fn input(
    at: &Ident,
    name: Option<&str>,
    citation: &Citation,
    items: Option<&Citation>,
) -> TokenStream {
    let at = match name {
        Some(name) => quote!(Part::#at(#name)),
        None => quote!(Part::#at),
    };
    let own = clauses(citation);
    match items.map(clauses) {
        None => quote!(Input::new(#at, &[#(#own),*])),
        Some(items) => quote!(Input::new(#at, &[#(#own),*]).with_items(&[#(#items),*])),
    }
}

/// Clauses by keyword, `any` last.
fn clauses(citation: &Citation) -> Vec<TokenStream> {
    let one = |(keyword, ids): (&str, &Vec<String>)| {
        let ids = ids.join(", ");
        quote!((#keyword, #ids))
    };
    let own = citation.by_keyword.iter().map(|(keyword, ids)| (keyword.as_str(), ids));
    let rest = Some(("any", &citation.any)).filter(|(_, ids)| !ids.is_empty());
    own.chain(rest).map(one).collect()
}

/// A citation in which an absent value breaks `required`.
pub(super) fn with_required(citation: &Citation, required: &[String]) -> Citation {
    let mut citation = citation.clone();
    if !required.is_empty() && required != citation.clauses_for("required") {
        citation.by_keyword.entry("required".to_owned()).or_insert_with(|| required.to_vec());
    }
    citation
}

/// The citation of an alias, in which disagreement breaks a clause of its own.
pub(super) fn alias_citation(alias: &Parameter) -> Citation {
    let mut citation = alias.schema.citation.clone();
    if let Some(clause) = &alias.aliases_agree {
        citation.by_keyword.insert("x-aliases-agree".to_owned(), vec![clause.clone()]);
    }
    citation
}
